/* disk_guard.h - no new trials while the disk of the data folder is nearly
 * full, so that what running ones report can still be stored.
 *
 * The disk is looked at when trials are wanted and by a tick, which also lets
 * held requests continue as soon as there is room. */
#ifndef HT_TUNER_CORE_DISK_GUARD_H
#define HT_TUNER_CORE_DISK_GUARD_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "tuner/core/options.h"

/* The part CORE_DISK. */
enum ht_status disk_guard_start(struct core *core, void **data,
                                struct ht_error *err);
void disk_guard_stop(void *data); /* accepts NULL */
core_tick_part disk_guard_tick;
int64_t disk_guard_deadline(struct core *core);

/* HT_UNAVAILABLE, with what to do, when no trial may begin. Core thread. */
enum ht_status disk_guard_check(struct core *core, struct ht_error *err);
/* Whether that was so when the core looked last. Any thread. */
bool disk_guard_is_closed(struct core *core);

#endif
