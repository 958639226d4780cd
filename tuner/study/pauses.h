/* pauses.h - faults of a study, as against those of one trial: several attempts
 * in a row that cannot begin, or the first trials that all end without their
 * objective. The study pauses instead of running the others. Core thread. */
#ifndef HT_TUNER_STUDY_PAUSES_H
#define HT_TUNER_STUDY_PAUSES_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/rows.h"
#include "tuner/study/final_measurement.h"

struct core;

enum {
    UNREPORTED_MOST = 3, /* in a row; fewer when fewer run at a time */
    /* study_row.unreported_in_row that is no count: */
    UNREPORTED_NEVER_PAUSES = -1, /* never pauses again */
    UNREPORTED_PAUSED = -2        /* paused for it */
};

/* --- trials without their objective --- */

/* Notes a trial that has ended: one with a result proves that the study can
 * have them, and brings a study back that was paused for the lack. */
enum ht_status pauses_note_result(struct core *core, struct arena *arena,
                                  const struct deciding *deciding,
                                  struct ht_error *err);
/* A person wants it to go on: one that was paused for this never is again. */
enum ht_status pauses_allow_unreported(struct core *core,
                                       const struct study_row *study,
                                       struct ht_error *err);
/* The study is paused for that, and its reason says why. */
bool pauses_for_metric(const struct study_row *study);

/* --- attempts that cannot begin --- */

enum { REFUSALS_MOST = 3 }; /* in a row, then the study pauses */

/* An attempt of the study could not begin, for that reason. */
enum ht_status pauses_note_refusal(struct core *core, struct arena *arena,
                                   int64_t study, const char *reason,
                                   struct ht_error *err);
/* One did begin, or a person wants it tried again. */
enum ht_status pauses_forget_refusals(struct core *core, int64_t study,
                                      struct ht_error *err);
/* The study is paused for that, and its reason says why. */
bool pauses_for_refusals(const struct study_row *study);

#endif
