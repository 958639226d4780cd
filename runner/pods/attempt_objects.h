/* attempt_objects.h - all objects of one attempt, in the order in which they
 * are made: what the engine makes, and what `hypertune check` shows. */
#ifndef HT_RUNNER_PODS_ATTEMPT_OBJECTS_H
#define HT_RUNNER_PODS_ATTEMPT_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"

struct maker_object;
struct order;
struct pod_shape;

/* In the arena; *n of them, at least one. */
struct maker_object *pod_objects(struct arena *arena,
                                 const struct pod_shape *shape, size_t *n);
/* How many there will be. */
size_t pod_objects_count(const struct order *order, bool job_sets);

#endif
