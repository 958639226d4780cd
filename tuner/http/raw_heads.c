#include "tuner/http/raw_heads.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/net/http_head.h"

struct raw_heads { /* of one connection */
    struct http_head head;
    struct refused_log *log;
    char peer[INET6_ADDRSTRLEN];
};

static void *open_heads(void *context, const struct relay_peer *peer)
{
    struct raw_heads *heads = ht_xcalloc(1, sizeof *heads);
    heads->log = context;
    memcpy(heads->peer, peer->address, sizeof heads->peer);
    return heads;
}

static const char *answer_of(int status)
{
#define REFUSAL(line)                                                          \
    "HTTP/1.1 " line "\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    switch (status) {
    case 431:
        return REFUSAL("431 Request Header Fields Too Large");
    case 501:
        return REFUSAL("501 Not Implemented");
    case 505:
        return REFUSAL("505 HTTP Version Not Supported");
    default:
        return REFUSAL("400 Bad Request");
    }
}

/* Where a malformed head ends is not certain, so nothing of it is quoted. */
static void log_refusal(struct raw_heads *heads)
{
    const struct refused refused = {.status = heads->head.refused,
                                    .why = heads->head.reason,
                                    .method = "-",
                                    .path = "-",
                                    .peer = heads->peer,
                                    .principal = ""};
    refused_write(heads->log, &refused, clock_monotonic_ms());
}

static size_t see(void *state, const char *bytes, size_t len,
                  struct relay_refusal *refusal)
{
    struct raw_heads *heads = state;
    struct http_head *head = &heads->head;
    if (head->ended || head->refused != 0)
        return 0;
    const size_t pass = http_head_follow(head, bytes, len);
    if (head->refused != 0) {
        refusal->answer = answer_of(head->refused);
        refusal->alone = head->requests == 0;
        log_refusal(heads);
    }
    return pass;
}

struct relay_check raw_heads_check(struct refused_log *log)
{
    return (struct relay_check){log, open_heads, see, free};
}
