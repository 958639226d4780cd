/* http_post.h - one POST to a webhook, under the rules for requests that
 * leave this server: no redirect, no proxy, a short time limit and answer, a
 * new connection, and only public addresses, whatever a name resolves to. */
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

/* The attempt's result, `code` being curl's:
 * HT_OK           taken: an answer 2xx
 * HT_PRECONDITION refused for good: 410
 * HT_UNAVAILABLE  not taken now; the text says why */
enum ht_status webhook_post_result(const struct webhook_post *post,
                                   CURLcode code, struct ht_error *err);

/* Whether it is of the public network: not of this machine, a private network
 * or a group, nor a form of such an address in IPv6. */
bool webhook_address_is_public(const struct sockaddr *address);

#endif
