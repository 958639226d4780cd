/* Which keys of service accounts there are, and what an attempt gets. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

#include "proto/doc/json.h"
#include "runner/base/credentials.h"
#include "runner/base/disk.h"
#include "tests/lib/runner_fixture.h"

#define KEY(name) "{\"client_email\":\"" name "\"}"

struct place {
    char root[PATH_MAX];
    char folder[PATH_MAX + 8], state[PATH_MAX + 8];
    struct site site;
    struct arena *arena;
};

static void place_open(struct place *place)
{
    runner_fixture_folder(place->root);
    (void)snprintf(place->folder, sizeof place->folder, "%s/keys", place->root);
    (void)snprintf(place->state, sizeof place->state, "%s/state", place->root);
    CHECK(disk_make_folder(place->folder, NULL) == HT_OK);
    place->site =
        (struct site){.state = place->state, .credentials = place->folder};
    place->arena = arena_new();
}

static void add_file(const struct place *place, const char *name,
                     const char *content, mode_t mode)
{
    CHECK(disk_replace(place->folder, name, content, strlen(content), mode,
                       NULL) == HT_OK);
}

static const char *path_of(const struct place *place, const char *name)
{
    return arena_printf(place->arena, "%s/%s", place->folder, name);
}

/* NULL: the job names none. */
static struct order *order_for(const char *account)
{
    struct text lease = {0};
    text_puts(&lease,
              "{\"study\":2,\"trial\":5,\"attempt\":1,\"token\":\"t\",");
    if (account != NULL)
        text_printf(&lease, "\"serviceAccount\":\"%s\",", account);
    text_puts(&lease, "\"replicas\":[{\"type\":\"master\",\"index\":0,"
                      "\"argv\":[\"a\"]}]}");
    return runner_fixture_order(&lease);
}

static struct credentials give(const struct place *place, const char *account)
{
    struct credentials given = {.missing = "(not written)"};
    struct order *order = order_for(account);
    struct ht_error err = {.text = ""};
    if (credentials_copy(place->arena, &place->site, order, &given, &err) !=
        HT_OK)
        CHECK_TEXT(err.text, "no error");
    order_free(order);
    return given;
}

/* What is there as one line. */
static const char *accounts_of(const struct place *place)
{
    const struct strings found =
        credentials_accounts(place->arena, &place->site);
    const char *line = "";
    for (size_t i = 0; i < found.n; i++)
        line = arena_printf(place->arena, "%s%s%s", line, i > 0 ? " " : "",
                            found.items[i]);
    return line;
}

/* ---- the folder ---- */

static void accounts_are_the_files_that_can_be_used(void)
{
    struct place place;
    place_open(&place);
    add_file(&place, "b@p.json", KEY("b"), 0600);
    add_file(&place, "a@p.json", KEY("a"), 0640);
    add_file(&place, "default.json", KEY("d"), 0400);
    add_file(&place, "open@p.json", KEY("o"), 0644);
    add_file(&place, "text@p.json", "no key", 0600);
    add_file(&place, "list@p.json", "[]", 0600);
    add_file(&place, "a@p.txt", KEY("t"), 0600);
    add_file(&place, ".json", KEY("n"), 0600);
    add_file(&place, ".hidden.json", KEY("h"), 0600);
    CHECK(mkdir(path_of(&place, "folder@p.json"), 0700) == 0);
    CHECK(mkfifo(path_of(&place, "pipe@p.json"), 0600) == 0);
    CHECK(symlink("a@p.json", path_of(&place, "link@p.json")) == 0);
    CHECK_TEXT(accounts_of(&place), "a@p b@p default");
    arena_free(place.arena);
}

static void a_file_of_another_user_is_not_taken(void)
{
    struct place place;
    place_open(&place);
    add_file(&place, "a@p.json", KEY("a"), 0600);
    if (chown(path_of(&place, "a@p.json"), 4711, 4711) == 0) {
        CHECK_TEXT(accounts_of(&place), "");
        const struct credentials given = give(&place, "a@p");
        CHECK(given.file == NULL);
        CHECK(strstr(given.missing, "belongs neither to the runner's user") !=
              NULL);
    }
    arena_free(place.arena);
}

static void a_key_is_not_endless(void)
{
    static char large[65 * 1024];
    struct place place;
    place_open(&place);
    memset(large, ' ', sizeof large - 1);
    large[0] = '{';
    large[1] = '}';
    add_file(&place, "a@p.json", large, 0600);
    CHECK_TEXT(accounts_of(&place), "");
    CHECK(strstr(give(&place, "a@p").missing, "is longer than 65536 bytes") !=
          NULL);
    arena_free(place.arena);
}

static void without_a_folder_there_are_no_accounts(void)
{
    struct place place;
    place_open(&place);
    place.site.credentials = NULL;
    CHECK_TEXT(accounts_of(&place), "");
    place.site.credentials = path_of(&place, "absent");
    CHECK_TEXT(accounts_of(&place), "");
    arena_free(place.arena);
}

/* ---- an attempt ---- */

