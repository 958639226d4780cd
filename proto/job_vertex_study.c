#include <stddef.h>
#include <string.h>

#include "proto/job_vertex.h"
#include "proto/limits.h"

/* Places of google/cloud/aiplatform/v1/study.proto. */

#define JOB(member) offsetof(struct vertex_draft, draft.job.member)

/* ---- stopping ---- */

static void read_median(const struct field_reader *reader, struct place at,
                        const struct field *field, void *into)
{
    static const struct field rows[] = {
        {.name = "useElapsedDuration", .read = vertex_unsupported}, {0}};
    struct job_draft *draft = &((struct vertex_draft *)into)->draft;
    field_read_map(reader, at, rows, into);
    draft->early_stop = at;
    draft->job.early_stop =
        strncmp(field->name, "median", 6) == 0 ? EARLY_MEDIAN : EARLY_DECAY;
}

static void read_runtime(const struct field_reader *reader, struct place at,
                         const struct field *field, void *into)
{
    static const struct field rows[] = {
        {.name = "maxDuration",
         .read = field_duration,
         .offset = JOB(until.time_ms),
         .min = 1},
        {.name = "endTime", .read = vertex_unsupported},
        {0}};
    (void)field;
    field_read_map(reader, at, rows, into);
}

static void read_stopping(const struct field_reader *reader, struct place at,
                          const struct field *field, void *into)
{
    static const struct field rows[] = {
        {"maxNumTrials", field_whole,
         offsetof(struct vertex_draft, study_trials), 0, INT32_MAX, NULL},
        {"maxNumTrialsNoProgress", field_whole, JOB(until.no_progress), 0,
         HT_MAX_TRIALS, NULL},
        {.name = "maximumRuntimeConstraint", .read = read_runtime},
        {.name = "maxDurationNoProgress", .read = vertex_unsupported},
        {.name = "minimumRuntimeConstraint", .read = vertex_unsupported},
        {.name = "minNumTrials", .read = vertex_unsupported},
        {.name = "shouldStopAsap", .read = vertex_unsupported},
        {0}};
    (void)field;
    field_read_map(reader, at, rows, into);
}

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

static const struct field study_rows[] = {
    {.name = "metrics",
     .read = field_place,
     .offset = offsetof(struct vertex_draft, draft.metrics)},
    {.name = "parameters",
     .read = field_place,
     .offset = offsetof(struct vertex_draft, draft.parameters)},
    {.name = "algorithm",
     .read = field_choose,
     .offset = JOB(algorithm),
     .choices = algorithms},
    {.name = "measurementSelectionType",
     .read = field_choose,
     .offset = JOB(selection),
     .choices = selections},
    {.name = "medianAutomatedStoppingSpec", .read = read_median},
    {.name = "decayCurveStoppingSpec", .read = read_median},
    {.name = "studyStoppingConfig", .read = read_stopping},
    {.name = "convexAutomatedStoppingSpec", .read = vertex_unsupported},
    {.name = "convexStopConfig", .read = vertex_unsupported},
    {.name = "observationNoise", .read = vertex_unsupported},
    {.name = "transferLearningConfig", .read = vertex_unsupported},
    {0}};

void vertex_study(const struct field_reader *reader, struct place at,
                  const struct field *field, void *into)
{
    (void)field;
    struct job_draft *draft = &((struct vertex_draft *)into)->draft;
    draft->metrics = field_member(reader, at, "metrics");
    draft->parameters = field_member(reader, at, "parameters");
    if (draft->metrics.node == NULL)
        field_error(reader, (struct place){at.node, draft->metrics.path},
                    "is missing: name the metric and its goal");
    if (draft->parameters.node == NULL)
        field_error(reader, (struct place){at.node, draft->parameters.path},
                    "is missing: a study needs parameters");
    field_read_map(reader, at, study_rows, into);
}

/* ---- metrics ---- */

enum goal { GOAL_UNSPECIFIED, GOAL_MAXIMIZE, GOAL_MINIMIZE };

struct metric_draft {
    const char *name;
    enum goal goal;
};

static const struct field_choice goals[] = {
    {"GOAL_TYPE_UNSPECIFIED", 0, GOAL_UNSPECIFIED},
    {"MAXIMIZE", 1, GOAL_MAXIMIZE},
    {"MINIMIZE", 2, GOAL_MINIMIZE},
    {NULL, 0, 0}};

static const struct field metric_rows[] = {
    {.name = "metricId",
     .read = field_name,
     .offset = offsetof(struct metric_draft, name)},
    {.name = "goal",
     .read = field_choose,
     .offset = offsetof(struct metric_draft, goal),
     .choices = goals},
    {.name = "safetyConfig", .read = vertex_unsupported},
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
        field_error(reader, at, "metricId is missing");
    else if (said.goal == GOAL_UNSPECIFIED)
        field_error(reader, at, "goal is missing: MAXIMIZE or MINIMIZE");
    metric->name = said.name ? said.name : "";
    metric->maximize = said.goal == GOAL_MAXIMIZE;
}

