#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "proto/job.h"
#include "proto/job_vertex.h"
#include "proto/json.h"

/* ---- small parts ---- */

static void add_duration(cJSON *object, const char *key, int64_t ms)
{
    struct text text = {0};
    text_printf(&text, "%" PRId64, ms / 1000);
    if (ms % 1000 != 0)
        text_printf(&text, ".%03d", (int)(ms % 1000));
    text_puts(&text, "s");
    json_add_string(object, key, text.data);
    text_free(&text);
}

static void add_strings(cJSON *object, const char *key,
                        const struct strings *strings)
{
    if (strings->n == 0)
        return;
    cJSON *array = json_add_array(object, key);
    for (size_t i = 0; i < strings->n; i++)
        json_push_string(array, strings->items[i]);
}

static void add_variables(cJSON *object, const char *key,
                          const struct pairs *pairs)
{
    if (pairs->n == 0)
        return;
    cJSON *array = json_add_array(object, key);
    for (size_t i = 0; i < pairs->n; i++) {
        cJSON *variable = json_push_object(array);
        json_add_string(variable, "name", pairs->items[i].name);
        json_add_string(variable, "value", pairs->items[i].value);
    }
}

/* ---- study ---- */

static void add_real_spec(cJSON *object, const struct param *param)
{
    cJSON *spec = json_add_object(object, "doubleValueSpec");
    json_add_double(spec, "minValue", param->min);
    json_add_double(spec, "maxValue", param->max);
    if (param->has_default)
        json_add_double(spec, "defaultValue", param->fallback.real);
}

static void add_whole_spec(cJSON *object, const struct param *param)
{
    cJSON *spec = json_add_object(object, "integerValueSpec");
    json_add_int_text(spec, "minValue", param->int_min);
    json_add_int_text(spec, "maxValue", param->int_max);
    if (param->has_default)
        json_add_int_text(spec, "defaultValue", param->fallback.whole);
}

static void add_discrete_spec(cJSON *object, const struct param *param)
{
    cJSON *spec = json_add_object(object, "discreteValueSpec");
    cJSON *values = json_add_array(spec, "values");
    for (size_t i = 0; i < param->n_values; i++)
        json_push_double(values, param->numbers[i]);
    if (param->has_default)
        json_add_double(spec, "defaultValue",
                        param->numbers[param->fallback.whole]);
}

static void add_category_spec(cJSON *object, const struct param *param)
{
    cJSON *spec = json_add_object(object, "categoricalValueSpec");
    cJSON *values = json_add_array(spec, "values");
    for (size_t i = 0; i < param->n_values; i++)
        json_push_string(values, param->labels[i]);
    if (param->has_default)
        json_add_string(spec, "defaultValue",
                        param->labels[param->fallback.whole]);
}

static void add_parameter(cJSON *array, const struct param *param)
{
    static const char *const scales[] = {"UNIT_LINEAR_SCALE", "UNIT_LOG_SCALE",
                                         "UNIT_REVERSE_LOG_SCALE"};
    static void (*const add_spec[])(cJSON *, const struct param *) = {
        add_real_spec, add_whole_spec, add_discrete_spec, add_category_spec};
    cJSON *object = json_push_object(array);
    json_add_string(object, "parameterId", param->name);
    add_spec[param->type](object, param);
    if (param->scale != SCALE_LINEAR)
        json_add_string(object, "scaleType", scales[param->scale]);
}

static void add_stopping(cJSON *study, const struct job *job)
{
    if (job->early_stop == EARLY_MEDIAN)
        json_add_object(study, "medianAutomatedStoppingSpec");
    if (job->early_stop == EARLY_DECAY)
        json_add_object(study, "decayCurveStoppingSpec");
    if (job->until.time_ms == 0 && job->until.no_progress == 0)
        return;
    cJSON *config = json_add_object(study, "studyStoppingConfig");
    if (job->until.no_progress > 0)
        json_add_int(config, "maxNumTrialsNoProgress", job->until.no_progress);
    if (job->until.time_ms > 0)
        add_duration(json_add_object(config, "maximumRuntimeConstraint"),
                     "maxDuration", job->until.time_ms);
}

static void add_study(cJSON *root, const struct job *job)
{
    cJSON *study = json_add_object(root, "studySpec");
    cJSON *metrics = json_add_array(study, "metrics");
    for (size_t i = 0; i < job->n_metrics; i++) {
        cJSON *metric = json_push_object(metrics);
        json_add_string(metric, "metricId", job->metrics[i].name);
        json_add_string(metric, "goal",
                        job->metrics[i].maximize ? "MAXIMIZE" : "MINIMIZE");
    }
    cJSON *parameters = json_add_array(study, "parameters");
    for (size_t i = 0; i < job->space.n; i++)
        add_parameter(parameters, &job->space.params[i]);
    /* Google's name for a Bayesian search is to name none. */
    if (job->algorithm == ALGORITHM_GRID)
        json_add_string(study, "algorithm", "GRID_SEARCH");
    if (job->algorithm == ALGORITHM_RANDOM)
        json_add_string(study, "algorithm", "RANDOM_SEARCH");
    if (job->selection == SELECT_BEST)
        json_add_string(study, "measurementSelectionType", "BEST_MEASUREMENT");
    add_stopping(study, job);
}

/* ---- what each trial runs ---- */

