/* vertex_write_study.c - the study spec of the Vertex form and its member
 * `hypertune`, written. */

#include <inttypes.h>
#include <stdio.h>

#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "proto/form/vertex.h"
#include "proto/job/draft.h"
#include "proto/job/job.h"

/* ---- parameters ---- */

/* Google's JSON has numbers of 64 bits as text. */
static void add_whole_range(cJSON *spec, const struct param *param)
{
    json_add_int_text(spec, "minValue", param->int_min);
    json_add_int_text(spec, "maxValue", param->int_max);
    if (param->has_default)
        json_add_int_text(spec, "defaultValue", param->fallback.whole);
}

static void add_value_spec(cJSON *object, const struct param *param)
{
    static const char *const names[] = {"doubleValueSpec", "integerValueSpec",
                                        "discreteValueSpec",
                                        "categoricalValueSpec"};
    cJSON *spec = json_add_object(object, names[param->type]);
    if (param->type == PARAM_INTEGER) {
        add_whole_range(spec, param);
        return;
    }
    if (param->type == PARAM_DOUBLE) {
        json_add_double(spec, "minValue", param->min);
        json_add_double(spec, "maxValue", param->max);
    } else {
        space_levels_add_json(param, spec, "values");
    }
    if (param->has_default)
        space_value_add_json(param, param->fallback, spec, "defaultValue");
}

static void add_parameter(cJSON *object, const struct param *param)
{
    json_add_string(object, "parameterId", param->name);
    add_value_spec(object, param);
    if (param->scale != SCALE_LINEAR || param->scale_said)
        json_add_string(
            object, "scaleType",
            field_choice_name(job_param_google_scales, (int)param->scale));
}

/* ---- children ---- */

/* Each level nests three deep in JSON, whose readers have a limit. */
enum { MAX_NESTING = 8 };

/* How deep Google's form nests the parameter; 0 for one at the
 * top: without condition, or with one that only hypertune.parameters can say.
 * Google allows one parent, of a type that is listed or whole. */
static int nesting(const struct space *space, const struct param *param)
{
    const struct condition *when = param->when;
    if (when == NULL || when->next)
        return 0;
    const struct param *parent = &space->params[when->parent];
    if (parent->type == PARAM_DOUBLE)
        return 0;
    const int level = nesting(space, parent);
    return level < MAX_NESTING ? level + 1 : 0;
}

static void add_parent_values(cJSON *item, const struct param *parent,
                              const struct condition *when)
{
    cJSON *list = json_add_object(item, vertex_parent_lists[parent->type]);
    cJSON *values = json_add_array(list, "values");
    for (size_t i = 0; i < when->n; i++) {
        char whole[32];
        snprintf(whole, sizeof whole, "%" PRId64, when->values[i].whole);
        if (parent->type == PARAM_INTEGER)
            json_push_string(values, whole);
        else
            space_value_push_json(parent, when->values[i], values);
    }
}

/* The parameters as Google's form lists them: children behind their parent. */
struct listing {
    const struct space *space;
    size_t n;
    size_t order[HT_MAX_PARAMETERS];
};

/* Adds parameter i and its children to `object`; NULL only counts them. */
static void list_parameter(struct listing *listing, cJSON *object, size_t i)
{
    const struct space *space = listing->space;
    cJSON *children = NULL;
    listing->order[listing->n++] = i;
    if (object)
        add_parameter(object, &space->params[i]);
    for (size_t j = 0; j < space->n; j++) {
        const struct param *child = &space->params[j];
        if (nesting(space, child) == 0 || child->when->parent != i)
            continue;
        cJSON *spec = NULL;
        if (object) {
            if (children == NULL)
                children = json_add_array(object, "conditionalParameterSpecs");
            cJSON *item = json_push_object(children);
            add_parent_values(item, &space->params[i], child->when);
            spec = json_add_object(item, "parameterSpec");
        }
        list_parameter(listing, spec, j);
    }
}

static void list_parameters(struct listing *listing, cJSON *array)
{
    const struct space *space = listing->space;
    for (size_t i = 0; i < space->n; i++)
        if (nesting(space, &space->params[i]) == 0)
            list_parameter(listing, array ? json_push_object(array) : NULL, i);
}

/* ---- what Google's form has no words for ---- */

static void add_conditions(cJSON *object, const struct space *space,
                           const struct param *param)
{
    cJSON *when = json_add_array(object, "when");
    for (const struct condition *c = param->when; c; c = c->next) {
        cJSON *item = json_push_object(when);
        json_add_string(item, "parent", space->params[c->parent].name);
        space_condition_add_json(space, c, item, "values");
    }
}

/* Whether Google's order of the parameters is not the declared one. */
static void add_order(cJSON *hypertune, const struct space *space)
{
    struct listing listing = {.space = space};
    bool same = true;
    list_parameters(&listing, NULL);
    for (size_t i = 0; i < listing.n; i++)
        same &= listing.order[i] == i;
    if (same)
        return;
    cJSON *names = json_add_array(hypertune, "parameterOrder");
    for (size_t i = 0; i < space->n; i++)
        json_push_string(names, space->params[i].name);
}

