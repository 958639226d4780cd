/* Calls and streams of docker.h, against an engine that fails on request. */
#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "tests/check.h"
#include "tests/lib/fake_engine.h"
#include "tests/lib/runner_fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

enum { SHORT_MS = 300, SOON_MS = 30000 };

static const char *const plain[] = {"--image", "tiny:1", NULL};
static const char *const podman[] = {"--image", "tiny:1", "--dialect", "podman",
                                     NULL};
static struct fake_engine fakes[3]; /* one of each, and others in turn */
static struct fake_engine *fake;
static struct fake_engine_client client;

static enum ht_status call(const char *method, const char *path,
                           const char *body, const struct node **answer)
{
    const struct node *unused;
    const enum ht_status status =
        docker_call(client.docker, client.arena,
                    &(struct docker_call){.method = method,
                                          .path = path,
                                          .body = body,
                                          .timeout_ms = PATIENCE_MS},
                    answer != NULL ? answer : &unused, &client.err);
    return status;
}

/* A call that fails, with these words. */
static void check_failure(const char *method, const char *path,
                          const char *body, enum ht_status want,
                          const char *words)
{
    client.err.text[0] = '\0';
    const enum ht_status status = call(method, path, body, NULL);
    CHECK(status == want);
    CHECK(client.err.status == status);
    if (strstr(client.err.text, words) == NULL)
        CHECK_TEXT(client.err.text, words);
}

/* Those of a dialect live as long as the program; a start takes its time. */
static void open_both(const char *const more[])
{
    fake = &fakes[more == plain ? 0 : more == podman ? 1 : 2];
    if (fake->pid == 0)
        fake_engine_open(fake, more);
    fake_engine_renew(fake);
    fake_engine_connect(&client, fake->host);
}

static void close_both(void)
{
    fake_engine_disconnect(&client);
    if (fake != &fakes[2])
        return;
    fake_engine_stop(fake);
    fake->pid = 0;
}

/* ---- one answer ---- */

static void an_answer_is_a_tree(void)
{
    const struct node *answer = NULL;
    open_both(plain);
    CHECK(call("GET", "/images/tiny%3A1/json", NULL, &answer) == HT_OK);
    CHECK(node_find(answer, "Id") != NULL);
    CHECK(fake_engine_heard(fake, "\"path\": \"/images/tiny:1/json\""));
    close_both();
}

static void a_body_arrives_and_an_empty_answer_is_none(void)
{
    const struct node *answer = NULL;
    open_both(plain);
    CHECK(call("POST", "/containers/create?name=a",
               "{\"Image\":\"tiny:1\",\"Env\":[\"A=\xc3\xa4\"]}",
               &answer) == HT_OK);
    CHECK(node_find(answer, "Id") != NULL);
    CHECK(fake_engine_heard(fake, "\"Env\": [\"A=\\u00e4\"]"));
    CHECK(call("POST", "/containers/a/start", NULL, &answer) == HT_OK);
    CHECK(answer == NULL);
    CHECK(call("POST", "/containers/a/start", NULL, NULL) == HT_OK); /* 304 */
    CHECK(call("DELETE", "/containers/a?force=1", NULL, NULL) == HT_OK);
    close_both();
}

static void check_statuses(const char *const more[])
{
    open_both(more);
    CHECK(call("POST", "/containers/create?name=a", "{\"Image\":\"tiny:1\"}",
               NULL) == HT_OK);
    check_failure("POST", "/containers/create?name=a", "{\"Image\":\"tiny:1\"}",
                  HT_CONFLICT, "already in use");
    check_failure("POST", "/containers/create?name=b", "{\"Image\":\"no:1\"}",
                  HT_NOT_FOUND, "No such image: no:1");
    check_failure("GET", "/containers/none/json", NULL, HT_NOT_FOUND,
                  "No such container: none");
    check_failure("POST", "/containers/a/kill", NULL, HT_CONFLICT,
                  "is not running");
    CHECK(call("POST", "/containers/a/start", NULL, NULL) == HT_OK);
    check_failure("DELETE", "/containers/a", NULL, HT_CONFLICT,
                  "cannot remove a running container");
    CHECK(call("POST", "/networks/create", "{\"Name\":\"n\"}", NULL) == HT_OK);
    check_failure("POST", "/networks/create", "{\"Name\":\"n\"}", HT_CONFLICT,
                  "already exists");
    CHECK(call("POST", "/containers/create?name=c",
               "{\"Image\":\"tiny:1\",\"HostConfig\":{\"NetworkMode\":\"n\"}}",
               NULL) == HT_OK);
    CHECK(call("POST", "/containers/c/start", NULL, NULL) == HT_OK);
    check_failure("DELETE", "/networks/n", NULL, HT_CONFLICT, "network n has");
    check_failure("DELETE", "/networks/none", NULL, HT_NOT_FOUND,
                  "network none not found");
    close_both();
}

