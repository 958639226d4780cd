#include "tuner/api/method.h"

#include <stdlib.h>

#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "tuner/api/tokens.h"
#include "tuner/base/reason.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/db/write.h"
#include "tuner/study/move.h"
#include "tuner/study/settle.h"
#include "tuner/view/view.h"

struct method_call method_call(struct core *core, struct request *req)
{
    return (struct method_call){
        .core = core, .req = req, .db = core_db(core), .arena = req->arena};
}

/* --- finding --- */

static enum ht_status find_trial(struct method_call *call, struct ht_error *err)
{
    const char *text = call->req->trial;
    char *end;
    const long long id = strtoll(text, &end, 10);
    if (end == text || *end != '\0')
        return ht_fail(err, HT_NOT_FOUND, "study %.128s has no trial %.64s",
                       call->study.name, text);
    return db_trial_get(call->db, call->arena, call->study.id, id, &call->trial,
                        err);
}

static enum ht_status find_job(struct method_call *call, struct ht_error *err)
{
    /* Settling drops it from the core's memory again. */
    if (db_study_state_is_final(call->study.state))
        core_touch(call->core, call->study.id);
    return live_job(core_live(call->core), &call->study, &call->job, err);
}

static enum ht_status find(struct method_call *call, enum method_path path,
                           struct ht_error *err)
{
    const struct request *req = call->req;
    enum ht_status status = db_study_find(call->db, call->arena, &req->scope,
                                          req->study, &call->study, err);
    if (status == HT_OK)
        call->req->subject =
            (struct audit_subject){.study = call->study.id,
                                   .project = call->study.project,
                                   .name = call->study.name};
    if (status == HT_OK && path >= METHOD_TRIAL)
        status = find_trial(call, err);
    if (status == HT_OK && path >= METHOD_JOB)
        status = find_job(call, err);
    if (status == HT_OK && path == METHOD_CLIENT_TRIAL)
        status = method_check_clients(call, err);
    return status;
}

enum ht_status method_run(struct core *core, struct request *req,
                          enum method_path path, method_body *body,
                          method_body *reply, struct ht_error *err)
{
    struct method_call call = method_call(core, req);
    enum ht_status status = find(&call, path, err);
    if (status == HT_OK)
        status = body(&call, err);
    if (status != HT_OK || reply == NULL || req->held_until_ms > 0)
        return status;
    return reply(&call, err);
}

/* --- replies --- */

enum ht_status method_reply_empty(struct method_call *call,
                                  struct ht_error *err)
{
    (void)err;
    text_puts(&call->req->reply, "{}");
    return HT_OK;
}

enum ht_status method_reply_trial(struct method_call *call,
                                  struct ht_error *err)
{
    cJSON *view;
    const enum ht_status status =
        view_trial(call->db, call->arena, &call->study, call->job, &call->trial,
                   true, &view, err);
    if (status == HT_OK)
        json_print(view, &call->req->reply);
    return status;
}

enum ht_status method_settle(struct method_call *call, struct ht_error *err)
{
    const int64_t id = call->study.id;
    const enum ht_status status = study_settle(call->core, id, err);
    return status == HT_OK
               ? db_study_get(call->db, call->arena, id, &call->study, err)
               : status;
}

enum ht_status method_reply_job(struct method_call *call, struct ht_error *err)
{
    cJSON *view;
    enum ht_status status = method_settle(call, err);
    if (status == HT_OK)
        status = view_job(call->db, call->arena, &call->study, &view, err);
    if (status == HT_OK)
        json_print(view, &call->req->reply);
    return status;
}

/* --- checks --- */

enum ht_status method_study_ended(struct method_call *call,
                                  struct ht_error *err)
{
    return ht_fail(err, HT_PRECONDITION, "study %.128s has ended: %s",
                   call->study.name, db_study_state_name(call->study.state));
}

enum ht_status method_check_study_open(struct method_call *call,
                                       struct ht_error *err)
{
    const enum study_state state = call->study.state;
    return state == STUDY_RUNNING || state == STUDY_PAUSED
               ? HT_OK
               : method_study_ended(call, err);
}

enum ht_status method_check_trial_open(struct method_call *call,
                                       struct ht_error *err)
{
    const struct trial_row *trial = &call->trial;
    return !db_trial_state_is_final(trial->state)
               ? HT_OK
               : ht_fail(err, HT_PRECONDITION, "trial %lld has ended: %s",
                         (long long)trial->id,
                         db_trial_state_name(trial->state));
}

enum ht_status method_check_not_stopped(struct method_call *call,
                                        struct ht_error *err)
{
    const enum study_state state = call->study.state;
    return state != STUDY_STOPPING && state != STUDY_CANCELLING &&
                   state != STUDY_CANCELLED
               ? HT_OK
               : ht_fail(err, HT_PRECONDITION, "study %.128s is %s",
                         call->study.name, db_study_state_name(state));
}

enum ht_status method_check_clients(struct method_call *call,
                                    struct ht_error *err)
{
    return call->study.kind == JOB_STUDY
               ? HT_OK
               : ht_fail(err, HT_PRECONDITION,
                         "study %.128s belongs to a job that runs its trials "
                         "itself",
                         call->study.name);
}

/* --- changes --- */

enum ht_status method_store_job(struct method_call *call, const struct job *job,
                                const char *reason, struct ht_error *err)
{
    struct study_row *row = &call->study;
    row->spec = json_text(call->arena, vertex_write(job));
    struct event_row event = {.study = row->id,
                              .kind = "study.changed",
                              .from = "",
                              .to = "",
                              .reason = reason_cut(call->arena, reason),
                              .data = ""};
    enum ht_status status = move_event(call->core, &event, err);
    row->revision = event.revision;
    if (status == HT_OK)
        status = db_study_save(call->db, row, err);
    live_forget_job(core_live(call->core), row->id);
    return status;
}

enum ht_status method_delete_study(struct method_call *call,
                                   struct ht_error *err)
{
    const enum ht_status status =
        token_end_study(call->core, call->arena, call->study.id, err);
    return status == HT_OK ? move_study(call->core, &call->study,
                                        STUDY_DELETING, "deleted by user", err)
                           : status;
}

const char *method_params(const struct method_call *call,
                          const struct value point[])
{
    struct text text = {0};
    space_point_text(&call->job->space, point, &text);
    const char *params = arena_strndup(call->arena, text.data, text.len);
    text_free(&text);
    return params;
}
