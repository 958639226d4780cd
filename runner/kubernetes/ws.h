/* ws.h - frames of a WebSocket (RFC 6455, 5), seen from a client. Pure. */
#ifndef HT_RUNNER_KUBERNETES_WS_H
#define HT_RUNNER_KUBERNETES_WS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/text.h"

enum {
    WS_MOST = 32 * 1024 * 1024, /* bytes of a frame that is read */
    WS_CONTROL = 125            /* bytes of a ping, a pong or a close */
};

enum ws_opcode {
    WS_MORE = 0, /* of the message that has begun */
    WS_TEXT = 1,
    WS_BINARY = 2,
    WS_CLOSE = 8,
    WS_PING = 9,
    WS_PONG = 10
};

struct ws_reader { /* all zero at first */
    unsigned char head[10];
    size_t n_head;
    bool has_head;   /* the frame's bytes follow */
    bool in_message; /* a frame with more to come has been read */
    bool is_first;   /* nothing of the message was given yet */
    uint64_t left;   /* bytes of the frame */
    char control[WS_CONTROL];
    size_t n_control;
};

enum ws_got {
    WS_NOTHING, /* all bytes were used */
    WS_DATA,    /* some of a binary message: n bytes, also 0 */
    WS_PINGED,  /* answer with a pong of these bytes */
    WS_CLOSED,  /* with these bytes: a code of two, and words */
    WS_BROKEN   /* this is no WebSocket; `bytes` are words, n is 0 */
};

struct ws_part {
    enum ws_got got;
    const char *bytes; /* in the input or in the reader */
    size_t n;
    bool begins, ends; /* the message */
};

/* The next thing in the bytes; *used: how many it took. Until WS_NOTHING. */
void ws_read(struct ws_reader *reader, const char *bytes, size_t len,
             size_t *used, struct ws_part *part);

/* Appends one whole frame, masked as a client must. */
void ws_write(struct text *out, enum ws_opcode opcode, const char *bytes,
              size_t len);

#endif