static void dockerds_refusals_have_our_statuses(void)
{
    check_statuses(plain);
}

static void podmans_words_mean_the_same(void)
{
    check_statuses(podman);
}

static void other_codes_have_theirs(void)
{
    open_both(plain);
    fake_engine_script(
        fake, "{\"faults\":["
              "{\"path\":\"/a\",\"do\":\"status\",\"status\":400,"
              "\"body\":{\"message\":\"bad parameter\"}},"
              "{\"path\":\"/b\",\"do\":\"status\",\"status\":500,\"body\":"
              "{\"message\":\"exec: a command that was not found\"}},"
              "{\"path\":\"/c\",\"do\":\"status\",\"status\":503},"
              "{\"path\":\"/d\",\"do\":\"status\",\"status\":500,\"body\":"
              "{\"message\":\"route ip+net: no such network interface\"}}]}");
    check_failure("GET", "/a", NULL, HT_INVALID, "bad parameter");
    /* A container is there; only its command is not. */
    check_failure("GET", "/b", NULL, HT_INTERNAL, "command that was not found");
    check_failure("GET", "/c", NULL, HT_INTERNAL, "code 503");
    /* No network is missed here: one of others went while Podman looked. */
    check_failure("GET", "/d", NULL, HT_UNAVAILABLE, "network interface");
    close_both();
}

static void an_engines_words_are_one_plain_line(void)
{
    open_both(plain);
    fake_engine_script(
        fake, "{\"faults\":["
              "{\"path\":\"/a\",\"do\":\"status\",\"status\":500,\"body\":"
              "{\"message\":\"one\\r\\ntwo \\u001b[31m\\u202e three\\n\"}},"
              "{\"path\":\"/b\",\"do\":\"status\",\"status\":502,"
              "\"body\":\"<html>Bad\\nGateway</html>\\n\"}]}");
    check_failure("GET", "/a", NULL, HT_INTERNAL,
                  "one  two \\x1b[31m\\u202e three");
    check_failure("GET", "/b", NULL, HT_INTERNAL, "<html>Bad Gateway</html>");
    close_both();
}

static void a_large_answer_is_read_and_a_huge_one_is_not(void)
{
    enum { LARGE = 3 << 20, HUGE = 17 << 20 };
    const struct node *answer = NULL;
    struct text script = {0};
    open_both(plain);
    for (int i = 0; i < 2; i++) {
        const size_t size = i == 0 ? LARGE : HUGE;
        char *blanks = malloc(size);
        memset(blanks, ' ', size);
        text_clear(&script);
        text_puts(&script, "{\"faults\":[{\"path\":\"/a\",\"do\":\"status\","
                           "\"status\":200,\"body\":{\"a\":\"");
        text_append(&script, blanks, size);
        text_puts(&script, "\"}}]}");
        free(blanks);
        fake_engine_script(fake, script.data);
        if (i == 0) {
            CHECK(call("GET", "/a", NULL, &answer) == HT_OK);
            CHECK(strlen(node_get_string(answer, "a", "")) == LARGE);
        } else {
            check_failure("GET", "/a", NULL, HT_INTERNAL, "16 MiB");
        }
    }
    text_free(&script);
    close_both();
}

/* ---- broken connections ---- */

static void no_whole_answer_means_unavailable(void)
{
    open_both(plain);
    fake_engine_script(fake,
                       "{\"faults\":["
                       "{\"path\":\"/info\",\"nth\":1,\"do\":\"drop\"},"
                       "{\"path\":\"/info\",\"nth\":2,\"do\":\"truncate\"},"
                       "{\"path\":\"/info\",\"nth\":3,\"do\":\"garbage\"}]}");
    check_failure("GET", "/info", NULL, HT_UNAVAILABLE, fake->host);
    check_failure("GET", "/info", NULL, HT_UNAVAILABLE, fake->host);
    check_failure("GET", "/info", NULL, HT_INTERNAL, "not JSON");
    CHECK(call("GET", "/info", NULL, NULL) == HT_OK);
    close_both();
}

static void a_call_waits_no_longer_than_it_may(void)
{
    open_both(plain);
    fake_engine_script(fake,
                       "{\"faults\":[{\"path\":\"/info\",\"do\":\"hang\"}]}");
    const int64_t begin = clock_monotonic_ms();
    const struct node *answer;
    CHECK(docker_call(client.docker, client.arena,
                      &(struct docker_call){.method = "GET",
                                            .path = "/info",
                                            .timeout_ms = SHORT_MS},
                      &answer, &client.err) == HT_UNAVAILABLE);
    const int64_t took = clock_monotonic_ms() - begin;
    CHECK(took >= SHORT_MS - 5 && took < SOON_MS); /* curl rounds down */
    CHECK(strstr(client.err.text, "did not answer within 0.3 s") != NULL);
    CHECK(call("GET", "/version", NULL, NULL) == HT_OK);
    close_both();
}

