#include <stdbool.h>

#include "proto/doc/json.h"
#include "tuner/api/operation.h"
#include "tuner/api/trial.h"
#include "tuner/api/vizier.h"
#include "tuner/ask/trial_body.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/study/early_stop.h"

enum { HOLD_MS = 20000 }; /* a request waits for the judge, at most */

static enum ht_status find(struct vizier_call *call, struct ht_error *err)
{
    const enum ht_status status = trial_find_named(
        call->core, call->req, &call->study, &call->trial, err);
    return status == HT_OK ? live_job(core_memory(call->core), &call->study,
                                      &call->job, err)
                           : status;
}

/* Whether the request is held until the judge has looked at the trial. */
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
    const struct live_trial *memory =
        live_find_trial(core_memory(core), call->trial.study, call->trial.id);
    return memory != NULL && memory->judging &&
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
    enum ht_status status = find(&call, err);
    if (status == HT_OK)
        status = trial_body_none(req, err);
    if (status != HT_OK || waits(&call))
        return status;
    req->held_until_ms = 0;
    reply(&call);
    return HT_OK;
}
