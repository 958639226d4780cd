/* cannot_start_pause.h - attempts that no runner could begin: one may be a
 * fault of its trial, several in a row are a fault of the study, which then
 * pauses instead of failing all its trials. Core thread. */
#ifndef HT_TUNER_STUDY_CANNOT_START_PAUSE_H
#define HT_TUNER_STUDY_CANNOT_START_PAUSE_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/core/core.h"
#include "tuner/db/rows.h"

enum { REFUSALS_MOST = 3 }; /* in a row, then the study pauses */

/* An attempt of the study could not begin, for that reason. */
enum ht_status cannot_start_pause_note(struct core *core, struct arena *arena,
                                       int64_t study, const char *reason,
                                       struct ht_error *err);
/* One did begin, or a person wants it tried again. */
enum ht_status cannot_start_pause_forget(struct core *core, int64_t study,
                                         struct ht_error *err);
/* The study is paused for that, and its reason says why. */
bool cannot_start_pause_paused(const struct study_row *study);

#endif
