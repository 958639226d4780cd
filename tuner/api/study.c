#include "tuner/api/study.h"

#include <string.h>

#include "proto/doc/field.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/job/check.h"
#include "tuner/api/method.h"
#include "tuner/api/operation.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/trial_body.h"
#include "tuner/core/core.h"
#include "tuner/db/db.h"
#include "tuner/study/create.h"
#include "tuner/study/end.h"
#include "tuner/study/move.h"
#include "tuner/study/pauses.h"
#include "tuner/view/view.h"

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

/* --- commands --- */

static enum ht_status pause_study(struct method_call *call,
                                  struct ht_error *err)
{
    if (call->study.state == STUDY_RUNNING)
        return move_study(call->core, &call->study, STUDY_PAUSED,
                          "paused by user", err);
    return method_check_study_open(call, err);
}

METHOD(study_pause, METHOD_STUDY, pause_study, method_reply_job)

struct resuming {
    bool repaired;
};

static const struct field resuming_fields[] = {
    {"repaired", field_flag, .offset = offsetof(struct resuming, repaired)},
    {0}};

static enum ht_status resume_study(struct method_call *call,
                                   struct ht_error *err)
{
    struct core *core = call->core;
    struct study_row *row = &call->study;
    struct resuming resuming = {0};
    enum ht_status status =
        trial_body_read(call->req, resuming_fields, &resuming, err);
    if (status != HT_OK || row->state != STUDY_PAUSED)
        return status == HT_OK ? method_check_study_open(call, err) : status;
    core_wake(core, CORE_ALL_HELD, row->id);
    status = pauses_forget_refusals(core, row->id, err);
    if (status == HT_OK)
        status = pauses_allow_unreported(core, row, resuming.repaired, err);
    if (status == HT_OK)
        status = move_study(core, row, STUDY_RUNNING, "resumed by user", err);
    return status;
}

METHOD(study_resume, METHOD_STUDY, resume_study, method_reply_job)

static enum ht_status stop_study(struct method_call *call, struct ht_error *err)
{
    static const char reason[] = "stopped by user";
    struct study_row *row = &call->study;
    if (row->state == STUDY_STOPPED)
        return HT_OK;
    if (row->state == STUDY_STOPPING)
        return study_hasten_end(call->core, call->arena, row, reason, err);
    const enum ht_status status = method_check_study_open(call, err);
    return status == HT_OK ? study_begin_end(call->core, call->arena, row,
                                             STUDY_STOPPED, reason, err)
                           : status;
}

METHOD(study_stop, METHOD_STUDY, stop_study, method_reply_job)

static enum ht_status cancel_study(struct method_call *call,
                                   struct ht_error *err)
{
    struct study_row *row = &call->study;
    const enum ht_status status = trial_body_none(call->req, err);
    /* Google's clients expect that to cancel what has ended is no error. */
    if (status != HT_OK || row->state == STUDY_CANCELLING ||
        db_study_state_is_final(row->state))
        return status;
    return study_begin_end(call->core, call->arena, row, STUDY_CANCELLED,
                           "cancelled by user", err);
}

METHOD(study_cancel, METHOD_STUDY, cancel_study, method_reply_empty)

static enum ht_status delete_study(struct method_call *call,
                                   struct ht_error *err)
{
    struct study_row *row = &call->study;
    /* A study of clients may never end by itself. */
    if (row->kind != JOB_STUDY && !db_study_state_is_final(row->state))
        return ht_fail(err, HT_PRECONDITION,
                       "study %s is %s; cancel or stop it first", row->name,
                       db_study_state_name(row->state));
    return method_delete_study(call, err);
}

static enum ht_status reply_deleted(struct method_call *call,
                                    struct ht_error *err)
{
    struct operation operation = {
        .resource = arena_printf(call->arena, "projects/%s/locations/%s",
                                 call->study.project, call->study.location),
        .response = operation_empty()};
    (void)err;
    operation_reply(call->core, call->req, &operation);
    return HT_OK;
}

METHOD(study_delete, METHOD_STUDY, delete_study, reply_deleted)

/* --- creation --- */

