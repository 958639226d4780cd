/* trial.c - trials as resources of Vertex AI. */

#include "tuner/view/view.h"

#include <string.h>

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "proto/doc/node.h"
#include "proto/job/command.h"
#include "tuner/db/report_use.h"
#include "tuner/study/silence.h"

enum {
    VIEW_MEASUREMENTS = 10000, /* shown with one trial; more by pages */
    VIEW_LISTED = 1000         /* with each of a list, where clients report */
};

static void add_elapsed(cJSON *object, int64_t ms)
{
    if (ms >= 0)
        json_add_duration(object, "elapsedDuration", ms);
}

static void add_metrics(cJSON *object, struct arena *arena, const char *json)
{
    const struct node *map = node_read_stored(arena, json);
    cJSON *array = json_add_array(object, "metrics");
    NODE_EACH (metric, node_items(map)) {
        cJSON *item = json_push_object(array);
        json_add_string(item, "metricId", metric->key);
        json_add_double(item, "value", node_get_double(map, metric->key, 0));
    }
}

/* google.protobuf.Value: numbers as numbers, categories as text. */
static void add_parameters(cJSON *object, const struct space *space,
                           const struct value point[])
{
    cJSON *array = json_add_array(object, "parameters");
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        if (point[i].absent)
            continue;
        cJSON *item = json_push_object(array);
        json_add_string(item, "parameterId", param->name);
        switch (param->type) {
        case PARAM_DOUBLE:
            json_add_double(item, "value", point[i].real);
            break;
        case PARAM_INTEGER:
            json_add_int(item, "value", point[i].whole);
            break;
        case PARAM_DISCRETE:
            json_add_double(item, "value", param->numbers[point[i].whole]);
            break;
        case PARAM_CATEGORICAL:
            json_add_string(item, "value", param->labels[point[i].whole]);
            break;
        }
    }
}

static void add_final(cJSON *object, struct arena *arena,
                      const struct study_row *study,
                      const struct trial_row *trial)
{
    if (trial->final_metrics == NULL)
        return;
    cJSON *measurement = json_add_object(object, "finalMeasurement");
    if (study->kind == JOB_STUDY)
        add_elapsed(measurement, trial->final_elapsed_ms);
    else if (trial->started_ms > 0 && trial->ended_ms > 0)
        add_elapsed(measurement, trial->ended_ms - trial->started_ms);
    json_add_int_text(measurement, "stepCount", trial->final_step);
    add_metrics(measurement, arena, trial->final_metrics);
}

static void add_outputs(cJSON *object, enum outputs_state state)
{
    static const char *const names[] = {[OUTPUTS_UNWANTED] = "unwanted",
                                        [OUTPUTS_DISCARDED] = "discarded",
                                        [OUTPUTS_KEPT] = "kept"};
    if (state != OUTPUTS_THERE)
        json_add_string(object, "outputs", names[state]);
}

/* As long as it runs; nothing of others. */
static void add_silence(cJSON *own, struct arena *arena,
                        const struct attempt_row *attempt)
{
    const char *words = silence_words(arena, attempt, clock_wall_ms());
    if (words == NULL)
        return;
    view_add_stamp(own, "silentSince", attempt->silent_ms);
    json_add_string(own, "silence", words);
}

static void add_attempt(cJSON *array, const struct attempt_row *attempt)
{
    cJSON *item = json_push_object(array);
    json_add_int(item, "attempt", attempt->n);
    json_add_string(item, "state", db_attempt_state_name(attempt->state));
    if (attempt->outcome != OUTCOME_NONE)
        json_add_string(item, "outcome",
                        db_attempt_outcome_name(attempt->outcome));
    if (attempt->exit_code >= 0)
        json_add_int(item, "exit", attempt->exit_code);
    json_add_count(item, "signal", attempt->signal);
    json_add_string(item, "reason", attempt->reason);
    json_add_string(item, "runner", attempt->runner);
    json_add_flag(item, "winner", attempt->winner);
    json_add_flag(item, "hung", attempt->hung);
    view_add_stored(item, "facts", attempt->facts);
    view_add_stored(item, "doctor", attempt->doctor);
    json_add_count(item, "createTimeMs", attempt->created_ms);
    json_add_count(item, "startTimeMs", attempt->started_ms);
    json_add_count(item, "endTimeMs", attempt->ended_ms);
}

