#include "tuner/api/study.h"

#include "proto/doc/field.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/job/check.h"
#include "tuner/api/operation.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/trial_body.h"
#include "tuner/core/core.h"
#include "tuner/db/db.h"
#include "tuner/study/create.h"
#include "tuner/study/end.h"
#include "tuner/study/move.h"
#include "tuner/study/pauses.h"
#include "tuner/study/settle.h"
#include "tuner/view/view.h"

/* --- shared by the handlers --- */

static enum ht_status find(struct core *core, struct request *req,
                           struct study_row *row, struct ht_error *err)
{
    return db_study_find(core_db(core), req->arena, &req->scope, req->study,
                         row, err);
}

static void add_warnings(cJSON *view, const struct diag *warnings)
{
    cJSON *status = cJSON_GetObjectItemCaseSensitive(view, "hypertuneStatus");
    cJSON *list = json_add_array(status, "warnings");
    for (const struct diag_item *item = warnings->first; item != NULL;
         item = item->next) {
        cJSON *warning = json_push_object(list);
        json_add_string(warning, "field", item->path);
        json_add_string(warning, "description", item->text);
    }
}

enum ht_status study_settled(struct core *core, struct request *req, int64_t id,
                             struct study_row *row, struct ht_error *err)
{
    const enum ht_status status = study_settle(core, id, err);
    return status == HT_OK
               ? db_study_get(core_db(core), req->arena, id, row, err)
               : status;
}

/* As study_reply(), with the warnings about a job that was just created. */
static enum ht_status reply_warned(struct core *core, struct request *req,
                                   int64_t id, const struct diag *warnings,
                                   struct ht_error *err)
{
    struct study_row row;
    cJSON *view = NULL;
    enum ht_status status = study_settled(core, req, id, &row, err);
    if (status == HT_OK)
        status = view_job(core_db(core), req->arena, &row, &view, err);
    if (status != HT_OK)
        return status;
    if (warnings != NULL && warnings->first != NULL)
        add_warnings(view, warnings);
    json_print(view, &req->reply);
    return HT_OK;
}

enum ht_status study_reply(struct core *core, struct request *req, int64_t id,
                           struct ht_error *err)
{
    return reply_warned(core, req, id, NULL, err);
}

const char *study_sent(struct arena *arena, const struct node *sent,
                       const struct job *job, const char *member)
{
    cJSON *whole = json_of_node(sent);
    for (const struct kept *kept = job->numbered; kept; kept = kept->next)
        kept_put(whole, kept);
    const char *text = json_text(
        arena, cJSON_DetachItemFromObjectCaseSensitive(whole, member));
    cJSON_Delete(whole);
    return text;
}

const char *study_sent_spec(struct arena *arena, const struct node *sent,
                            const struct job *job)
{
    if (job->form != JOB_VERTEX || job->kind == JOB_STUDY)
        return "";
    return study_sent(arena, sent, job, vertex_job_spec_member(job));
}

static enum ht_status ended(const struct study_row *row, struct ht_error *err)
{
    return ht_fail(err, HT_PRECONDITION, "study %s has ended: %s", row->name,
                   db_study_state_name(row->state));
}

/* --- commands --- */

enum ht_status study_pause(struct core *core, struct request *req,
                           struct ht_error *err)
{
    struct study_row row;
    enum ht_status status = find(core, req, &row, err);
    if (status != HT_OK)
        return status;
    if (row.state == STUDY_RUNNING)
        status = move_study(core, &row, STUDY_PAUSED, "paused by user", err);
    else if (row.state != STUDY_PAUSED)
        status = ended(&row, err);
    return status == HT_OK ? study_reply(core, req, row.id, err) : status;
}

enum ht_status study_resume(struct core *core, struct request *req,
                            struct ht_error *err)
{
    struct study_row row;
    enum ht_status status = find(core, req, &row, err);
    if (status != HT_OK)
        return status;
    if (row.state == STUDY_PAUSED) {
        core_wake(core, CORE_ALL_HELD, row.id);
        status = pauses_forget_refusals(core, row.id, err);
        if (status == HT_OK)
            status = pauses_allow_unreported(core, &row, err);
        if (status == HT_OK)
            status =
                move_study(core, &row, STUDY_RUNNING, "resumed by user", err);
    } else if (row.state != STUDY_RUNNING) {
        status = ended(&row, err);
    }
    return status == HT_OK ? study_reply(core, req, row.id, err) : status;
}

enum ht_status study_stop(struct core *core, struct request *req,
                          struct ht_error *err)
{
    struct study_row row;
    enum ht_status status = find(core, req, &row, err);
    if (status != HT_OK)
        return status;
    if (row.state == STUDY_RUNNING || row.state == STUDY_PAUSED)
        status = study_begin_end(core, req->arena, &row, STUDY_STOPPED,
                                 "stopped by user", err);
    else if (row.state == STUDY_STOPPING)
        status =
            study_hasten_end(core, req->arena, &row, "stopped by user", err);
    else if (row.state != STUDY_STOPPED)
        status = ended(&row, err);
    return status == HT_OK ? study_reply(core, req, row.id, err) : status;
}

enum ht_status study_cancel(struct core *core, struct request *req,
                            struct ht_error *err)
{
    struct study_row row;
    enum ht_status status = find(core, req, &row, err);
    if (status == HT_OK)
        status = trial_body_none(req, err);
    if (status != HT_OK)
        return status;
    /* Google's clients expect that to cancel what has ended is no error. */
    if (row.state != STUDY_CANCELLING && !db_study_state_is_final(row.state))
        status = study_begin_end(core, req->arena, &row, STUDY_CANCELLED,
                                 "cancelled by user", err);
    if (status == HT_OK)
        text_puts(&req->reply, "{}");
    return status;
}

enum ht_status study_delete(struct core *core, struct request *req,
                            struct ht_error *err)
{
    struct study_row row;
    enum ht_status status = find(core, req, &row, err);
    if (status != HT_OK)
        return status;
    if (!db_study_state_is_final(row.state))
        return ht_fail(err, HT_PRECONDITION,
                       "study %s is %s; cancel or stop it first", row.name,
                       db_study_state_name(row.state));
    status = move_study(core, &row, STUDY_DELETING, "deleted by user", err);
    if (status != HT_OK)
        return status;
    struct operation operation = {
        .resource = arena_printf(req->arena, "projects/%s/locations/%s",
                                 row.project, row.location),
        .response = operation_empty()};
    operation_reply(core, req, &operation);
    return HT_OK;
}

/* --- creation --- */

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
               ? reply_warned(core, req, making.id, &making.warnings, err)
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
