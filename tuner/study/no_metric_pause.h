/* no_metric_pause.h - trials that end well without a word about their
 * objective: the first of a study that all do so are a fault of the study,
 * which then pauses instead of running the others. Core thread. */
#ifndef HT_TUNER_STUDY_NO_METRIC_PAUSE_H
#define HT_TUNER_STUDY_NO_METRIC_PAUSE_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/core/core.h"
#include "tuner/db/rows.h"
#include "tuner/study/final_measurement.h"

enum {
    SILENCE_MOST = 3, /* in a row; fewer when fewer run at a time */
    /* study_row.unreported_in_row that is no count: */
    SILENCE_KNOWN = -1, /* never pauses again */
    SILENCE_HELD = -2   /* paused for it */
};

/* Hears a trial that has ended: one with a result proves that the study can
 * have them, and brings a study back that was paused for the lack. */
enum ht_status no_metric_pause_heed(struct core *core, struct arena *arena,
                                    const struct deciding *deciding,
                                    struct ht_error *err);
/* A person wants it to go on: one that was paused for this never is again. */
enum ht_status no_metric_pause_accept(struct core *core,
                                      const struct study_row *study,
                                      struct ht_error *err);
/* The study is paused for that, and its reason says why. */
bool no_metric_pause_paused(const struct study_row *study);

#endif
