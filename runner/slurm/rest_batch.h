/* rest_batch.h - a batch job as slurmrestd takes it: the options of sbatch
 * become members, as slurmrestd ignores #SBATCH lines. Pure. */
#ifndef HT_RUNNER_SLURM_REST_BATCH_H
#define HT_RUNNER_SLURM_REST_BATCH_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/job/slurm.h"

/* The body for that version (38: v0.0.38), with `path` as the PATH of the
 * script; in the arena.
 * HT_PRECONDITION  an option has no member, or its value is wrong */
enum ht_status rest_batch(struct arena *arena, const struct slurm_batch *batch,
                          int version, const char *path, const char **body,
                          struct ht_error *err);

#endif
