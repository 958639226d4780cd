/* gpu_count.h - GPUs that attempts need and runners have.
 *
 * A runner says how many it has with every poll. How many of them are free
 * follows from its open attempts, so that a held poll is never out of date.
 * Core thread. */
#ifndef HT_TUNER_RUNNERS_GPU_COUNT_H
#define HT_TUNER_RUNNERS_GPU_COUNT_H

#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/job/job.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"

/* Of one attempt: all replicas together. */
int64_t gpu_count_needed(struct core *core, const struct job *job);

/* Of the runner, not taken by attempts whose processes may still run; where
 * GPUs are shared, all. */
enum ht_status gpu_count_free(struct core *core, struct arena *arena,
                              const struct live_runner *runner, int64_t *n,
                              struct ht_error *err);

struct gpu_count_known { /* of the runners online */
    int64_t most;        /* that one of them has */
    int64_t all;
};
struct gpu_count_known gpu_count_of(struct live *memory);

#endif
