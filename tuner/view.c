#include "tuner/view.h"

#include <string.h>

#include "proto/clock.h"
#include "proto/json.h"
#include "proto/node.h"
#include "tuner/search_method.h"

static void add_stamp(cJSON *object, const char *key, int64_t wall_ms)
{
    char stamp[CLOCK_STAMP_BYTES];
    if (wall_ms > 0)
        json_add_string(object, key, clock_stamp(stamp, wall_ms));
}

static void add_time(cJSON *object, const char *key, int64_t wall_ms)
{
    if (wall_ms > 0)
        json_add_int(object, key, wall_ms);
}

/* What is stored is JSON that we wrote, so it is embedded as it is. */
static void add_raw(cJSON *object, const char *key, const char *json)
{
    if (json != NULL && json[0] != '\0')
        cJSON_AddItemToObject(object, key, cJSON_CreateRaw(json));
}

static void add_counts(cJSON *object, const struct trial_counts *counts)
{
    static const struct {
        enum trial_state state;
        const char *key;
    } shown[] = {
        {TRIAL_REQUESTED, "requested"},   {TRIAL_ACTIVE, "active"},
        {TRIAL_STOPPING, "stopping"},     {TRIAL_SUCCEEDED, "succeeded"},
        {TRIAL_STOPPED, "stopped"},       {TRIAL_FAILED, "failed"},
        {TRIAL_INFEASIBLE, "infeasible"}, {TRIAL_CANCELLED, "cancelled"},
    };
    cJSON *map = json_add_object(object, "counts");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        json_add_int(map, shown[i].key, counts->of[shown[i].state]);
}

static enum ht_status add_best(cJSON *status_object, struct db *db,
                               struct arena *arena,
                               const struct study_row *study,
                               const struct job *job, struct ht_error *err)
{
    struct trial_row best;
    cJSON *trial;
    enum ht_status status = db_trial_best(db, arena, study->id,
                                          job->metrics[0].maximize, &best, err);
    if (status == HT_NOT_FOUND)
        return HT_OK;
    if (status == HT_OK)
        status = view_trial(db, arena, study, job, &best, false, &trial, err);
    if (status == HT_OK)
        cJSON_AddItemToObject(status_object, "best", trial);
    return status;
}

/* Adds hypertuneStatus to the resource. */
static enum ht_status add_status(cJSON *resource, struct db *db,
                                 struct arena *arena,
                                 const struct study_row *study,
                                 const struct job *job, struct ht_error *err)
{
    struct trial_counts counts;
    enum ht_status status = db_trial_counts(db, study->id, &counts, err);
    if (status != HT_OK)
        return status;
    cJSON *object = json_add_object(resource, "hypertuneStatus");
    json_add_string(object, "name", study->name);
    json_add_string(object, "state", study_state_name(study->state));
    json_add_string(object, "reason", study->reason);
    json_add_int(object, "revision", study->revision);
    add_counts(object, &counts);
    status = add_best(object, db, arena, study, job, err);
    json_add_string(object, "algorithm", search_method(job)->name);
    json_add_int_text(object, "seed", study->seed);
    add_time(object, "createTimeMs", study->created_ms);
    add_time(object, "startTimeMs", study->started_ms);
    add_time(object, "endTimeMs", study->ended_ms);
    return status;
}

/* The stored job, also as a tree that may be taken apart; NULL, with the reason
 * in err, when it is damaged. */
static cJSON *read_spec(struct arena *arena, const struct study_row *study,
                        struct job **job, struct ht_error *err)
{
    if (job_parse(arena, study->spec, job, err) != HT_OK)
        return NULL;
    struct diag diag;
    size_t len = strlen(study->spec);
    diag_init(&diag, arena, "spec", study->spec, len);
    struct node *node = node_read_json(arena, study->spec, len, &diag);
    if (node != NULL && node->kind == NODE_MAP)
        return json_of_node(node);
    ht_fail(err, HT_CORRUPT, "study %s: its stored spec is no JSON object",
            study->name);
    return NULL;
}

static void move_members(cJSON *from, cJSON *to)
{
    while (from->child != NULL) {
        cJSON *member = cJSON_DetachItemViaPointer(from, from->child);
        cJSON_AddItemToObject(to, member->string, member);
    }
}