static void an_engine_that_is_gone_is_reported_and_found_again(void)
{
    open_both(plain);
    CHECK(call("GET", "/info", NULL, NULL) == HT_OK);
    fake_engine_stop(fake);
    check_failure("GET", "/info", NULL, HT_UNAVAILABLE,
                  "cannot connect: Connection refused");
    fake_engine_start(fake, plain);
    CHECK(call("GET", "/info", NULL, NULL) == HT_OK);
    close_both();
}

static void the_environments_proxy_is_not_for_a_socket_of_this_machine(void)
{
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("all_proxy", "http://127.0.0.1:1", 1);
    open_both(plain);
    CHECK(call("GET", "/info", NULL, NULL) == HT_OK);
    close_both();
    unsetenv("http_proxy");
    unsetenv("all_proxy");
}

/* ---- cancelling ---- */

static void *cancel_when_heard(void *unused)
{
    (void)unused;
    UNTIL(fake_engine_heard(fake, "/slow"));
    docker_cancel(client.docker);
    return NULL;
}

static void a_cancel_ends_the_call_and_all_later_ones_at_once(void)
{
    pthread_t thread;
    open_both(plain);
    fake_engine_script(fake,
                       "{\"faults\":[{\"path\":\"/slow\",\"do\":\"hang\"}]}");
    CHECK(!docker_is_cancelled(client.docker));
    CHECK(pthread_create(&thread, NULL, cancel_when_heard, NULL) == 0);
    const int64_t begin = clock_monotonic_ms();
    check_failure("GET", "/slow", NULL, HT_UNAVAILABLE, "cancelled");
    CHECK(clock_monotonic_ms() - begin < SOON_MS);
    pthread_join(thread, NULL);
    CHECK(docker_is_cancelled(client.docker));
    check_failure("GET", "/info", NULL, HT_UNAVAILABLE, "cancelled");
    CHECK(!docker_pause(client.docker, PATIENCE_MS));
    CHECK(clock_monotonic_ms() - begin < SOON_MS);
    CHECK(!fake_engine_heard(fake, "/info"));
    close_both();
}

static void a_pause_takes_its_time(void)
{
    open_both(plain);
    const int64_t begin = clock_monotonic_ms();
    CHECK(docker_pause(client.docker, 50));
    CHECK(clock_monotonic_ms() - begin >= 50);
    close_both();
}

/* ---- streams ---- */

struct items {
    size_t n, most;
    char last[32];
};

static bool take(void *context, const struct node *item)
{
    struct items *items = context;
    items->n++;
    (void)snprintf(items->last, sizeof items->last, "%s",
                   node_get_string(item, "status", "?"));
    return items->n < items->most;
}

static enum ht_status stream(struct items *items, const char *script)
{
    fake_engine_script(fake, script);
    return docker_stream(client.docker,
                         &(struct docker_call){.method = "POST",
                                               .path = "/stream",
                                               .timeout_ms = SHORT_MS},
                         take, items, &client.err);
}

#define STREAM(items)                                                          \
    "{\"faults\":[{\"path\":\"/stream\",\"do\":\"stream\",\"items\":[" items   \
    "]}]}"

static void each_item_of_a_stream_is_taken(void)
{
    struct items all = {.most = 99}, some = {.most = 2};
    static const char script[] =
        STREAM("{\"status\":\"a\"},{\"status\":\"b\"},{\"status\":\"c\"}");
    open_both(plain);
    CHECK(stream(&all, script) == HT_OK);
    CHECK(all.n == 3);
    CHECK_TEXT(all.last, "c");
    CHECK(stream(&some, script) == HT_OK);
    CHECK(some.n == 2);
    CHECK(call("GET", "/info", NULL, NULL) == HT_OK);
    close_both();
}

static void a_stream_fails_as_calls_do(void)
{
    struct items items = {.most = 99};
    open_both(plain);
    CHECK(stream(&items, "{}") == HT_NOT_FOUND);
    CHECK_TEXT(client.err.text, "page not found");
    CHECK(stream(&items, "{\"faults\":[{\"path\":\"/stream\","
                         "\"do\":\"garbage\"}]}") == HT_INTERNAL);
    CHECK(stream(&items, "{\"faults\":[{\"path\":\"/stream\","
                         "\"do\":\"drop\"}]}") == HT_UNAVAILABLE);
    /* Half an item with the right length: no fault of the connection. */
    CHECK(stream(&items,
                 "{\"faults\":[{\"path\":\"/stream\",\"status\":200,"
                 "\"do\":\"status\",\"body\":\"{\\\"status\\\":\"}]}") ==
          HT_UNAVAILABLE);
    CHECK(strstr(client.err.text, "broke off") != NULL);
    CHECK(items.n == 0);
    close_both();
}

