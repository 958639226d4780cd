/* refusal.h - what an answer of a Kubernetes API server that is no success
 * means to us, from its code and its object Status. */
#ifndef HT_RUNNER_KUBERNETES_REFUSAL_H
#define HT_RUNNER_KUBERNETES_REFUSAL_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/node.h"

/* Fails with the server's words, on one line; `status` is the Status, NULL
 * where the body was none (a proxy's page).
 * HT_INVALID          400, 422: what was sent is wrong, with the fields
 * HT_UNAUTHENTICATED  401
 * HT_DENIED           403: a Role is missing, or an admission refuses it
 * HT_EXHAUSTED        403: a ResourceQuota is used up
 * HT_NOT_FOUND        404
 * HT_EXISTS           409 AlreadyExists: the name is taken
 * HT_CONFLICT         any other 409: it was changed, or has another uid
 * HT_RANGE            410: the resourceVersion is too old; list again
 * HT_TOO_LARGE        413
 * HT_LIMIT            429: ask later
 * HT_NO_METHOD        405, 415
 * HT_TIMEOUT          504, and 500 ServerTimeout
 * HT_UNAVAILABLE      502, 503
 * HT_INTERNAL         any other 5xx
 * HT_PRECONDITION     anything else, such as a redirection */
enum ht_status kube_refuse(struct arena *arena, int code,
                           const struct node *status, struct ht_error *err);

#endif
