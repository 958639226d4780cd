/* What options and machine decide about guests. */
#include "runner/process/isolation.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/base/disk.h"
#include "tests/lib/runner_fixture.h"

static struct arena *arena;
static const char *state;

static enum ht_status decide(const char *run_as, const char *sandbox,
                             const char *limit, struct site *site,
                             struct ht_error *err)
{
    const struct isolation_options options = {
        .run_as = run_as,
        .sandbox = sandbox,
        .limit = limit,
        .token_file = arena_printf(arena, "%s/data/token", state)};
    *site = (struct site){.state = arena_printf(arena, "%s/data/runs", state),
                          .shim = runner_fixture_shim,
                          .runner = "r1"};
    return isolation_decide(arena, &options, site, err);
}

static void a_wrong_option_is_named(void)
{
    static const struct {
        const char *run_as, *sandbox, *limit, *says;
    } table[] = {
        {"none", "vault", NULL, "--sandbox: \"vault\""},
        {"none", "none", "memory", "--limit: \"memory\""},
        {"none", "none", "memory=1X", "--limit: \"memory\""},
        {"none", "none", "memory=0", "--limit: \"memory\""},
        {"none", "none", "cpus=0", "--limit: \"cpus\""},
        {"none", "none", "pids=-1", "--limit: \"pids\""},
        {"none", "none", "file=1M,disk=2M", "--limit: \"disk\""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct site site;
        struct ht_error err = {.text = ""};
        CHECK(decide(table[i].run_as, table[i].sandbox, table[i].limit, &site,
                     &err) == HT_INVALID);
        if (strstr(err.text, table[i].says) == NULL)
            CHECK_TEXT(err.text, table[i].says);
    }
}

static void another_user_is_for_root(void)
{
    static const char *const wrong[] = {"9-3", "root", "no-such-user"};
    struct site site;
    struct ht_error err = {.text = ""};
    if (geteuid() != 0) {
        CHECK(decide("auto", "none", NULL, &site, &err) == HT_PRECONDITION);
        return;
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(decide(wrong[i], "auto", NULL, &site, &err) == HT_INVALID);
    CHECK(decide("auto", "none", NULL, &site, &err) == HT_PRECONDITION);
    CHECK(strstr(err.text, "--sandbox namespaces") != NULL);
}

static void the_servers_folder_is_hidden_as_a_whole(void)
{
    struct site site;
    struct ht_error err;
    CHECK(decide("none", "none", "file=2K", &site, &err) == HT_OK);
    CHECK(site.guest.file_bytes == 2048);
    CHECK(site.guest_command.n == 0);
    CHECK(guest_hides(&site.guest, arena_printf(arena, "%s/data", state)));
    CHECK(guest_hides(&site.guest, arena_printf(arena, "%s/data/x", state)));
    CHECK(!guest_hides(&site.guest, arena_printf(arena, "%s/data2", state)));
    CHECK(!guest_hides(&site.guest, state));
}

static void a_file_is_a_guests_if_it_may_write_there(void)
{
    const char *const group = "50";
    const struct guest all = {.first_uid = 0};
    const struct guest guest = {
        .first_uid = 100, .last_uid = 110, .groups = {1, &group}};
    const struct {
        uid_t uid;
        gid_t gid;
        mode_t mode;
        bool may;
    } table[] = {
        {100, 0, 0600, true},  {110, 0, 0600, true}, {111, 0, 0644, false},
        {0, 0, 0644, false},   {0, 0, 0666, true},   {0, 105, 0664, true},
        {0, 105, 0644, false}, {0, 50, 0660, true},  {0, 51, 0660, false}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct stat file = {.st_uid = table[i].uid,
                                  .st_gid = table[i].gid,
                                  .st_mode = S_IFREG | table[i].mode};
        CHECK(guest_may_write(&guest, &file) == table[i].may);
        CHECK(guest_may_write(&all, &file));
    }
}

int main(void)
{
    char folder[PATH_MAX], real[PATH_MAX];
    runner_fixture_init();
    arena = arena_new();
    CHECK(realpath(runner_fixture_folder(folder), real) != NULL);
    state = real;
    CHECK(disk_make_folder(arena_printf(arena, "%s/data/runs", state), NULL) ==
          HT_OK);
    const char *data = arena_printf(arena, "%s/data", state);
    CHECK(disk_write(data, "token", "x", 1, 0600, NULL) == HT_OK);
    CHECK(disk_write(data, "hypertune.db", "x", 1, 0600, NULL) == HT_OK);
    RUN(a_wrong_option_is_named);
    RUN(another_user_is_for_root);
    RUN(the_servers_folder_is_hidden_as_a_whole);
    RUN(a_file_is_a_guests_if_it_may_write_there);
    arena_free(arena);
    runner_fixture_fini();
    return check_done();
}
