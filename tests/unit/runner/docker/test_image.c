/* image.h against an engine that fails on request. */
#include "runner/docker/image.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include <curl/curl.h>

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "runner/base/disk.h"
#include "tests/check.h"
#include "tests/lib/fake_engine.h"
#include "tests/lib/runner_fixture.h"

enum { PAUSE_MS = 1 };

static const char *const docker[] = {"--image", "here:1", NULL};
static const char *const podman[] = {"--image", "here:1", "--dialect", "podman",
                                     NULL};
static struct fake_engine fake;
static struct fake_engine_client client;
static struct image image;
static struct text lines; /* lines of progress */
static char home[PATH_MAX];

static char *lookup(const char *name)
{
    return strcmp(name, "HOME") == 0 ? home : NULL;
}

static void hear(void *context, const char *line)
{
    text_printf(context, "%s\n", line);
}

static enum ht_status get(const char *name, enum job_pull pull)
{
    const struct image_request request = {.name = name,
                                          .pull = pull,
                                          .progress = hear,
                                          .context = &lines,
                                          .lookup = lookup,
                                          .pause_ms = PAUSE_MS};
    text_clear(&lines);
    text_puts(&lines, "");
    client.err.text[0] = '\0';
    const enum ht_status status =
        image_get(client.docker, client.arena, &request, &image, &client.err);
    CHECK(status == HT_OK || client.err.status == status);
    return status;
}

static bool has_word(const char *text, const char *word)
{
    const bool has = strstr(text, word) != NULL;
    if (!has)
        printf("# \"%s\" is not in \"%s\"\n", word, text);
    return has;
}

static size_t count_pulls(void)
{
    struct arena *arena = arena_new();
    struct disk_bytes journal = {.data = ""};
    size_t n = 0;
    (void)disk_read(arena, fake.folder, "journal", 1 << 20, &journal, NULL);
    for (const char *p = journal.data;
         (p = strstr(p, "\"/images/create\"")) != NULL; p++)
        n++;
    arena_free(arena);
    return n;
}

static void open_both(const char *const more[])
{
    runner_fixture_folder(home);
    fake_engine_open(&fake, more);
    fake_engine_connect(&client, fake.host);
}

static void close_both(void)
{
    fake_engine_disconnect(&client);
    fake_engine_stop(&fake);
}

/* ---- its description ---- */

static void an_image_is_described_as_its_replica_finds_it(void)
{
    open_both(docker);
    fake_engine_script(
        &fake, "{\"registry\":[\"a.example.com/x:1\"],\"config\":{"
               "\"a.example.com/x:1\":{\"Entrypoint\":[\"/run\",\"-x\"],"
               "\"Cmd\":[1,\"y\",null],\"Env\":[\"A=1\",7,\"B=x=y\",\"odd\"],"
               "\"WorkingDir\":\"/w\",\"User\":\"1000:7\"}}}");
    CHECK(get("a.example.com/x:1", PULL_IF_NOT_PRESENT) == HT_OK);
    CHECK(strncmp(image.id, "sha256:", 7) == 0 && strlen(image.id) == 71);
    CHECK(strncmp(image.digest, "sha256:", 7) == 0);
    CHECK(strcmp(image.digest, image.id) != 0);
    CHECK(image.entrypoint.n == 2 && image.command.n == 1);
    CHECK_TEXT(image.entrypoint.items[1], "-x");
    CHECK_TEXT(image.command.items[0], "y");
    CHECK(image.env.n == 2);
    CHECK_TEXT(image.env.items[1].name, "B");
    CHECK_TEXT(image.env.items[1].value, "x=y");
    CHECK_TEXT(image.workdir, "/w");
    close_both();
}

static void what_an_image_leaves_out_is_absent(void)
{
    open_both(docker);
    fake_engine_script(&fake, "{\"faults\":[{\"path\":\"/images/.*/json\","
                              "\"do\":\"status\",\"status\":200,\"body\":"
                              "{\"Id\":\"sha256:00\",\"RepoDigests\":null,"
                              "\"Config\":{\"Entrypoint\":null,\"Cmd\":null,"
                              "\"Env\":null,\"WorkingDir\":\"\","
                              "\"User\":\"\"}}}]}");
    CHECK(get("x", PULL_NEVER) == HT_OK);
    CHECK(image.entrypoint.n == 0 && image.command.n == 0 && image.env.n == 0);
    CHECK(image.workdir == NULL);
    CHECK_TEXT(image.digest, "sha256:00");
    fake_engine_script(&fake, "{\"faults\":[{\"path\":\"/images/.*/json\","
                              "\"do\":\"status\",\"status\":200,"
                              "\"body\":{}}]}");
    CHECK(get("x", PULL_NEVER) == HT_INTERNAL);
    close_both();
}

