/* http_post.h - one POST to a webhook, under the rules for requests that
 * leave this server: no redirect, no proxy, little time, little to read, a
 * connection of its own, and no address that is not public, whatever a name
 * resolves to. */
#ifndef HT_TUNER_WEBHOOK_HTTP_POST_H
#define HT_TUNER_WEBHOOK_HTTP_POST_H

#include <stdint.h>

#include <curl/curl.h>

#include "proto/base/error.h"
#include "tuner/webhook/outbox.h"
#include "tuner/webhook/rules.h"

struct webhook_post;

struct webhook_post_parts {
    const struct webhook *webhook;
    const struct letter *letter; /* its body is borrowed while it is sent */
    int64_t time_ms;             /* of the attempt, wall clock; signed, too */
    const char *resolve; /* "HOST:PORT:ADDRESS" instead of a resolver; NULL */
};

/* Makes the request; the caller lets curl perform its handle. */
struct webhook_post *webhook_post_new(const struct webhook_post_parts *parts);
CURL *webhook_post_handle(const struct webhook_post *post);
void webhook_post_free(struct webhook_post *post); /* accepts NULL */

/* What came of it, `code` being curl's view:
 * HT_OK           taken: an answer 2xx
 * HT_PRECONDITION it will never be: 410
 * HT_UNAVAILABLE  not now; the text says why */
enum ht_status webhook_post_judge(const struct webhook_post *post,
                                  CURLcode code, struct ht_error *err);

#endif
