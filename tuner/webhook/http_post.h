/* http_post.h - one POST to a webhook, under the rules for requests that
 * leave this server: no redirect, no proxy, little time, little to read, a
 * connection of its own, and no address that is not public, whatever a name
 * resolves to. */
#ifndef HT_TUNER_WEBHOOK_HTTP_POST_H
#define HT_TUNER_WEBHOOK_HTTP_POST_H

#include <stdint.h>
#include <sys/socket.h>

#include <curl/curl.h>

#include "proto/base/error.h"
#include "tuner/webhook/config.h"
#include "tuner/webhook/outbox.h"

struct webhook_post;

/* Makes the request; the caller lets curl perform its handle. The body is
 * borrowed. `time_ms` is the attempt's, wall clock, and signed too; `resolve`
 * is "HOST:PORT:ADDRESS" instead of a resolver, or NULL. */
struct webhook_post *webhook_post_new(const struct webhook *webhook,
                                      const struct webhook_delivery *delivery,
                                      int64_t time_ms, const char *resolve);
CURL *webhook_post_handle(const struct webhook_post *post);
void webhook_post_free(struct webhook_post *post); /* accepts NULL */

/* The attempt's result, `code` being curl's view:
 * HT_OK           taken: an answer 2xx
 * HT_PRECONDITION it will never be: 410
 * HT_UNAVAILABLE  not now; the text says why */
enum ht_status webhook_post_judge(const struct webhook_post *post,
                                  CURLcode code, struct ht_error *err);

/* An address of the public network: not of this machine or network, not of
 * many, not one that stands for another which is not public. */
bool webhook_address_is_public(const struct sockaddr *address);

#endif
