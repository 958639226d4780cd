#include "tuner/study.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "proto/json.h"
#include "proto/token.h"
#include "tuner/core.h"
#include "tuner/db_write.h"
#include "tuner/memory.h"
#include "tuner/search_method.h"
#include "tuner/state.h"
#include "tuner/study_life.h"
#include "tuner/study_reply.h"
#include "tuner/view.h"

/* --- shared by the handlers --- */

static enum ht_status find(struct core *core, struct request *req,
                           struct study_row *row, struct ht_error *err)
{
    return db_study_find(core_db(core), req->arena, &req->scope, req->study,
                         row, err);
}

enum ht_status study_reply(struct core *core, struct request *req, int64_t id,
                           struct ht_error *err)
{
    struct study_row row;
    cJSON *view = NULL;
    enum ht_status status = study_settle(core, id, err);
    if (status == HT_OK)
        status = db_study_get(core_db(core), req->arena, id, &row, err);
    if (status == HT_OK)
        status = view_job(core_db(core), req->arena, &row, &view, err);
    if (status == HT_OK)
        json_print(view, &req->reply);
    return status;
}

struct diag *study_diag(struct request *req)
{
    if (req->diag == NULL) {
        req->diag = arena_alloc(req->arena, 1, sizeof *req->diag);
        diag_init(req->diag, req->arena, "request", NULL, 0);
    }
    return req->diag;
}

/* The first fault stands for all in the one sentence of an error. */
enum ht_status study_fail_by_diag(const struct diag *diag, struct ht_error *err)
{
    const struct diag_item *item = diag->first;
    while (item != NULL && item->kind != DIAG_ERROR)
        item = item->next;
    if (item == NULL)
        return ht_fail(err, HT_INVALID, "the request is wrong");
    return ht_fail(err, HT_INVALID, "%s%s%s", item->path,
                   *item->path == '\0' ? "" : ": ", item->text);
}

/* NULL, with the reason in err, when it is no good job. */
static struct job *read_job(struct request *req, const struct node *node,
                            struct ht_error *err)
{
    if (node == NULL) {
        ht_fail(err, HT_INVALID, "the request has no job");
        return NULL;
    }
    struct diag *diag = study_diag(req);
    struct job *job = job_read_vertex(node, JOB_TUNING, diag);
    if (job == NULL)
        study_fail_by_diag(diag, err);
    return job;
}

static const char *spec_text(struct arena *arena, const struct job *job)
{
    struct text text = {0};
    json_print(job_write_vertex(job), &text);
    const char *copy = arena_strndup(arena, text.data, text.len);
    text_free(&text);
    return copy;
}

static enum ht_status ended(const struct study_row *row, struct ht_error *err)
{
    return ht_fail(err, HT_PRECONDITION, "study %s has ended: %s", row->name,
                   study_state_name(row->state));
}

/* --- creation --- */

/* A display name as a name: other bytes than [A-Za-z0-9_.-] become '-', and a
 * name of digits only would be taken for a number. */
static const char *name_from(struct arena *arena, const char *display,
                             int64_t id)
{
    char name[HT_MAX_NAME - 8];
    size_t len = 0;
    bool letters = false;
    for (; *display != '\0' && len < sizeof name - 1; display++) {
        const unsigned char byte = (unsigned char)*display;
        const bool fine = byte < 128 && (isalnum(byte) || byte == '_' ||
                                         byte == '.' || byte == '-');
        name[len++] = (char)(fine ? byte : '-');
        letters = letters || (fine && isalpha(byte));
    }
    name[len] = '\0';
    return letters ? arena_strdup(arena, name)
                   : arena_printf(arena, "study-%lld", (long long)id);
}

static enum ht_status choose_name(struct core *core, struct request *req,
                                  struct job *job, int64_t id,
                                  struct ht_error *err)
{
    struct db *db = core_db(core);
    const char *base = job->name;
    if (base == NULL)
        base =
            name_from(req->arena, job->display == NULL ? "" : job->display, id);
    const char *name = base;
    for (int64_t n = 2;; n++) {
        bool taken;
        const enum ht_status status = db_study_name_taken(
            db, req->scope.project, req->scope.location, name, &taken, err);
        if (status != HT_OK)
            return status;
        if (!taken)
            break;
        if (job->name != NULL)
            return ht_fail(err, HT_EXISTS, "a study %s exists already", name);
        /* The id is unique, so this ends after a few steps. */
        name = arena_printf(req->arena, "%s-%lld", base,
                            (long long)(n < 10 ? n : id));
    }
    job->name = name;
    return HT_OK;
}

