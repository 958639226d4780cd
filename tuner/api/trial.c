#include "tuner/api/trial.h"

#include <stdlib.h>

#include "proto/doc/json.h"
#include "tuner/ask/trial_body.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/db/write.h"
#include "tuner/search/pareto_trials.h"
#include "tuner/study/end.h"
#include "tuner/study/move.h"
#include "tuner/study/outputs.h"
#include "tuner/study/rungs.h"
#include "tuner/study/trial.h"
#include "tuner/view/view.h"

enum ht_status trial_find_named(struct core *core, struct request *req,
                                struct study_row *study,
                                struct trial_row *trial, struct ht_error *err)
{
    enum ht_status status = db_study_find(core_db(core), req->arena,
                                          &req->scope, req->study, study, err);
    if (status != HT_OK)
        return status;
    char *end;
    const long long id = strtoll(req->trial, &end, 10);
    if (end == req->trial || *end != '\0')
        return ht_fail(err, HT_NOT_FOUND, "study %.128s has no trial %.64s",
                       study->name, req->trial);
    status = db_trial_get(core_db(core), req->arena, study->id, id, trial, err);
    return status == HT_NOT_FOUND
               ? ht_fail(err, HT_NOT_FOUND, "study %.128s has no trial %lld",
                         study->name, id)
               : status;
}

enum ht_status trial_reply(struct core *core, struct request *req,
                           const struct study_row *study,
                           const struct trial_row *trial, struct ht_error *err)
{
    const struct job *job;
    cJSON *view = NULL;
    enum ht_status status = live_job(core_live(core), study, &job, err);
    if (status == HT_OK)
        status = view_trial(core_db(core), req->arena, study, job, trial, true,
                            &view, err);
    if (status == HT_OK)
        json_print(view, &req->reply);
    return status;
}

enum ht_status trial_stop(struct core *core, struct request *req,
                          struct ht_error *err)
{
    struct study_row study;
    struct trial_row trial = {0};
    enum ht_status status = trial_find_named(core, req, &study, &trial, err);
    if (status == HT_OK)
        status = trial_body_none(req, err);
    if (status != HT_OK)
        return status;
    if (db_trial_state_is_final(trial.state))
        return ht_fail(err, HT_PRECONDITION, "trial %lld has ended: %s",
                       (long long)trial.id, db_trial_state_name(trial.state));
    status = trial_end(core, req->arena, &trial, "stopped by user", err);
    return status == HT_OK ? trial_reply(core, req, &study, &trial, err)
                           : status;
}

/* --- trial retry --- */

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
        status = live_job(core_live(core), study, &job, err);
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

/* Reopens a finished study for this trial; one that a user stopped would also
 * create the trials that it still lacks, which the user did not ask for. */
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
