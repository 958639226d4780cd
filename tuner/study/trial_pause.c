#include "tuner/study/trial_pause.h"

#include "tuner/base/reason.h"
#include "tuner/core/core.h"
#include "tuner/db/write.h"
#include "tuner/study/move.h"
#include "tuner/study/outputs.h"

static enum ht_status newest_attempt(struct core *core, struct arena *arena,
                                     const struct trial_row *trial,
                                     struct attempt_row *attempt,
                                     struct ht_error *err)
{
    const struct trial_name name = {trial->study, trial->id, trial->attempt};
    return db_attempt_get(core_db(core), arena, &name, attempt, err);
}

enum ht_status trial_pause(struct core *core, struct arena *arena,
                           struct trial_row *trial, const char *reason,
                           struct ht_error *err)
{
    struct attempt_row attempt;
    const enum ht_status status =
        newest_attempt(core, arena, trial, &attempt, err);
    if (status != HT_OK || attempt.state > ATTEMPT_RUNNING)
        return status;
    trial->pausing = true;
    core_wake(core, CORE_ALL_HELD, trial->study);
    return move_trial(core, trial, TRIAL_STOPPING, reason, err);
}

/* A program that was asked to pause may have been at its last step. */
static bool is_at_its_end(const struct deciding *deciding)
{
    const struct early_stop *options = &deciding->job->early_stop;
    return deciding->attempt->outcome == OUTCOME_SUCCEEDED &&
           deciding->final.found && !options->by_time &&
           options->max_steps > 0 && deciding->final.step >= options->max_steps;
}

enum ht_status trial_pause_decide(struct deciding *deciding, bool *decided,
                                  struct ht_error *err)
{
    struct trial_row *trial = deciding->trial;
    const bool pausing = trial->pausing && !is_at_its_end(deciding);
    trial->pausing = false;
    *decided = pausing && (deciding->study.state == STUDY_RUNNING ||
                           deciding->study.state == STUDY_PAUSED);
    if (*decided)
        trial->losses = 0;
    return *decided ? move_trial(deciding->core, trial, TRIAL_PAUSED,
                                 trial->reason, err)
                    : HT_OK;
}

enum ht_status trial_pause_promote(struct core *core, struct arena *arena,
                                   struct trial_row *trial,
                                   struct ht_error *err)
{
    trial->rungs_passed++;
    trial->stop = "";
    core_wake(core, CORE_ALL_HELD, trial->study);
    return move_trial(core, trial, TRIAL_REQUESTED,
                      reason_make(arena,
                                  "among the best at rung %lld: continues",
                                  (long long)trial->rungs_passed - 1),
                      err);
}

enum ht_status trial_pause_end(struct core *core, struct arena *arena,
                               struct trial_row *trial, const char *reason,
                               struct ht_error *err)
{
    struct attempt_row attempt;
    struct deciding deciding = {
        .core = core, .arena = arena, .trial = trial, .attempt = &attempt};
    enum ht_status status = newest_attempt(core, arena, trial, &attempt, err);
    if (status == HT_OK)
        status = final_measurement_prepare(&deciding, err);
    if (status != HT_OK && status != HT_CORRUPT)
        return status;
    if (deciding.final.found && deciding.study.state != STUDY_CANCELLING)
        status =
            final_measurement_end_trial(&deciding, TRIAL_STOPPED, reason, err);
    else
        status = move_trial(core, trial, TRIAL_CANCELLED, reason, err);
    return status == HT_OK ? outputs_note_end(core, trial, err) : status;
}

enum ht_status trial_pause_copy_scores(struct core *core, struct arena *arena,
                                       const struct attempt_row *attempt,
                                       int64_t earlier, struct ht_error *err)
{
    struct attempt_row before = *attempt;
    struct attempt_scores scores;
    before.n = earlier;
    const enum ht_status status =
        db_scores_get(core_db(core), arena, &before, &scores, err);
    return status == HT_OK ? db_scores_set(core_db(core), attempt, &scores, err)
                           : status;
}
