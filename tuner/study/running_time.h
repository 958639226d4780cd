/* running_time.h - how long a study has run, and when it last improved.
 *
 * Running time is time in the state RUNNING, on the monotonic clock; a change
 * of the wall clock does not affect it. Core thread. */
#ifndef HT_TUNER_STUDY_RUNNING_TIME_H
#define HT_TUNER_STUDY_RUNNING_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/db/rows.h"

struct core;

/* Running time up to now. */
int64_t running_time_used_ms(struct core *core, const struct study_row *study);

/* Starts, continues or stops the clock, as the study's state requires, and
 * writes the running time now and then: a crash loses the part since the last
 * write. */
enum ht_status running_time_count(struct core *core,
                                  const struct study_row *study,
                                  struct ht_error *err);

/* Stores that a trial ends, with a gain or without
 * (tuner/search/pareto_trials.h). */
enum ht_status running_time_note(struct core *core,
                                 const struct study_row *study, bool gain,
                                 struct ht_error *err);

/* Resets what counts time or trials without gain, for a study that is reopened.
 */
enum ht_status running_time_restart(struct core *core, struct study_row *study,
                                    struct ht_error *err);

#endif