static void the_digest_is_that_of_the_registry_it_came_from(void)
{
    open_both(docker);
    fake_engine_script(&fake, "{\"faults\":[{\"path\":\"/images/.*/json\","
                              "\"do\":\"status\",\"status\":200,\"body\":"
                              "{\"Id\":\"sha256:00\",\"RepoDigests\":["
                              "\"other/x@sha256:01\",\"r:5000/x@sha256:02\","
                              "\"r:5000/xy@sha256:03\"]}}]}");
    CHECK(get("r:5000/x:1", PULL_NEVER) == HT_OK);
    CHECK_TEXT(image.digest, "sha256:02");
    CHECK(get("r:5000/xy", PULL_NEVER) == HT_OK);
    CHECK_TEXT(image.digest, "sha256:03");
    CHECK(get("third", PULL_NEVER) == HT_OK);
    CHECK_TEXT(image.digest, "sha256:01");
    close_both();
}

/* ---- when it is pulled ---- */

static void policies_decide_about_the_pull(void)
{
    open_both(docker);
    fake_engine_script(&fake, "{\"registry\":[\"here:1\",\"there:1\"]}");
    CHECK(get("here:1", PULL_IF_NOT_PRESENT) == HT_OK);
    CHECK(get("here:1", PULL_NEVER) == HT_OK);
    CHECK(count_pulls() == 0);
    CHECK_TEXT(lines.data, "");
    CHECK(get("here:1", PULL_ALWAYS) == HT_OK);
    CHECK(count_pulls() == 1);
    CHECK(get("there:1", PULL_NEVER) == HT_PRECONDITION);
    CHECK(has_word(client.err.text, "pull: never"));
    CHECK(count_pulls() == 1);
    CHECK(get("there:1", PULL_IF_NOT_PRESENT) == HT_OK);
    CHECK(get("there:1", PULL_IF_NOT_PRESENT) == HT_OK);
    CHECK(count_pulls() == 2);
    close_both();
}

static void the_progress_is_reported_in_lines(void)
{
    open_both(docker);
    fake_engine_script(&fake, "{\"registry\":[\"a:1\"]}");
    CHECK(get("a:1", PULL_IF_NOT_PRESENT) == HT_OK);
    CHECK(strncmp(lines.data, "pulling a:1\n", 12) == 0);
    CHECK(has_word(lines.data, "pulling a:1: layer 4f4fb700ef54 "));
    CHECK(has_word(lines.data, "\npulled a:1 in "));
    close_both();
}

static void tags_and_digests_are_asked_for_apart(void)
{
    static const char *const cases[][2] = {
        {"a", "{\"fromImage\": \"a\", \"tag\": \"latest\"}"},
        {"a:1", "{\"fromImage\": \"a\", \"tag\": \"1\"}"},
        {"r:5000/b/c", "{\"fromImage\": \"r:5000/b/c\", \"tag\": \"latest\"}"},
        {"r:5000/b:2", "{\"fromImage\": \"r:5000/b\", \"tag\": \"2\"}"},
        {"d@sha256:00", "{\"fromImage\": \"d\", \"tag\": \"sha256:00\"}"},
        {"r:5000/e:3@sha256:01",
         "{\"fromImage\": \"r:5000/e\", \"tag\": \"sha256:01\"}"},
    };
    open_both(docker);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(get(cases[i][0], PULL_IF_NOT_PRESENT) == HT_PRECONDITION);
        CHECK(fake_engine_heard(&fake, cases[i][1]));
    }
    close_both();
}

static void a_name_that_is_none_never_reaches_the_engine(void)
{
    static const char *const wrong[] = {"",       "a b",    "/a",   "a/../b",
                                        "a?b=c",  "a%2fb",  "a//b", "\xc3\xa4",
                                        "a\nb:1", "a&tag=x"};
    open_both(docker);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(get(wrong[i], PULL_ALWAYS) == HT_PRECONDITION);
    CHECK(!fake_engine_heard(&fake, "/images"));
    close_both();
}

/* ---- failures ---- */