static void add_job_state(cJSON *resource, const struct study_row *study)
{
    json_add_string(resource, "state", study_state_vertex(study->state));
    add_stamp(resource, "createTime", study->created_ms);
    add_stamp(resource, "startTime", study->started_ms);
    add_stamp(resource, "endTime", study->ended_ms);
    add_stamp(resource, "updateTime", study->updated_ms);
    if (study->state == STUDY_FAILED) {
        cJSON *error = json_add_object(resource, "error");
        json_add_int(error, "code", ht_status_code(HT_PRECONDITION));
        json_add_string(error, "message", study->reason);
    }
}

static void add_name(cJSON *resource, struct arena *arena, const char *kind,
                     const struct study_row *study)
{
    json_add_string(resource, "name",
                    arena_printf(arena, "projects/%s/locations/%s/%s/%lld",
                                 study->project, study->location, kind,
                                 (long long)study->id));
}

enum ht_status view_job(struct db *db, struct arena *arena,
                        const struct study_row *study, cJSON **out,
                        struct ht_error *err)
{
    struct job *job;
    cJSON *spec = read_spec(arena, study, &job, err);
    if (spec == NULL)
        return HT_CORRUPT;
    cJSON *resource = cJSON_CreateObject();
    add_name(resource, arena, "hyperparameterTuningJobs", study);
    move_members(spec, resource);
    cJSON_Delete(spec);
    add_job_state(resource, study);
    enum ht_status status = add_status(resource, db, arena, study, job, err);
    if (status != HT_OK) {
        cJSON_Delete(resource);
        return status;
    }
    *out = resource;
    return HT_OK;
}

enum ht_status view_study(struct db *db, struct arena *arena,
                          const struct study_row *study, cJSON **out,
                          struct ht_error *err)
{
    struct job *job;
    cJSON *spec = read_spec(arena, study, &job, err);
    if (spec == NULL)
        return HT_CORRUPT;
    cJSON *resource = cJSON_CreateObject();
    add_name(resource, arena, "studies", study);
    json_add_string(resource, "displayName", study->display);
    cJSON *study_spec = cJSON_DetachItemFromObject(spec, "studySpec");
    if (study_spec != NULL)
        cJSON_AddItemToObject(resource, "studySpec", study_spec);
    cJSON_Delete(spec);
    const char *state = study_state_vizier(study->state);
    json_add_string(resource, "state", state);
    add_stamp(resource, "createTime", study->created_ms);
    if (strcmp(state, "INACTIVE") == 0)
        json_add_string(resource, "inactiveReason", study->reason);
    enum ht_status status = add_status(resource, db, arena, study, job, err);
    if (status != HT_OK) {
        cJSON_Delete(resource);
        return status;
    }
    *out = resource;
    return HT_OK;
}

cJSON *view_measurement(const struct measurement_row *row)
{
    cJSON *object = cJSON_CreateObject();
    json_add_int(object, "trial", row->trial);
    json_add_int(object, "attempt", row->attempt);
    json_add_string(object, "replica", row->replica);
    json_add_int_text(object, "step", row->step);
    json_add_int(object, "timeMs", row->time_ms);
    add_raw(object, "metrics", row->metrics);
    if (row->checkpoint != NULL && row->checkpoint[0] != '\0')
        json_add_string(object, "checkpoint", row->checkpoint);
    return object;
}

cJSON *view_event(const struct event_row *event)
{
    cJSON *object = cJSON_CreateObject();
    json_add_int(object, "revision", event->revision);
    json_add_int(object, "timeMs", event->time_ms);
    json_add_string(object, "kind", event->kind);
    if (event->trial > 0)
        json_add_int(object, "trial", event->trial);
    if (event->attempt > 0)
        json_add_int(object, "attempt", event->attempt);
    if (event->from[0] != '\0')
        json_add_string(object, "from", event->from);
    if (event->to[0] != '\0')
        json_add_string(object, "to", event->to);
    json_add_string(object, "reason", event->reason);
    add_raw(object, "data", event->data);
    return object;
}

cJSON *view_runner(const struct runner_row *runner, int64_t busy)
{
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "runner", runner->id);
    json_add_string(object, "engine", runner->engine);
    json_add_string(object, "host", runner->host);
    json_add_int(object, "slots", runner->slots);
    json_add_int(object, "busy", busy);
    json_add_string(object, "state", runner->online ? "ONLINE" : "LOST");
    json_add_int(object, "lastSeenMs", runner->seen_ms);
    return object;
}
