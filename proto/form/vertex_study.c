/* vertex_study.c - the study spec of the Vertex form, and the member
 * `hypertune` for what Vertex has no field for. */

#include <stddef.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/field.h"
#include "proto/form/vertex.h"

/* Places of google/cloud/aiplatform/v1/study.proto. */

#define DRAFT(member) offsetof(struct vertex_draft, member)
#define JOB(member) DRAFT(draft.job.member)

/* ---- automated stopping ---- */

static void note_rule(const struct field_reader *reader, struct place at,
                      enum job_early_stop rule, struct vertex_draft *vertex)
{
    struct job_draft *draft = &vertex->draft;
    if (draft->job.early_stop.rule != EARLY_NONE)
        field_key_error(reader, at, "a study has one early stopping rule");
    draft->early_stop = at;
    draft->job.early_stop.rule = rule;
}

static void read_curve_rule(const struct field_reader *reader, struct place at,
                            const struct field *field, void *into)
{
    static const struct field rows[] = {
        {"useElapsedDuration", field_flag, .offset = JOB(early_stop.by_time)},
        {0}};
    field_read_map(reader, at, rows, into);
    note_rule(reader, at, (enum job_early_stop)field->min, into);
}

static void read_convex_rule(const struct field_reader *reader, struct place at,
                             const struct field *field, void *into)
{
    static const struct field rows[] = {
        {"maxStepCount", field_whole, JOB(early_stop.max_steps),
         .max = HT_MAX_STEPS},
        {"minStepCount", field_whole, JOB(early_stop.min_steps),
         .max = HT_MAX_STEPS},
        {"minMeasurementCount", field_whole, JOB(early_stop.min_measurements),
         .max = HT_MAX_REPORTS},
        {"useElapsedDuration", field_flag, .offset = JOB(early_stop.by_time)},
        {.name = "learningRateParameterName", .read = kept_text},
        {"updateAllStoppedTrials", kept_value, .check = field_flag},
        {0}};
    (void)field;
    field_read_map(reader, at, rows, into);
    note_rule(reader, at, EARLY_CONVEX, into);
}

/* What has no effect but a place in the newer form of the rule. */
static void read_learning_rate(const struct field_reader *reader,
                               struct place at, const struct field *field,
                               void *into)
{
    at.path = "studySpec.convexAutomatedStoppingSpec.learningRateParameterName";
    kept_text(reader, at, field, into);
}

static void read_autoregressive_order(const struct field_reader *reader,
                                      struct place at,
                                      const struct field *field, void *into)
{
    static const struct field row = {"autoregressiveOrder", field_whole,
                                     .max = INT64_MAX};
    int64_t order = 0;
    (void)field;
    (void)into;
    field_whole(reader, at, &row, &order);
    if (order > 0)
        field_warning(reader, at, "has no effect here");
}

/* v1beta1's older name for the convex rule. */
static void read_convex_config(const struct field_reader *reader,
                               struct place at, const struct field *field,
                               void *into)
{
    static const struct field rows[] = {
        {"maxNumSteps", field_whole, JOB(early_stop.max_steps),
         .max = HT_MAX_STEPS},
        {"minNumSteps", field_whole, JOB(early_stop.min_steps),
         .max = HT_MAX_STEPS},
        {"useSeconds", field_flag, .offset = JOB(early_stop.by_time)},
        {.name = "autoregressiveOrder", .read = read_autoregressive_order},
        {.name = "learningRateParameterName", .read = read_learning_rate},
        {0}};
    (void)field;
    field_read_map(reader, at, rows, into);
    note_rule(reader, at, EARLY_CONVEX, into);
}

/* Nothing is transferred unless hypertune.warmStart says so, so there is
 * nothing to do but to remember it. */
static void read_no_transfer(const struct field_reader *reader, struct place at,
                             const struct field *field, void *into)
{
    bool flag = false;
    (void)field;
    if (!node_bool(at.node, &flag)) {
        field_wrong_kind(reader, at, "true or false");
        return;
    }
    ((struct vertex_draft *)into)->no_priors = flag ? at : (struct place){0};
    kept_silently(reader, at);
}

