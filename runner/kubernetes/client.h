/* client.h - requests to the API server of one Kubernetes cluster.
 *
 * Blocking calls, each bounded in time and in bytes; one thread at a time for a
 * client, kube_abort() alone may come from another. The connection is kept
 * between calls. An exec plugin has a minute of its own, also when aborted. */
#ifndef HT_RUNNER_KUBERNETES_CLIENT_H
#define HT_RUNNER_KUBERNETES_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"
#include "runner/kubernetes/kubeconfig.h"

/* Of a call with all its tries. */
enum { KUBE_PATIENCE_MS = 30000 };

struct kube;

/* Connects with the first call. The config must outlive the client. */
struct kube *kube_new(const struct kube_config *config);
/* One more of the same cluster, with the same login. */
struct kube *kube_new_beside(const struct kube *other);
void kube_free(struct kube *kube); /* accepts NULL */
/* From any thread and for good: the call under way ends within about a second,
 * later ones at once, as HT_UNAVAILABLE. */
void kube_abort(struct kube *kube);
bool kube_is_aborted(const struct kube *kube);
/* Waits so long; false at once when the client is aborted. */
bool kube_pause(struct kube *kube, int64_t ms);

struct kube_request {
    const char *method; /* "GET", "POST", "PATCH", "DELETE" */
    const char *path;   /* "/api/v1/namespaces/a/pods?limit=500", escaped */
    const char *body;   /* or NULL */
    const char *type;   /* of the body; NULL: application/json */
};

/* One whole JSON answer, in the arena. What the server did not take is sent
 * again until KUBE_PATIENCE_MS are over: 429 and 5xx with Retry-After (not
 * before the time that it says), and, except for POST and PATCH, after a
 * connection that failed. An object that is created must have its own name:
 * curl repeats any request on a kept connection that was closed before the
 * first byte of the answer, and a second object of that name is refused.
 * Errors of kube_refuse(), of kube_login_get(), and
 * HT_UNAVAILABLE  no connection, no answer in time, aborted: what was asked
 *                 for may have been done
 * HT_INTERNAL     the answer is no JSON, or has more than 64 MiB */
enum ht_status kube_call(struct kube *kube, const struct kube_request *request,
                         struct arena *arena, const struct node **answer,
                         struct ht_error *err);

/* The bytes of a good answer as they come; false ends the call. */
typedef bool kube_take(void *context, const char *bytes, size_t len);

struct kube_flow {
    kube_take *take;
    void *context;
    int64_t silence_ms; /* so long without a byte ends it */
};
/* One GET whose answer comes bit by bit; one try, beside a second login. HT_OK:
 * the answer has ended, or `take` did not want more. *retry_ms: how long the
 * server wants not to be asked, 0: it does not say. Errors as above. */
enum ht_status kube_stream(struct kube *kube, const char *path,
                           const struct kube_flow *flow, int64_t *retry_ms,
                           struct ht_error *err);

struct kube_socket {
    void *curl;        /* a CURL for curl_easy_send() and _recv() */
    struct text early; /* came behind the answer, <= UPGRADE_HEAD bytes */
};
/* One GET that becomes a WebSocket of that protocol, on a connection of its own
 * which the caller owns and which does not need the client any more. It is
 * tried again as kube_call() would a POST. Errors of kube_call(). */
enum ht_status kube_upgrade(struct kube *kube, const char *path,
                            const char *protocol, struct kube_socket *socket,
                            struct ht_error *err);

/* A pause that grows with each failure, from 1, up to 30 s; a third of it is
 * random, so that many clients do not come back at once. */
int64_t kube_backoff_ms(int failures);

#endif
