/* gpu_use.h - what each GPU of an attempt's replicas did while it ran, as a
 * series that the runner itself measures.
 *
 * A GPU that several trials share is measured as a whole. After a restart of
 * the runner a series begins anew. */
#ifndef HT_RUNNER_ATTEMPT_GPU_USE_H
#define HT_RUNNER_ATTEMPT_GPU_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/job/usage.h"

struct attempt;
struct gpu_meter;

struct gpu_use {      /* of one GPU of one replica; zeroed at first */
    const char *name; /* NULL: not measured yet */
    struct usage_counter counter;
    int64_t due_at;   /* monotonic: of the next point */
    int64_t taken_at; /* monotonic: when it was last sent */
    int64_t until_ms; /* where its last point ended then */
};

/* Measures the GPUs of a running attempt, where it is due; without a meter
 * nothing. */
void gpu_use_tick(struct attempt *attempt, struct gpu_meter *meter,
                  int64_t now);
/* Whether the series should be sent now; it counts as sent then. */
bool gpu_use_take(struct gpu_use *use, bool ended, int64_t now);

#endif
