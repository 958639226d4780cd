#include "tuner/api/trial.h"

#include "tuner/api/method.h"
#include "tuner/ask/trial_body.h"
#include "tuner/core/core.h"
#include "tuner/db/write.h"
#include "tuner/search/pareto_trials.h"
#include "tuner/study/end.h"
#include "tuner/study/move.h"
#include "tuner/study/outputs.h"
#include "tuner/study/rungs.h"
#include "tuner/study/trial.h"

static enum ht_status stop(struct method_call *call, struct ht_error *err)
{
    enum ht_status status = trial_body_none(call->req, err);
    if (status == HT_OK)
        status = method_check_trial_open(call, err);
    return status == HT_OK ? trial_end(call->core, call->arena, &call->trial,
                                       "stopped by user", err)
                           : status;
}

METHOD(trial_stop, METHOD_TRIAL, stop, method_reply_trial)

/* --- trial retry --- */

static enum ht_status check(struct method_call *call, struct ht_error *err)
{
    const struct trial_row *trial = &call->trial;
    const long long id = (long long)trial->id;
    if (call->study.kind == JOB_STUDY)
        return ht_fail(err, HT_PRECONDITION,
                       "clients run the trials of study %.128s, the server "
                       "runs none again: add its parameters as a new trial",
                       call->study.name);
    if (trial->state == TRIAL_SUCCEEDED)
        return ht_fail(err, HT_PRECONDITION, "trial %lld has succeeded", id);
    if (!db_trial_state_is_final(trial->state))
        return ht_fail(err, HT_PRECONDITION, "trial %lld has not ended: %s", id,
                       db_trial_state_name(trial->state));
    return method_check_not_stopped(call, err);
}

/* It waits as if nothing had run yet. What earlier attempts reported stays with
 * them, but none of them is the trial's result any more. */
static enum ht_status request_again(struct method_call *call,
                                    struct ht_error *err)
{
    struct core *core = call->core;
    struct trial_row *trial = &call->trial;
    enum ht_status status =
        db_attempt_clear_winner(call->db, trial->study, trial->id, err);
    if (status == HT_OK)
        status = outputs_spare(core, trial, err);
    if (status == HT_OK)
        status = rungs_forget(core, trial, err);
    if (status != HT_OK)
        return status;
    trial->failures = trial->losses = 0;
    trial->has_objective = false;
    trial->final_metrics = NULL;
    trial->final_step = 0;
    trial->final_elapsed_ms = -1;
    trial->stop = "";
    trial->started_ms = trial->ended_ms = 0;
    trial_forget(core, trial);
    core_wake(core, CORE_ALL_HELD, trial->study);
    status = move_trial(core, trial, TRIAL_REQUESTED, "retried by user", err);
    return status == HT_OK
               ? pareto_trials_forget(call->db, call->job, trial, err)
               : status;
}

/* Reopens a finished study for this trial; one that a user stopped would also
 * create the trials that it still lacks, which the user did not ask for. */
static enum ht_status reopen(struct method_call *call, struct ht_error *err)
{
    struct settling settling = {.core = call->core, .arena = call->arena};
    struct ending end = {0};
    enum ht_status status = study_reopen(
        call->core, &call->study,
        arena_printf(call->arena, "reopened for trial %lld, retried by user",
                     (long long)call->trial.id),
        err);
    settling.row = call->study;
    if (status == HT_OK)
        status = study_look(&settling, err);
    if (status == HT_OK)
        status = study_find_end(&settling, &end, err);
    if (status == HT_OK && end.reason != NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "study %.100s would end again at once: %s",
                       call->study.name, end.reason);
    return status;
}

static enum ht_status retry(struct method_call *call, struct ht_error *err)
{
    enum ht_status status = check(call, err);
    if (status == HT_OK)
        status = request_again(call, err);
    if (status == HT_OK && db_study_state_is_final(call->study.state))
        status = reopen(call, err);
    return status;
}

METHOD(trial_retry, METHOD_TRIAL, retry, method_reply_trial)
