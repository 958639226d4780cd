/* webhook_post.h - one POST to a webhook, under the rules for requests that
 * leave this server: no redirect, no proxy, little time, little to read, and
 * no address that is not public, whatever a name resolves to. */
#ifndef HT_TUNER_WEBHOOK_POST_H
#define HT_TUNER_WEBHOOK_POST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/error.h"

struct webhook_letter {
    const char *url, *event, *body;
    const char *secret;  /* NULL: not signed */
    int64_t id;          /* the same for each attempt to deliver it */
    int64_t time_ms;     /* of the attempt, wall clock; signed, too */
    bool local;          /* any address will do */
    atomic_bool *stop;   /* breaks it off when it gets true; or NULL */
    const char *resolve; /* "HOST:PORT:ADDRESS" instead of a resolver; NULL */
};

/* HT_OK           taken: an answer 2xx
 * HT_PRECONDITION it will never be: 410
 * HT_UNAVAILABLE  not now; the text says why */
enum ht_status webhook_post(const struct webhook_letter *letter,
                            struct ht_error *err);

#endif
