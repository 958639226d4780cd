/* relay_pipe.h - two connected sockets and the bytes between them, both ways.
 *
 * Nothing blocks. An end of one side's words is passed on once they are, and
 * the other direction continues. */
#ifndef HT_RUNNER_CONTAINER_RELAY_PIPE_H
#define HT_RUNNER_CONTAINER_RELAY_PIPE_H

#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>

enum { RELAY_PIPE_BYTES = 64 * 1024 }; /* waiting in one direction */

struct relay_way { /* from one side to the other */
    char *bytes;   /* RELAY_PIPE_BYTES, owned */
    size_t start, len;
    bool ended;  /* the side has said its last */
    bool passed; /* ... and the other was told */
};

struct relay_pipe {
    int fds[2]; /* who came, where to; owned */
    bool connecting;
    struct relay_way ways[2]; /* ways[i] leads away from fds[i] */
};

/* Takes `came` over and connects it. False: that cannot be; `came` is closed,
 * nothing is left. */
bool relay_pipe_open(struct relay_pipe *pipe, int came,
                     const struct sockaddr_storage *to, socklen_t len);
void relay_pipe_close(struct relay_pipe *pipe);

/* What to wait for; an fd of -1 waits for nothing. */
void relay_pipe_wish(const struct relay_pipe *pipe, struct pollfd fds[2]);
/* Moves what can be moved. False when it is all over: to be closed. */
bool relay_pipe_move(struct relay_pipe *pipe, const struct pollfd fds[2]);

#endif
