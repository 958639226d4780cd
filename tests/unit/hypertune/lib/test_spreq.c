/* The hand-written REQ against the real nng, and against peers that lie. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>

#include "hypertune/lib/report_answer.h"
#include "hypertune/lib/spreq.h"
#include "proto/net/host_lookup.h"
#include "tests/check.h"

static char answer_bytes[SPREQ_MAX_MESSAGE];

static struct spreq_buffer new_answer(void)
{
    return (struct spreq_buffer){answer_bytes, sizeof answer_bytes, 0};
}

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- nng's REP, echoing from a thread of its own ---- */

struct echo {
    nng_socket socket;
    pthread_t thread;
    char url[64];
};

static void *echo_all(void *argument)
{
    struct echo *echo = argument;
    nng_msg *message;
    while (nng_recvmsg(echo->socket, &message, 0) == 0)
        if (nng_sendmsg(echo->socket, message, 0) != 0)
            nng_msg_free(message);
    return NULL;
}

static void echo_start(struct echo *echo, const char *url)
{
    nng_listener listener;
    nng_sockaddr bound;
    CHECK(nng_rep0_open(&echo->socket) == 0);
    nng_socket_set_size(echo->socket, NNG_OPT_RECVMAXSZ, 0);
    CHECK(nng_listener_create(&listener, echo->socket, url) == 0);
    CHECK(nng_listener_start(listener, 0) == 0);
    nng_listener_get_addr(listener, NNG_OPT_LOCADDR, &bound);
    bool is_v6 = bound.s_family == NNG_AF_INET6;
    uint16_t port = is_v6 ? bound.s_in6.sa_port : bound.s_in.sa_port;
    snprintf(echo->url, sizeof echo->url, "tcp://%s:%d",
             is_v6 ? "[::1]" : "127.0.0.1", ntohs(port));
    CHECK(pthread_create(&echo->thread, NULL, echo_all, echo) == 0);
}

static void echo_stop(struct echo *echo)
{
    nng_close(echo->socket);
    pthread_join(echo->thread, NULL);
}

static bool ask(struct spreq *req, const char *payload, size_t len, int ms)
{
    struct spreq_buffer answer = new_answer();
    const long deadline = now_ms() + ms;
    int rc = spreq_request(req, payload, len, &answer, ms);
    while (rc == ECONNRESET && now_ms() < deadline)
        rc = spreq_resend(req, payload, len, &answer,
                          (int)(deadline - now_ms()));
    return rc == 0 && answer.len == len &&
           memcmp(answer.data, payload, len) == 0;
}

static void nng_echoes_small_empty_and_large_payloads(void)
{
    struct echo echo;
    struct spreq req;
    echo_start(&echo, "tcp://127.0.0.1:0");
    CHECK(spreq_init(&req, echo.url) == 0);
    CHECK(ask(&req, "hello", 5, PATIENCE_MS));
    CHECK(ask(&req, "", 0, PATIENCE_MS));
    char *large = malloc(SPREQ_MAX_MESSAGE);
    for (size_t i = 0; i < SPREQ_MAX_MESSAGE; i++)
        large[i] = (char)(i * 7);
    CHECK(ask(&req, large, SPREQ_MAX_MESSAGE, PATIENCE_MS));
    CHECK(ask(&req, "again", 5, PATIENCE_MS));
    struct spreq_buffer answer = new_answer();
    CHECK(spreq_request(&req, large, SPREQ_MAX_MESSAGE + 1u, &answer, 100) ==
          EMSGSIZE);
    free(large);
    spreq_close(&req);
    echo_stop(&echo);
}

static void a_server_is_reached_by_its_name(void)
{
    struct echo echo;
    struct spreq req;
    echo_start(&echo, "tcp://127.0.0.1:0");
    char url[64];
    snprintf(url, sizeof url, "tcp://localhost%s", strrchr(echo.url, ':'));
    CHECK(spreq_init(&req, url) == 0);
    CHECK(ask(&req, "by name", 7, PATIENCE_MS));
    spreq_close(&req);
    echo_stop(&echo);
}

