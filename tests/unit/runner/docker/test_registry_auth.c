#include "runner/docker/registry_auth.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/doc/json.h"
#include "runner/base/disk.h"
#include "runner/base/procfs.h"
#include "tests/check.h"
#include "tests/lib/runner_fixture.h"

static char folder[PATH_MAX]; /* of config.json and the helpers */
static char config_variable[PATH_MAX], home_variable[PATH_MAX];
static struct arena *arena;
static struct ht_error err;

static char *lookup(const char *name)
{
    if (strcmp(name, "DOCKER_CONFIG") == 0 && config_variable[0] != '\0')
        return config_variable;
    return strcmp(name, "HOME") == 0 ? home_variable : NULL;
}

static void write_config(const char *json)
{
    CHECK(disk_replace(folder, "config.json", json, strlen(json), 0600, NULL) ==
          HT_OK);
}

/* docker-credential-NAME, a shell script; $0 is its path. */
static void write_helper(const char *name, const char *script)
{
    char file[64];
    struct text text = {0};
    (void)snprintf(file, sizeof file, "docker-credential-%s", name);
    text_printf(&text, "#!/bin/sh\n%s\n", script);
    CHECK(disk_replace(folder, file, text.data, text.len, 0700, NULL) == HT_OK);
    text_free(&text);
}

/* The standard letters of what was made with - and _. */
static const char *decode(const char *auth)
{
    char *usual = arena_strdup(arena, auth);
    for (char *p = usual; *p != '\0'; p++)
        *p = *p == '-' ? '+' : *p == '_' ? '/' : *p;
    size_t len;
    return registry_auth_decode(arena, usual, &len);
}

/* The credentials that the engine gets for an image, NULL: none. */
static const char *find(const char *image)
{
    const char *auth = "unset";
    err.text[0] = '\0';
    CHECK(registry_auth_find(arena, image, lookup, &auth, &err) == HT_OK);
    if (err.text[0] != '\0')
        printf("# %s\n", err.text);
    return auth != NULL ? decode(auth) : NULL;
}

static enum ht_status fail(const char *image)
{
    const char *auth = "unset";
    const enum ht_status status =
        registry_auth_find(arena, image, lookup, &auth, &err);
    CHECK_TEXT(auth, "unset");
    return status;
}

/* ---- names and letters ---- */

