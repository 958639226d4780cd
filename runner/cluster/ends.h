/* ends.h - what the end of an element means for the trial that it ran. */
#ifndef HT_RUNNER_CLUSTER_ENDS_H
#define HT_RUNNER_CLUSTER_ENDS_H

#include "proto/base/arena.h"
#include "runner/base/folder.h"
#include "runner/cluster/batch.h"

/* Of a replica without exit.json: an element that used too much memory has
 * failed by its trainer; all else took the slot away, and another attempt
 * continues. */
enum outcome ends_outcome(enum slurm_state state);
/* "Slurm ended job 17_3 on n1: NODE_FAIL, NodeDown", in the arena. */
const char *ends_describe(struct arena *arena, const struct batch *batch,
                          int element);
/* "NODE_FAIL, NodeDown" or "FAILED, exit 3", in the arena. */
const char *ends_words(struct arena *arena, const struct slot *slot);

#endif
