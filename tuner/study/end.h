/* end.h - the end of a study: of its open trials, and its final state. Core
 * thread. */
#ifndef HT_TUNER_STUDY_END_H
#define HT_TUNER_STUDY_END_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/rows.h"
#include "tuner/study/end_rules.h"

/* Begins the end: waiting trials are cancelled, running ones asked to stop. A
 * study that was reopened for confirmations alone ends as it had before;
 * otherwise `as` is the final state. STUDY_CANCELLED discards the results of
 * running trials; STUDY_SUCCEEDED is an end by plan, where the job may let
 * running trials finish. A study whose trials clients run ends at once. */
enum ht_status study_begin_end(struct core *core, struct arena *arena,
                               struct study_row *row, enum study_state as,
                               const char *reason, struct ht_error *err);

/* Ends the wait for running trials in a study that lets them finish; any other
 * study that is STOPPING is unchanged. */
enum ht_status study_hasten_end(struct core *core, struct arena *arena,
                                struct study_row *row, const char *reason,
                                struct ht_error *err);

/* Ends the study by a rule, at once when nothing runs. */
enum ht_status study_end(struct settling *settling, const struct ending *end,
                         struct ht_error *err);

/* In STOPPING or CANCELLING: ends the study when nothing runs any more. */
enum ht_status study_finish(struct settling *settling, struct ht_error *err);

/* Reopens a study that has ended, or that runs for confirmations alone; its
 * counts without gain restart. */
enum ht_status study_reopen(struct core *core, struct study_row *row,
                            const char *reason, struct ht_error *err);
/* Reopens a study that has ended, for confirmations only; when they have ended
 * the study ends as it had before. Not for studies whose trials clients run:
 * perhaps no client asks for them. */
enum ht_status study_confirm_on(struct core *core, struct study_row *row,
                                const char *reason, struct ht_error *err);

#endif
