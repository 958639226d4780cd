#include "tuner/api/vizier.h"

#include "proto/doc/json.h"
#include "tuner/api/trial.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/study/move.h"
#include "tuner/view/view.h"

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
    /* Settling drops the memory of an ended one again. */
    if (db_study_state_is_final(call->study.state))
        core_touch(core, call->study.id);
    return live_job(core_memory(core), &call->study, &call->job, err);
}

enum ht_status vizier_find_trial(struct vizier_call *call, struct ht_error *err)
{
    enum ht_status status = trial_find_named(call->core, call->req,
                                             &call->study, &call->trial, err);
    if (status == HT_OK)
        status =
            live_job(core_memory(call->core), &call->study, &call->job, err);
    if (status == HT_OK && call->study.kind != JOB_STUDY)
        return ht_fail(err, HT_PRECONDITION,
                       "study %.128s belongs to a job that runs its trials "
                       "itself",
                       call->study.name);
    return status;
}

enum ht_status vizier_reply_trial(struct vizier_call *call,
                                  struct ht_error *err)
{
    cJSON *view;
    const enum ht_status status =
        view_trial(core_db(call->core), call->req->arena, &call->study,
                   call->job, &call->trial, true, &view, err);
    if (status == HT_OK)
        json_print(view, &call->req->reply);
    return status;
}

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
