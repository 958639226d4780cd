#include "tuner/study/pauses.h"

#include "tuner/base/reason.h"
#include "tuner/core/core.h"
#include "tuner/db/write.h"
#include "tuner/study/move.h"

/* --- trials without their objective --- */

static int64_t most_unreported(const struct job *job)
{
    return job->parallel < UNREPORTED_MOST ? job->parallel : UNREPORTED_MOST;
}

bool pauses_for_metric(const struct study_row *study)
{
    return study->state == STUDY_PAUSED &&
           study->unreported_in_row == UNREPORTED_PAUSED;
}

static enum ht_status save(struct core *core, struct study_row *row,
                           int64_t unreported, struct ht_error *err)
{
    row->unreported_in_row = unreported;
    return db_study_set(core_db(core), row->id, STUDY_UNREPORTED, unreported,
                        err);
}

/* Whether trials are left that a pause would save. */
static enum ht_status has_more(struct core *core, const struct study_row *row,
                               const struct job *job, bool *more,
                               struct ht_error *err)
{
    struct trial_counts counts;
    const enum ht_status status =
        db_trial_counts(core_db(core), row->id, &counts, err);
    if (status != HT_OK)
        return status;
    int64_t begun = 0;
    for (int state = 0; state < TRIAL_STATES; state++)
        if (state != TRIAL_PREPARED && state != TRIAL_REQUESTED)
            begun += trial_counts_all(&counts, (enum trial_state)state);
    *more = begun < job->max_trials;
    return HT_OK;
}

static enum ht_status pause_for_metric(const struct deciding *deciding,
                                       struct study_row *row,
                                       int64_t unreported, struct ht_error *err)
{
    const enum ht_status status =
        save(deciding->core, row, UNREPORTED_PAUSED, err);
    if (status != HT_OK)
        return status;
    const char *reason =
        unreported == 1
            ? reason_make(deciding->arena, "paused, as the first trial %s",
                          deciding->final.why)
            : reason_make(deciding->arena,
                          "paused, as the first %lld trials all %s",
                          (long long)unreported, deciding->final.why);
    return move_study(deciding->core, row, STUDY_PAUSED, reason, err);
}

/* Ends during a pause are not counted. */
static enum ht_status note_unreported(const struct deciding *deciding,
                                      struct study_row *row,
                                      struct ht_error *err)
{
    bool more = false;
    if (row->state != STUDY_RUNNING ||
        row->unreported_in_row == UNREPORTED_PAUSED ||
        deciding->job->metric_doctor != DOCTOR_PAUSE)
        return HT_OK;
    const int64_t unreported = row->unreported_in_row + 1;
    const enum ht_status status =
        has_more(deciding->core, row, deciding->job, &more, err);
    if (status != HT_OK)
        return status;
    return more && unreported >= most_unreported(deciding->job)
               ? pause_for_metric(deciding, row, unreported, err)
               : save(deciding->core, row, unreported, err);
}

static enum ht_status note_reported(const struct deciding *deciding,
                                    struct study_row *row, struct ht_error *err)
{
    const bool was_paused = pauses_for_metric(row);
    const enum ht_status status =
        save(deciding->core, row, UNREPORTED_NEVER_PAUSES, err);
    if (status != HT_OK || !was_paused)
        return status;
    core_wake(deciding->core, CORE_ALL_HELD, row->id);
    return move_study(deciding->core, row, STUDY_RUNNING,
                      reason_make(deciding->arena, "trial %lld reported %s",
                                  (long long)deciding->trial->id,
                                  deciding->job->metrics[0].name),
                      err);
}

enum ht_status pauses_note_result(const struct deciding *deciding,
                                  struct ht_error *err)
{
    const struct trial_row *trial = deciding->trial;
    const bool unreported =
        trial->state == TRIAL_INFEASIBLE && deciding->final.doctor != NULL;
    struct study_row row;
    if (deciding->job->n_metrics == 0 || (!unreported && !trial->has_objective))
        return HT_OK;
    const enum ht_status status = db_study_get(
        core_db(deciding->core), deciding->arena, trial->study, &row, err);
    if (status != HT_OK || row.unreported_in_row == UNREPORTED_NEVER_PAUSES)
        return status;
    return unreported ? note_unreported(deciding, &row, err)
                      : note_reported(deciding, &row, err);
}

enum ht_status pauses_allow_unreported(struct core *core,
                                       const struct study_row *study,
                                       struct ht_error *err)
{
    return study->unreported_in_row == UNREPORTED_PAUSED
               ? db_study_set(core_db(core), study->id, STUDY_UNREPORTED,
                              UNREPORTED_NEVER_PAUSES, err)
               : HT_OK;
}

/* --- attempts that cannot begin --- */

bool pauses_for_refusals(const struct study_row *study)
{
    return study->state == STUDY_PAUSED && study->refusals >= REFUSALS_MOST;
}

enum ht_status pauses_note_refusal(struct core *core, struct arena *arena,
                                   int64_t study, const char *reason,
                                   struct ht_error *err)
{
    struct study_row row;
    enum ht_status status =
        db_study_get(core_db(core), arena, study, &row, err);
    if (status == HT_OK)
        status = db_study_set(core_db(core), study, STUDY_REFUSALS,
                              ++row.refusals, err);
    if (status != HT_OK || row.refusals < REFUSALS_MOST ||
        row.state != STUDY_RUNNING)
        return status;
    return move_study(
        core, &row, STUDY_PAUSED,
        reason_make(arena,
                    "paused, as the last %d attempts could not begin: %s",
                    REFUSALS_MOST, reason),
        err);
}

enum ht_status pauses_forget_refusals(struct core *core, int64_t study,
                                      struct ht_error *err)
{
    return db_study_set(core_db(core), study, STUDY_REFUSALS, 0, err);
}
