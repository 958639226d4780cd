/* gpu_meter.h - a thread that measures the machine's GPUs every second, so that
 * a GPU in trouble holds up nothing else. */
#ifndef HT_RUNNER_BASE_GPU_METER_H
#define HT_RUNNER_BASE_GPU_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/base/site.h"

struct gpu_meter;

/* NULL: the site has no GPUs, or no thread can be made. Without a library that
 * knows them nothing is measured. */
struct gpu_meter *gpu_meter_start(const struct site *site);
/* Accepts NULL. A thread that waits for a GPU is left, with its memory. */
void gpu_meter_stop(struct gpu_meter *meter);

struct gpu_metered {
    int64_t at_ms;   /* monotonic: when it was measured */
    int64_t busy_us; /* how long the GPU had worked by then, since the start */
    int64_t memory;  /* bytes that all its processes used then */
};
/* The newest measurement. False: there is none. */
bool gpu_meter_read(struct gpu_meter *meter, const char *gpu,
                    struct gpu_metered *metered);

#endif