static void read_metrics(const struct field_reader *reader,
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
    for (const struct node *node = at.node->first; node; node = node->next, n++)
        read_metric(reader, field_item(reader, at, node, n), &metrics[n]);
    if (reader->diag->errors > before)
        return;
    draft->job.metrics = metrics;
    draft->job.n_metrics = n;
}

/* ---- parameters ---- */

struct google_param {
    struct param_draft param;
    struct place children;
    int specs; /* value specs seen: exactly one is right */
};

static const struct field range_rows[] = {
    {.name = "minValue", .read = field_skip},
    {.name = "maxValue", .read = field_skip},
    {.name = "defaultValue", .read = field_skip},
    {0}};
static const struct field list_rows[] = {
    {.name = "values", .read = field_skip},
    {.name = "defaultValue", .read = field_skip},
    {0}};

static void read_value_spec(const struct field_reader *reader, struct place at,
                            const struct field *field, void *into)
{
    struct google_param *google = into;
    struct param_draft *param = &google->param;
    bool range = field->min == PARAM_DOUBLE || field->min == PARAM_INTEGER;
    google->specs++;
    field_read_map(reader, at, range ? range_rows : list_rows, into);
    param->param.type = (enum param_type)field->min;
    param->fallback = field_member(reader, at, "defaultValue");
    if (range) {
        param->min = field_member(reader, at, "minValue");
        param->max = field_member(reader, at, "maxValue");
    } else {
        param->values = field_member(reader, at, "values");
    }
}

/* The rows of value specs carry the type in `min`. */
static const struct field param_rows[] = {
    {.name = "parameterId",
     .read = field_name,
     .offset = offsetof(struct google_param, param.param.name)},
    {.name = "doubleValueSpec", .read = read_value_spec, .min = PARAM_DOUBLE},
    {.name = "integerValueSpec", .read = read_value_spec, .min = PARAM_INTEGER},
    {.name = "discreteValueSpec",
     .read = read_value_spec,
     .min = PARAM_DISCRETE},
    {.name = "categoricalValueSpec",
     .read = read_value_spec,
     .min = PARAM_CATEGORICAL},
    {.name = "scaleType",
     .read = field_place,
     .offset = offsetof(struct google_param, param.scale)},
    {.name = "conditionalParameterSpecs",
     .read = field_place,
     .offset = offsetof(struct google_param, children)},
    {0}};

static bool check_param(const struct field_reader *reader, struct place at,
                        const struct google_param *google)
{
    const char *name = google->param.param.name;
    if (name == NULL) {
        field_error(reader, at, "parameterId is missing");
    } else if (name[0] == '-') {
        field_error(reader, at, "the name %s must not begin with -", name);
    } else if (google->specs != 1) {
        field_error(reader, at, "parameter %s has %d value specs, needs one",
                    name, google->specs);
        diag_hint(reader->diag, "doubleValueSpec, integerValueSpec, "
                                "discreteValueSpec or categoricalValueSpec");
    } else {
        return true;
    }
    return false;
}

static void add_condition(const struct field_reader *reader,
                          struct job_draft *draft,
                          const struct condition_draft *condition)
{
    struct condition_draft **last = &draft->conditions;
    while (*last)
        last = &(*last)->next;
    *last = arena_alloc(reader->arena, 1, sizeof **last);
    **last = *condition;
}

static struct condition_draft
read_extra_condition(const struct field_reader *reader, struct place at,
                     size_t child)
{
    static const struct field rows[] = {
        {.name = "parent",
         .read = field_text,
         .offset = offsetof(struct condition_draft, parent)},
        {.name = "values",
         .read = field_place,
         .offset = offsetof(struct condition_draft, values)},
        {0}};
    struct condition_draft condition = {.child = child, .at = at};
    field_read_map(reader, at, rows, &condition);
    return condition;
}

/* hypertune.parameters.NAME.when: a list of {parent, values}. */
static void read_extra_when(const struct field_reader *reader,
                            struct job_draft *draft, struct place at,
                            size_t child)
{
    size_t i = 0;
    if (at.node->kind != NODE_LIST) {
        field_wrong_kind(reader, at, "a list");
        return;
    }
    for (const struct node *node = at.node->first; node;
         node = node->next, i++) {
        struct place item = field_item(reader, at, node, i);
        struct condition_draft condition =
            read_extra_condition(reader, item, child);
        if (condition.parent && condition.values.node)
            add_condition(reader, draft, &condition);
        else
            field_error(reader, item, "needs parent and values");
    }
}

