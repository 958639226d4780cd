/* test_pipe.c - opening a pipe at a server that answers with anything: what
 * comes is bounded, has words, and can be aborted. The good way is in
 * tests/e2e/test_kubernetes_pipe.py. */

#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <curl/curl.h>

#include "runner/kubernetes/client.h"
#include "runner/kubernetes/pipe.h"
#include "tests/check.h"

static struct ht_error err;

/* One connection, in a thread. */
struct server {
    int fd;
    char url[64];
    const char *answer; /* NULL: none; the client is aborted */
    size_t repeats;     /* of the answer */
    struct kube *kube;
    pthread_t thread;
};

static void *serve(void *context)
{
    struct server *server = context;
    char bytes[8192];
    size_t n = 0;
    const int fd = accept(server->fd, NULL, NULL);
    CHECK(fd >= 0);
    while (memmem(bytes, n, "\r\n\r\n", 4) == NULL) {
        const ssize_t got = read(fd, bytes + n, sizeof bytes - n);
        CHECK(got > 0);
        n += got > 0 ? (size_t)got : 0;
        if (got <= 0)
            break;
    }
    if (server->answer == NULL)
        kube_abort(server->kube);
    for (size_t i = 0; server->answer != NULL && i < server->repeats; i++) {
        const size_t len = strlen(server->answer);
        if (send(fd, server->answer, len, MSG_NOSIGNAL) != (ssize_t)len)
            break;
    }
    shutdown(fd, SHUT_WR);
    while (read(fd, bytes, sizeof bytes) > 0)
        continue;
    close(fd);
    return NULL;
}

static void start(struct server *server)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(server->fd, (struct sockaddr *)&at, sizeof at) == 0);
    CHECK(listen(server->fd, 1) == 0);
    CHECK(getsockname(server->fd, (struct sockaddr *)&at, &len) == 0);
    (void)snprintf(server->url, sizeof server->url, "http://127.0.0.1:%d",
                   ntohs(at.sin_port));
}

static enum ht_status open_at(const char *answer, size_t repeats)
{
    static const char *const argv[] = {"true", NULL};
    struct server server = {.answer = answer, .repeats = repeats};
    const struct kube_command command = {
        .namespace = "a", .pod = "b", .container = "c", .argv = argv};
    struct kube_pipe *pipe = NULL;
    start(&server);
    const struct kube_config config = {
        .source = "test", .server = server.url, .namespace = "a"};
    server.kube = kube_new(&config);
    CHECK(pthread_create(&server.thread, NULL, serve, &server) == 0);
    const enum ht_status status =
        kube_pipe_open(server.kube, &command, &pipe, &err);
    CHECK(status != HT_OK && pipe == NULL);
    pthread_join(server.thread, NULL);
    close(server.fd);
    kube_free(server.kube);
    return status;
}

static void an_abort_ends_an_open(void)
{
    CHECK(open_at(NULL, 0) == HT_UNAVAILABLE);
    CHECK(strstr(err.text, ": aborted") != NULL);
}

static void a_switch_that_is_not_ours_is_refused(void)
{
    CHECK(open_at("HTTP/1.1 101 Switching Protocols\r\n"
                  "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
                  "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n",
                  1) == HT_UNAVAILABLE);
    CHECK(strstr(err.text, "wrong Sec-WebSocket-Accept") != NULL);
}

static void what_is_no_answer_is_none(void)
{
    CHECK(open_at("", 1) == HT_UNAVAILABLE);
    CHECK(open_at("SSH-2.0-x\r\n\r\n", 1) == HT_UNAVAILABLE);
    CHECK(open_at("HTTP/1.1 101 x\r\nA: bbbbbbbbbbbbbbbb\r\n", 1) ==
          HT_UNAVAILABLE);
    CHECK(open_at("A: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n", 2000) ==
          HT_UNAVAILABLE);
}

static const struct {
    const char *answer;
    size_t repeats;
    enum ht_status status;
    const char *words; /* NULL: any */
} refusals[] = {
    {"HTTP/1.1 404 x\r\nTransfer-Encoding: chunked\r\n\r\n"
     "a\r\n{\"message\"\r\n6;x=y\r\n:\"go\"}\r\n0\r\n\r\n",
     1, HT_NOT_FOUND, "go"},
    {"HTTP/1.1 500 x\r\ncontent-length:  5\r\n\r\nwords", 1, HT_INTERNAL,
     "words"},
    {"HTTP/1.1 403 x\r\n\r\n<html>", 1, HT_DENIED,
     "the API server answered 403"},
    {"HTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\n", 1, HT_PRECONDITION,
     "the API server answered 200"},
    {"HTTP/1.1 400 x\r\nTransfer-Encoding: chunked\r\n\r\n"
     "ffffffffffffffffff\r\nx",
     1, HT_INVALID, NULL},
    {"HTTP/1.1 400 x\r\nContent-Length: 9999999999\r\n\r\nxxxxx", 100000,
     HT_INVALID, NULL},
};

static void a_refusal_is_read_however_it_comes(void)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        CHECK(open_at(refusals[i].answer, refusals[i].repeats) ==
              refusals[i].status);
        if (refusals[i].words != NULL)
            CHECK_TEXT(err.text, refusals[i].words);
    }
}

int main(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    RUN(an_abort_ends_an_open);
    RUN(a_switch_that_is_not_ours_is_refused);
    RUN(what_is_no_answer_is_none);
    RUN(a_refusal_is_read_however_it_comes);
    curl_global_cleanup();
    return check_done();
}