static void add_pool(cJSON *array, const struct pool *pool)
{
    cJSON *object = json_push_object(array);
    cJSON *container = json_add_object(object, "containerSpec");
    if (pool->image)
        json_add_string(container, "imageUri", pool->image);
    add_strings(container, "command", &pool->command);
    add_strings(container, "args", &pool->args);
    add_variables(container, "env", &pool->env);
    json_add_int_text(object, "replicaCount", pool->count);
    if (pool->gpus > 0)
        json_add_int(json_add_object(object, "machineSpec"), "acceleratorCount",
                     pool->gpus);
}

static void add_trial_job(cJSON *root, const struct job *job)
{
    cJSON *spec = json_add_object(root, "trialJobSpec");
    cJSON *pools = json_add_array(spec, "workerPoolSpecs");
    size_t position = 0;
    for (size_t i = 0; i < job->n_pools; i++, position++) {
        assert(position < VERTEX_POOLS);
        /* An empty pool keeps the place of a type that is not used; pools
         * that are not in Google's order would be our own bug. */
        const char *type = job->pools[i].type;
        for (; strcmp(vertex_pool_types[position], type) != 0; position++) {
            assert(position + 1 < VERTEX_POOLS);
            json_push_object(pools);
        }
        add_pool(pools, &job->pools[i]);
    }
    if (job->trial_timeout_ms > 0)
        add_duration(json_add_object(spec, "scheduling"), "timeout",
                     job->trial_timeout_ms);
}

/* ---- hypertune ---- */

static void add_conditions(cJSON *object, const struct space *space,
                           const struct param *param)
{
    cJSON *when = json_add_array(object, "when");
    for (const struct condition *c = param->when; c; c = c->next) {
        cJSON *item = json_push_object(when);
        const struct param *parent = &space->params[c->parent];
        json_add_string(item, "parent", parent->name);
        cJSON *values = json_add_array(item, "values");
        for (size_t i = 0; i < c->n; i++)
            value_push_json(parent, c->values[i], values);
    }
}

static void add_extras(cJSON *hypertune, const struct space *space)
{
    cJSON *extras = NULL;
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        bool real_step = param->type == PARAM_DOUBLE && param->step > 0;
        bool int_step = param->type == PARAM_INTEGER && param->int_step > 1;
        if (!real_step && !int_step && param->when == NULL)
            continue;
        if (extras == NULL)
            extras = json_add_object(hypertune, "parameters");
        cJSON *extra = json_add_object(extras, param->name);
        if (real_step)
            json_add_double(extra, "step", param->step);
        if (int_step)
            json_add_int_text(extra, "step", param->int_step);
        if (param->when)
            add_conditions(extra, space, param);
    }
}

static void add_resources(cJSON *hypertune, const struct job *job)
{
    if (job->cpus > 0)
        json_add_double(hypertune, "cpus", job->cpus);
    if (job->memory_bytes > 0)
        json_add_int_text(hypertune, "memoryBytes", job->memory_bytes);
    add_strings(hypertune, "volumes", &job->volumes);
}

static void add_hypertune(cJSON *root, const struct job *job)
{
    static const char *const modes[] = {"auto", "append", "none"};
    cJSON *hypertune = json_add_object(root, "hypertune");
    if (job->name)
        json_add_string(hypertune, "name", job->name);
    if (job->has_seed)
        json_add_int_text(hypertune, "seed", job->seed);
    if (job->until.has_target)
        json_add_double(hypertune, "target", job->until.target);
    json_add_int(hypertune, "retries", job->retries);
    json_add_int(hypertune, "graceMs", job->grace_ms);
    json_add_string(hypertune, "argsMode", modes[job->args_mode]);
    json_add_bool(hypertune, "substitute", job->substitute);
    if (job->workdir)
        json_add_string(hypertune, "workdir", job->workdir);
    add_strings(hypertune, "passEnv", &job->pass_env);
    add_variables(hypertune, "capturedEnv", &job->captured_env);
    add_resources(hypertune, job);
    add_strings(hypertune, "stdoutPatterns", &job->stdout_patterns);
    if (job->metrics_file)
        json_add_string(hypertune, "metricsFile", job->metrics_file);
    add_strings(hypertune, "constraints", &job->constraints);
    add_extras(hypertune, &job->space);
}

cJSON *job_write_vertex(const struct job *job)
{
    cJSON *root = cJSON_CreateObject();
    if (job->display)
        json_add_string(root, "displayName", job->display);
    if (job->labels.n > 0) {
        cJSON *labels = json_add_object(root, "labels");
        for (size_t i = 0; i < job->labels.n; i++)
            json_add_string(labels, job->labels.items[i].name,
                            job->labels.items[i].value);
    }
    add_study(root, job);
    json_add_int(root, "maxTrialCount", job->max_trials);
    json_add_int(root, "parallelTrialCount", job->parallel);
    if (job->max_failed > 0)
        json_add_int(root, "maxFailedTrialCount", job->max_failed);
    add_trial_job(root, job);
    add_hypertune(root, job);
    return root;
}

enum ht_status job_parse(struct arena *arena, const char *json,
                         struct job **job, struct ht_error *err)
{
    struct diag diag;
    size_t len = strlen(json);
    diag_init(&diag, arena, "job", json, len);
    const struct node *root = node_read_json(arena, json, len, &diag);
    struct job *read = root ? job_read_vertex(root, JOB_TUNING, &diag) : NULL;
    if (read == NULL)
        return ht_fail(err, HT_CORRUPT, "stored job: %s: %s",
                       diag.first ? diag.first->path : "",
                       diag.first ? diag.first->text : "cannot be read");
    *job = read;
    return HT_OK;
}
