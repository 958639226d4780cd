#include "tests/lib/fake_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netinet/in.h>

#include <nng/protocol/reqrep0/rep.h>

#include "proto/base/arena.h"
#include "proto/doc/diag.h"
#include "proto/doc/node.h"

static void *serve_http(void *context)
{
    struct fake_server *fake = context;
    int fd;
    while ((fd = accept(fake->http, NULL, NULL)) >= 0) {
        char request[2048];
        const ssize_t n = read(fd, request, sizeof request - 1);
        request[n > 0 ? n : 0] = '\0';
        const bool known =
            strstr(request, "Bearer runner-secret") != NULL &&
            strncmp(request, "GET /hypertune/v1/server ", 25) == 0;
        char body[256];
        (void)snprintf(body, sizeof body, "{\"control\":\"%s\"}",
                       fake->control_url);
        dprintf(fd,
                "HTTP/1.1 %s\r\nContent-Length: %zu\r\n"
                "Connection: close\r\n\r\n%s",
                known ? "200 OK" : "401 Unauthorized", strlen(body), body);
        close(fd);
    }
    return NULL;
}

void fake_server_open(struct fake_server *fake)
{
    *fake = (struct fake_server){
        .hello = "", .beat = "", .report = "", .mute = "", .refuse = ""};
    nng_listener listener;
    nng_sockaddr where;
    if (nng_rep0_open(&fake->control) != 0 ||
        nng_listen(fake->control, "tcp://127.0.0.1:0", &listener, 0) != 0 ||
        nng_listener_get_addr(listener, NNG_OPT_LOCADDR, &where) != 0) {
        printf("# no control address\n");
        exit(1);
    }
    nng_socket_set_ms(fake->control, NNG_OPT_RECVTIMEO, 20);
    (void)snprintf(fake->control_url, sizeof fake->control_url,
                   "tcp://127.0.0.1:%d", ntohs(where.s_in.sa_port));
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    fake->http = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fake->http, (struct sockaddr *)&address, len) != 0 ||
        listen(fake->http, 8) != 0 ||
        getsockname(fake->http, (struct sockaddr *)&address, &len) != 0) {
        printf("# no HTTP address\n");
        exit(1);
    }
    (void)snprintf(fake->http_url, sizeof fake->http_url, "http://127.0.0.1:%d",
                   ntohs(address.sin_port));
    pthread_create(&fake->thread, NULL, serve_http, fake);
}

void fake_server_close(struct fake_server *fake)
{
    shutdown(fake->http, SHUT_RDWR);
    pthread_join(fake->thread, NULL);
    close(fake->http);
    nng_close(fake->control);
    text_free(&fake->journal);
    text_free(&fake->bodies);
    text_free(&fake->log);
}

void fake_server_answer(struct fake_server *fake, int64_t id,
                        const char *status, const char *more)
{
    struct text out = {0};
    text_printf(&out, "{\"v\":1,\"id\":%lld,\"status\":\"%s\"%s}",
                (long long)id, status, more);
    nng_send(fake->control, out.data, out.len, 0);
    text_free(&out);
}

static void handle(struct fake_server *fake, const char *type, int64_t id,
                   const struct node *map)
{
    struct text more = {0};
    text_puts(&more, "");
    if (strcmp(type, "lease") == 0) {
        const bool give =
            fake->attempt != NULL && node_get_int(map, "free", 0) > 0;
        text_printf(&more, ",\"attempts\":[%s],\"stop\":[]",
                    give ? fake->attempt : "");
        if (give)
            fake->attempt = NULL;
    } else if (strcmp(type, "hello") == 0) {
        text_printf(&more, ",\"heartbeatMs\":300%s", fake->hello);
    } else if (strcmp(type, "heartbeat") == 0) {
        text_puts(&more, fake->beat);
    } else if (strcmp(type, "report") == 0) {
        text_puts(&more, fake->report);
    } else if (strcmp(type, "log") == 0) {
        text_puts(&fake->log, node_get_string(map, "data", ""));
        text_printf(&more, ",\"offset\":%lld",
                    (long long)(node_get_int(map, "offset", 0) +
                                node_get_int(map, "bytes", 0)));
    }
    if (strcmp(type, "lease") != 0 && strcmp(type, "log") != 0)
        text_printf(&fake->journal, " %s", type);
    fake_server_answer(fake, id, "ok", more.data);
    text_free(&more);
}

void fake_server_serve(struct fake_server *fake)
{
    char *bytes;
    size_t len;
    if (nng_recv(fake->control, &bytes, &len, NNG_FLAG_ALLOC) != 0)
        return;
    struct arena *arena = arena_new();
    struct diag diag;
    diag_init(&diag, arena, "request", bytes, len);
    const struct node *map = node_read_json(arena, bytes, len, &diag);
    const char *type = node_get_string(map, "type", "?");
    const int64_t id = node_get_int(map, "id", 0);
    text_printf(&fake->bodies, "%.*s\n", (int)len, bytes);
    if (strcmp(fake->mute, type) == 0) {
        fake->mute = "";
        fake->repeat_id = id;
    } else if (strcmp(fake->refuse, type) == 0) {
        fake->refuse = "";
        fake->repeat_id = id;
        fake_server_answer(fake, id, fake->refusal, ",\"retryMs\":50");
    } else {
        handle(fake, type, id, map);
    }
    arena_free(arena);
    nng_free(bytes, len);
}

bool fake_server_saw(const struct fake_server *fake, const char *words)
{
    return fake->journal.data != NULL &&
           strstr(fake->journal.data, words) != NULL;
}

bool fake_server_heard(const struct fake_server *fake, const char *words)
{
    return fake->bodies.data != NULL &&
           strstr(fake->bodies.data, words) != NULL;
}
