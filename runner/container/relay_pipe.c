#include "runner/container/relay_pipe.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/arena.h"

/* A peer that vanished without a word must not hold its place for ever. */
static void tune(int fd)
{
    const int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

bool relay_pipe_open(struct relay_pipe *pipe, int came,
                     const struct sockaddr_storage *to, socklen_t len)
{
    const int fd =
        socket(to->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || (connect(fd, (const struct sockaddr *)to, len) != 0 &&
                   errno != EINPROGRESS)) {
        if (fd >= 0)
            close(fd);
        close(came);
        return false;
    }
    tune(came);
    tune(fd);
    *pipe = (struct relay_pipe){.fds = {came, fd}, .connecting = true};
    for (int i = 0; i < 2; i++)
        pipe->ways[i].bytes = ht_xcalloc(RELAY_PIPE_BYTES, 1);
    return true;
}

void relay_pipe_close(struct relay_pipe *pipe)
{
    for (int i = 0; i < 2; i++) {
        close(pipe->fds[i]);
        free(pipe->ways[i].bytes);
    }
}

void relay_pipe_wish(const struct relay_pipe *pipe, struct pollfd fds[2])
{
    for (int i = 0; i < 2; i++) {
        const struct relay_way *out = &pipe->ways[i];
        const struct relay_way *in = &pipe->ways[1 - i];
        short events = 0;
        if (!out->ended && out->len < RELAY_PIPE_BYTES)
            events |= POLLIN;
        if (in->len > 0)
            events |= POLLOUT;
        if (pipe->connecting)
            events = i == 1 ? POLLOUT : 0;
        /* poll() reports a closed peer always, without end. */
        fds[i] = (struct pollfd){.fd = events != 0 ? pipe->fds[i] : -1,
                                 .events = events};
    }
}

static bool has_connected(int fd)
{
    int code = 0;
    socklen_t len = sizeof code;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) == 0 && code == 0;
}

static bool is_for_later(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static bool take(struct relay_way *way, int fd)
{
    if (way->ended || way->len == RELAY_PIPE_BYTES)
        return true;
    if (way->start > 0)
        memmove(way->bytes, way->bytes + way->start, way->len);
    way->start = 0;
    const ssize_t n =
        recv(fd, way->bytes + way->len, RELAY_PIPE_BYTES - way->len, 0);
    if (n < 0)
        return is_for_later();
    way->len += (size_t)n;
    way->ended = n == 0;
    return true;
}

static bool give(struct relay_way *way, int fd)
{
    if (way->len > 0) {
        const ssize_t n =
            send(fd, way->bytes + way->start, way->len, MSG_NOSIGNAL);
        if (n < 0)
            return is_for_later();
        way->start += (size_t)n;
        way->len -= (size_t)n;
    }
    if (way->ended && !way->passed && way->len == 0) {
        way->passed = true;
        return shutdown(fd, SHUT_WR) == 0;
    }
    return true;
}

bool relay_pipe_move(struct relay_pipe *pipe, const struct pollfd fds[2])
{
    if (pipe->connecting) {
        if (fds[1].revents == 0)
            return true;
        pipe->connecting = false;
        return has_connected(pipe->fds[1]);
    }
    for (int i = 0; i < 2; i++) {
        if ((fds[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0 &&
            !take(&pipe->ways[i], pipe->fds[i]))
            return false;
    }
    for (int i = 0; i < 2; i++) {
        if (!give(&pipe->ways[i], pipe->fds[1 - i]))
            return false;
    }
    return !(pipe->ways[0].passed && pipe->ways[1].passed);
}