/* Every pull fails with these words, in the dialect's way. */
static void script_failure(bool in_stream, int status, const char *words)
{
    struct text script = {0};
    text_puts(&script, "{\"faults\":[{\"path\":\"/images/create\",");
    if (in_stream)
        text_printf(&script,
                    "\"do\":\"stream\",\"items\":[{\"status\":\"x\"},"
                    "{\"errorDetail\":{\"message\":\"%s\"},"
                    "\"error\":\"%s\"}]}]}",
                    words, words);
    else
        text_printf(&script,
                    "\"do\":\"status\",\"status\":%d,"
                    "\"body\":{\"message\":\"%s\"}}]}",
                    status, words);
    fake_engine_script(&fake, script.data);
    text_free(&script);
}

static const struct {
    int status; /* dockerd's; Podman says 200 and the words in the stream */
    const char *words;
    enum ht_status want;
    size_t tries;
    const char *advice;
} failures[] = {
    {404, "manifest for x:1 not found: manifest unknown", HT_PRECONDITION, 1,
     "there is none of that name and tag"},
    {404, "pull access denied for x, repository does not exist",
     HT_PRECONDITION, 1, "docker login r.example.com"},
    {500, "unauthorized: authentication required", HT_PRECONDITION, 1,
     "docker login r.example.com"},
    {500, "no matching manifest for linux/amd64", HT_PRECONDITION, 1,
     "none of"},
    {400, "invalid reference format", HT_PRECONDITION, 1, "none of"},
    {500, "x509: certificate signed by unknown authority", HT_PRECONDITION, 1,
     "does not trust registry r.example.com"},
    {500, "Get https://r.example.com/v2/: connection refused", HT_UNAVAILABLE,
     3, "cannot be pulled"},
    {500, "toomanyrequests: unauthorized rate", HT_UNAVAILABLE, 3,
     "cannot be pulled"},
    {500, "received unexpected HTTP status: 503 Service Unavailable",
     HT_UNAVAILABLE, 3, "cannot be pulled"},
    {500, "write /layer: no space left on device", HT_UNAVAILABLE, 3,
     "no space left"},
};

static void check_failures(const char *const more[], bool in_stream)
{
    open_both(more);
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        const size_t before = count_pulls();
        script_failure(in_stream, failures[i].status, failures[i].words);
        CHECK(get("r.example.com/x:1", PULL_IF_NOT_PRESENT) ==
              failures[i].want);
        CHECK(count_pulls() - before == failures[i].tries);
        CHECK(has_word(client.err.text, failures[i].advice));
        CHECK(has_word(client.err.text, failures[i].words));
        CHECK(has_word(client.err.text, "r.example.com/x:1"));
    }
    close_both();
}

static void dockerds_failures_are_cured_or_explained(void)
{
    check_failures(docker, false);
}

static void podmans_failures_are_cured_or_explained(void)
{
    check_failures(podman, true);
}

static void an_image_built_here_is_looked_for_nowhere_else(void)
{
    open_both(docker);
    script_failure(false, 500, "dial tcp 127.0.0.1:443: connection refused");
    CHECK(get("localhost/mine:1", PULL_IF_NOT_PRESENT) == HT_PRECONDITION);
    CHECK(count_pulls() == 1);
    CHECK(get("localhost:5000/mine:1", PULL_IF_NOT_PRESENT) == HT_UNAVAILABLE);
    CHECK(count_pulls() == 4);
    close_both();
}

static void a_pull_that_breaks_is_tried_again(void)
{
    static const char *const faults[] = {
        "\"do\":\"drop\"", "\"do\":\"garbage\"",
        "\"do\":\"status\",\"status\":503",
        "\"do\":\"status\",\"status\":200,\"body\":\"{\\\"status\\\":\""};
    open_both(docker);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct text script = {0};
        const size_t before = count_pulls();
        text_printf(&script,
                    "{\"registry\":[\"r.example.com/%zu:1\"],\"faults\":["
                    "{\"path\":\"/images/create\",\"nth\":[1,2],%s}]}",
                    i, faults[i]);
        fake_engine_script(&fake, script.data);
        text_clear(&script);
        text_printf(&script, "r.example.com/%zu:1", i);
        CHECK(get(script.data, PULL_IF_NOT_PRESENT) == HT_OK);
        CHECK(count_pulls() - before >= 3); /* curl repeats a dropped one */
        CHECK(has_word(lines.data, "; again in "));
        text_free(&script);
    }
    close_both();
}

static void a_pull_that_brings_nothing_is_reported(void)
{
    open_both(docker);
    fake_engine_script(&fake, "{\"faults\":[{\"path\":\"/images/create\","
                              "\"do\":\"stream\",\"items\":[]}]}");
    CHECK(get("x:1", PULL_IF_NOT_PRESENT) == HT_UNAVAILABLE);
    CHECK(has_word(client.err.text, "the engine does not have it"));
    close_both();
}

