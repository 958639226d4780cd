/* live_edit.h - what a change of the space, the constraints, the bounds or the
 * noise of a study means for its trials. */
#ifndef HT_TUNER_STUDY_LIVE_EDIT_H
#define HT_TUNER_STUDY_LIVE_EDIT_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "proto/job/job.h"
#include "tuner/db/rows.h"

struct core;

/* Whether the search of a study has to notice that it has another job. */
bool live_edit_is_one(const struct job *before, const struct job *after);

/* Whether a point, as trials have it, is one that the search of the job could
 * not choose: none of its space, or against a constraint. */
bool live_edit_leaves_out(const struct job *job, const char *params);

/* Core thread. In the transaction of the event row->revision, by which the
 * study got that job; `spec` is the text of the one before.
 *
 * Suggestions that have not begun are deleted (`trial.deleted`), so that their
 * points and places in the budget are free; trials that a person chose or that
 * confirm others stay. Trials whose points are no longer searched are marked
 * `outside`; the best trials are decided anew. */
enum ht_status live_edit_apply(struct core *core, struct study_row *row,
                               const struct job *job, const char *spec,
                               struct ht_error *err);

#endif
