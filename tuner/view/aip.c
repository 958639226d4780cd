#include "tuner/view/aip.h"

#include <stdlib.h>
#include <string.h>

#include <nettle/base64.h>

#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "proto/base/token.h"
#include "proto/doc/json.h"
#include "proto/doc/node.h"
#include "proto/form/form.h"
#include "tuner/view/ml_units.h"
#include "tuner/view/view.h"

/* --- states --- */

/* Google has no word for a job that is paused or stopping: it is what it
 * would be otherwise. */
static const char *open_state(struct trial_counts counts, int64_t begun)
{
    if (begun > 0)
        return "RUNNING";
    const int64_t starting = trial_counts_all(&counts, TRIAL_ACTIVE) +
                             trial_counts_all(&counts, TRIAL_STOPPING);
    return starting > 0 ? "PREPARING" : "QUEUED";
}

static const char *state_name(enum study_state state,
                              const struct trial_counts *counts, int64_t begun)
{
    switch (state) {
    case STUDY_RUNNING:
    case STUDY_PAUSED:
    case STUDY_STOPPING:
        return open_state(*counts, begun);
    case STUDY_CANCELLING:
        return "CANCELLING";
    case STUDY_SUCCEEDED:
    case STUDY_STOPPED:
        return "SUCCEEDED";
    case STUDY_FAILED:
        return "FAILED";
    case STUDY_CANCELLED:
    case STUDY_DELETING:
        return "CANCELLED";
    }
    return "";
}

/* What is counted of a study. */
struct figures {
    struct trial_counts trials;
    struct attempt_usage usage;
};

static enum ht_status count(struct db *db, int64_t study,
                            struct figures *figures, struct ht_error *err)
{
    const enum ht_status status =
        db_trial_counts(db, study, &figures->trials, err);
    return status == HT_OK ? db_attempt_usage(db, study, clock_wall_ms(),
                                              &figures->usage, err)
                           : status;
}

enum ht_status view_aip_state(struct db *db, const struct study_row *study,
                              const char **state, struct ht_error *err)
{
    struct figures figures;
    const enum ht_status status = count(db, study->id, &figures, err);
    if (status == HT_OK)
        *state = state_name(study->state, &figures.trials, figures.usage.begun);
    return status;
}

/* --- etag --- */

enum { ETAG_BYTES = 9 };

static int by_name(const void *a, const void *b)
{
    const struct pair *left = a, *right = b;
    return strcmp(left->name, right->name);
}

const char *view_aip_etag(struct arena *arena, const struct job *job)
{
    struct pair *sorted = arena_alloc(arena, job->labels.n + 1, sizeof *sorted);
    for (size_t i = 0; i < job->labels.n; i++)
        sorted[i] = job->labels.items[i];
    qsort(sorted, job->labels.n, sizeof *sorted, by_name);
    struct text all = {0};
    for (size_t i = 0; i < job->labels.n; i++) {
        text_append(&all, sorted[i].name, strlen(sorted[i].name) + 1);
        text_append(&all, sorted[i].value, strlen(sorted[i].value) + 1);
    }
    unsigned char hash[TOKEN_HASH_BYTES];
    token_sha256(hash, all.data != NULL ? all.data : "", all.len);
    text_free(&all);
    /* Whole groups, so that nothing is to be padded, and no + and /, as some
     * clients give those back as - and _. */
    char *etag =
        arena_alloc(arena, BASE64_ENCODE_RAW_LENGTH(ETAG_BYTES) + 1, 1);
    base64_encode_raw(etag, ETAG_BYTES, hash);
    for (char *at = etag; *at != '\0'; at++)
        if (*at == '+' || *at == '/')
            *at = *at == '+' ? 'A' : 'B';
    return etag;
}

/* --- input --- */

static void replace(cJSON *search, const char *key, int64_t value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(search, key);
    json_add_int(search, key, value);
}

