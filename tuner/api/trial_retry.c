#include "proto/doc/json.h"
#include "tuner/api/trial.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/db/write.h"
#include "tuner/search/pareto_trials.h"
#include "tuner/study/end.h"
#include "tuner/study/move.h"
#include "tuner/study/outputs.h"
#include "tuner/study/rungs.h"
#include "tuner/study/trial.h"

static enum ht_status check(const struct study_row *study,
                            const struct trial_row *trial, struct ht_error *err)
{
    const long long id = (long long)trial->id;
    if (study->kind == JOB_STUDY)
        return ht_fail(err, HT_PRECONDITION,
                       "clients run the trials of study %.128s, so nobody here "
                       "runs one again: add its parameters as a new trial",
                       study->name);
    if (trial->state == TRIAL_SUCCEEDED)
        return ht_fail(err, HT_PRECONDITION, "trial %lld has succeeded", id);
    if (!db_trial_state_is_final(trial->state))
        return ht_fail(err, HT_PRECONDITION, "trial %lld has not ended: %s", id,
                       db_trial_state_name(trial->state));
    if (study->state == STUDY_STOPPING || study->state == STUDY_CANCELLING ||
        study->state == STUDY_CANCELLED)
        return ht_fail(err, HT_PRECONDITION, "study %.128s is %s", study->name,
                       db_study_state_name(study->state));
    return HT_OK;
}

/* It waits as if nothing had run yet. What earlier attempts reported stays with
 * them, but none of them is the trial's result any more. */
static enum ht_status request_again(struct core *core,
                                    const struct study_row *study,
                                    struct trial_row *trial,
                                    struct ht_error *err)
{
    const struct job *job;
    enum ht_status status =
        db_attempt_clear_winner(core_db(core), trial->study, trial->id, err);
    if (status == HT_OK)
        status = outputs_spare(core, trial, err);
    if (status == HT_OK)
        status = rungs_forget(core, trial, err);
    if (status == HT_OK)
        status = live_job(core_memory(core), study, &job, err);
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
               ? pareto_trials_forget(core_db(core), job, trial, err)
               : status;
}

/* A finished study goes on for this trial; one that a person stopped would also
 * make the trials that it still lacks, which nobody asked for. */
static enum ht_status reopen(struct core *core, struct request *req,
                             struct study_row *study,
                             const struct trial_row *trial,
                             struct ht_error *err)
{
    struct settling settling = {.core = core, .arena = req->arena};
    struct ending end = {0};
    enum ht_status status = study_reopen(
        core, study,
        arena_printf(req->arena, "reopened for trial %lld, retried by user",
                     (long long)trial->id),
        err);
    settling.row = *study;
    if (status == HT_OK)
        status = study_look(&settling, err);
    if (status == HT_OK)
        status = study_find_end(&settling, &end, err);
    if (status == HT_OK && end.reason != NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "study %.100s would end again at once: %s", study->name,
                       end.reason);
    return status;
}

enum ht_status trial_retry(struct core *core, struct request *req,
                           struct ht_error *err)
{
    struct study_row study;
    struct trial_row trial = {0};
    enum ht_status status = trial_find_named(core, req, &study, &trial, err);
    if (status == HT_OK)
        status = check(&study, &trial, err);
    if (status == HT_OK)
        status = request_again(core, &study, &trial, err);
    if (status == HT_OK && db_study_state_is_final(study.state))
        status = reopen(core, req, &study, &trial, err);
    return status == HT_OK ? trial_reply(core, req, &study, &trial, err)
                           : status;
}
