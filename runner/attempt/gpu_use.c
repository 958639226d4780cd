#include "runner/attempt/gpu_use.h"

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "runner/attempt/attempt.h"
#include "runner/base/gpu_meter.h"

/* The meter has a measurement of its own time, which may be the last one. */
static void measure(struct gpu_use *use, const char *gpu,
                    struct gpu_meter *meter, int64_t now)
{
    struct gpu_metered metered;
    if (now < use->due_at || !gpu_meter_read(meter, gpu, &metered))
        return;
    if (use->name == NULL) {
        use->name = gpu;
        usage_counter_begin(&use->counter, metered.at_ms,
                            clock_wall_ms() - (now - metered.at_ms),
                            metered.busy_us);
    } else {
        usage_count(&use->counter, metered.at_ms, metered.busy_us,
                    metered.memory);
    }
    use->due_at = now + use->counter.usage.every_ms;
}

void gpu_use_tick(struct attempt *attempt, struct gpu_meter *meter, int64_t now)
{
    if (meter == NULL || attempt->ended || !attempt->begun)
        return;
    for (size_t i = 0; i < attempt->placement.n; i++) {
        const struct strings *gpus = &attempt->placement.replicas[i].gpus;
        struct attempt_replica *replica = &attempt->replicas[i];
        if (replica->gpus == NULL && gpus->n > 0)
            replica->gpus = arena_alloc(attempt->order->arena, gpus->n,
                                        sizeof *replica->gpus);
        for (size_t k = 0; k < gpus->n; k++)
            measure(&replica->gpus[k], gpus->items[k], meter, now);
    }
}

bool gpu_use_take(struct gpu_use *use, bool ended, int64_t now)
{
    const struct usage *usage = &use->counter.usage;
    if (use->name == NULL || usage->n == 0)
        return false;
    const int64_t until = usage->points[usage->n - 1].until_ms;
    const bool due =
        ended || now >= use->taken_at + usage_pause_ms(&use->counter, now);
    if (until == use->until_ms || !due)
        return false;
    use->until_ms = until;
    use->taken_at = now;
    return true;
}
