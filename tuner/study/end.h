/* end.h - how a study comes to its end: what becomes of its open trials,
 * and as what it ends. Core thread. */
#ifndef HT_TUNER_STUDY_END_H
#define HT_TUNER_STUDY_END_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/rows.h"
#include "tuner/study/end_rules.h"

/* Begins the end: waiting trials are cancelled, running ones told to stop. One
 * that went on for confirmations alone ends as it had before, otherwise
 * `as` is the final state; STUDY_CANCELLED discards their results, and
 * STUDY_SUCCEEDED is an end by plan, that may let running ones finish. A study
 * that others run ends at once. */
enum ht_status study_begin_end(struct core *core, struct arena *arena,
                               struct study_row *row, enum study_state as,
                               const char *reason, struct ht_error *err);

/* A study that waits for running trials to end by themselves waits no longer;
 * any other that is STOPPING is left alone. */
enum ht_status study_hasten_end(struct core *core, struct arena *arena,
                                struct study_row *row, const char *reason,
                                struct ht_error *err);

/* What a rule said: ends at once when nothing runs. */
enum ht_status study_end(struct settling *settling, const struct ending *end,
                         struct ht_error *err);

/* In STOPPING or CANCELLING: ends once nothing runs any more. */
enum ht_status study_finish(struct settling *settling, struct ht_error *err);

/* Goes on after the end, or after having gone on for confirmations alone;
 * counts without gain start anew. */
enum ht_status study_reopen(struct core *core, struct study_row *row,
                            const char *reason, struct ht_error *err);
/* After the end, only confirmations run; when they have ended, so does the
 * study, as it had before. Not for studies whose trials clients run: nobody
 * might. */
enum ht_status study_confirm_on(struct core *core, struct study_row *row,
                                const char *reason, struct ht_error *err);

#endif