static void an_attempt_gets_a_copy_that_any_user_inside_can_read(void)
{
    struct place place;
    struct stat info;
    place_open(&place);
    add_file(&place, "a@p.json", KEY("a"), 0600);
    const struct credentials given = give(&place, "a@p");
    CHECK(given.missing == NULL && given.file != NULL);
    if (given.file == NULL)
        return;
    char *text = runner_fixture_text(place.state, "credentials/2-5-1.json");
    CHECK_TEXT(text, KEY("a"));
    free(text);
    CHECK(stat(given.file, &info) == 0 && (info.st_mode & 0777) == 0444);
    const char *folder =
        arena_printf(place.arena, "%s/credentials", place.state);
    CHECK(stat(folder, &info) == 0 && (info.st_mode & 0777) == 0700);
    const struct order_key key = {2, 5, 1};
    CHECK_TEXT(credentials_path(place.arena, &place.site, &key), given.file);
    credentials_remove(&place.site, &key);
    CHECK(access(given.file, F_OK) != 0);
    credentials_remove(&place.site, &key); /* once is enough */
    arena_free(place.arena);
}

static void a_job_without_an_account_gets_the_default(void)
{
    struct place place;
    place_open(&place);
    struct credentials given = give(&place, NULL);
    CHECK(given.file == NULL && given.missing == NULL);
    add_file(&place, "default.json", KEY("d"), 0600);
    given = give(&place, NULL);
    CHECK(given.file != NULL && given.missing == NULL);
    CHECK(runner_fixture_file_has(place.state, "credentials/2-5-1.json",
                                  KEY("d")));
    arena_free(place.arena);
}

static void another_account_is_no_stand_in(void)
{
    struct place place;
    place_open(&place);
    add_file(&place, "default.json", KEY("d"), 0600);
    const struct credentials given = give(&place, "a@p");
    CHECK(given.file == NULL);
    CHECK_TEXT(given.missing, "no credentials of a@p: a@p.json is not there in "
                              "this runner's --credentials folder; it runs "
                              "without");
    CHECK(!disk_has(place.state, "credentials/2-5-1.json"));
    arena_free(place.arena);
}

static void what_is_lacking_is_said_in_one_line(void)
{
    struct place place;
    place_open(&place);
    add_file(&place, "open@p.json", KEY("o"), 0604);
    CHECK(symlink("/etc/passwd", path_of(&place, "link@p.json")) == 0);
    CHECK_TEXT(give(&place, "open@p").missing,
               "no credentials of open@p: open@p.json is open to other users "
               "(chmod o= it); it runs without");
    CHECK_TEXT(give(&place, "link@p").missing,
               "no credentials of link@p: link@p.json is a symbolic link; it "
               "runs without");
    place.site.credentials = NULL;
    CHECK_TEXT(give(&place, "a@p").missing,
               "no credentials of a@p: this runner has no folder of them "
               "(--credentials DIR); it runs without");
    arena_free(place.arena);
}

/* The runner was killed, and the key removed meanwhile. */
static void a_copy_of_an_earlier_try_does_not_stay(void)
{
    struct place place;
    place_open(&place);
    add_file(&place, "a@p.json", KEY("a"), 0600);
    const struct credentials given = give(&place, "a@p");
    CHECK(unlink(path_of(&place, "a@p.json")) == 0);
    CHECK(give(&place, "a@p").file == NULL);
    CHECK(given.file != NULL && access(given.file, F_OK) != 0);
    arena_free(place.arena);
}

static void a_copy_that_cannot_be_written_is_reported(void)
{
    struct place place;
    struct credentials given;
    struct ht_error err;
    place_open(&place);
    add_file(&place, "a@p.json", KEY("a"), 0600);
    place.site.state = path_of(&place, "a@p.json"); /* no folder */
    struct order *order = order_for("a@p");
    CHECK(credentials_copy(place.arena, &place.site, order, &given, &err) !=
          HT_OK);
    order_free(order);
    arena_free(place.arena);
}

static void what_is_secret_of_a_key_is_known(void)
{
    struct place place;
    place_open(&place);
    add_file(&place, "a@p.json",
             "{\"client_email\":\"a\",\"private_key\":\"BEGIN\\nabc\\n\","
             "\"private_key_id\":\"k1\",\"refresh_token\":\"r\"}",
             0600);
    const struct strings secrets =
        credentials_secrets(place.arena, path_of(&place, "a@p.json"));
    CHECK(secrets.n == 3);
    CHECK_TEXT(secrets.items[0], "BEGIN\nabc\n");
    CHECK_TEXT(secrets.items[1], "k1");
    CHECK_TEXT(secrets.items[2], "r");
    CHECK(credentials_secrets(place.arena, path_of(&place, "absent")).n == 0);
    CHECK(credentials_secrets(place.arena, "").n == 0);
    arena_free(place.arena);
}

int main(void)
{
    json_init();
    runner_fixture_init();
    RUN(accounts_are_the_files_that_can_be_used);
    RUN(a_file_of_another_user_is_not_taken);
    RUN(a_key_is_not_endless);
    RUN(without_a_folder_there_are_no_accounts);
    RUN(an_attempt_gets_a_copy_that_any_user_inside_can_read);
    RUN(a_job_without_an_account_gets_the_default);
    RUN(another_account_is_no_stand_in);
    RUN(what_is_lacking_is_said_in_one_line);
    RUN(a_copy_of_an_earlier_try_does_not_stay);
    RUN(a_copy_that_cannot_be_written_is_reported);
    RUN(what_is_secret_of_a_key_is_known);
    runner_fixture_fini();
    return check_done();
}