/* What the client sent, but for the counts that were changed since. */
static cJSON *submitted_input(struct arena *arena,
                              const struct study_row *study,
                              const struct job *job)
{
    const struct node *said = node_read_stored(arena, study->submitted);
    if (said == NULL)
        return NULL;
    cJSON *input = json_of_node(said);
    const struct node *search_said = node_find(said, "hyperparameters");
    cJSON *search = cJSON_GetObjectItemCaseSensitive(input, "hyperparameters");
    const struct {
        const char *key;
        int64_t now, unsaid;
    } counts[] = {{"maxTrials", job->max_trials, 1},
                  {"maxParallelTrials", job->parallel, 1},
                  {"maxFailedTrials", job->max_failed, 0}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (search != NULL && node_get_int(search_said, counts[i].key,
                                           counts[i].unsaid) != counts[i].now)
            replace(search, counts[i].key, counts[i].now);
    return input;
}

cJSON *view_aip_input(struct arena *arena, const struct study_row *study,
                      const struct job *job)
{
    struct diag diag;
    diag_init(&diag, arena, "spec", "", 0);
    cJSON *whole = aip_write(job, &diag);
    cJSON *input = cJSON_DetachItemFromObject(whole, "trainingInput");
    cJSON_Delete(whole);
    if (cJSON_GetObjectItemCaseSensitive(input, "region") == NULL)
        json_add_string(input, "region", study->location);
    return input;
}

static void add_input(cJSON *resource, struct arena *arena,
                      const struct study_row *study, const struct job *job)
{
    cJSON *input = submitted_input(arena, study, job);
    if (input == NULL)
        input = view_aip_input(arena, study, job);
    cJSON_AddItemToObject(resource, "trainingInput", input);
}

/* --- output --- */

static void add_output(cJSON *resource, const struct job *job,
                       const struct figures *figures)
{
    cJSON *output = json_add_object(resource, "trainingOutput");
    json_add_double(output, "consumedMLUnits",
                    ml_units(job, figures->usage.ran_ms));
    if (job->kind != JOB_TUNING)
        return;
    json_add_bool(output, "isHyperparameterTuningJob", true);
    json_add_string(output, "hyperparameterMetricTag", job->metrics[0].name);
    json_add_int_text(output, "completedTrialCount",
                      figures->trials.of[TRIAL_SUCCEEDED] +
                          figures->trials.of[TRIAL_STOPPED]);
}

static void add_labels(cJSON *resource, struct arena *arena,
                       const struct job *job)
{
    json_add_string(resource, "etag", view_aip_etag(arena, job));
    json_add_pairs(resource, "labels", &job->labels);
}

static void add_state(cJSON *resource, const struct study_row *study,
                      const struct figures *figures)
{
    json_add_string(resource, "jobId", study->name);
    view_add_stamp(resource, "createTime", study->created_ms);
    view_add_stamp(resource, "startTime", study->started_ms);
    view_add_stamp(resource, "endTime", study->ended_ms);
    json_add_string(
        resource, "state",
        state_name(study->state, &figures->trials, figures->usage.begun));
}

enum ht_status view_aip(struct db *db, struct arena *arena,
                        const struct study_row *study, cJSON **out,
                        struct ht_error *err)
{
    struct figures figures;
    struct ht_error damage;
    struct job *job;
    enum ht_status status = count(db, study->id, &figures, err);
    if (status != HT_OK)
        return status;
    cJSON *resource = cJSON_CreateObject();
    add_state(resource, study, &figures);
    if (vertex_parse(arena, study->spec, &job, &damage) != HT_OK) {
        ht_wrap(&damage, HT_CORRUPT, "its stored spec is damaged");
        json_add_string(resource, "errorMessage", damage.text);
    } else {
        if (study->state == STUDY_FAILED || study->state == STUDY_CANCELLED)
            json_add_string(resource, "errorMessage", study->reason);
        add_labels(resource, arena, job);
        add_input(resource, arena, study, job);
        add_output(resource, job, &figures);
    }
    *out = resource;
    return HT_OK;
}

/* --- trials --- */

/* Whether an attempt is still starting, such as one that pulls its image. */
static enum ht_status is_preparing(struct db *db, struct arena *arena,
                                   const struct trial_row *trial, bool *is,
                                   struct ht_error *err)
{
    struct attempt_list list;
    const enum ht_status status =
        db_attempt_list(db, arena, trial->study, trial->id, &list, err);
    if (status == HT_OK)
        *is = list.n > 0 && list.rows[list.n - 1].state == ATTEMPT_STARTING;
    return status;
}

static const char *trial_state(const struct trial_row *trial, bool preparing)
{
    switch (trial->state) {
    case TRIAL_PREPARED:
    case TRIAL_REQUESTED:
    case TRIAL_PAUSED: /* waits to continue, without a slot */
        return "QUEUED";
    case TRIAL_ACTIVE:
    case TRIAL_STOPPING:
        return preparing ? "PREPARING" : "RUNNING";
    case TRIAL_SUCCEEDED:
    case TRIAL_STOPPED:
        return "SUCCEEDED";
    case TRIAL_FAILED:
    case TRIAL_INFEASIBLE:
        return "FAILED";
    case TRIAL_CANCELLED:
        return "CANCELLED";
    }
    return "";
}

/* Every value is the text that the trainer was given. */
static void add_point(cJSON *output, const struct space *space,
                      const struct value point[])
{
    cJSON *map = json_add_object(output, "hyperparameters");
    for (size_t i = 0; i < space->n; i++) {
        struct text text = {0};
        if (point[i].absent)
            continue;
        space_value_text(&space->params[i], point[i], &text);
        json_add_string(map, space->params[i].name,
                        text.data != NULL ? text.data : "");
        text_free(&text);
    }
}

static void add_final(cJSON *output, const struct trial_row *trial)
{
    if (!trial->has_objective)
        return;
    cJSON *metric = json_add_object(output, "finalMetric");
    json_add_double(metric, "objectiveValue", trial->objective);
    json_add_int_text(metric, "trainingStep", trial->final_step);
}

enum ht_status view_aip_trial(struct db *db, struct arena *arena,
                              const struct job *job,
                              const struct trial_row *trial, cJSON **out,
                              struct ht_error *err)
{
    const bool open =
        trial->state == TRIAL_ACTIVE || trial->state == TRIAL_STOPPING;
    struct value *point = arena_alloc(arena, job->space.n + 1, sizeof *point);
    bool preparing = false;
    enum ht_status status =
        space_point_parse(&job->space, trial->params, point, err);
    if (status != HT_OK)
        return ht_wrap(err, HT_CORRUPT, "trial %lld", (long long)trial->id);
    if (open)
        status = is_preparing(db, arena, trial, &preparing, err);
    if (status != HT_OK)
        return status;
    cJSON *output = cJSON_CreateObject();
    json_add_string(output, "trialId",
                    arena_printf(arena, "%lld", (long long)trial->id));
    json_add_string(output, "state", trial_state(trial, preparing));
    view_add_stamp(output, "startTime", trial->started_ms);
    view_add_stamp(output, "endTime", trial->ended_ms);
    add_point(output, &job->space, point);
    add_final(output, trial);
    /* A person's order to stop leaves no record of a rule. */
    if (trial->state == TRIAL_STOPPED && trial->stop[0] != '\0')
        json_add_bool(output, "isTrialStoppedEarly", true);
    *out = output;
    return HT_OK;
}