/* The method must be able to search the space: better told now than by a
 * study that never gets a trial. */
static enum ht_status check_method(const struct job *job, struct ht_error *err)
{
    const struct algorithm *algorithm = search_method(job);
    void *state;
    const enum ht_status status = algorithm->new (&job->space, 0, &state, err);
    if (status == HT_OK)
        algorithm->free(state);
    return status;
}

static int64_t seed_of(const struct job *job)
{
    if (job->has_seed)
        return job->seed;
    return (int64_t)(token_random64() >> 12); /* exact in every JSON reader */
}

static enum ht_status insert(struct core *core, struct request *req,
                             const struct job *job, int64_t id,
                             struct ht_error *err)
{
    const struct study_row row = {
        .id = id,
        .project = req->scope.project,
        .location = req->scope.location,
        .name = job->name,
        .display = job->display == NULL ? job->name : job->display,
        .spec = spec_text(req->arena, job),
        .state = STUDY_RUNNING,
        .reason = "",
        .seed = seed_of(job),
        .ends_as = STUDY_STOPPED,
        .created_ms = core_wall_ms(core)};
    const enum ht_status status = db_study_insert(core_db(core), &row, err);
    if (status != HT_OK)
        return status;
    struct event_row event = {.study = id,
                              .kind = "study.created",
                              .from = "",
                              .to = study_state_name(STUDY_RUNNING),
                              .reason = "submitted",
                              .data = ""};
    return state_event(core, &event, err);
}

enum ht_status study_create(struct core *core, struct request *req,
                            struct ht_error *err)
{
    if (req->scope.project == NULL || req->scope.location == NULL)
        return ht_fail(err, HT_INVALID, "a study needs a project and location");
    struct job *job = read_job(req, req->body, err);
    if (job == NULL)
        return HT_INVALID;
    search_method_resolve(job);
    int64_t id;
    enum ht_status status = check_method(job, err);
    if (status == HT_OK)
        status = db_study_next_id(core_db(core), &id, err);
    if (status == HT_OK)
        status = choose_name(core, req, job, id, err);
    if (status == HT_OK)
        status = insert(core, req, job, id, err);
    return status == HT_OK ? study_reply(core, req, id, err) : status;
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
        status =
            state_move_study(core, &row, STUDY_PAUSED, "paused by user", err);
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
        core_wake(core);
        status =
            state_move_study(core, &row, STUDY_RUNNING, "resumed by user", err);
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
    else if (row.state != STUDY_STOPPING && row.state != STUDY_STOPPED)
        status = ended(&row, err);
    return status == HT_OK ? study_reply(core, req, row.id, err) : status;
}

enum ht_status study_cancel(struct core *core, struct request *req,
                            struct ht_error *err)
{
    struct study_row row;
    enum ht_status status = find(core, req, &row, err);
    if (status != HT_OK)
        return status;
    if (row.state == STUDY_CANCELLING || row.state == STUDY_CANCELLED) {
        text_puts(&req->reply, "{}");
        return HT_OK;
    }
    if (study_state_is_final(row.state))
        return ended(&row, err);
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
    if (!study_state_is_final(row.state))
        return ht_fail(err, HT_PRECONDITION,
                       "study %s is %s; cancel or stop it first", row.name,
                       study_state_name(row.state));
    status =
        state_move_study(core, &row, STUDY_DELETING, "deleted by user", err);
    if (status != HT_OK)
        return status;
    cJSON *operation = cJSON_CreateObject();
    json_add_string(operation, "name",
                    arena_printf(req->arena,
                                 "projects/%s/locations/%s/operations/"
                                 "delete-%lld",
                                 row.project, row.location, (long long)row.id));
    json_add_bool(operation, "done", true);
    json_add_string(json_add_object(operation, "response"), "@type",
                    "type.googleapis.com/google.protobuf.Empty");
    json_print(operation, &req->reply);
    return HT_OK;
}