static void a_server_is_reached_over_ipv6(void)
{
    struct echo echo;
    struct spreq req;
    int probe = socket(AF_INET6, SOCK_STREAM, 0);
    struct sockaddr_in6 any = {.sin6_family = AF_INET6,
                               .sin6_addr = in6addr_loopback};
    bool has_v6 =
        probe >= 0 && bind(probe, (struct sockaddr *)&any, sizeof any) == 0;
    close(probe);
    if (!has_v6)
        SKIP("no IPv6 on this machine");
    echo_start(&echo, "tcp://[::1]:0");
    CHECK(spreq_init(&req, echo.url) == 0);
    CHECK(ask(&req, "v6", 2, PATIENCE_MS));
    spreq_close(&req);
    echo_stop(&echo);
}

static void a_request_survives_a_restart_of_the_server(void)
{
    struct echo echo;
    struct spreq req;
    echo_start(&echo, "tcp://127.0.0.1:0");
    char url[64];
    snprintf(url, sizeof url, "%s", echo.url);
    spreq_init(&req, url);
    CHECK(ask(&req, "one", 3, PATIENCE_MS));
    echo_stop(&echo);
    CHECK(!ask(&req, "two", 3, 300));
    CHECK(req.error == ECONNREFUSED);
    echo_start(&echo, url);
    CHECK(ask(&req, "two", 3, PATIENCE_MS));
    CHECK(req.error == 0);
    spreq_close(&req);
    echo_stop(&echo);
}

/* ---- a peer that follows a script ---- */

struct peer {
    int listener;
    char url[64];
    void (*play)(int fd, int visit); /* visit: from 0, one per connection */
    pthread_t thread;
};

static void read_exactly(int fd, void *data, size_t len)
{
    for (char *at = data; len > 0;) {
        ssize_t got = recv(fd, at, len, 0);
        if (got <= 0)
            return;
        at += got;
        len -= (size_t)got;
    }
}

static void *accept_all(void *argument)
{
    struct peer *peer = argument;
    for (int visit = 0;; visit++) {
        int fd = accept(peer->listener, NULL, NULL);
        if (fd < 0)
            return NULL;
        peer->play(fd, visit);
        close(fd);
    }
}

static void peer_start(struct peer *peer, void (*play)(int fd, int visit))
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    peer->play = play;
    peer->listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(peer->listener, (struct sockaddr *)&at, sizeof at) == 0);
    CHECK(listen(peer->listener, 16) == 0);
    getsockname(peer->listener, (struct sockaddr *)&at, &size);
    snprintf(peer->url, sizeof peer->url, "tcp://127.0.0.1:%d",
             ntohs(at.sin_port));
    pthread_create(&peer->thread, NULL, accept_all, peer);
}

static void peer_stop(struct peer *peer)
{
    shutdown(peer->listener, SHUT_RDWR);
    pthread_join(peer->thread, NULL);
    close(peer->listener);
}

static const char hello[] = {0, 'S', 'P', 0, 0, 0x31, 0, 0};

/* Greets and reads one request of `len` bytes; its id goes to id[4]. */
static void greet(int fd, size_t len, unsigned char id[4])
{
    char own[8];
    unsigned char head[12] = {0};
    char payload[64];
    send(fd, hello, sizeof hello, MSG_NOSIGNAL);
    read_exactly(fd, own, sizeof own);
    read_exactly(fd, head, sizeof head);
    read_exactly(fd, payload, len);
    CHECK(memcmp(own, "\0SP\0\0\x30\0\0", 8) == 0);
    CHECK((head[8] & 0x80) != 0);
    memcpy(id, head + 8, 4);
}