static void an_images_registry_is_the_first_part_of_its_name(void)
{
    static const char *const cases[][2] = {
        {"debian", "docker.io"},
        {"debian:12", "docker.io"},
        {"person/image:1", "docker.io"},
        {"docker.io/library/debian", "docker.io"},
        {"index.docker.io/library/debian", "docker.io"},
        {"localhost/a:1", "localhost"},
        {"localhost:5000/a", "localhost:5000"},
        {"registry:5000/a/b:tag", "registry:5000"},
        {"registry.example.com/a@sha256:00", "registry.example.com"},
        {"registry.example.com:5000/a/b:tag", "registry.example.com:5000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(registry_auth_host(arena, cases[i][0]), cases[i][1]);
}

static void base64_is_that_of_the_standard(void)
{
    /* RFC 4648, section 10 */
    static const char *const cases[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    size_t len;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *plain = cases[i][0];
        CHECK_TEXT(registry_auth_encode(arena, plain, strlen(plain)),
                   cases[i][1]);
        CHECK_TEXT(registry_auth_decode(arena, cases[i][1], &len), plain);
        CHECK(len == strlen(plain));
    }
    CHECK_TEXT(registry_auth_encode(arena, "\xfb\xff\xfe", 3), "-__-");
    CHECK_TEXT(registry_auth_decode(arena, "+//+", &len), "\xfb\xff\xfe");
    CHECK_TEXT(registry_auth_decode(arena, "Zm8", &len), "fo");
    static const char *const wrong[] = {
        "Z", "Zg=", "Zg===", "Z===", "Zm9v=", "Zm.v", "=", "Zg==Zg=="};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(registry_auth_decode(arena, wrong[i], &len) == NULL);
}

/* ---- the file ---- */

static void without_a_file_there_are_no_credentials(void)
{
    CHECK(find("registry.example.com/a") == NULL);
    (void)snprintf(config_variable, sizeof config_variable, "%s/none", folder);
    CHECK(find("registry.example.com/a") == NULL);
    config_variable[0] = '\0';
    home_variable[0] = '\0';
    CHECK(find("registry.example.com/a") == NULL);
}

static void the_file_is_looked_for_as_docker_does(void)
{
    char home[PATH_MAX], docker[PATH_MAX + 16];
    static const char json[] =
        "{\"auths\":{\"r.example.com\":{\"auth\":\"aG9tZTpw\"}}}"; /* home:p */
    runner_fixture_folder(home);
    (void)snprintf(docker, sizeof docker, "%s/.docker", home);
    CHECK(mkdir(docker, 0700) == 0);
    CHECK(disk_replace(docker, "config.json", json, strlen(json), 0600, NULL) ==
          HT_OK);
    (void)snprintf(home_variable, sizeof home_variable, "%s", home);
    CHECK(strstr(find("r.example.com/a"), "\"username\":\"home\"") != NULL);
    write_config("{}");
    (void)snprintf(config_variable, sizeof config_variable, "%s", folder);
    CHECK(find("r.example.com/a") == NULL);
}

static void user_and_password_are_those_of_auth(void)
{
    write_config("{\"auths\":{\"r.example.com:5000\":"
                 "{\"auth\":\"YW5uOnA6eA==\"}}}"); /* ann:p:x */
    CHECK_TEXT(find("r.example.com:5000/a:1"),
               "{\"username\":\"ann\",\"password\":\"p:x\","
               "\"serveraddress\":\"r.example.com:5000\"}");
    CHECK(find("r.example.com/a:1") == NULL);
    CHECK(find("other.example.com:5000/a:1") == NULL);
    CHECK(find("debian") == NULL);
}

static void keys_may_be_urls(void)
{
    write_config("{\"auths\":{"
                 "\"https://index.docker.io/v1/\":{\"auth\":\"aHViOnA=\"},"
                 "\"https://a.example.com\":{\"auth\":\"YTpw\"},"
                 "\"http://b.example.com/v2/\":{\"auth\":\"Yjpw\"},"
                 "\"c.example.com/space\":{\"auth\":\"Yzpw\"}}}");
    CHECK_TEXT(find("debian"),
               "{\"username\":\"hub\",\"password\":\"p\","
               "\"serveraddress\":\"https://index.docker.io/v1/\"}");
    CHECK(strstr(find("docker.io/a/b"), "\"hub\"") != NULL);
    CHECK(strstr(find("a.example.com/a"), "\"username\":\"a\"") != NULL);
    CHECK(strstr(find("b.example.com/a"), "\"username\":\"b\"") != NULL);
    CHECK(find("c.example.com/a") == NULL); /* for a part of it only */
}

static void other_forms_of_credentials_are_known(void)
{
    write_config("{\"auths\":{"
                 "\"a.example.com\":{\"username\":\"ann\",\"password\":\"p\"},"
                 "\"b.example.com\":{\"auth\":\"YTpw\","
                 "\"identitytoken\":\"long\"},"
                 "\"c.example.com\":{}}}");
    CHECK(strstr(find("a.example.com/x"),
                 "\"username\":\"ann\",\"password\":\"p\"") != NULL);
    CHECK_TEXT(find("b.example.com/x"), "{\"identitytoken\":\"long\","
                                        "\"serveraddress\":\"b.example.com\"}");
    CHECK(find("c.example.com/x") == NULL);
}

static void a_damaged_file_is_reported_without_its_secrets(void)
{
    write_config("{\"auths\":{\"a.example.com\":{\"auth\":\"secret!\"}}}");
    CHECK(fail("a.example.com/x") == HT_INVALID);
    CHECK(strstr(err.text, "secret") == NULL);
    write_config("{\"auths\":{\n\"a.example.com\": secret}}");
    CHECK(fail("a.example.com/x") == HT_INVALID);
    CHECK(strstr(err.text, "config.json:2:18") != NULL);
    CHECK(strstr(err.text, "secret") == NULL);
    write_config("");
    CHECK(fail("a.example.com/x") == HT_INVALID);
}

static void a_file_that_cannot_be_read_is_reported(void)
{
    char path[PATH_MAX + 16];
    (void)snprintf(path, sizeof path, "%s/config.json", folder);
    CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
    CHECK(fail("a.example.com/x") == HT_IO);
    CHECK(rmdir(path) == 0);
}

static void a_linked_file_is_read(void)
{
    char from[PATH_MAX + 16], to[PATH_MAX + 16];
    write_config("{\"auths\":{\"a.example.com\":{\"auth\":\"YTpw\"}}}");
    (void)snprintf(from, sizeof from, "%s/config.json", folder);
    (void)snprintf(to, sizeof to, "%s/real.json", folder);
    CHECK(rename(from, to) == 0 && symlink(to, from) == 0);
    CHECK(find("a.example.com/x") != NULL);
    CHECK(unlink(from) == 0);
}

/* ---- helpers ---- */

static void a_helper_is_asked_for_its_registry(void)
{
    write_helper("one", "read server\n[ \"$1\" = get ] || exit 9\n"
                        "echo '{\"ServerURL\":\"x\",\"Username\":\"'$server'\","
                        "\"Secret\":\"one\"}'");
    write_helper("all", "read server\n"
                        "echo '{\"Username\":\"'$server'\","
                        "\"Secret\":\"all\"}'");
    write_config("{\"credHelpers\":{\"a.example.com\":\"one\"},"
                 "\"credsStore\":\"all\"}");
    CHECK_TEXT(find("a.example.com/x"),
               "{\"username\":\"a.example.com\",\"password\":\"one\","
               "\"serveraddress\":\"a.example.com\"}");
    CHECK_TEXT(find("debian"),
               "{\"username\":\"https://index.docker.io/v1/\","
               "\"password\":\"all\","
               "\"serveraddress\":\"https://index.docker.io/v1/\"}");
}

static void a_helpers_token_is_an_identity(void)
{
    write_helper("one", "echo '{\"Username\":\"<token>\",\"Secret\":\"tok\"}'");
    write_config("{\"credsStore\":\"one\"}");
    CHECK_TEXT(find("a.example.com/x"), "{\"identitytoken\":\"tok\","
                                        "\"serveraddress\":\"a.example.com\"}");
}

static void a_helper_without_any_leaves_it_to_the_file(void)
{
    write_helper("one",
                 "echo 'credentials not found in native keychain'\nexit 1");
    write_config("{\"credsStore\":\"one\","
                 "\"auths\":{\"a.example.com\":{\"auth\":\"YTpw\"},"
                 "\"b.example.com\":{}}}");
    CHECK(strstr(find("a.example.com/x"), "\"username\":\"a\"") != NULL);
    CHECK(find("b.example.com/x") == NULL);
}

static void a_helper_that_fails_is_reported_without_its_words(void)
{
    write_config("{\"credsStore\":\"one\"}");
    write_helper("one", "echo 'secret'\nexit 3");
    CHECK(fail("a.example.com/x") == HT_IO);
    CHECK(strstr(err.text, "docker-credential-one failed with code 3") != NULL);
    CHECK(strstr(err.text, "secret") == NULL);
    write_helper("one", "echo 'secret'");
    CHECK(fail("a.example.com/x") == HT_IO);
    CHECK(strstr(err.text, "did not answer with credentials") != NULL);
    CHECK(strstr(err.text, "secret") == NULL);
    write_helper("one", "kill -9 $$");
    CHECK(fail("a.example.com/x") == HT_IO);
    write_config("{\"credsStore\":\"absent\"}");
    CHECK(fail("a.example.com/x") == HT_IO);
    CHECK(strstr(err.text, "cannot run docker-credential-absent: No such") !=
          NULL);
    write_config("{\"credsStore\":\"../../bin/sh\"}");
    CHECK(fail("a.example.com/x") == HT_INVALID);
}

static void a_helper_that_writes_too_much_is_ended(void)
{
    write_config("{\"credsStore\":\"one\"}");
    write_helper("one", "exec yes");
    CHECK(fail("a.example.com/x") == HT_IO);
}

static void a_slow_helper_is_ended_with_what_it_started(void)
{
    enum { SHORT_MS = 300 };
    const struct node *found;
    char pid[PATH_MAX + 16];
    (void)snprintf(pid, sizeof pid, "%s/pid", folder);
    write_helper("slow", "sleep 60 & echo $! >${0%/*}/pid; wait");
    const int64_t begin = clock_monotonic_ms();
    CHECK(registry_auth_ask_helper(arena, "slow", "x", SHORT_MS, &found,
                                   &err) == HT_IO);
    CHECK(clock_monotonic_ms() - begin >= SHORT_MS);
    CHECK(strstr(err.text, "too slow") != NULL);
    struct disk_bytes number = {.data = "0"};
    CHECK(disk_read(arena, folder, "pid", 32, &number, NULL) == HT_OK);
    const pid_t child = (pid_t)atoi(number.data);
    struct process process;
    CHECK(child > 0);
    UNTIL(procfs_identify(child, &process, NULL) != HT_OK ||
          !procfs_is_alive(&process));
}

int main(void)
{
    json_init();
    runner_fixture_init();
    runner_fixture_folder(folder);
    runner_fixture_folder(home_variable);
    arena = arena_new();
    struct text path = {0};
    text_printf(&path, "%s:%s", folder, getenv("PATH"));
    setenv("PATH", path.data, 1);
    text_free(&path);
    RUN(an_images_registry_is_the_first_part_of_its_name);
    RUN(base64_is_that_of_the_standard);
    RUN(without_a_file_there_are_no_credentials);
    RUN(the_file_is_looked_for_as_docker_does);
    RUN(user_and_password_are_those_of_auth);
    RUN(keys_may_be_urls);
    RUN(other_forms_of_credentials_are_known);
    RUN(a_damaged_file_is_reported_without_its_secrets);
    RUN(a_file_that_cannot_be_read_is_reported);
    RUN(a_linked_file_is_read);
    RUN(a_helper_is_asked_for_its_registry);
    RUN(a_helpers_token_is_an_identity);
    RUN(a_helper_without_any_leaves_it_to_the_file);
    RUN(a_helper_that_fails_is_reported_without_its_words);
    RUN(a_helper_that_writes_too_much_is_ended);
    RUN(a_slow_helper_is_ended_with_what_it_started);
    arena_free(arena);
    runner_fixture_fini();
    return check_done();
}
