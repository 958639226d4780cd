/* measured.h - the event trial.measured, written at most once a second for each
 * trial. Core thread. */
#ifndef HT_TUNER_STUDY_MEASURED_H
#define HT_TUNER_STUDY_MEASURED_H

#include <stdint.h>

#include "tuner/core/options.h"
#include "tuner/db/rows.h"

/* The trial has new values: writes the event, now or one second after the last
 * one. */
enum ht_status measured_note(struct core *core, const struct trial_row *trial,
                             struct ht_error *err);

/* Writes the events that waited. */
core_tick_part measured_tick;
/* Monotonic ms of the next event that waits, or LIVE_NEVER. */
int64_t measured_deadline(struct core *core);

#endif