/* The member "hypertune": what Google's Trial has no field for. */
static void add_own(cJSON *own, struct arena *arena,
                    const struct trial_row *trial, const struct strings *args,
                    const struct attempt_list *attempts)
{
    json_add_string(own, "state", db_trial_state_name(trial->state));
    json_add_string(own, "reason", trial->reason);
    view_add_stored(own, "why", trial->why);
    view_add_stored(own, "stop", trial->stop);
    json_add_count(own, "replicate", trial->replicate);
    json_add_flag(own, "outside", trial->outside);
    if (trial->confirms > 0)
        json_add_int_text(own, "confirms", trial->confirms);
    if (trial->has_objective) {
        json_add_double(own, "objective", trial->objective);
        json_add_int_text(own, "step", trial->final_step);
    }
    cJSON_AddItemToObject(own, "params", cJSON_CreateRaw(trial->params));
    cJSON *list = json_add_array(own, "args");
    for (size_t i = 0; i < args->n; i++)
        json_push_string(list, args->items[i]);
    json_add_count(own, "attempt", trial->attempt);
    if (attempts->n > 0) {
        const struct attempt_row *newest = &attempts->rows[attempts->n - 1];
        json_add_string(own, "runner", newest->runner);
        view_add_stored(own, "facts", newest->facts);
        view_add_stored(own, "doctor", newest->doctor);
        add_outputs(own, newest->outputs);
        add_silence(own, arena, newest);
    }
    json_add_count(own, "createTimeMs", trial->created_ms);
    json_add_count(own, "startTimeMs", trial->started_ms);
    json_add_count(own, "endTimeMs", trial->ended_ms);
}

static enum ht_status add_latest(cJSON *own, struct db *db, struct arena *arena,
                                 const struct trial_row *trial,
                                 struct ht_error *err)
{
    struct measurement_row row;
    const enum ht_status status = db_trial_latest(db, arena, trial, &row, err);
    if (status != HT_OK || row.metrics == NULL)
        return status;
    cJSON *latest = json_add_object(own, "latest");
    json_add_int_text(latest, "step", row.step);
    cJSON_AddItemToObject(latest, "metrics", cJSON_CreateRaw(row.metrics));
    return HT_OK;
}

static enum ht_status add_measurements(cJSON *object, struct db *db,
                                       struct arena *arena,
                                       const struct trial_row *trial,
                                       size_t most, struct ht_error *err)
{
    struct measurement_list list;
    enum ht_status status = db_measurement_list(db, arena, trial->study,
                                                trial->id, most, &list, err);
    if (status != HT_OK)
        return status;
    cJSON *array = json_add_array(object, "measurements");
    for (size_t i = 0; i < list.n; i++) {
        cJSON *item = json_push_object(array);
        if (trial->started_ms > 0)
            add_elapsed(item, list.rows[i].time_ms - trial->started_ms);
        json_add_int_text(item, "stepCount", list.rows[i].step);
        add_metrics(item, arena, list.rows[i].metrics);
    }
    return HT_OK;
}

/* Of the newest attempt. */
static enum ht_status add_dropped(cJSON *own, struct db *db,
                                  const struct attempt_list *attempts,
                                  struct ht_error *err)
{
    int64_t dropped = 0;
    if (attempts->n == 0)
        return HT_OK;
    const enum ht_status status = db_report_use_dropped(
        db, &attempts->rows[attempts->n - 1], &dropped, err);
    if (status == HT_OK)
        json_add_count(own, "recordsDropped", dropped);
    return status;
}