void vertex_add_extras(cJSON *hypertune, const struct space *space)
{
    cJSON *extras = cJSON_CreateObject();
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        bool real_step = param->type == PARAM_DOUBLE && param->step > 0;
        bool int_step = param->type == PARAM_INTEGER && param->int_step > 1;
        bool when = param->when && nesting(space, param) == 0;
        cJSON *extra = cJSON_CreateObject();
        if (real_step)
            json_add_double(extra, "step", param->step);
        if (int_step)
            json_add_int_text(extra, "step", param->int_step);
        if (when)
            add_conditions(extra, space, param);
        job_former_write(extra, param);
        json_add_filled(extras, param->name, extra);
    }
    json_add_filled(hypertune, "parameters", extras);
    add_order(hypertune, space);
}

/* ---- study ---- */

static void add_runtime(cJSON *config, const char *key, int64_t ms,
                        int64_t end_ms)
{
    char stamp[CLOCK_STAMP_BYTES];
    cJSON *constraint = cJSON_CreateObject();
    json_add_span(constraint, "maxDuration", ms);
    if (end_ms > 0)
        json_add_string(constraint, "endTime", clock_stamp(stamp, end_ms));
    json_add_filled(config, key, constraint);
}

/* Google's JSON has numbers of 64 bits as text. */
static void add_wide_count(cJSON *config, const char *key, int64_t count)
{
    if (count > 0)
        json_add_int_text(config, key, count);
}

static void add_stopping(cJSON *study, const struct job *job)
{
    const struct stopping *until = &job->until;
    cJSON *config = cJSON_CreateObject();
    /* A tuning job has its own word for this. */
    if (job->kind == JOB_STUDY)
        json_add_count(config, "maxNumTrials", job->max_trials);
    json_add_count(config, "minNumTrials", until->min_trials);
    json_add_count(config, "maxNumTrialsNoProgress", until->no_progress);
    json_add_span(config, "maxDurationNoProgress", until->no_progress_ms);
    add_runtime(config, "minimumRuntimeConstraint", until->min_time_ms,
                until->min_end_ms);
    add_runtime(config, "maximumRuntimeConstraint", until->time_ms,
                until->end_ms);
    json_add_flag(config, "shouldStopAsap",
                  job_has_stopping_rule(job) && !until->let_finish);
    json_add_filled(study, "studyStoppingConfig", config);
}

/* Google's names of the rules that it has. */
static const char *const early_stops[] = {
    [EARLY_NONE] = NULL,
    [EARLY_MEDIAN] = "medianAutomatedStoppingSpec",
    [EARLY_DECAY] = "decayCurveStoppingSpec",
    [EARLY_CONVEX] = "convexAutomatedStoppingSpec",
    [EARLY_ASHA] = NULL,
    [EARLY_HYPERBAND] = NULL};

bool vertex_says_early_stop(const struct early_stop *stop)
{
    if (stop->rule == EARLY_NONE)
        return true;
    struct early_stop rest = *stop;
    rest.by_time = false;
    if (stop->rule == EARLY_CONVEX)
        rest.min_steps = rest.max_steps = rest.min_measurements = 0;
    return early_stops[stop->rule] && !job_early_stop_has_options(&rest);
}

static void add_early_stop(cJSON *study, const struct early_stop *stop)
{
    if (early_stops[stop->rule] == NULL)
        return;
    cJSON *spec = json_add_object(study, early_stops[stop->rule]);
    if (stop->rule == EARLY_CONVEX) {
        add_wide_count(spec, "maxStepCount", stop->max_steps);
        add_wide_count(spec, "minStepCount", stop->min_steps);
        add_wide_count(spec, "minMeasurementCount", stop->min_measurements);
    }
    json_add_flag(spec, "useElapsedDuration", stop->by_time);
}

static void add_metric(cJSON *metrics, const struct metric_goal *goal)
{
    cJSON *metric = json_push_object(metrics);
    json_add_string(metric, "metricId", goal->name);
    json_add_string(metric, "goal", goal->maximize ? "MAXIMIZE" : "MINIMIZE");
    if (!goal->safety)
        return;
    cJSON *safety = json_add_object(metric, "safetyConfig");
    json_add_double(safety, "safetyThreshold", goal->threshold);
    if (goal->safe_share > 0)
        json_add_double(safety, "desiredMinSafeTrialsFraction",
                        goal->safe_share);
}

void vertex_add_study(cJSON *root, const struct job *job)
{
    cJSON *study = json_add_object(root, "studySpec");
    cJSON *metrics = json_add_array(study, "metrics");
    struct listing listing = {.space = &job->space};
    for (size_t i = 0; i < job->n_metrics; i++)
        add_metric(metrics, &job->metrics[i]);
    list_parameters(&listing, json_add_array(study, "parameters"));
    if (job->algorithm == ALGORITHM_GRID)
        json_add_string(study, "algorithm", "GRID_SEARCH");
    if (job->algorithm == ALGORITHM_RANDOM)
        json_add_string(study, "algorithm", "RANDOM_SEARCH");
    if (job->selection == SELECT_BEST)
        json_add_string(study, "measurementSelectionType", "BEST_MEASUREMENT");
    else if (job->selection_said)
        json_add_string(study, "measurementSelectionType", "LAST_MEASUREMENT");
    if (job->noise != JOB_NOISE_UNKNOWN)
        json_add_string(study, "observationNoise",
                        job->noise == JOB_NOISE_LOW ? "LOW" : "HIGH");
    add_early_stop(study, &job->early_stop);
    add_stopping(study, job);
}