static void an_engine_that_does_not_answer_is_reported(void)
{
    open_both(docker);
    fake_engine_stop(&fake);
    CHECK(get("here:1", PULL_IF_NOT_PRESENT) == HT_UNAVAILABLE);
    CHECK(has_word(client.err.text, "cannot connect"));
    fake_engine_start(&fake, docker);
    close_both();
}

static void *cancel_when_heard(void *unused)
{
    (void)unused;
    UNTIL(fake_engine_heard(&fake, "/images/create"));
    docker_cancel(client.docker);
    return NULL;
}

static void a_cancel_ends_a_pull(void)
{
    pthread_t thread;
    open_both(docker);
    fake_engine_script(&fake, "{\"faults\":[{\"path\":\"/images/create\","
                              "\"do\":\"hang\"}]}");
    CHECK(pthread_create(&thread, NULL, cancel_when_heard, NULL) == 0);
    const int64_t begin = clock_monotonic_ms();
    CHECK(get("x:1", PULL_IF_NOT_PRESENT) == HT_UNAVAILABLE);
    CHECK(clock_monotonic_ms() - begin < PATIENCE_MS);
    pthread_join(thread, NULL);
    CHECK(count_pulls() == 1);
    CHECK(strstr(lines.data, "again") == NULL);
    close_both();
}

/* ---- credentials ---- */

static void write_config(const char *json)
{
    char path[PATH_MAX + 16];
    (void)snprintf(path, sizeof path, "%s/.docker", home);
    (void)mkdir(path, 0700);
    CHECK(disk_replace(path, "config.json", json, strlen(json), 0600, NULL) ==
          HT_OK);
}

static void credentials_go_to_the_engine_and_nowhere_else(void)
{
    open_both(docker);
    write_config("{\"auths\":{\"r.example.com\":"
                 "{\"auth\":\"YW5uOmh1bnRlcjI=\"}}}"); /* ann:hunter2 */
    CHECK(get("r.example.com/x:1", PULL_IF_NOT_PRESENT) == HT_PRECONDITION);
    /* {"username":"ann", */
    CHECK(fake_engine_heard(&fake, "\"auth\": \"eyJ1c2VybmFtZSI6ImFubiIs"));
    CHECK(strstr(lines.data, "hunter2") == NULL);
    CHECK(strstr(client.err.text, "hunter2") == NULL);
    CHECK(strstr(lines.data, "YW5uOmh1bnRlcjI") == NULL);
    close_both();
}

static void without_credentials_public_images_are_pulled_all_the_same(void)
{
    open_both(docker);
    write_config("{\"credsStore\":\"is-not-installed\"}");
    fake_engine_script(&fake, "{\"registry\":[\"r.example.com/x:1\"]}");
    CHECK(get("r.example.com/x:1", PULL_IF_NOT_PRESENT) == HT_OK);
    CHECK(has_word(lines.data, "without credentials: cannot run "
                               "docker-credential-is-not-installed"));
    script_failure(false, 500, "unauthorized");
    CHECK(get("r.example.com/y:1", PULL_IF_NOT_PRESENT) == HT_PRECONDITION);
    CHECK(has_word(client.err.text, "docker-credential-is-not-installed"));
    close_both();
}

int main(void)
{
    json_init();
    curl_global_init(CURL_GLOBAL_ALL);
    runner_fixture_init();
    RUN(an_image_is_described_as_its_replica_finds_it);
    RUN(what_an_image_leaves_out_is_absent);
    RUN(the_digest_is_that_of_the_registry_it_came_from);
    RUN(policies_decide_about_the_pull);
    RUN(the_progress_is_reported_in_lines);
    RUN(tags_and_digests_are_asked_for_apart);
    RUN(a_name_that_is_none_never_reaches_the_engine);
    RUN(dockerds_failures_are_cured_or_explained);
    RUN(podmans_failures_are_cured_or_explained);
    RUN(an_image_built_here_is_looked_for_nowhere_else);
    RUN(a_pull_that_breaks_is_tried_again);
    RUN(a_pull_that_brings_nothing_is_reported);
    RUN(an_engine_that_does_not_answer_is_reported);
    RUN(a_cancel_ends_a_pull);
    RUN(credentials_go_to_the_engine_and_nowhere_else);
    RUN(without_credentials_public_images_are_pulled_all_the_same);
    text_free(&lines);
    runner_fixture_fini();
    curl_global_cleanup();
    return check_done();
}