static void a_silent_stream_ends(void)
{
    struct items items = {.most = 99};
    open_both(plain);
    const int64_t begin = clock_monotonic_ms();
    CHECK(stream(&items, "{\"faults\":[{\"path\":\"/stream\","
                         "\"do\":\"hang\"}]}") == HT_UNAVAILABLE);
    CHECK(strstr(client.err.text, "did not answer within 0.3 s") != NULL);
    CHECK(clock_monotonic_ms() - begin < SOON_MS);
    close_both();
}

/* ---- which engine ---- */

static void check_version(const char *newest, const char *oldest)
{
    const char *const more[] = {"--image",      "tiny:1", "--api", newest,
                                "--oldest-api", oldest,   NULL};
    const struct node *answer = NULL;
    struct items items = {.most = 99};
    open_both(more);
    CHECK(call("GET", "/images/tiny:1/json", NULL, &answer) == HT_OK);
    CHECK(node_find(answer, "Id") != NULL);
    fake_engine_disconnect(&client);
    fake_engine_connect(&client, fake->host); /* a stream may be the first */
    CHECK(stream(&items, STREAM("{\"status\":\"a\"}")) == HT_OK);
    close_both();
}

static void older_and_newer_engines_are_spoken_to_in_their_version(void)
{
    check_version("1.38", "1.12");
    check_version("1.52", "1.44");
    check_version("1.41", "1.12");
}

static void facts_tell_the_engines_apart(void)
{
    struct docker_facts facts;
    open_both(plain);
    CHECK(docker_ask_facts(client.docker, client.arena, &facts, &client.err) ==
          HT_OK);
    CHECK(!facts.podman && !facts.rootless && !facts.gpus);
    CHECK_TEXT(facts.version, "Docker 20.10.24");
    CHECK(facts.cpus == 2 && facts.memory == INT64_C(1) << 32);
    fake_engine_script(fake,
                       "{\"info\":{\"Runtimes\":{\"runc\":{},\"nvidia\":{}},"
                       "\"SecurityOptions\":[\"name=rootless\"]}}");
    CHECK(docker_ask_facts(client.docker, client.arena, &facts, &client.err) ==
          HT_OK);
    CHECK(facts.rootless && facts.gpus);
    close_both();
    open_both(podman);
    CHECK(docker_ask_facts(client.docker, client.arena, &facts, &client.err) ==
          HT_OK);
    CHECK(facts.podman && !facts.rootless);
    CHECK_TEXT(facts.version, "Podman 4.3.1");
    fake_engine_script(fake, "{\"info\":{\"Rootless\":true}}");
    CHECK(docker_ask_facts(client.docker, client.arena, &facts, &client.err) ==
          HT_OK);
    CHECK(facts.rootless);
    close_both();
}

static void foreign_text_is_escaped_for_a_query(void)
{
    struct arena *arena = arena_new();
    CHECK_TEXT(docker_escape(arena, "a/b-1.2_~"), "a/b-1.2_~");
    CHECK_TEXT(docker_escape(arena, "{\"a b\"}&=%:\xc3\xa4"),
               "%7B%22a%20b%22%7D%26%3D%25%3A%C3%A4");
    CHECK_TEXT(docker_escape(arena, ""), "");
    arena_free(arena);
}

int main(void)
{
    json_init();
    curl_global_init(CURL_GLOBAL_ALL);
    runner_fixture_init();
    RUN(an_answer_is_a_tree);
    RUN(a_body_arrives_and_an_empty_answer_is_none);
    RUN(dockerds_refusals_have_our_statuses);
    RUN(podmans_words_mean_the_same);
    RUN(other_codes_have_theirs);
    RUN(an_engines_words_are_one_plain_line);
    RUN(a_large_answer_is_read_and_a_huge_one_is_not);
    RUN(no_whole_answer_means_unavailable);
    RUN(a_call_waits_no_longer_than_it_may);
    RUN(an_engine_that_is_gone_is_reported_and_found_again);
    RUN(the_environments_proxy_is_not_for_a_socket_of_this_machine);
    RUN(a_cancel_ends_the_call_and_all_later_ones_at_once);
    RUN(a_pause_takes_its_time);
    RUN(each_item_of_a_stream_is_taken);
    RUN(a_stream_fails_as_calls_do);
    RUN(a_silent_stream_ends);
    RUN(older_and_newer_engines_are_spoken_to_in_their_version);
    RUN(facts_tell_the_engines_apart);
    RUN(foreign_text_is_escaped_for_a_query);
    fake_engine_stop(&fakes[0]);
    fake_engine_stop(&fakes[1]);
    runner_fixture_fini();
    curl_global_cleanup();
    return check_done();
}
