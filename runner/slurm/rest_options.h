/* rest_options.h - a batch job as slurmrestd wants it: JSON, whose names and
 * types differ by version. Pure. */
#ifndef HT_RUNNER_SLURM_REST_OPTIONS_H
#define HT_RUNNER_SLURM_REST_OPTIONS_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"
#include "proto/job/slurm.h"

/* The versions of the API that are known, v0.0.38 (Slurm 22.05) to v0.0.44
 * (25.11). What differs between them, measured with 38, 40, 41 and 42:
 *
 *              up to 38                from 39 on
 * values       texts as of sbatch      typed, {set, number} for some
 * environment  a map                   a list of "NAME=VALUE"
 * script       beside the job          in the job
 * signal       never to the script     kill_warning_*
 * requeue      false is ignored        false holds
 *
 * From 40 on many elements are cancelled in one request that can name the
 * state which they must have (REST_KILL_JOBS). */
enum {
    REST_OLDEST = 38,
    REST_TYPED = 39,
    REST_KILL_JOBS = 40,
    REST_NEWEST = 44
};

/* The body of a submission, in the arena. The nodes get that environment and
 * what Slurm adds.
 * HT_PRECONDITION  an option has no field in this version */
enum ht_status rest_batch(struct arena *arena, int version,
                          const struct slurm_batch *batch,
                          const struct pairs *environment, const char **json,
                          struct ht_error *err);

#endif
