#include "tuner/api/fleet.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/trial_body.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/db/fleet.h"
#include "tuner/db/write.h"
#include "tuner/runners/fleet.h"

/* ---- runners ---- */

struct drain_note {
    char runner[HT_MAX_NAME + 1];
    enum runner_drain drain;
};

/* Why trials wait may have changed. */
static void apply_stale(struct core *core, const void *data)
{
    struct live_study *study = NULL;
    (void)data;
    while ((study = live_next_study(core_live(core), study)) != NULL)
        study->stale = true;
}

static void apply_drain(struct core *core, const void *data)
{
    const struct drain_note *note = data;
    struct live_runner *runner =
        live_find_runner(core_live(core), note->runner);
    if (runner != NULL)
        runner->drain = note->drain;
    apply_stale(core, NULL);
}

static enum ht_status set_drain(struct core *core, struct request *req,
                                enum runner_drain drain, struct ht_error *err)
{
    struct drain_note note = {.drain = drain};
    bool exists;
    enum ht_status status =
        db_runner_exists(core_db(core), req->runner, &exists, err);
    if (status == HT_OK && !exists)
        status = ht_fail(err, HT_NOT_FOUND, "there is no runner \"%.100s\"",
                         req->runner);
    if (status == HT_OK)
        status = db_runner_set_drain(core_db(core), req->runner, drain, err);
    if (status != HT_OK)
        return status;
    snprintf(note.runner, sizeof note.runner, "%s", req->runner);
    core_defer(core, apply_drain, &note, sizeof note);
    core_wake(core, CORE_POLLS, 0);
    req->subject.detail = arena_printf(req->arena, "runner %s", req->runner);
    return HT_OK;
}

/* *moves: whether the attempt was asked to stop. */
static enum ht_status move_one(struct core *core, struct request *req,
                               struct fleet *fleet,
                               const struct attempt_row *attempt, bool *moves,
                               struct ht_error *err)
{
    struct db *db = core_db(core);
    struct study_row study;
    struct trial_row trial;
    const struct job *job;
    *moves = false;
    enum ht_status status =
        db_study_get(db, req->arena, attempt->study, &study, err);
    if (status == HT_OK)
        status = live_job(core_live(core), &study, &job, err);
    if (status == HT_OK)
        status = db_trial_get(db, req->arena, attempt->study, attempt->trial,
                              &trial, err);
    if (status != HT_OK || attempt->state > ATTEMPT_RUNNING ||
        trial.state != TRIAL_ACTIVE || attempt->hung)
        return status;
    fleet_add_study(fleet, &study, job, 0, 0);
    *moves = fleet_has_other(fleet, fleet->state.n_studies - 1, req->runner);
    return *moves ? db_attempt_set_moving(db, attempt, err) : HT_OK;
}

static enum ht_status move_all(struct core *core, struct request *req,
                               int64_t *moving, int64_t *running,
                               struct ht_error *err)
{
    struct fleet fleet;
    struct attempt_list open;
    enum ht_status status = fleet_read(core, req->arena, &fleet, err);
    if (status == HT_OK)
        status =
            db_attempt_open(core_db(core), req->arena, req->runner, &open, err);
    for (size_t i = 0; status == HT_OK && i < open.n; i++) {
        bool moves;
        status = move_one(core, req, &fleet, &open.rows[i], &moves, err);
        *moving += status == HT_OK && moves;
        *running += open.rows[i].state <= ATTEMPT_RUNNING;
    }
    return status;
}

static enum ht_status answer_runner(struct request *req,
                                    enum runner_drain drain, int64_t moving,
                                    int64_t running)
{
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "runner", req->runner);
    json_add_string(object, "drain", db_runner_drain_name(drain));
    json_add_int(object, "moving", moving);
    json_add_int(object, "running", running);
    json_print(object, &req->reply);
    return HT_OK;
}