static void add_attempts(cJSON *own, const struct attempt_list *attempts)
{
    cJSON *array = json_add_array(own, "attempts");
    for (size_t i = 0; i < attempts->n; i++)
        add_attempt(array, &attempts->rows[i]);
}

/* What the replicas of each type run. */
static void add_commands(cJSON *own, struct arena *arena, const struct job *job,
                         const struct value point[], int64_t seed)
{
    cJSON *array = json_add_array(own, "commands");
    for (size_t i = 0; i < job->n_pools; i++) {
        const struct pool *pool = &job->pools[i];
        const struct strings line = command_line(arena, job, pool, point, seed);
        cJSON *item = json_push_object(array);
        json_add_string(item, "type", pool->type);
        json_add_int(item, "replicas", pool->count);
        json_add_text(item, "image", pool->image);
        cJSON *words = json_add_array(item, "words");
        for (size_t k = 0; k < line.n; k++)
            json_push_string(words, line.items[k]);
    }
}

static void add_vertex(cJSON *object, struct arena *arena,
                       const struct study_row *study,
                       const struct trial_row *trial)
{
    json_add_string(object, "name",
                    arena_printf(arena,
                                 "projects/%s/locations/%s/studies/%lld/"
                                 "trials/%lld",
                                 study->project, study->location,
                                 (long long)study->id, (long long)trial->id));
    json_add_string(object, "id",
                    arena_printf(arena, "%lld", (long long)trial->id));
    json_add_string(object, "state", db_trial_state_vertex(trial->state));
    view_add_stamp(object, "startTime", trial->started_ms);
    view_add_stamp(object, "endTime", trial->ended_ms);
    if (trial->client[0] != '\0')
        json_add_string(object, "clientId", trial->client);
    if (strcmp(db_trial_state_vertex(trial->state), "INFEASIBLE") == 0)
        json_add_string(object, "infeasibleReason", trial->reason);
}

// NOLINTNEXTLINE(readability-function-size): the contract of view.h
enum ht_status view_trial(struct db *db, struct arena *arena,
                          const struct study_row *study, const struct job *job,
                          const struct trial_row *trial, bool with_attempts,
                          cJSON **out, struct ht_error *err)
{
    struct value *point = arena_alloc(arena, job->space.n + 1, sizeof *point);
    struct attempt_list attempts = {0};
    enum ht_status status =
        space_point_parse(&job->space, trial->params, point, err);
    if (status != HT_OK)
        return ht_wrap(err, HT_CORRUPT, "trial %lld", (long long)trial->id);
    if (trial->attempt > 0)
        status =
            db_attempt_list(db, arena, study->id, trial->id, &attempts, err);
    if (status != HT_OK)
        return status;

    cJSON *object = cJSON_CreateObject();
    struct strings args = command_params(arena, &job->space, point);
    add_vertex(object, arena, study, trial);
    add_parameters(object, &job->space, point);
    add_final(object, arena, study, trial);
    cJSON *own = json_add_object(object, "hypertune");
    add_own(own, arena, trial, &args, &attempts);
    status = add_latest(own, db, arena, trial, err);
    if (status == HT_OK)
        status = view_add_tags(own, db, arena, study->id, trial->id, err);
    if (with_attempts) {
        add_attempts(own, &attempts);
        add_commands(own, arena, job, point, trial->replicate);
    }
    if (status == HT_OK && with_attempts)
        status = add_dropped(own, db, &attempts, err);
    const bool whole = with_attempts || study->kind == JOB_STUDY;
    if (status == HT_OK && whole)
        status = view_add_attributes(own, db, arena, study->id, trial->id, err);
    if (status == HT_OK && whole)
        status = add_measurements(
            object, db, arena, trial,
            with_attempts ? VIEW_MEASUREMENTS : VIEW_LISTED, err);
    if (status != HT_OK) {
        cJSON_Delete(object);
        return status;
    }
    *out = object;
    return HT_OK;
}
