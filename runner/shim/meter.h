/* meter.h - measures what the trainer uses of processors and memory while it
 * runs, into usage.json of the replica's folder.
 *
 * The trainer's own control group knows it best; without one of version 2 it is
 * the sum of its processes. Measuring takes at most a hundredth of one core: a
 * measurement that took long makes the next one late. */
#ifndef HT_RUNNER_SHIM_METER_H
#define HT_RUNNER_SHIM_METER_H

#include <stdint.h>

#include "proto/job/usage.h"
#include "runner/base/guest.h"

struct meter {
    const char *folder; /* of the replica; borrowed */
    const char *group;  /* control group of the trainer alone; NULL: none */
    struct usage_counter counter;
    int64_t due_at;   /* monotonic: of the next measurement */
    int64_t write_at; /* monotonic: not before is it written again */
};

/* Once the trainer runs; the guest's texts are borrowed. */
void meter_begin(struct meter *meter, const char *folder,
                 const struct guest *guest);
/* Measures when it is due; a file that cannot be written is written later. */
void meter_tick(struct meter *meter, int64_t now);
/* The last point, once all processes have ended and were waited for; without
 * meter_begin() before it does nothing. */
void meter_end(struct meter *meter);

#endif
