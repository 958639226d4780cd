#include "tuner/http/http.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "tests/check.h"
#include "tuner/http/peers.h"
#include "tuner/http/reply.h"

/* --- deadlines of connections --- */

static bool is_open(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* Whether a connection in that phase is shut down `after_ms` from now. */
static bool lives(enum peer_phase phase, int64_t after_ms)
{
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    struct peers *peers = peers_new();
    struct peer *peer = peers_open(peers, pair[0]);
    peers_enter(peers, peer, phase);
    CHECK(peers_tick(peers, clock_monotonic_ms() + after_ms));
    bool open = is_open(pair[1]);
    peers_close(peers, peer);
    CHECK(!peers_tick(peers, 0));
    peers_free(peers);
    close(pair[0]);
    close(pair[1]);
    return open;
}

static void every_phase_but_our_own_work_has_an_end(void)
{
    CHECK(lives(PEER_HEADERS, 9000) && !lives(PEER_HEADERS, 10001));
    CHECK(lives(PEER_BODY, 29000) && !lives(PEER_BODY, 30001));
    CHECK(lives(PEER_ANSWER, 59000) && !lives(PEER_ANSWER, 60001));
    CHECK(lives(PEER_IDLE, 59000) && !lives(PEER_IDLE, 60001));
    CHECK(lives(PEER_WORK, 3600000));
}

static void only_the_late_connection_is_shut_down(void)
{
    int first[2], second[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, first) == 0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, second) == 0);
    struct peers *peers = peers_new();
    struct peer *late = peers_open(peers, first[0]);
    struct peer *early = peers_open(peers, second[0]);
    peers_enter(peers, early, PEER_IDLE);
    peers_tick(peers, clock_monotonic_ms() + 15000);
    CHECK(!is_open(first[1]) && is_open(second[1]));
    peers_close(peers, late);
    CHECK(peers_tick(peers, clock_monotonic_ms()));
    peers_close(peers, early);
    peers_free(peers);
    for (int i = 0; i < 2; i++) {
        close(first[i]);
        close(second[i]);
    }
}

/* --- errors as JSON --- */

static void an_error_is_a_google_rpc_status(void)
{
    struct text out = {0};
    struct ht_error err;
    ht_fail(&err, HT_NOT_FOUND, "no study \"%s\"", "x\n");
    http_error_text(&out, &err, NULL);
    CHECK_TEXT(out.data, "{\"error\":{\"code\":404,\"message\":"
                         "\"no study \\\"x\\n\\\"\",\"status\":"
                         "\"NOT_FOUND\"}}");
    text_free(&out);
}

static void field_violations_are_listed_without_warnings(void)
{
    struct arena *arena = arena_new();
    struct text out = {0};
    struct ht_error err;
    struct diag diag;
    diag_init(&diag, arena, "body", NULL, 0);
    diag_warning(&diag, 1, 1, "a", "unusual");
    diag_error(&diag, 2, 3, "studySpec.metrics", "is empty");
    diag_hint(&diag, "name one");
    diag_error(&diag, 0, 0, NULL, "is no job");
    ht_fail(&err, HT_INVALID, "wrong");
    http_error_text(&out, &err, &diag);
    CHECK_TEXT(out.data,
               "{\"error\":{\"code\":400,\"message\":\"wrong\",\"status\":"
               "\"INVALID_ARGUMENT\",\"details\":[{\"@type\":"
               "\"type.googleapis.com/google.rpc.BadRequest\","
               "\"fieldViolations\":[{\"field\":\"studySpec.metrics\","
               "\"description\":\"is empty; name one\"},{\"field\":\"\","
               "\"description\":\"is no job\"}]}]}}");
    text_free(&out);
    arena_free(arena);
}

/* --- the listening socket --- */

static void any_port_is_told_and_a_taken_one_is_named(void)
{
    struct ht_error err;
    int port = 0, fd, other_fd;
    CHECK(http_listen("127.0.0.1", &port, &fd, &err) == HT_OK);
    CHECK(port > 0);
    int same = port;
    char want[128];
    snprintf(want, sizeof want,
             "127.0.0.1:%d is in use; --listen 127.0.0.1:0 takes any port",
             port);
    CHECK(http_listen("127.0.0.1", &same, &other_fd, &err) == HT_EXISTS);
    CHECK_TEXT(err.text, want);
    close(fd);
    CHECK(http_listen("192.0.2.1", &port, &fd, &err) == HT_IO);
}

int main(void)
{
    json_init();
    RUN(every_phase_but_our_own_work_has_an_end);
    RUN(only_the_late_connection_is_shut_down);
    RUN(an_error_is_a_google_rpc_status);
    RUN(field_violations_are_listed_without_warnings);
    RUN(any_port_is_told_and_a_taken_one_is_named);
    return check_done();
}
