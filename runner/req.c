#include "runner/req.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "proto/clock.h"
#include "proto/limits.h"
#include "proto/token.h"

enum {
    HELLO_BYTES = 8,
    LENGTH_BYTES = 8,
    ID_BYTES = 4,
    HEAD_BYTES = LENGTH_BYTES + ID_BYTES
};
#define LAST_OF_ROUTE UINT32_C(0x80000000) /* marks the id in SP's header */

void req_init(struct req *req, int kick)
{
    /* A random start, so that a new process never meets an old answer. */
    *req =
        (struct req){.fd = -1, .kick = kick, .id = (uint32_t)token_random64()};
}

void req_close(struct req *req)
{
    if (req->fd >= 0)
        close(req->fd);
    req->fd = -1;
    text_free(&req->in);
}

static enum req_result cut(struct req *req)
{
    req_close(req);
    return REQ_CUT;
}

/* Waits for `events` on the connection. REQ_ANSWERED: they are there. */
static enum req_result await(const struct req *req, short events,
                             int64_t deadline)
{
    for (;;) {
        struct pollfd fds[] = {{.fd = req->fd, .events = events},
                               {.fd = req->kick, .events = POLLIN}};
        const int64_t left = deadline - clock_monotonic_ms();
        const int n = poll(fds, 2, left > 0 ? (int)left : 0);
        if (n < 0 && errno != EINTR)
            return REQ_SILENT;
        if (n > 0 && fds[1].revents != 0)
            return REQ_KICKED;
        if (n > 0)
            return REQ_ANSWERED;
        if (n == 0 && left <= 0)
            return REQ_SILENT;
    }
}

/* ---- connecting ---- */

static bool split_url(const char *url, char host[256], char port[8])
{
    const char *at = strncmp(url, "tcp://", 6) == 0 ? url + 6 : "";
    const char *colon = strrchr(at, ':');
    if (colon == NULL || colon == at || colon - at >= 256 ||
        strlen(colon + 1) >= 8)
        return false;
    (void)snprintf(host, 256, "%.*s", (int)(colon - at), at);
    (void)snprintf(port, 8, "%s", colon + 1);
    const size_t len = strlen(host);
    if (host[0] == '[' && host[len - 1] == ']') { /* IPv6 */
        memmove(host, host + 1, len - 2);
        host[len - 2] = '\0';
    }
    return true;
}