static const struct field transfer_rows[] = {
    {.name = "disableTransferLearning", .read = read_no_transfer},
    {.name = "priorStudyNames", .read = field_skip},
    {0}};

/* ---- the end of the study ---- */

static const struct field longest_rows[] = {
    {"maxDuration", field_duration, JOB(until.time_ms), .min = 1},
    {"endTime", field_moment, .offset = JOB(until.end_ms)},
    {0}};

static const struct field shortest_rows[] = {
    {"maxDuration", field_duration, .offset = JOB(until.min_time_ms)},
    {"endTime", field_moment, .offset = JOB(until.min_end_ms)},
    {0}};

static const struct field stopping_rows[] = {
    {"maxNumTrials", field_whole, DRAFT(study_trials), .max = HT_MAX_TRIALS},
    {"minNumTrials", field_whole, JOB(until.min_trials), .max = HT_MAX_TRIALS},
    {"maxNumTrialsNoProgress", field_whole, JOB(until.no_progress),
     .max = HT_MAX_TRIALS},
    {"maxDurationNoProgress", field_duration,
     .offset = JOB(until.no_progress_ms)},
    {"maximumRuntimeConstraint", field_map, .rows = longest_rows},
    {"minimumRuntimeConstraint", field_map, .rows = shortest_rows},
    {"shouldStopAsap", field_flag, .offset = DRAFT(should_stop_asap)},
    {0}};

/* ---- studySpec ---- */

static const struct field_choice algorithms[] = {
    {"ALGORITHM_UNSPECIFIED", 0, ALGORITHM_DEFAULT},
    {"GRID_SEARCH", 2, ALGORITHM_GRID},
    {"RANDOM_SEARCH", 3, ALGORITHM_RANDOM},
    {NULL, 0, 0}};

static const struct field_choice selections[] = {
    {"MEASUREMENT_SELECTION_TYPE_UNSPECIFIED", 0, SELECT_LAST},
    {"LAST_MEASUREMENT", 1, SELECT_LAST},
    {"BEST_MEASUREMENT", 2, SELECT_BEST},
    {NULL, 0, 0}};

static const struct field_choice noises[] = {
    {"OBSERVATION_NOISE_UNSPECIFIED", 0, JOB_NOISE_UNKNOWN},
    {"LOW", 1, JOB_NOISE_LOW},
    {"HIGH", 2, JOB_NOISE_HIGH},
    {NULL, 0, 0}};

static void read_selection(const struct field_reader *reader, struct place at,
                           const struct field *field, void *into)
{
    struct job *job = &((struct vertex_draft *)into)->draft.job;
    const struct field_choice *choice = field_choice(reader, at, field);
    if (choice == NULL)
        return;
    job->selection = (enum job_selection)choice->value;
    job->selection_said = choice->number > 0;
}

/* The rows of early stopping rules carry the rule in `min`. */
static const struct field study_rows[] = {
    {"metrics", field_place, .offset = DRAFT(draft.metrics)},
    {"parameters", field_place, .offset = DRAFT(draft.parameters)},
    {"algorithm", field_choose, JOB(algorithm), .choices = algorithms},
    {"measurementSelectionType", read_selection, .choices = selections},
    {"medianAutomatedStoppingSpec", read_curve_rule, .min = EARLY_MEDIAN},
    {"decayCurveStoppingSpec", read_curve_rule, .min = EARLY_DECAY},
    {.name = "convexAutomatedStoppingSpec", .read = read_convex_rule},
    {.name = "convexStopConfig", .read = read_convex_config},
    {"studyStoppingConfig", field_map, .rows = stopping_rows},
    {"observationNoise", field_choose, JOB(noise), .choices = noises},
    {"transferLearningConfig", field_map, .rows = transfer_rows},
    {0}};

void vertex_study(const struct field_reader *reader, struct place at,
                  const struct field *field, void *into)
{
    (void)field;
    struct job_draft *draft = &((struct vertex_draft *)into)->draft;
    const bool is_map = at.node->kind == NODE_MAP;
    draft->metrics = field_member(reader, at, "metrics");
    draft->parameters = field_member(reader, at, "parameters");
    if (is_map && draft->metrics.node == NULL)
        field_missing(reader, at, "metrics", "name the metric and its goal");
    if (is_map && draft->parameters.node == NULL)
        field_missing(reader, at, "parameters", "a study needs parameters");
    field_read_map(reader, at, study_rows, into);
}

