#include "hypertune/lib/spreq.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/net/host_lookup.h"

enum {
    BACKOFF_FIRST_MS = 100,
    BACKOFF_LAST_MS = 5000,
    BACKOFF_CUT_MS = 200, /* at most, after a connection to a peer that spoke */
    CONNECT_MS = 3000,    /* for one address */
    HELLO_MS = 10000, /* the peer's: behind a relay it follows a handshake */
    LOOK_MS = 250,    /* between looks whether bytes have moved */
    LENGTH_BYTES = 8,
    ID_BYTES = 4
};

static const char hello_req[] = {0, 'S', 'P', 0, 0, 0x30, 0, 0};
static const char hello_rep[] = {0, 'S', 'P', 0, 0, 0x31, 0, 0};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void put_be(unsigned char *at, int bytes, uint64_t value)
{
    for (int i = bytes - 1; i >= 0; i--, value >>= 8)
        at[i] = (unsigned char)value;
}

static uint64_t get_be(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

/* How long to wait: until deadline_ms, which every byte that moves sets to
 * silent_ms from then. */
struct patience {
    int64_t deadline_ms; /* monotonic */
    int silent_ms;       /* 0: bytes change nothing */
    int unsent;          /* bytes that the peer has not acknowledged */
};

static void note_moved(struct patience *patience)
{
    int64_t deadline_ms = now_ms() + patience->silent_ms;
    if (deadline_ms > patience->deadline_ms)
        patience->deadline_ms = deadline_ms;
}

/* Bytes that were sent may still wait here for a slow link. */
static void look_at_unsent(int fd, struct patience *patience)
{
    int unsent = 0;
    if (ioctl(fd, SIOCOUTQ, &unsent) != 0)
        unsent = patience->unsent;
    if (unsent < patience->unsent)
        note_moved(patience);
    patience->unsent = unsent;
}

/* Waits until fd can do `events`; ETIMEDOUT when the patience has ended. */
static int wait_for(int fd, short events, struct patience *patience)
{
    for (;;) {
        look_at_unsent(fd, patience);
        int64_t left = patience->deadline_ms - now_ms();
        if (left <= 0)
            return ETIMEDOUT;
        struct pollfd poller = {.fd = fd, .events = events};
        int n = poll(&poller, 1, (int)earlier(left, LOOK_MS));
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return errno;
    }
}

static int send_all(int fd, const void *data, size_t len, int flags,
                    struct patience *patience)
{
    const char *at = data;
    while (len > 0) {
        ssize_t sent = send(fd, at, len, MSG_NOSIGNAL | flags);
        if (sent >= 0) {
            at += sent;
            len -= (size_t)sent;
            note_moved(patience);
            continue;
        }
        if (errno != EAGAIN && errno != EINTR)
            return errno;
        int rc = wait_for(fd, POLLOUT, patience);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int receive_all(int fd, void *data, size_t len,
                       struct patience *patience)
{
    char *at = data;
    while (len > 0) {
        ssize_t got = recv(fd, at, len, 0);
        if (got == 0)
            return ECONNRESET;
        if (got > 0) {
            at += got;
            len -= (size_t)got;
            note_moved(patience);
            continue;
        }
        if (errno != EAGAIN && errno != EINTR)
            return errno;
        int rc = wait_for(fd, POLLIN, patience);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int spreq_init(struct spreq *req, const char *url)
{
    static const char scheme[] = "tcp://";
    if (strncmp(url, scheme, sizeof scheme - 1) != 0)
        return EINVAL;
    const char *host = url + sizeof scheme - 1;
    const char *colon = strrchr(host, ':');
    if (colon == NULL)
        return EINVAL;
    size_t len = (size_t)(colon - host);
    if (len >= 2 && host[0] == '[' && colon[-1] == ']') {
        host++;
        len -= 2;
    }
    char *end = NULL;
    long port = strtol(colon + 1, &end, 10);
    if (len == 0 || len >= sizeof req->host || colon[1] < '0' ||
        colon[1] > '9' || *end != '\0' || port < 1 || port > 65535)
        return EINVAL;
    *req = (struct spreq){.fd = -1};
    memcpy(req->host, host, len);
    req->port = (uint16_t)port;
    return 0;
}

/* A trainer may close every descriptor it does not know ("daemonise") and the
 * number may be another file's by now; such a number is neither used nor
 * closed. */
static bool still_ours(const struct spreq *req)
{
    struct stat now;
    return req->fd >= 0 && fstat(req->fd, &now) == 0 && S_ISSOCK(now.st_mode) &&
           now.st_ino == req->inode;
}

void spreq_close(struct spreq *req)
{
    int fd = req->fd;
    bool ours = still_ours(req);
    req->fd = -1; /* first, so that a fork never sees a number already closed */
    if (ours)
        close(fd);
}

static int greet(int fd, struct patience *patience)
{
    char peer[sizeof hello_rep];
    int rc = send_all(fd, hello_req, sizeof hello_req, 0, patience);
    if (rc == 0)
        rc = receive_all(fd, peer, sizeof peer, patience);
    if (rc == 0 && memcmp(peer, hello_rep, sizeof peer) != 0)
        rc = EPROTO;
    return rc;
}

/* Connects to one address and exchanges hellos. */
static int dial(struct spreq *req, const struct host_address *address,
                int64_t deadline_ms)
{
    struct patience patience = {
        .deadline_ms = earlier(deadline_ms, now_ms() + CONNECT_MS)};
    int fd = socket(address->as.any.sa_family,
                    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    int rc = connect(fd, &address->as.any, address->len) == 0 ? 0 : errno;
    if (rc == EINPROGRESS || rc == EINTR) {
        socklen_t size = sizeof rc;
        int waited = wait_for(fd, POLLOUT, &patience);
        if (waited != 0)
            rc = waited;
        else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &rc, &size) != 0)
            rc = errno;
    }
    if (rc == 0) {
        int on = 1; /* a report must not wait for more bytes to come */
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        patience.deadline_ms = earlier(deadline_ms, now_ms() + HELLO_MS);
        rc = greet(fd, &patience);
    }
    struct stat self;
    if (rc == 0 && fstat(fd, &self) != 0)
        rc = errno;
    if (rc != 0) {
        close(fd);
        return rc;
    }
    req->inode = self.st_ino;
    req->fd = fd;
    return 0;
}

static int connect_any(struct spreq *req, int64_t deadline_ms)
{
    struct host_address found[HOST_LOOKUP_MAX];
    size_t n = host_lookup(req->host, req->port, "/etc/hosts", found);
    int rc = EHOSTUNREACH;
    for (size_t i = 0; i < n && req->fd < 0; i++)
        rc = dial(req, &found[i], deadline_ms);
    return rc;
}

/* Waits out the back-off, then connects. */
static int reconnect(struct spreq *req, int64_t deadline_ms)
{
    int64_t wait_ms = earlier(req->connect_at_ms, deadline_ms) - now_ms();
    if (wait_ms > 0)
        poll(NULL, 0, (int)wait_ms);
    if (now_ms() >= deadline_ms)
        return ETIMEDOUT;
    return connect_any(req, deadline_ms);
}

static void back_off(struct spreq *req, int most_ms)
{
    req->backoff_ms =
        req->backoff_ms == 0 ? BACKOFF_FIRST_MS : req->backoff_ms * 2;
    if (req->backoff_ms > most_ms)
        req->backoff_ms = most_ms;
    req->connect_at_ms = now_ms() + req->backoff_ms;
}

/* Receives frames until the one that answers the newest request; EAGAIN when
 * none came in time and the stream is at the start of a frame. */
static int receive_answer(struct spreq *req, struct spreq_buffer *answer,
                          struct patience *patience)
{
    for (;;) {
        unsigned char head[LENGTH_BYTES + ID_BYTES];
        if (wait_for(req->fd, POLLIN, patience) == ETIMEDOUT)
            return EAGAIN;
        int rc = receive_all(req->fd, head, sizeof head, patience);
        if (rc != 0)
            return rc;
        uint64_t frame = get_be(head, LENGTH_BYTES);
        uint64_t id = get_be(head + LENGTH_BYTES, ID_BYTES);
        if (frame < ID_BYTES || frame - ID_BYTES > answer->cap)
            return EPROTO;
        size_t len = (size_t)frame - ID_BYTES;
        rc = receive_all(req->fd, answer->data, len, patience);
        if (rc != 0)
            return rc;
        if (id == (req->id | 0x80000000u)) {
            answer->len = len;
            return 0;
        }
    }
}

static int exchange(struct spreq *req, const char *payload, size_t len,
                    struct spreq_buffer *answer, struct patience *patience)
{
    unsigned char head[LENGTH_BYTES + ID_BYTES];
    put_be(head, LENGTH_BYTES, len + ID_BYTES);
    put_be(head + LENGTH_BYTES, ID_BYTES, req->id | 0x80000000u);
    /* MSG_MORE: head and payload leave in one segment. */
    int rc =
        send_all(req->fd, head, sizeof head, len > 0 ? MSG_MORE : 0, patience);
    if (rc == 0)
        rc = send_all(req->fd, payload, len, 0, patience);
    return rc != 0 ? rc : receive_answer(req, answer, patience);
}

/* The server may only be slow: its late answer is either what a resend waits
 * for, or carries an old id and will be skipped. But a peer that vanished
 * without a word looks the same, so the second silence in a row costs the
 * connection. */
static int give_up_quietly(struct spreq *req)
{
    req->error = ETIMEDOUT;
    req->was_silent = !req->was_silent;
    if (!req->was_silent)
        spreq_close(req);
    return ETIMEDOUT;
}

int spreq_request(struct spreq *req, const char *payload, size_t len,
                  struct spreq_buffer *answer, int silent_ms)
{
    req->id = (req->id + 1) & 0x7FFFFFFFu;
    return spreq_resend(req, payload, len, answer, silent_ms);
}

/* Connects unless it is connected, as often as the time allows. */
static int connect_in_time(struct spreq *req, int64_t deadline_ms)
{
    while (!still_ours(req)) {
        req->fd = -1;
        int rc = reconnect(req, deadline_ms);
        if (rc == 0)
            return 0;
        if (rc != ETIMEDOUT || req->error == 0)
            req->error = rc; /* a wait cut short says less than its cause */
        if (now_ms() >= deadline_ms)
            return ETIMEDOUT;
        back_off(req, BACKOFF_LAST_MS);
    }
    return 0;
}

int spreq_resend(struct spreq *req, const char *payload, size_t len,
                 struct spreq_buffer *answer, int silent_ms)
{
    if (len > SPREQ_MAX_MESSAGE)
        return EMSGSIZE;
    struct patience patience = {.deadline_ms = now_ms() + silent_ms,
                                .silent_ms = silent_ms};
    int rc = connect_in_time(req, patience.deadline_ms);
    if (rc != 0)
        return rc;
    rc = exchange(req, payload, len, answer, &patience);
    if (rc == 0) {
        req->backoff_ms = 0;
        req->error = 0;
        req->was_silent = false;
        return 0;
    }
    if (rc == EAGAIN)
        return give_up_quietly(req);
    spreq_close(req); /* half a frame is lost; the next one starts clean */
    req->error = rc;
    back_off(req, BACKOFF_CUT_MS);
    return rc == ETIMEDOUT ? ETIMEDOUT : ECONNRESET;
}
