#include "tuner/study/create.h"

#include <ctype.h>

#include "proto/base/token.h"
#include "proto/doc/json.h"
#include "proto/form/aip.h"
#include "proto/form/form.h"
#include "proto/job/metrics_file.h"
#include "tuner/ask/faults.h"
#include "tuner/base/reason.h"
#include "tuner/base/tracker_board.h"
#include "tuner/base/webhook_board.h"
#include "tuner/core/core.h"
#include "tuner/db/write.h"
#include "tuner/runners/can_run.h"
#include "tuner/runners/fleet.h"
#include "tuner/search/method.h"
#include "tuner/search/warm_start_copy.h"
#include "tuner/study/code_use.h"
#include "tuner/study/common_file.h"
#include "tuner/study/move.h"
#include "tuner/study/trial.h"

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
        if (len == 0 && (!fine || byte == '-'))
            continue; /* no name begins so */
        name[len++] = (char)(fine ? byte : '-');
        letters = letters || (fine && isalpha(byte));
    }
    name[len] = '\0';
    return letters ? arena_strdup(arena, name)
                   : arena_printf(arena, "study-%lld", (long long)id);
}

static enum ht_status choose_name(struct core *core, struct request *req,
                                  const struct making *making,
                                  struct ht_error *err)
{
    struct db *db = core_db(core);
    struct job *job = making->job;
    const char *base = job->name;
    if (base == NULL)
        base = name_from(req->arena, job->display == NULL ? "" : job->display,
                         making->id);
    const char *name = base;
    for (int64_t n = 2;; n++) {
        bool taken;
        const enum ht_status status = db_study_name_taken(
            db, req->scope.project, making->unique_in, name, &taken, err);
        if (status != HT_OK)
            return status;
        if (!taken)
            break;
        if (job->name != NULL)
            return ht_fail(err, HT_EXISTS, "the name %s is taken", name);
        /* From its id on, few names are taken. */
        name = arena_printf(req->arena, "%s-%lld", base,
                            (long long)(n < 10 ? n : making->id + n - 10));
    }
    job->name = name;
    return HT_OK;
}

static int64_t seed_of(const struct job *job)
{
    if (job->has_seed)
        return job->seed;
    return (int64_t)(token_random64() >> 12); /* exact in every JSON reader */
}

static enum ht_status insert(struct core *core, struct request *req,
                             const struct making *making, struct ht_error *err)
{
    const struct job *job = making->job;
    const struct study_row row = {
        .id = making->id,
        .project = req->scope.project,
        .location = making->location,
        .name = job->name,
        .display = job->display == NULL ? job->name : job->display,
        .spec = json_text(req->arena, vertex_write(job)),
        .state = STUDY_RUNNING,
        .reason = "",
        .seed = seed_of(job),
        .ends_as = STUDY_STOPPED,
        .created_ms = core_wall_ms(core),
        .kind = job->kind,
        .submitted = making->submitted,
        .job_spec = making->job_spec};
    req->subject =
        (struct audit_subject){.project = row.project, .name = row.name};
    enum ht_status status = db_study_insert(core_db(core), &row, err);
    if (status == HT_OK)
        status = code_use_change(core, row.project, row.id, NULL, job, err);
    if (status != HT_OK)
        return status;
    struct event_row event = {.study = making->id,
                              .kind = "study.created",
                              .to = db_study_state_name(STUDY_RUNNING),
                              .reason = "submitted"};
    return move_event(core, &event, err);
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
    core_wake(core, CORE_POLLS, 0);
    return trial_create(core, &study, &trial, &created, err);
}

/* Whether this server has what the job asks for: a refusal now is better
 * than trials that wait for ever. */
static enum ht_status check_server(struct core *core, struct request *req,
                                   struct making *making, struct ht_error *err)
{
    struct diag *errors = faults_of(req);
    diag_init(&making->warnings, req->arena, "request", NULL, 0);
    metrics_file_check(req->body, making->job, errors);
    metrics_events_check(req->body, making->job, errors);
    can_run_check(core, making->job, errors, &making->warnings);
    fleet_check(core, making->job, &making->warnings);
    webhook_board_check(core_options_of(core)->webhooks, making->job,
                        "hypertune.", errors, &making->warnings);
    tracker_board_check(core_options_of(core)->trackers, making->job,
                        "hypertune.", errors);
    return errors->errors == 0 ? HT_OK : faults_fail(errors, err);
}

/* The path of a member as it is called where the job comes from. */
static const char *sent_path(const struct making *making, struct arena *arena,
                             const char *path)
{
    const char *name = making->submitted[0] == '\0'
                           ? NULL
                           : aip_path(arena, making->job, path);
    return name != NULL ? name : path;
}

/* For people who read the log of the job later. */
static enum ht_status note_warnings(struct core *core,
                                    const struct making *making,
                                    const struct diag *diag,
                                    struct ht_error *err)
{
    enum ht_status status = HT_OK;
    const struct diag_item *item = diag->first;
    for (; status == HT_OK && item != NULL; item = item->next) {
        if (item->kind != DIAG_WARNING)
            continue;
        const char *path = sent_path(making, diag->arena, item->path);
        struct event_row event = {
            .study = making->id,
            .kind = "study.warned",
            .reason = reason_make(diag->arena, "%s%s%s%s%s", path,
                                  *path == '\0' ? "" : ": ", item->text,
                                  item->hint == NULL ? "" : "; ",
                                  item->hint == NULL ? "" : item->hint)};
        status = move_event(core, &event, err);
    }
    return status;
}

static enum ht_status check(struct core *core, struct request *req,
                            struct making *making, struct ht_error *err)
{
    enum ht_status status = check_server(core, req, making, err);
    if (status == HT_OK)
        status = common_file_check(core, 0, making->job, err);
    if (status == HT_OK && making->job->kind != JOB_CUSTOM) {
        search_method_resolve(making->job);
        status = search_method_check(making->job, err);
    }
    return status;
}

/* What a study of its kind begins with. */
static enum ht_status begin(struct core *core, struct request *req,
                            struct making *making, struct ht_error *err)
{
    enum ht_status status =
        making->job->kind == JOB_CUSTOM
            ? HT_OK
            : warm_start_copy(core, req, making->job, making->id,
                              &making->warnings, err);
    if (status == HT_OK)
        status = note_warnings(core, making, faults_of(req), err);
    if (status == HT_OK)
        status = note_warnings(core, making, &making->warnings, err);
    if (status == HT_OK && making->job->kind == JOB_CUSTOM)
        status = create_only_trial(core, req, making->id, err);
    return status;
}

enum ht_status study_make(struct core *core, struct request *req,
                          struct making *making, struct ht_error *err)
{
    enum ht_status status = check(core, req, making, err);
    if (status == HT_OK)
        status = db_study_next_id(core_db(core), &making->id, err);
    if (status == HT_OK)
        status = choose_name(core, req, making, err);
    if (status == HT_OK)
        status = insert(core, req, making, err);
    if (status == HT_OK)
        status = begin(core, req, making, err);
    /* A number that was not taken in the end is the next study's. */
    if (status == HT_OK)
        req->subject.study = making->id;
    return status;
}
