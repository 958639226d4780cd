/* pauses.h - pauses a study when attempts cannot begin, or its first trials
 * report no objective or all crash alike. The study is paused instead of
 * running the others. Core thread. */
#ifndef HT_TUNER_STUDY_PAUSES_H
#define HT_TUNER_STUDY_PAUSES_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/rows.h"
#include "tuner/study/final_measurement.h"

struct core;

enum {
    UNREPORTED_MOST = 3, /* in a row; fewer when fewer run in parallel */
    CRASHES_MOST = 3,    /* attempts in a row, of at least two trials */
    /* study_row.unreported_in_row that is no count: */
    UNREPORTED_NEVER_PAUSES = -1, /* never again, for either cause */
    UNREPORTED_PAUSED = -2        /* the study is paused, for either cause */
};

/* --- first trials without a result --- */

/* Counts a trial that has ended without its objective, and an attempt that
 * crashed: it ended by itself with a status other than 0 and a last line on
 * stderr, which is the same as before but for words with digits. A crash for
 * want of memory is not counted, as the parameters may cause it. A trial with a
 * result proves that the study can have them, and resumes a study that was
 * paused for the lack. */
enum ht_status pauses_note_result(const struct deciding *deciding,
                                  struct ht_error *err);
/* A person resumes a study that may be paused for this: it never is again, or,
 * when the cause was repaired, it is if new trials end so, or the next attempt
 * crashes as those before did. */
enum ht_status pauses_allow_unreported(struct core *core,
                                       const struct study_row *study,
                                       bool repaired, struct ht_error *err);
/* Whether the study is paused for that; its reason explains it. */
bool pauses_for_metric(const struct study_row *study);

/* --- attempts that cannot begin --- */

enum { REFUSALS_MOST = 3 }; /* in a row, then the study pauses */

/* An attempt of the study could not begin, with that reason. */
enum ht_status pauses_note_refusal(struct core *core, struct arena *arena,
                                   int64_t study, const char *reason,
                                   struct ht_error *err);
/* An attempt has begun, or a person resumes the study. */
enum ht_status pauses_forget_refusals(struct core *core, int64_t study,
                                      struct ht_error *err);
/* Whether the study is paused for that; its reason explains it. */
bool pauses_for_refusals(const struct study_row *study);

#endif