static bool connect_to(struct req *req, const struct addrinfo *address,
                       int64_t deadline)
{
    const int on = 1;
    req->fd = socket(address->ai_family,
                     SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (req->fd < 0)
        return false;
    setsockopt(req->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(req->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    if (connect(req->fd, address->ai_addr, address->ai_addrlen) == 0)
        return true;
    int code = errno;
    socklen_t len = sizeof code;
    if (code == EINPROGRESS && await(req, POLLOUT, deadline) == REQ_ANSWERED &&
        getsockopt(req->fd, SOL_SOCKET, SO_ERROR, &code, &len) == 0 &&
        code == 0)
        return true;
    req_close(req);
    return false;
}

static enum req_result receive(struct req *req)
{
    char buffer[16 * 1024];
    const ssize_t n = recv(req->fd, buffer, sizeof buffer, 0);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return REQ_SILENT;
    if (n <= 0)
        return cut(req);
    text_append(&req->in, buffer, (size_t)n);
    return REQ_ANSWERED;
}

static void consume(struct req *req, size_t len)
{
    memmove(req->in.data, req->in.data + len, req->in.len - len);
    req->in.len -= len;
}

static bool shake_hands(struct req *req, int64_t deadline)
{
    static const char ours[HELLO_BYTES] = {0, 'S', 'P', 0, 0, 0x30, 0, 0};
    static const char theirs[HELLO_BYTES] = {0, 'S', 'P', 0, 0, 0x31, 0, 0};
    if (send(req->fd, ours, sizeof ours, MSG_NOSIGNAL) != sizeof ours)
        return false;
    while (req->in.len < HELLO_BYTES) {
        if (await(req, POLLIN, deadline) != REQ_ANSWERED ||
            receive(req) == REQ_CUT)
            return false;
    }
    const bool right = memcmp(req->in.data, theirs, HELLO_BYTES) == 0;
    consume(req, HELLO_BYTES);
    return right;
}

enum ht_status req_connect(struct req *req, const char *url, int timeout_ms,
                           struct ht_error *err)
{
    char host[256];
    char port[8];
    struct addrinfo *list;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    if (!split_url(url, host, port))
        return ht_fail(err, HT_INVALID, "%s is not tcp://HOST:PORT", url);
    req_close(req);
    const int code = getaddrinfo(host, port, &hints, &list);
    if (code != 0)
        return ht_fail(err, HT_UNAVAILABLE, "%s: %s", url, gai_strerror(code));
    const int64_t deadline = clock_monotonic_ms() + timeout_ms;
    for (const struct addrinfo *at = list; at && req->fd < 0; at = at->ai_next)
        (void)connect_to(req, at, deadline);
    freeaddrinfo(list);
    if (req->fd >= 0 && shake_hands(req, deadline))
        return HT_OK;
    req_close(req);
    return ht_fail(err, HT_UNAVAILABLE, "%s does not answer", url);
}

/* ---- asking ---- */

static void put_number(unsigned char *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> (8 * (bytes - 1 - i)));
}

static uint64_t get_number(const char *in, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | (unsigned char)in[i];
    return value;
}

static enum req_result send_all(struct req *req, const char *bytes, size_t len,
                                int64_t deadline)
{
    while (len > 0) {
        const ssize_t n = send(req->fd, bytes, len, MSG_NOSIGNAL);
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        } else if (errno == EAGAIN || errno == EINTR) {
            const enum req_result result = await(req, POLLOUT, deadline);
            if (result != REQ_ANSWERED) {
                req_close(req); /* half a frame is out */
                return result;
            }
        } else {
            return cut(req);
        }
    }
    return REQ_ANSWERED;
}

enum req_result req_send(struct req *req, const char *bytes, size_t len,
                         int timeout_ms)
{
    struct text frame = {0};
    unsigned char head[HEAD_BYTES];
    req->id = (req->id + 1) | LAST_OF_ROUTE;
    put_number(head, ID_BYTES + len, LENGTH_BYTES);
    put_number(head + LENGTH_BYTES, req->id, ID_BYTES);
    text_append(&frame, (const char *)head, sizeof head);
    text_append(&frame, bytes, len);
    const enum req_result result =
        send_all(req, frame.data, frame.len, clock_monotonic_ms() + timeout_ms);
    text_free(&frame);
    return result;
}

/* Takes the first whole frame out of what was received. REQ_SILENT: there is
 * none yet. */
static enum req_result take_frame(struct req *req, struct text *answer)
{
    while (req->in.len >= LENGTH_BYTES) {
        const uint64_t len = get_number(req->in.data, LENGTH_BYTES);
        if (len < ID_BYTES || len > HT_MAX_MESSAGE + ID_BYTES)
            return cut(req);
        if (req->in.len < LENGTH_BYTES + len)
            return REQ_SILENT;
        const bool wanted =
            get_number(req->in.data + LENGTH_BYTES, ID_BYTES) == req->id;
        if (wanted)
            text_append(answer, req->in.data + HEAD_BYTES,
                        (size_t)len - ID_BYTES);
        consume(req, LENGTH_BYTES + (size_t)len);
        if (wanted)
            return REQ_ANSWERED;
    }
    return REQ_SILENT;
}

enum req_result req_wait(struct req *req, int timeout_ms, struct text *answer)
{
    const int64_t deadline = clock_monotonic_ms() + timeout_ms;
    for (;;) {
        enum req_result result = take_frame(req, answer);
        if (result != REQ_SILENT)
            return result;
        result = await(req, POLLIN, deadline);
        if (result != REQ_ANSWERED)
            return result;
        if (receive(req) == REQ_CUT)
            return REQ_CUT;
    }
}