static void reply(int fd, const unsigned char id[4], const char *text)
{
    unsigned char head[12] = {0};
    head[7] = (unsigned char)(strlen(text) + 4);
    memcpy(head + 8, id, 4);
    send(fd, head, sizeof head, MSG_NOSIGNAL);
    send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static void wait_for_close(int fd)
{
    char byte;
    while (recv(fd, &byte, 1, 0) > 0) {
    }
}

static void break_off_in_mid_frame(int fd, int visit)
{
    unsigned char id[4];
    greet(fd, 5, id);
    if (visit == 0) {
        send(fd, "\0\0\0\0\0\0\0\x09\x80\0", 10, MSG_NOSIGNAL);
        return;
    }
    reply(fd, id, "hello");
    wait_for_close(fd);
}

static void a_server_that_closes_in_mid_frame_is_asked_again(void)
{
    struct peer peer;
    struct spreq req;
    peer_start(&peer, break_off_in_mid_frame);
    spreq_init(&req, peer.url);
    CHECK(ask(&req, "hello", 5, PATIENCE_MS));
    spreq_close(&req);
    peer_stop(&peer);
}

static void talk_http(int fd, int visit)
{
    (void)visit;
    send(fd, "HTTP/1.1 400 Bad Request\r\n", 26, MSG_NOSIGNAL);
    wait_for_close(fd);
}

static void a_garbage_hello_is_an_error_within_the_deadline(void)
{
    struct peer peer;
    struct spreq req;
    peer_start(&peer, talk_http);
    spreq_init(&req, peer.url);
    long start = now_ms();
    CHECK(!ask(&req, "hello", 5, 2000));
    CHECK(now_ms() - start < PATIENCE_MS / 10);
    CHECK(req.error == EPROTO);
    spreq_close(&req);
    peer_stop(&peer);
}

static void claim_a_terabyte(int fd, int visit)
{
    unsigned char id[4];
    greet(fd, 5, id);
    if (visit > 0)
        reply(fd, id, "hello");
    else
        send(fd, "\0\0\1\0\0\0\0\0\x80\0\0\0", 12, MSG_NOSIGNAL);
    wait_for_close(fd);
}

static void a_frame_beyond_all_bounds_costs_the_connection_only(void)
{
    struct peer peer;
    struct spreq req;
    peer_start(&peer, claim_a_terabyte);
    spreq_init(&req, peer.url);
    CHECK(ask(&req, "hello", 5, PATIENCE_MS));
    spreq_close(&req);
    peer_stop(&peer);
}

static void answer_late(int fd, int visit)
{
    (void)visit;
    unsigned char first[4];
    unsigned char second[12] = {0};
    char payload[4];
    greet(fd, 3, first);
    /* Silent until the client has given up and asks for something else. */
    read_exactly(fd, second, sizeof second);
    read_exactly(fd, payload, 3);
    reply(fd, first, "one");
    reply(fd, first, "one");
    reply(fd, second + 8, "two");
    wait_for_close(fd);
}

static void no_answer_ends_at_the_deadline_and_late_ones_are_skipped(void)
{
    struct peer peer;
    struct spreq req;
    peer_start(&peer, answer_late);
    spreq_init(&req, peer.url);
    long start = now_ms();
    CHECK(!ask(&req, "one", 3, 1000));
    CHECK(now_ms() - start >= 995 && now_ms() - start < PATIENCE_MS / 10);
    CHECK(ask(&req, "two", 3, PATIENCE_MS));
    spreq_close(&req);
    peer_stop(&peer);
}

static void answer_only_the_first(int fd, int visit)
{
    (void)visit;
    unsigned char first[4];
    unsigned char second[12] = {0};
    char payload[4];
    greet(fd, 3, first);
    read_exactly(fd, second, sizeof second);
    read_exactly(fd, payload, 3);
    CHECK(memcmp(first, second + 8, 4) == 0);
    reply(fd, first, "one");
    wait_for_close(fd);
}

static void a_late_answer_will_do_for_a_resent_request(void)
{
    struct peer peer;
    struct spreq req;
    peer_start(&peer, answer_only_the_first);
    spreq_init(&req, peer.url);
    CHECK(!ask(&req, "one", 3, 1000));
    struct spreq_buffer answer = new_answer();
    CHECK(spreq_resend(&req, "one", 3, &answer, PATIENCE_MS) == 0);
    CHECK(answer.len == 3);
    spreq_close(&req);
    peer_stop(&peer);
}

static int visits;

static void say_nothing(int fd, int visit)
{
    unsigned char id[4];
    visits = visit + 1;
    greet(fd, 2, id);
    wait_for_close(fd);
}

static void the_second_silence_in_a_row_costs_the_connection(void)
{
    struct peer peer;
    struct spreq req;
    peer_start(&peer, say_nothing);
    spreq_init(&req, peer.url);
    CHECK(!ask(&req, "ab", 2, 1000));
    CHECK(req.fd >= 0);
    CHECK(!ask(&req, "ab", 2, 1000));
    CHECK(req.fd < 0);
    CHECK(!ask(&req, "ab", 2, 1000));
    spreq_close(&req);
    peer_stop(&peer);
    CHECK(visits == 2);
}

/* One byte of the answer in a third of the patience. */
static void answer_slowly(int fd, int visit)
{
    (void)visit;
    unsigned char frame[17] = {0};
    greet(fd, 5, frame + 8);
    frame[7] = 9;
    memcpy(frame + 12, "hello", 5);
    for (size_t i = 0; i < sizeof frame; i++) {
        poll(NULL, 0, 200);
        send(fd, frame + i, 1, MSG_NOSIGNAL);
    }
    wait_for_close(fd);
}

static void a_connection_on_which_bytes_move_is_kept(void)
{
    struct peer peer;
    struct spreq req;
    peer_start(&peer, answer_slowly);
    spreq_init(&req, peer.url);
    struct spreq_buffer answer = new_answer();
    CHECK(spreq_request(&req, "hello", 5, &answer, 2000) == 0);
    spreq_close(&req);
    peer_stop(&peer);
}

static void greet_the_first_late(int fd, int visit)
{
    unsigned char id[4] = {0};
    if (visit > 0)
        return;
    poll(NULL, 0, 4000);
    greet(fd, 5, id);
    reply(fd, id, "hello");
    wait_for_close(fd);
}

/* A relay greets once the handshake over a slow link is done. */
static void a_late_hello_is_waited_for(void)
{
    struct peer peer;
    struct spreq req;
    peer_start(&peer, greet_the_first_late);
    spreq_init(&req, peer.url);
    struct spreq_buffer answer = new_answer();
    CHECK(spreq_request(&req, "hello", 5, &answer, 8000) == 0);
    spreq_close(&req);
    peer_stop(&peer);
}

static void cut_the_first(int fd, int visit)
{
    unsigned char id[4];
    greet(fd, 5, id);
    if (visit > 0) {
        reply(fd, id, "hello");
        wait_for_close(fd);
    }
}

static void a_cut_is_said_at_once(void)
{
    struct peer peer;
    struct spreq req;
    peer_start(&peer, cut_the_first);
    spreq_init(&req, peer.url);
    struct spreq_buffer answer = new_answer();
    CHECK(spreq_request(&req, "hello", 5, &answer, PATIENCE_MS) == ECONNRESET);
    CHECK(spreq_resend(&req, "hello", 5, &answer, PATIENCE_MS) == 0);
    spreq_close(&req);
    peer_stop(&peer);
}

static void a_descriptor_taken_by_another_file_is_left_alone(void)
{
    struct echo echo;
    struct spreq req;
    echo_start(&echo, "tcp://127.0.0.1:0");
    spreq_init(&req, echo.url);
    CHECK(ask(&req, "one", 3, PATIENCE_MS));
    int pipe_fds[2];
    CHECK(pipe(pipe_fds) == 0);
    int number = req.fd;
    CHECK(dup2(pipe_fds[1], number) == number); /* as a careless trainer may */
    CHECK(ask(&req, "two", 3, PATIENCE_MS));
    CHECK(write(number, "x", 1) == 1); /* still open, still the pipe */
    char byte = 0;
    CHECK(read(pipe_fds[0], &byte, 1) == 1 && byte == 'x');
    spreq_close(&req);
    close(number);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    echo_stop(&echo);
}

static void addresses_are_read_strictly(void)
{
    static const char *const wrong[] = {
        "",           "tcp://",        "tcp://host",     "tcp://:1",
        "ipc:///tmp", "tcp://host:",   "tcp://host:0",   "tcp://host:65536",
        "host:80",    "tcp://host:8x", "tcp://host:-80", "tcp://[]:80"};
    struct spreq req;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(spreq_init(&req, wrong[i]) == EINVAL);
    CHECK(spreq_init(&req, "tcp://[fe80::1]:8471") == 0);
    CHECK_TEXT(req.host, "fe80::1");
    CHECK(req.port == 8471);
}

static void hosts_files_are_read_before_dns(void)
{
    char path[] = "/tmp/ht-hosts-XXXXXX";
    int fd = mkstemp(path);
    static const char text[] = "# comment\n127.0.0.9 other Trainer # me\n"
                               "::1\ttrainer\nnonsense trainer\n";
    CHECK(write(fd, text, sizeof text - 1) == sizeof text - 1);
    close(fd);
    struct host_address found[HOST_LOOKUP_MAX];
    CHECK(host_lookup("trainer", 80, path, found) == 2);
    CHECK(found[0].as.v4.sin_addr.s_addr == htonl(0x7F000009));
    CHECK(found[0].as.v4.sin_port == htons(80));
    CHECK(found[1].as.v6.sin6_family == AF_INET6);
    CHECK(host_lookup("10.1.2.3", 80, path, found) == 1);
    unlink(path);
    CHECK(host_lookup("localhost", 80, path, found) == 1);
}

static struct report_answer read_answer(const char *text)
{
    return report_answer_read(text, strlen(text), "00000000000000aa");
}

static void answers_are_understood_and_garbage_is_not(void)
{
    struct report_answer got = read_answer(
        "{ \"v\":1,\"x\":[{\"status\":\"gone\"},\"]\\\"\"],\"id\":3,"
        "\"status\":\"ok\",\"stop\":false,\"thin\":4,"
        "\"have\":{\"00000000000000bb\":7,\"00000000000000aa\": 12}}");
    CHECK(got.status == ANSWER_OK && got.thin == 4 && got.have == 12);
    got = read_answer("{\"status\":\"retry\",\"retryMs\":500,\"have\":{}}");
    CHECK(got.status == ANSWER_RETRY && got.retry_ms == 500 && got.have == -1);
    got = read_answer("{\t\"status\":\r\n\"ok\",\"thin\":0,\"have\":[7],"
                      "\"x\": [true, 1.5\t, null ]}");
    CHECK(got.status == ANSWER_OK && got.thin == 1 && got.have == -1);
    static const char *const garbled[] = {
        "",
        "{",
        "{}",
        "[]",
        "{\"status\"",
        "hello",
        "{\"v\":1}",
        "{\"status\":7}",
        "{\"status\":\"ok\"",
        "{\"status\":\"ok\",\"have\":{\"00000000000000aa\":x}}",
        "{\"status\":\"fine\"}",
        "{\"status\":\"ok",
        "{\"status\":\"o\\",
        "{\"status\":\"ok\",\"x\":[",
        "{\"status\":\"ok\",\"x\":[\"a",
        "{\"status\":\"ok\",\"have\":{7:1}}",
        "{\"status\":\"ok\",\"have\":{\"a\"}}",
        "{\"status\":\"ok\",\"thin\":99999999999999999999}",
        "{\"status\":\"ok\",\"thin\":-1}"};
    for (size_t i = 0; i < sizeof garbled / sizeof *garbled; i++)
        CHECK(read_answer(garbled[i]).status == ANSWER_GARBLED);
}

int main(void)
{
    RUN(nng_echoes_small_empty_and_large_payloads);
    RUN(a_server_is_reached_by_its_name);
    RUN(a_server_is_reached_over_ipv6);
    RUN(a_request_survives_a_restart_of_the_server);
    RUN(a_server_that_closes_in_mid_frame_is_asked_again);
    RUN(a_garbage_hello_is_an_error_within_the_deadline);
    RUN(a_frame_beyond_all_bounds_costs_the_connection_only);
    RUN(no_answer_ends_at_the_deadline_and_late_ones_are_skipped);
    RUN(a_late_answer_will_do_for_a_resent_request);
    RUN(the_second_silence_in_a_row_costs_the_connection);
    RUN(a_connection_on_which_bytes_move_is_kept);
    RUN(a_late_hello_is_waited_for);
    RUN(a_cut_is_said_at_once);
    RUN(a_descriptor_taken_by_another_file_is_left_alone);
    RUN(addresses_are_read_strictly);
    RUN(hosts_files_are_read_before_dns);
    RUN(answers_are_understood_and_garbage_is_not);
    return check_done();
}
