/* silence.h - trials that run but neither report nor print: they probably hang.
 *
 * A trial is silent after the spec's `silence`. Without it, one that has
 * reported at four steps is silent after five times the median between its
 * reports, twice the longest time between two, and a minute at least. What is
 * printed counts as much as what is reported. While the study is paused or the
 * trial is stopping, no time counts; nor does time in which the machine of the
 * server sleeps, or the server does not run. Core thread. */
#ifndef HT_TUNER_STUDY_SILENCE_H
#define HT_TUNER_STUDY_SILENCE_H

#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/core/options.h"
#include "tuner/db/rows.h"

struct core;

/* Begins to watch an attempt that runs, after the COMMIT. */
void silence_watch(struct core *core, const struct attempt_row *attempt);
/* The attempt has reported. */
void silence_end(struct core *core, const struct attempt_row *attempt);
/* It has printed. Any thread. */
void silence_end_printed(struct core *core, int64_t study, int64_t trial,
                         int64_t attempt);

/* "silent for 12m, usually reports every 20s" of a silent attempt at that
 * moment; NULL of any other. */
const char *silence_words(struct arena *arena,
                          const struct attempt_row *attempt, int64_t wall_ms);

/* The part of the core, see options.h: it follows the attempts that ran when
 * the server ended. */
enum ht_status silence_start(struct core *core, void **data,
                             struct ht_error *err);
void silence_stop(void *data);
core_tick_part silence_tick;
int64_t silence_deadline(struct core *core);

#endif
