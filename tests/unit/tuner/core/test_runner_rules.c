/* What an admin allows, and secrets that only the runner knows. */
#include "tests/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/attempt/replica_env.h"
#include "runner/base/rules.h"

static struct arena *arena;
static struct ht_error err;

static struct strings rules_of(const char *text)
{
    struct strings allowed = {0};
    CHECK(rules_read(arena, text, &allowed, &err) == HT_OK);
    return allowed;
}

static void rules_are_names_of_a_list(void)
{
    struct site site = {.allowed = rules_of(" host-network,privileged ,")};
    CHECK(site.allowed.n == 2);
    CHECK(rules_allow(&site, "host-network"));
    CHECK(rules_allow(&site, "privileged"));
    CHECK(!rules_allow(&site, "host-pid"));
    struct strings none = {0};
    CHECK(rules_read(arena, "host", &none, &err) == HT_INVALID);
    CHECK(strstr(err.text, "host-network") != NULL);
    CHECK(rules_read(arena, "root-capabilities,x", &none, &err) == HT_INVALID);
    CHECK(rules_of("root-capabilities").n == 1);
    CHECK(rules_of("").n == 0);
}

static const char *refusal(const struct site *site,
                           const struct container_options *container)
{
    const struct order order = {.container = *container};
    err.text[0] = '\0';
    const enum ht_status status = rules_check(site, &order, &err);
    CHECK(status == HT_OK || status == HT_PRECONDITION);
    return status == HT_OK ? NULL : err.text;
}

static void what_reaches_out_needs_a_rule(void)
{
    static const struct {
        struct container_options container;
        const char *rule;
    } cases[] = {
        {{.network = "host"}, "host-network"},
        {{.network = "office"}, "networks"},
        {{.privileged = true}, "privileged"},
        {{.host_pid = true}, "host-pid"},
    };
    const struct site closed = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct site open = {.allowed = rules_of(cases[i].rule)};
        const char *words = refusal(&closed, &cases[i].container);
        CHECK(words != NULL && strstr(words, cases[i].rule) != NULL);
        CHECK(refusal(&open, &cases[i].container) == NULL);
    }
}

static void the_usual_needs_none(void)
{
    const struct site closed = {0};
    const struct container_options usual[] = {
        {.network = NULL},
        {.network = "none"},
        {.user = "1000"},
        {.user = "1000:1000"},
        {.user = "trainer", .read_only = true},
    };
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        CHECK(refusal(&closed, &usual[i]) == NULL);
}

static void another_containers_network_is_never_joined(void)
{
    const struct site open = {.allowed = rules_of("networks,host-network")};
    const char *const wrong[] = {"container:abc", "ns:/proc/1/ns/net", "", "-x",
                                 "a b"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(refusal(&open, &(struct container_options){
                                 .network = wrong[i]}) != NULL);
}

static void users_are_names_or_numbers(void)
{
    const struct site site = {0};
    const char *const wrong[] = {"", "a b", "a:b:c", "a:", ":1", "-1", "a\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(refusal(&site, &(struct container_options){.user = wrong[i]}) !=
              NULL);
}

static void names_of_variables_and_images_are_plain(void)
{
    const struct pair variable = {"A\nB", "c"};
    const struct replica_order replicas[] = {
        {.name = "master-0", .env = {1, &variable}},
        {.name = "worker-0", .image = "--privileged"},
        {.name = "ps-0", .image = "a b"},
    };
    const struct site site = {0};
    for (size_t i = 0; i < sizeof replicas / sizeof *replicas; i++) {
        const struct order order = {.n_replicas = 1, .replicas = &replicas[i]};
        CHECK(rules_check(&site, &order, &err) == HT_PRECONDITION);
        CHECK(strncmp(err.text, replicas[i].name, 4) == 0);
    }
}

/* ---- folders and secrets ---- */

static char folder[64];

static void write_file(const char *name, const char *bytes, size_t len)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
    close(fd);
}

static void link_file(const char *target, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK(symlink(target, path) == 0);
}

static void remove_file(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK(unlink(path) == 0);
}

