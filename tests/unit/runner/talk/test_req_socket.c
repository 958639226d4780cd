#include "tests/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <netinet/in.h>

#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>

#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "runner/talk/req_socket.h"

enum { LONG_MS = 60000 };

struct scene { /* a server that the test controls, and a client */
    nng_socket server;
    char url[64];
    int kick;
    struct req_socket *req;
    struct text answer;
};

static void open_server(struct scene *scene)
{
    nng_listener listener;
    nng_sockaddr where;
    CHECK(nng_rep0_open(&scene->server) == 0);
    CHECK(nng_listen(scene->server, "tcp://127.0.0.1:0", &listener, 0) == 0);
    CHECK(nng_listener_get_addr(listener, NNG_OPT_LOCADDR, &where) == 0);
    nng_socket_set_ms(scene->server, NNG_OPT_RECVTIMEO, LONG_MS);
    (void)snprintf(scene->url, sizeof scene->url, "tcp://127.0.0.1:%d",
                   ntohs(where.s_in.sa_port));
}

static void scene_open(struct scene *scene)
{
    *scene = (struct scene){.kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    open_server(scene);
    CHECK(req_socket_new(scene->kick, &scene->req, NULL) == HT_OK);
    CHECK(!req_socket_is_open(scene->req));
    CHECK(req_socket_connect(scene->req, scene->url, LONG_MS, NULL) == HT_OK);
    CHECK(req_socket_is_open(scene->req));
}

/* The server stays until the program ends. */
static void scene_leave(struct scene *scene)
{
    req_socket_close(scene->req);
    req_socket_free(scene->req);
    close(scene->kick);
    text_free(&scene->answer);
}

static void scene_close(struct scene *scene)
{
    nng_close(scene->server); /* so that no connection owes an answer */
    scene_leave(scene);
}

static void ask(struct scene *scene, const char *words)
{
    CHECK(req_socket_send(scene->req, words, strlen(words), LONG_MS) ==
          REQ_ANSWERED);
}

/* Whether the next request that reaches the server is this one. */
static bool hears(const struct scene *scene, const char *words)
{
    char *bytes;
    size_t len;
    if (nng_recv(scene->server, &bytes, &len, NNG_FLAG_ALLOC) != 0)
        return false;
    const bool same = len == strlen(words) && memcmp(bytes, words, len) == 0;
    nng_free(bytes, len);
    return same;
}

static void reply(const struct scene *scene, const char *words)
{
    char copy[32];
    (void)snprintf(copy, sizeof copy, "%s", words);
    CHECK(nng_send(scene->server, copy, strlen(words), 0) == 0);
}

static bool is_answered(struct scene *scene, const char *words)
{
    text_clear(&scene->answer);
    return req_socket_wait(scene->req, LONG_MS, &scene->answer) ==
               REQ_ANSWERED &&
           strcmp(scene->answer.data, words) == 0;
}

static void requests_are_answered_one_after_another(void)
{
    struct scene scene;
    scene_open(&scene);
    for (int i = 0; i < 50; i++) {
        ask(&scene, "how?");
        CHECK(hears(&scene, "how?"));
        reply(&scene, "so");
        CHECK(is_answered(&scene, "so"));
    }
    scene_close(&scene);
}

static void silence_ends_with_the_time_and_can_go_on(void)
{
    struct scene scene;
    scene_open(&scene);
    ask(&scene, "a");
    const int64_t start = clock_monotonic_ms();
    CHECK(req_socket_wait(scene.req, 30, &scene.answer) == REQ_SILENT);
    CHECK(clock_monotonic_ms() - start >= 30);
    CHECK(hears(&scene, "a"));
    reply(&scene, "late");
    CHECK(is_answered(&scene, "late"));
    scene_close(&scene);
}

static void a_kick_ends_the_wait_and_loses_nothing(void)
{
    struct scene scene;
    scene_open(&scene);
    ask(&scene, "a");
    CHECK(eventfd_write(scene.kick, 1) == 0);
    CHECK(req_socket_wait(scene.req, LONG_MS, &scene.answer) == REQ_KICKED);
    eventfd_t count;
    CHECK(eventfd_read(scene.kick, &count) == 0);
    CHECK(hears(&scene, "a"));
    reply(&scene, "b");
    CHECK(is_answered(&scene, "b"));
    scene_close(&scene);
}

static void the_answer_to_an_older_request_is_ignored(void)
{
    struct scene scene;
    scene_open(&scene);
    for (int i = 0; i < 50; i++) {
        ask(&scene, "old");
        CHECK(req_socket_wait(scene.req, 0, &scene.answer) == REQ_SILENT);
        CHECK(hears(&scene, "old"));
        reply(&scene, "to the old one");
        ask(&scene, "new");
        CHECK(hears(&scene, "new"));
        reply(&scene, "to the new one");
        CHECK(is_answered(&scene, "to the new one"));
    }
    scene_close(&scene);
}

static void a_server_that_leaves_is_reported_at_once(void)
{
    struct scene scene;
    scene_open(&scene);
    ask(&scene, "a");
    CHECK(hears(&scene, "a"));
    nng_close(scene.server);
    const int64_t start = clock_monotonic_ms();
    CHECK(req_socket_wait(scene.req, LONG_MS, &scene.answer) == REQ_CUT);
    CHECK(clock_monotonic_ms() - start < LONG_MS / 2);
    CHECK(!req_socket_is_open(scene.req));
    open_server(&scene);
    CHECK(req_socket_connect(scene.req, scene.url, LONG_MS, NULL) == HT_OK);
    ask(&scene, "b");
    CHECK(hears(&scene, "b"));
    scene_close(&scene);
}

static void an_answer_above_the_limit_cuts_the_connection(void)
{
    struct scene scene;
    scene_open(&scene);
    ask(&scene, "a");
    CHECK(hears(&scene, "a"));
    const size_t len = HT_MAX_MESSAGE + 1;
    char *much = calloc(len, 1);
    CHECK(much != NULL && nng_send(scene.server, much, len, 0) == 0);
    free(much);
    CHECK(req_socket_wait(scene.req, LONG_MS, &scene.answer) == REQ_CUT);
    scene_close(&scene);
}

/* What nng 1.5.2 by itself hangs on, once in fifty times. */
static void closing_while_an_answer_arrives_never_hangs(void)
{
    struct scene scene;
    scene_open(&scene);
    for (int i = 0; i < 300; i++) {
        ask(&scene, "a");
        CHECK(hears(&scene, "a"));
        reply(&scene, "b");
        if (i % 2 == 0)
            (void)req_socket_wait(scene.req, 0, &scene.answer);
        req_socket_close(scene.req);
        CHECK(!req_socket_is_open(scene.req));
        CHECK(req_socket_connect(scene.req, scene.url, LONG_MS, NULL) == HT_OK);
    }
    /* nng 1.5.2 forgets a listener whose connections end as it is closed. */
    scene_leave(&scene);
}

static void no_server_is_unavailable_within_the_time(void)
{
    struct req_socket *req;
    struct ht_error err;
    const int kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK(req_socket_new(kick, &req, NULL) == HT_OK);
    CHECK(req_socket_connect(req, "tcp://127.0.0.1:1", 50, &err) ==
          HT_UNAVAILABLE);
    CHECK(strcmp(err.text, "tcp://127.0.0.1:1 does not answer") == 0);
    CHECK(req_socket_connect(req, "nowhere", 50, NULL) == HT_INVALID);
    CHECK(eventfd_write(kick, 1) == 0);
    CHECK(req_socket_connect(req, "tcp://127.0.0.1:1", LONG_MS, NULL) ==
          HT_UNAVAILABLE);
    CHECK(!req_socket_is_open(req));
    req_socket_free(req);
    close(kick);
}

int main(void)
{
    RUN(requests_are_answered_one_after_another);
    RUN(silence_ends_with_the_time_and_can_go_on);
    RUN(a_kick_ends_the_wait_and_loses_nothing);
    RUN(the_answer_to_an_older_request_is_ignored);
    RUN(a_server_that_leaves_is_reported_at_once);
    RUN(an_answer_above_the_limit_cuts_the_connection);
    RUN(closing_while_an_answer_arrives_never_hangs);
    RUN(no_server_is_unavailable_within_the_time);
    return check_done();
}
