#include <ctype.h>

#include "proto/json.h"
#include "proto/token.h"
#include "tuner/core.h"
#include "tuner/db_write.h"
#include "tuner/fitting.h"
#include "tuner/prior_copy.h"
#include "tuner/search_method.h"
#include "tuner/state.h"
#include "tuner/study.h"
#include "tuner/study_reply.h"
#include "tuner/trial_create.h"

/* NULL, with the reason in err, when it is no good job. */
static struct job *read_job(struct request *req, enum job_kind kind,
                            struct ht_error *err)
{
    if (req->body == NULL) {
        ht_fail(err, HT_INVALID, "the request has no body");
        return NULL;
    }
    struct diag *diag = study_diag(req);
    struct job *job = job_read_vertex(req->body, kind, diag);
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
    const struct setting setting = search_setting(job, 0);
    void *state;
    const enum ht_status status = algorithm->new (&setting, &state, err);
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
        .created_ms = core_wall_ms(core),
        .kind = job->kind};
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

/* The one trial of a custom job waits for a slot from the start: there is
 * nothing to choose. */
static enum ht_status create_only_trial(struct core *core, struct request *req,
                                        int64_t id, struct ht_error *err)
{
    struct study_row study;
    struct trial_row trial = {.state = TRIAL_REQUESTED,
                              .params = "{}",
                              .reason = "waits for a slot",
                              .client = ""};
    bool created;
    const enum ht_status status =
        db_study_get(core_db(core), req->arena, id, &study, err);
    if (status != HT_OK)
        return status;
    core_wake(core);
    return trial_create(core, &study, &trial, &created, err);
}

/* Vizier's clients find their study again by its display name. */
static enum ht_status check_display(struct core *core, struct request *req,
                                    const struct job *job, struct ht_error *err)
{
    const struct study_scope scope = {.project = req->scope.project,
                                      .location = req->scope.location,
                                      .kinds = STUDY_KIND(JOB_STUDY)};
    struct study_row other;
    const char *display = node_get_string(req->body, "displayName", "");
    if (display[0] == '\0') {
        diag_error(study_diag(req), 0, 0, "displayName", "is missing");
        return study_fail_by_diag(study_diag(req), err);
    }
    const enum ht_status status = db_study_by_display(
        core_db(core), req->arena, &scope, job->display, &other, err);
    if (status == HT_OK)
        return ht_fail(err, HT_EXISTS, "a study \"%.150s\" exists already",
                       display);
    return status == HT_NOT_FOUND ? HT_OK : status;
}

/* Told now rather than by trials that wait for ever. */
static enum ht_status check_runners(struct core *core, struct request *req,
                                    const struct job *job,
                                    struct diag *warnings, struct ht_error *err)
{
    struct diag *errors = study_diag(req);
    diag_init(warnings, req->arena, "request", NULL, 0);
    fitting_check(core, job, errors, warnings);
    return errors->errors == 0 ? HT_OK : study_fail_by_diag(errors, err);
}

static enum ht_status create(struct core *core, struct request *req,
                             enum job_kind kind, struct ht_error *err)
{
    if (req->scope.project == NULL || req->scope.location == NULL)
        return ht_fail(err, HT_INVALID, "a study needs a project and location");
    struct job *job = read_job(req, kind, err);
    if (job == NULL)
        return HT_INVALID;
    int64_t id;
    struct diag warnings;
    enum ht_status status = check_runners(core, req, job, &warnings, err);
    if (status == HT_OK && kind != JOB_CUSTOM) {
        search_method_resolve(job);
        status = check_method(job, err);
    }
    if (status == HT_OK && kind == JOB_STUDY)
        status = check_display(core, req, job, err);
    if (status == HT_OK)
        status = db_study_next_id(core_db(core), &id, err);
    if (status == HT_OK)
        status = choose_name(core, req, job, id, err);
    if (status == HT_OK)
        status = insert(core, req, job, id, err);
    if (status == HT_OK && kind != JOB_CUSTOM)
        status = prior_copy(core, req, job, id, &warnings, err);
    if (status == HT_OK && kind == JOB_CUSTOM)
        status = create_only_trial(core, req, id, err);
    return status == HT_OK ? study_reply_warned(core, req, id, &warnings, err)
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