enum ht_status runner_drain(struct core *core, struct request *req,
                            struct ht_error *err)
{
    static const struct field fields[] = {{.name = "move", .read = field_flag},
                                          {0}};
    bool move = false;
    int64_t moving = 0, running = 0;
    enum ht_status status =
        req->body == NULL ? HT_OK : trial_body_read(req, fields, &move, err);
    if (status == HT_OK)
        status = faults_check(req, err);
    const enum runner_drain drain = move ? RUNNER_MOVES : RUNNER_DRAINS;
    if (status == HT_OK)
        status = set_drain(core, req, drain, err);
    if (status == HT_OK && move)
        status = move_all(core, req, &moving, &running, err);
    else if (status == HT_OK)
        status = db_runner_busy(core_db(core), req->runner, &running, err);
    return status == HT_OK ? answer_runner(req, drain, moving, running)
                           : status;
}

enum ht_status runner_resume(struct core *core, struct request *req,
                             struct ht_error *err)
{
    int64_t running = 0;
    enum ht_status status = set_drain(core, req, RUNNER_SERVES, err);
    if (status == HT_OK)
        status = db_runner_busy(core_db(core), req->runner, &running, err);
    return status == HT_OK ? answer_runner(req, RUNNER_SERVES, 0, running)
                           : status;
}

/* ---- projects ---- */

static void fill(cJSON *object, const struct placement_project *project)
{
    json_add_string(object, "name", project->name);
    json_add_double(object, "share", project->share);
    json_add_int(object, "slots", project->most_slots);
    json_add_double(object, "gpus", project->most_gpus);
    json_add_int(object, "busySlots", project->slots);
    json_add_double(object, "busyGpus", project->gpus);
    json_add_int(object, "usedSlotSeconds", (int64_t)project->usage);
}

/* Of the fleet's, or the defaults. */
static struct placement_project find(const struct fleet *fleet,
                                     const char *name)
{
    for (size_t i = 0; i < fleet->state.n_projects; i++)
        if (strcmp(fleet->state.projects[i].name, name) == 0)
            return fleet->state.projects[i];
    return (struct placement_project){.name = name, .share = 1};
}

enum ht_status project_list(struct core *core, struct request *req,
                            struct ht_error *err)
{
    struct fleet fleet;
    struct strings names;
    enum ht_status status = fleet_read(core, req->arena, &fleet, err);
    if (status == HT_OK)
        status = db_project_names(core_db(core), req->arena, &names, err);
    if (status != HT_OK)
        return status;
    cJSON *object = cJSON_CreateObject();
    cJSON *projects = json_add_array(object, "projects");
    for (size_t i = 0; i < names.n; i++) {
        const struct placement_project project = find(&fleet, names.items[i]);
        fill(json_push_object(projects), &project);
    }
    json_print(object, &req->reply);
    return HT_OK;
}

enum ht_status project_show(struct core *core, struct request *req,
                            struct ht_error *err)
{
    struct fleet fleet;
    const enum ht_status status = fleet_read(core, req->arena, &fleet, err);
    if (status != HT_OK)
        return status;
    const struct placement_project project = find(&fleet, req->scope.project);
    cJSON *object = cJSON_CreateObject();
    fill(object, &project);
    json_print(object, &req->reply);
    return HT_OK;
}

static void read_share(const struct field_reader *reader, struct place at,
                       const struct field *field, void *into)
{
    double share;
    (void)field;
    if (!field_read_real(reader, at, &share))
        return;
    if (!(share > 0 && share <= 1e6))
        field_error(reader, at, "must be more than 0 and at most 1000000");
    else
        *(double *)into = share;
}

enum ht_status project_set(struct core *core, struct request *req,
                           struct ht_error *err)
{
    static const struct field fields[] = {
        {.name = "share",
         .read = read_share,
         .offset = offsetof(struct project_row, share)},
        {"slots", field_whole, offsetof(struct project_row, most_slots),
         .max = 1000000},
        {"gpus", field_real, offsetof(struct project_row, most_gpus),
         .max = 1000000},
        {0}};
    struct project_row row;
    enum ht_status status = db_project_get(core_db(core), req->arena,
                                           req->scope.project, &row, err);
    if (status == HT_OK)
        status = trial_body_read(req, fields, &row, err);
    if (status == HT_OK)
        status = faults_check(req, err);
    if (status == HT_OK)
        status = db_project_save(core_db(core), &row, err);
    if (status != HT_OK)
        return status;
    core_defer(core, apply_stale, NULL, 0);
    core_wake(core, CORE_POLLS, 0);
    return project_show(core, req, err);
}
