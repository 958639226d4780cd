#include "tests/lib/http_fixture.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/core_fixture.h"
#include "tuner/http/gate.h"
#include "tuner/http/http.h"
#include "tuner/http/sessions.h"
#include "tuner/http/sse.h"

static void publish(void *stream, int64_t study, int64_t revision,
                    const char *project)
{
    sse_publish(stream, study, revision, project);
}

static void open_server(struct http_fixture *f, struct fixture *core)
{
    int fd = -1;
    f->core = core;
    f->token = "secret";
    f->facts = (struct server_facts){.server_id = "ab12cd34",
                                     .http = "",
                                     .report = "",
                                     .control = "",
                                     .folder = core->dir};
    CHECK(http_listen("127.0.0.1", &f->port, &fd, NULL) == HT_OK);
    f->gate = gate_new(false);
    gate_grant(f->gate, f->token, GATE_ALL);
    gate_allow_host(f->gate, "127.0.0.1", f->port);
    f->sessions = sessions_new("secret", NULL);
    f->sse = sse_new();
    const struct reader_options readers = {
        .path = arena_printf(core->arena, "%s/hypertune.db", core->dir),
        .publish = publish,
        .stream = f->sse,
        .facts = &f->facts,
        .threads = 1};
    CHECK(reader_start(&readers, &f->readers, NULL) == HT_OK);
    const struct http_options options = {.listen_fd = fd,
                                         .gate = f->gate,
                                         .sessions = f->sessions,
                                         .core = core->core,
                                         .readers = f->readers,
                                         .models = f->readers,
                                         .sse = f->sse};
    CHECK(http_start(&options, &f->http, NULL) == HT_OK);
}

static void close_server(struct http_fixture *f)
{
    http_stop(f->http, PATIENCE_MS);
    reader_stop(f->readers);
    http_free(f->http);
    sse_free(f->sse);
    sessions_free(f->sessions);
    gate_free(f->gate);
}

void http_fixture_run(void (*test)(struct http_fixture *f))
{
    struct fixture core;
    struct http_fixture f = {0};
    fixture_open(&core);
    open_server(&f, &core);
    test(&f);
    close_server(&f);
    fixture_close(&core);
}

int http_fixture_send(struct http_fixture *f, const char *line,
                      const char *headers, const char *body)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)f->port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(fd, (const struct sockaddr *)&to, sizeof to) == 0);
    const char *text = arena_printf(
        f->core->arena,
        "%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
        "Connection: close\r\n%s\r\n%s",
        line, f->port, f->token, headers, body);
    const size_t len = strlen(text);
    CHECK(send(fd, text, len, MSG_NOSIGNAL) == (ssize_t)len);
    return fd;
}

/* NULL: until the connection ends. */
static const char *read_until(struct http_fixture *f, int fd, const char *text)
{
    struct text all = {0};
    char bytes[4096];
    ssize_t n = 1;
    text_puts(&all, "");
    while ((text == NULL || strstr(all.data, text) == NULL) &&
           (n = recv(fd, bytes, sizeof bytes, 0)) > 0)
        text_append(&all, bytes, (size_t)n);
    const char *copy = text == NULL || n > 0
                           ? arena_strndup(f->core->arena, all.data, all.len)
                           : NULL;
    text_free(&all);
    return copy;
}

const char *http_fixture_await(struct http_fixture *f, int fd, const char *text)
{
    return read_until(f, fd, text);
}

const char *http_fixture_ask(struct http_fixture *f, const char *line,
                             const char *headers, const char *body)
{
    const int fd = http_fixture_send(f, line, headers, body);
    const char *answer = read_until(f, fd, NULL);
    close(fd);
    return answer;
}

int http_fixture_status(const char *answer)
{
    static const char start[] = "HTTP/1.1 ";
    return strncmp(answer, start, sizeof start - 1) == 0
               ? (int)strtol(answer + sizeof start - 1, NULL, 10)
               : 0;
}
