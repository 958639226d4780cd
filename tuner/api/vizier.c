#include "tuner/api/vizier.h"
#include <stdbool.h>

#include "proto/doc/json.h"
#include "tuner/api/operation.h"
#include "tuner/ask/trial_body.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/study/early_stop.h"

enum { HOLD_MS = 20000 }; /* a request waits for a verdict, at most */

const char *vizier_study_name(struct arena *arena,
                              const struct study_row *study)
{
    return arena_printf(arena, "projects/%s/locations/%s/studies/%lld",
                        study->project, study->location, (long long)study->id);
}

/* --- deletion --- */

static enum ht_status delete_study(struct method_call *call,
                                   struct ht_error *err)
{
    if (call->study.kind != JOB_STUDY)
        return ht_fail(err, HT_PRECONDITION,
                       "study %.128s belongs to a job; delete the job",
                       call->study.name);
    return method_delete_study(call, err);
}

METHOD(vizier_delete, METHOD_STUDY, delete_study, method_reply_empty)

/* --- checkTrialEarlyStoppingState --- */

/* Whether the request is held until the verdict about the trial. */
static bool waits(const struct method_call *call)
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
    return live != NULL && live->verdict_due &&
           req->held_until_ms > core_now_ms(core);
}

static enum ht_status reply(struct method_call *call, struct ht_error *err)
{
    struct arena *arena = call->arena;
    (void)err;
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
    return HT_OK;
}

static enum ht_status check_stop(struct method_call *call, struct ht_error *err)
{
    const enum ht_status status = trial_body_none(call->req, err);
    if (status == HT_OK && !waits(call))
        call->req->held_until_ms = 0;
    return status;
}

METHOD(vizier_check_stop, METHOD_TRIAL, check_stop, reply)
