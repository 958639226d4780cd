/* by_log.h - attempts whose pods are without hypertune-shim: where the entry
 * point of an image is not known, where the runner may not enter pods, or where
 * an operator makes the pods of an object that describes none.
 *
 * Their words and variables are those that Kubernetes gives, measurements are
 * in what they print, and their end is that of the pod. */
#ifndef HT_RUNNER_PODS_BY_LOG_H
#define HT_RUNNER_PODS_BY_LOG_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/attempt/engine.h"
#include "runner/attempt/replica_view.h"

/* Whether the attempt of the folder is such a one; the mark is made before
 * anything of it is. */
bool by_log_is_marked(const char *folder);
enum ht_status by_log_mark(const char *folder, struct ht_error *err);

/* Whether the order can be one; `why` it has to be.
 * HT_PRECONDITION  it cannot; the text names what it asks for, and a remedy */
enum ht_status by_log_check(const struct order *order, const char *why,
                            struct ht_error *err);

/* Its view: no folder of ours is there. In the arena. */
struct replica_view by_log_view(const struct order *order, size_t replica);
/* The variables of each replica, in the arena. */
const struct pairs *by_log_variables(struct arena *arena,
                                     const struct engine_place *place);

#endif