/* What hypertune.parameters says of this parameter. */
static void read_extra(const struct field_reader *reader,
                       struct vertex_draft *vertex, struct param_draft *param)
{
    struct extra {
        struct place step, when;
    } extra = {0};
    static const struct field rows[] = {
        {.name = "step",
         .read = field_place,
         .offset = offsetof(struct extra, step)},
        {.name = "when",
         .read = field_place,
         .offset = offsetof(struct extra, when)},
        {0}};
    if (vertex->extras.node == NULL)
        return;
    struct place at = field_member(reader, vertex->extras, param->param.name);
    if (at.node == NULL)
        return;
    field_read_map(reader, at, rows, &extra);
    param->step = extra.step;
    if (extra.when.node)
        read_extra_when(reader, &vertex->draft, extra.when,
                        vertex->draft.job.space.n);
}

static void read_params(const struct field_reader *reader,
                        struct vertex_draft *vertex, struct place at);

/* Adds one parameter; the index of it, or -1 after a fault. */
static int read_param(const struct field_reader *reader,
                      struct vertex_draft *vertex, struct place at)
{
    struct google_param google = {.param = {.at = at, .google = true}};
    struct job_draft *draft = &vertex->draft;
    size_t before = reader->diag->errors;
    field_read_map(reader, at, param_rows, &google);
    if (reader->diag->errors > before || !check_param(reader, at, &google))
        return -1;
    if (draft->job.space.n == HT_MAX_PARAMETERS) {
        field_error(reader, at, "a study has at most %d parameters",
                    HT_MAX_PARAMETERS);
        return -1;
    }
    read_extra(reader, vertex, &google.param);
    if (!param_finish(reader, &google.param))
        return -1;
    job_draft_add(reader, draft, &google.param);
    int index = (int)draft->job.space.n - 1;
    if (google.children.node)
        read_params(reader, vertex, google.children);
    return index;
}

struct child_draft {
    struct place spec, values;
};

static void read_parent_values(const struct field_reader *reader,
                               struct place at, const struct field *field,
                               void *into)
{
    static const struct field rows[] = {
        {.name = "values",
         .read = field_place,
         .offset = offsetof(struct child_draft, values)},
        {0}};
    (void)field;
    field_read_map(reader, at, rows, into);
}

/* A child becomes a parameter of the flat space with a condition. */
static void read_child(const struct field_reader *reader,
                       struct vertex_draft *vertex, struct place at,
                       const char *parent)
{
    static const struct field rows[] = {
        {.name = "parameterSpec",
         .read = field_place,
         .offset = offsetof(struct child_draft, spec)},
        {.name = "parentCategoricalValues", .read = read_parent_values},
        {.name = "parentDiscreteValues", .read = read_parent_values},
        {.name = "parentIntValues", .read = read_parent_values},
        {0}};
    struct child_draft child = {0};
    field_read_map(reader, at, rows, &child);
    if (child.spec.node == NULL || child.values.node == NULL) {
        field_error(reader, at, "needs parameterSpec and the parent's values");
        return;
    }
    int index = read_param(reader, vertex, child.spec);
    if (index < 0)
        return;
    struct condition_draft condition = {.child = (size_t)index,
                                        .parent = parent,
                                        .at = at,
                                        .values = child.values};
    add_condition(reader, &vertex->draft, &condition);
}

/* The list of children of the parameter added last. */
static void read_params(const struct field_reader *reader,
                        struct vertex_draft *vertex, struct place at)
{
    const struct space *space = &vertex->draft.job.space;
    const char *parent = space->params[space->n - 1].name;
    size_t i = 0;
    if (at.node->kind != NODE_LIST) {
        field_wrong_kind(reader, at, "a list");
        return;
    }
    for (const struct node *node = at.node->first; node; node = node->next)
        read_child(reader, vertex, field_item(reader, at, node, i++), parent);
}

static void check_extras(const struct field_reader *reader,
                         const struct vertex_draft *vertex)
{
    struct place at = vertex->extras;
    if (at.node == NULL)
        return;
    if (at.node->kind != NODE_MAP) {
        field_wrong_kind(reader, at, "a map");
        return;
    }
    for (const struct node *node = at.node->first; node; node = node->next)
        if (space_find(&vertex->draft.job.space, node->key) < 0)
            field_key_error(reader, field_member(reader, at, node->key),
                            "there is no parameter \"%s\"", node->key);
}

void vertex_finish_study(const struct field_reader *reader,
                         struct vertex_draft *vertex)
{
    struct place at = vertex->draft.parameters;
    if (vertex->draft.metrics.node)
        read_metrics(reader, &vertex->draft);
    if (at.node == NULL)
        return;
    if (at.node->kind != NODE_LIST || at.node->count == 0) {
        field_error(reader, at, "must be a list of 1 to %d parameters",
                    HT_MAX_PARAMETERS);
        return;
    }
    size_t i = 0, before = reader->diag->errors;
    for (const struct node *node = at.node->first; node; node = node->next)
        read_param(reader, vertex, field_item(reader, at, node, i++));
    if (reader->diag->errors == before)
        check_extras(reader, vertex);
}
