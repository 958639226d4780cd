#include "tuner/api/vizier.h"
#include <stdbool.h>

#include "proto/doc/json.h"
#include "tuner/api/operation.h"
#include "tuner/api/trial.h"
#include "tuner/ask/trial_body.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/study/early_stop.h"
#include "tuner/study/move.h"

enum { HOLD_MS = 20000 }; /* a request waits for a verdict, at most */

const char *vizier_study_name(struct arena *arena,
                              const struct study_row *study)
{
    return arena_printf(arena, "projects/%s/locations/%s/studies/%lld",
                        study->project, study->location, (long long)study->id);
}

enum ht_status vizier_find_study(struct vizier_call *call, struct ht_error *err)
{
    struct core *core = call->core;
    struct request *req = call->req;
    const enum ht_status status = db_study_find(
        core_db(core), req->arena, &req->scope, req->study, &call->study, err);
    if (status != HT_OK)
        return status;
    /* Settling drops it from the core's memory again. */
    if (db_study_state_is_final(call->study.state))
        core_touch(core, call->study.id);
    return live_job(core_live(core), &call->study, &call->job, err);
}

/* The trial of the request, also one that a job runs. */
static enum ht_status find_trial(struct vizier_call *call, struct ht_error *err)
{
    const enum ht_status status = trial_find_named(
        call->core, call->req, &call->study, &call->trial, err);
    return status == HT_OK
               ? live_job(core_live(call->core), &call->study, &call->job, err)
               : status;
}

enum ht_status vizier_find_trial(struct vizier_call *call, struct ht_error *err)
{
    const enum ht_status status = find_trial(call, err);
    if (status == HT_OK && call->study.kind != JOB_STUDY)
        return ht_fail(err, HT_PRECONDITION,
                       "study %.128s belongs to a job that runs its trials "
                       "itself",
                       call->study.name);
    return status;
}

/* --- deletion --- */

enum ht_status vizier_delete(struct core *core, struct request *req,
                             struct ht_error *err)
{
    struct study_row study;
    enum ht_status status = db_study_find(core_db(core), req->arena,
                                          &req->scope, req->study, &study, err);
    if (status != HT_OK)
        return status;
    if (study.kind != JOB_STUDY)
        return ht_fail(err, HT_PRECONDITION,
                       "study %.128s belongs to a job; delete the job",
                       study.name);
    status = move_study(core, &study, STUDY_DELETING, "deleted by user", err);
    if (status == HT_OK)
        text_puts(&req->reply, "{}");
    return status;
}

/* --- checkTrialEarlyStoppingState --- */

/* Whether the request is held until the verdict about the trial. */
static bool waits(const struct vizier_call *call)
{
    struct core *core = call->core;
    struct request *req = call->req;
    if (req->held_until_ms == 0) {
        if (!early_stop_ask(core, call->job, &call->trial, true))
            return false;
        req->held_until_ms = core_now_ms(core) + HOLD_MS;
        req->held_for = call->study.id;
        return true;
    }
    const struct live_trial *live =
        live_find_trial(core_live(core), call->trial.study, call->trial.id);
    return live != NULL && live->judging &&
           req->held_until_ms > core_now_ms(core);
}

static void reply(const struct vizier_call *call)
{
    struct arena *arena = call->req->arena;
    const char *study = vizier_study_name(arena, &call->study);
    const char *trial =
        arena_printf(arena, "%s/trials/%lld", study, (long long)call->trial.id);
    struct operation operation = {
        .resource = trial,
        .metadata = operation_message(call->req,
                                      "CheckTrialEarlyStoppingStateMetatdata"),
        .response = operation_message(call->req,
                                      "CheckTrialEarlyStoppingStateResponse")};
    operation_add_times(call->core, operation.metadata);
    json_add_string(operation.metadata, "study", study);
    json_add_string(operation.metadata, "trial", trial);
    json_add_bool(operation.response, "shouldStop",
                  call->trial.state >= TRIAL_STOPPING ||
                      call->study.state >= STUDY_STOPPING);
    operation_reply(call->core, call->req, &operation);
}

enum ht_status vizier_check_stop(struct core *core, struct request *req,
                                 struct ht_error *err)
{
    struct vizier_call call = {.core = core, .req = req};
    enum ht_status status = find_trial(&call, err);
    if (status == HT_OK)
        status = trial_body_none(req, err);
    if (status != HT_OK || waits(&call))
        return status;
    req->held_until_ms = 0;
    reply(&call);
    return HT_OK;
}
