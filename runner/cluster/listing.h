/* listing.h - what a listing of the cluster says about the batches. */
#ifndef HT_RUNNER_CLUSTER_LISTING_H
#define HT_RUNNER_CLUSTER_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "runner/cluster/batch.h"
#include "runner/cluster/clerk.h"

/* The id of the batch's job, found by its unique name; 0: it has its id, is
 * being submitted, or is not in the listing. */
int64_t listing_find(const struct batch *batch,
                     const struct clerk_listing *listing);
/* Takes over the states of the batch's elements. One that two listings in a row
 * lack has ended; a batch whose name no listing has for half a minute was never
 * accepted. */
void listing_apply(struct batch *batch, const struct clerk_listing *listing,
                   int64_t now_ms);
/* Whether the row is of no batch in the list and has not ended: of one that was
 * accepted after it was given up, or twice. */
bool listing_is_stray(const struct batch *first, const struct slurm_row *row);

/* How the element ended, with the last lines of its output, in the arena. */
const char *listing_describe_end(struct arena *arena, const struct batch *batch,
                                 int element);

#endif
