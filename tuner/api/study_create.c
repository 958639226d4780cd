#include "proto/doc/json.h"
#include "proto/job/check.h"
#include "tuner/api/study.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/trial_body.h"
#include "tuner/core/core.h"
#include "tuner/db/db.h"
#include "tuner/study/create.h"

/* NULL, with the reason in err, when it is no good job. */
static struct job *read_job(struct request *req, enum job_kind kind,
                            struct ht_error *err)
{
    if (req->body == NULL) {
        ht_fail(err, HT_INVALID, "the request has no body");
        return NULL;
    }
    struct diag *diag = faults_of(req);
    struct job *job = vertex_read(req->body, kind, diag);
    const struct field_reader reader = trial_body_reader(req);
    job_check_new(&reader, (struct place){req->body, ""});
    if (diag->errors == 0)
        return job;
    faults_fail(diag, err);
    return NULL;
}

/* Vizier's clients find their study again by its display name. */
static enum ht_status check_display(struct core *core, struct request *req,
                                    const struct job *job, struct ht_error *err)
{
    const struct study_scope scope = {.project = req->scope.project,
                                      .location = req->scope.location,
                                      .kinds = STUDY_KIND(JOB_STUDY)};
    struct study_row other;
    const enum ht_status status = db_study_by_display(
        core_db(core), req->arena, &scope, job->display, &other, err);
    if (status == HT_OK)
        return ht_fail(err, HT_EXISTS, "a study \"%.150s\" exists already",
                       job->display);
    return status == HT_NOT_FOUND ? HT_OK : status;
}

static enum ht_status create(struct core *core, struct request *req,
                             enum job_kind kind, struct ht_error *err)
{
    const char *location = req->scope.location;
    if (req->scope.project == NULL || location == NULL)
        return ht_fail(err, HT_INVALID, "a study needs a project and location");
    struct making making = {.job = read_job(req, kind, err),
                            .location = location,
                            .unique_in = location,
                            .submitted = ""};
    if (making.job == NULL)
        return HT_INVALID;
    making.job_spec = study_sent_spec(req->arena, req->body, making.job);
    enum ht_status status =
        kind == JOB_STUDY ? check_display(core, req, making.job, err) : HT_OK;
    if (status == HT_OK)
        status = study_make(core, req, &making, err);
    return status == HT_OK
               ? study_reply_warned(core, req, making.id, &making.warnings, err)
               : status;
}

enum ht_status study_create(struct core *core, struct request *req,
                            struct ht_error *err)
{
    return create(core, req, JOB_TUNING, err);
}

enum ht_status study_create_custom(struct core *core, struct request *req,
                                   struct ht_error *err)
{
    return create(core, req, JOB_CUSTOM, err);
}

enum ht_status study_create_vizier(struct core *core, struct request *req,
                                   struct ht_error *err)
{
    return create(core, req, JOB_STUDY, err);
}