/* ---- metrics ---- */

enum goal { GOAL_UNSPECIFIED, GOAL_MAXIMIZE, GOAL_MINIMIZE };

#define METRIC(member) offsetof(struct metric_draft, member)

struct metric_draft {
    const char *name;
    enum goal goal;
    bool safety;
    double threshold, safe_share;
};

static const struct field_choice goals[] = {
    {"GOAL_TYPE_UNSPECIFIED", 0, GOAL_UNSPECIFIED},
    {"MAXIMIZE", 1, GOAL_MAXIMIZE},
    {"MINIMIZE", 2, GOAL_MINIMIZE},
    {NULL, 0, 0}};

/* A threshold that is not given is 0, as in Vertex. */
static const struct field safety_rows[] = {
    {"safetyThreshold", field_real, .offset = METRIC(threshold)},
    {"desiredMinSafeTrialsFraction", field_real, METRIC(safe_share), .max = 1},
    {0}};

static const struct field metric_rows[] = {
    {"metricId", field_metric, .offset = METRIC(name)},
    {"goal", field_choose, METRIC(goal), .choices = goals},
    {"safetyConfig", field_map, .rows = safety_rows, .said = METRIC(safety)},
    {0}};

static void read_metric(const struct field_reader *reader, struct place at,
                        struct metric_goal *metric)
{
    struct metric_draft said = {0};
    size_t before = reader->diag->errors;
    field_read_map(reader, at, metric_rows, &said);
    if (reader->diag->errors > before)
        return;
    if (said.name == NULL)
        field_missing(reader, at, "metricId", NULL);
    if (said.goal == GOAL_UNSPECIFIED)
        field_missing(reader, at, "goal", "MAXIMIZE or MINIMIZE");
    metric->name = said.name ? said.name : "";
    metric->maximize = said.goal == GOAL_MAXIMIZE;
    metric->safety = said.safety;
    metric->threshold = said.threshold;
    metric->safe_share = said.safe_share;
}

/* A metric that could not be read has no name. */
static void check_unnamed(const struct field_reader *reader, struct place at,
                          const struct metric_goal metrics[], size_t n)
{
    const char *name = metrics[n].name;
    for (size_t i = 0; name && name[0] != '\0' && i < n; i++)
        if (metrics[i].name && strcmp(metrics[i].name, name) == 0)
            field_error(reader, field_member(reader, at, "metricId"),
                        "the metric %s is named twice", name);
}

static void read_metric_specs(const struct field_reader *reader,
                              struct job_draft *draft)
{
    struct place at = draft->metrics;
    if (at.node->kind != NODE_LIST || at.node->count == 0 ||
        at.node->count > HT_MAX_METRICS) {
        field_error(reader, at, "must be a list of 1 to %d metrics",
                    HT_MAX_METRICS);
        return;
    }
    struct metric_goal *metrics =
        arena_alloc(reader->arena, at.node->count, sizeof *metrics);
    size_t n = 0, before = reader->diag->errors;
    for (const struct place *item = field_items(reader, at); item->node;
         item++) {
        read_metric(reader, *item, &metrics[n]);
        check_unnamed(reader, *item, metrics, n++);
    }
    if (reader->diag->errors > before)
        return;
    draft->job.metrics = metrics;
    draft->job.n_metrics = n;
}

void vertex_finish_study(const struct field_reader *reader,
                         struct vertex_draft *vertex)
{
    if (vertex->draft.metrics.node)
        read_metric_specs(reader, &vertex->draft);
    if (vertex->draft.parameters.node)
        vertex_read_parameters(reader, vertex);
    if (vertex->draft.job.space.open && vertex->draft.job.kind != JOB_STUDY)
        field_error(reader, vertex->draft.parameters,
                    "hypertune.openSpace is for studies of clients");
    if (vertex->no_priors.node != NULL && vertex->draft.job.warm_start.n > 0)
        field_error(reader, vertex->no_priors,
                    "contradicts hypertune.warmStart");
}
