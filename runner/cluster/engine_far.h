/* engine_far.h - what an attempt needs at a cluster that does not share the
 * state folder (runner/far). */
#ifndef HT_RUNNER_CLUSTER_ENGINE_FAR_H
#define HT_RUNNER_CLUSTER_ENGINE_FAR_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "runner/attempt/engine.h"
#include "runner/base/site.h"
#include "runner/far/far.h"

/* *there: the site with the paths at the cluster; of one that shares the folder
 * it is the same, and *far stays NULL. Else *far is opened unless it was, and
 * keeps trying to connect after a failure.
 * HT_UNAVAILABLE  no connection yet
 * other           as of far_open() */
enum ht_status engine_far_open(const struct site *site, struct far **far,
                               struct site *there, struct ht_error *err);
/* Whether the kit and the code are where the trial runs; they are put. */
bool engine_far_has_trees(struct far *far, const struct site *there,
                          const struct engine_place *place);
/* An attempt whose files are prepared. */
void engine_far_watch(struct far *far, const struct engine_place *place);

#endif