static void folders_are_real_ones(void)
{
    struct strings folders = {0};
    char words[256];
    write_file("plain", "x", 1);
    snprintf(words, sizeof words, "%s/../%s,/", folder,
             strrchr(folder, '/') + 1);
    CHECK(rules_folders(arena, "volume-root", words, &folders, &err) == HT_OK);
    CHECK(folders.n == 2);
    CHECK(strstr(folders.items[0], "..") == NULL);
    snprintf(words, sizeof words, "/,%s/plain", folder);
    CHECK(rules_folders(arena, "volume-root", words, &folders, &err) ==
          HT_INVALID);
    CHECK(strstr(err.text, "--volume-root: ") == err.text);
    CHECK(rules_folders(arena, "secrets", "/no/such", &folders, &err) ==
          HT_INVALID);
    remove_file("plain");
}

static char *lookup(const char *name)
{
    static char value[] = "from-a-variable";
    return strcmp(name, "HYPERTUNE_SECRET_TOKEN") == 0 ? value : NULL;
}

static enum ht_status find(const struct secret *secret, struct pairs *values)
{
    const struct site site = {.secrets = folder};
    const struct order order = {.n_secrets = 1, .secrets = secret};
    err.text[0] = '\0';
    return replica_env_secrets(arena, &site, &order, lookup, values, &err);
}

static void secrets_come_from_files_and_variables(void)
{
    struct pairs values = {0};
    write_file("key", "k3y\n\n", 5);
    CHECK(find(&(struct secret){.name = "KEY", .file = "key"}, &values) ==
          HT_OK);
    CHECK(values.n == 1);
    CHECK_TEXT(values.items[0].name, "KEY");
    CHECK_TEXT(values.items[0].value, "k3y\n");
    CHECK(find(&(struct secret){.name = "T", .env = "TOKEN"}, &values) ==
          HT_OK);
    CHECK_TEXT(values.items[0].value, "from-a-variable");
    remove_file("key");
}

static void refuse(const struct secret *secret)
{
    struct pairs values = {0};
    CHECK(find(secret, &values) == HT_PRECONDITION);
    CHECK(strstr(err.text, "secrets.S") == err.text);
    CHECK(strstr(err.text, "hidden") == NULL);
}

static void secrets_never_leave_their_folder(void)
{
    write_file("real", "hidden", 6);
    write_file("zero", "hid\0den", 7);
    link_file("real", "link");
    link_file("/dev/zero", "device");
    refuse(&(struct secret){.name = "S", .file = "link"});
    refuse(&(struct secret){.name = "S", .file = "device"});
    refuse(&(struct secret){.name = "S", .file = "zero"});
    refuse(&(struct secret){.name = "S", .file = "../x"});
    refuse(&(struct secret){.name = "S", .file = "."});
    refuse(&(struct secret){.name = "S", .file = "none"});
    refuse(&(struct secret){.name = "S", .env = "NONE"});
    refuse(&(struct secret){.name = "S"});
    remove_file("real");
    remove_file("zero");
    remove_file("link");
    remove_file("device");
}

static void a_pipe_or_a_flood_is_no_secret(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/pipe", folder);
    CHECK(mkfifo(path, 0600) == 0);
    refuse(&(struct secret){.name = "S", .file = "pipe"});
    remove_file("pipe");
    char *flood = ht_xcalloc(70000, 1);
    memset(flood, 'a', 70000);
    write_file("flood", flood, 70000);
    refuse(&(struct secret){.name = "S", .file = "flood"});
    remove_file("flood");
    free(flood);
}

int main(void)
{
    const char *root = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/ht-rules-XXXXXX",
             root == NULL ? "/tmp" : root);
    CHECK(mkdtemp(folder) != NULL);
    arena = arena_new();
    RUN(rules_are_names_of_a_list);
    RUN(what_reaches_out_needs_a_rule);
    RUN(the_usual_needs_none);
    RUN(another_containers_network_is_never_joined);
    RUN(users_are_names_or_numbers);
    RUN(names_of_variables_and_images_are_plain);
    RUN(folders_are_real_ones);
    RUN(secrets_come_from_files_and_variables);
    RUN(secrets_never_leave_their_folder);
    RUN(a_pipe_or_a_flood_is_no_secret);
    arena_free(arena);
    CHECK(rmdir(folder) == 0);
    return check_done();
}