/* NULL, with the reason in err, when it is no good job. */
static struct job *job_of_body(struct request *req, enum job_kind kind,
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

/* The job as it was created, with the warnings about it. */
static enum ht_status reply_created(struct method_call *call,
                                    const struct diag *warnings,
                                    struct ht_error *err)
{
    cJSON *view;
    enum ht_status status = method_settle(call, err);
    if (status == HT_OK)
        status = view_job(call->db, call->arena, &call->study, &view, err);
    if (status != HT_OK)
        return status;
    if (warnings->first != NULL)
        add_warnings(view, warnings);
    json_print(view, &call->req->reply);
    return HT_OK;
}

static enum ht_status create_job(struct core *core, struct request *req,
                                 struct job *job, struct ht_error *err)
{
    struct making making = {.job = job,
                            .location = req->scope.location,
                            .unique_in = req->scope.location,
                            .submitted = "",
                            .job_spec =
                                study_sent_spec(req->arena, req->body, job)};
    enum ht_status status =
        job->kind == JOB_STUDY ? check_display(core, req, job, err) : HT_OK;
    if (status == HT_OK)
        status = study_make(core, req, &making, err);
    struct method_call call = method_call(core, req);
    call.study.id = making.id;
    return status == HT_OK ? reply_created(&call, &making.warnings, err)
                           : status;
}

static enum ht_status check_place(const struct request *req,
                                  struct ht_error *err)
{
    return req->scope.project != NULL && req->scope.location != NULL
               ? HT_OK
               : ht_fail(err, HT_INVALID,
                         "a study needs a project and location");
}

static enum ht_status create(struct core *core, struct request *req,
                             enum job_kind kind, struct ht_error *err)
{
    if (check_place(req, err) != HT_OK)
        return HT_INVALID;
    struct job *job = job_of_body(req, kind, err);
    return job == NULL ? HT_INVALID : create_job(core, req, job, err);
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

/* --- creation from a spec of the native form --- */

struct ensuring {
    struct place spec;
    bool load;
};

#define ENSURING(member) offsetof(struct ensuring, member)

static const struct field ensuring_fields[] = {
    {"spec", field_place, .offset = ENSURING(spec)},
    {"loadIfExists", field_flag, .offset = ENSURING(load)},
    {0}};

/* Each difference is a fault with its path, of a conflict. */
static enum ht_status refuse_differences(struct request *req, const char *name,
                                         struct text *lines,
                                         struct ht_error *err)
{
    char *rest = lines->data, *line;
    while ((line = strsep(&rest, "\n")) != NULL) {
        char *colon = strstr(line, ": ");
        if (colon == NULL)
            continue;
        *colon = '\0';
        diag_error(faults_of(req), 0, 0, arena_strdup(req->arena, line), "%s",
                   colon + 2);
    }
    text_free(lines);
    return ht_fail(err, HT_EXISTS, "study %.128s exists with another spec",
                   name);
}

/* As it would be stored: both have then the same defaults. */
static enum ht_status compare(struct request *req, const struct study_row *row,
                              const struct job *wanted, struct ht_error *err)
{
    struct job *now, *stored;
    struct text lines = {0};
    enum ht_status status = vertex_parse(req->arena, row->spec, &now, err);
    if (status == HT_OK)
        status = vertex_parse(req->arena,
                              json_text(req->arena, vertex_write(wanted)),
                              &stored, err);
    if (status != HT_OK || form_diff(now, stored, &lines) == 0)
        return status;
    return refuse_differences(req, row->name, &lines, err);
}

static enum ht_status load(struct core *core, struct request *req,
                           const struct job *wanted, bool *found,
                           struct ht_error *err)
{
    struct ht_error absent;
    struct method_call call = method_call(core, req);
    const struct study_scope anywhere = {.project = req->scope.project,
                                         .location = req->scope.location};
    enum ht_status status = db_study_find(core_db(core), req->arena, &anywhere,
                                          wanted->name, &call.study, &absent);
    *found = status == HT_OK && call.study.kind == JOB_STUDY;
    if (!*found)
        return HT_OK;
    const struct diag none = {0};
    status = compare(req, &call.study, wanted, err);
    return status == HT_OK ? reply_created(&call, &none, err) : status;
}

/* What is checked behind the reader is called as in the Vertex form. */
static void name_as_sent(struct diag *diag)
{
    static const char outer[] = "hypertune.";
    for (struct diag_item *item = diag->first; item != NULL; item = item->next)
        if (strncmp(item->path, outer, sizeof outer - 1) == 0)
            item->path += sizeof outer - 1;
}

enum ht_status study_create_from_spec(struct core *core, struct request *req,
                                      struct ht_error *err)
{
    struct ensuring said = {0};
    struct diag *diag = faults_of(req);
    bool found = false;
    enum ht_status status = check_place(req, err);
    if (status == HT_OK)
        status = trial_body_read(req, ensuring_fields, &said, err);
    if (status != HT_OK)
        return status;
    if (said.spec.node == NULL)
        return ht_fail(err, HT_INVALID, "spec: is missing");
    struct job *job = native_read_study(said.spec.node, diag);
    if (job == NULL)
        return faults_fail(diag, err);
    if (said.load)
        status = load(core, req, job, &found, err);
    if (status == HT_OK && !found)
        status = create_job(core, req, job, err);
    name_as_sent(diag);
    return status;
}
