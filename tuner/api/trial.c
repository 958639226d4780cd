#include "tuner/api/trial.h"

#include <stdlib.h>

#include "proto/doc/json.h"
#include "tuner/ask/trial_body.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/db/write.h"
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
    enum ht_status status = live_job(core_memory(core), study, &job, err);
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
