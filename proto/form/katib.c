/* katib.c - an Experiment of Katib. */

#include "proto/form/katib.h"

#include <stddef.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/number.h"
#include "proto/base/text.h"

#define KATIB(member) offsetof(struct katib, member)

void katib_refuse(const struct field_reader *reader, struct place at,
                  const char *what)
{
    if (at.node->key != NULL)
        field_key_error(reader, at, "%s cannot be taken over yet", what);
    else
        field_error(reader, at, "%s cannot be taken over yet", what);
}

/* ---- fields ---- */

static void refuse_nas(const struct field_reader *reader, struct place at,
                       const struct field *field, void *into)
{
    (void)field;
    (void)into;
    field_key_error(reader, at, "neural architecture search cannot run here");
    diag_hint(reader->diag, "use parameters");
}

static void refuse_map(const struct field_reader *reader, struct place at,
                       const struct field *field, void *into)
{
    (void)field;
    (void)into;
    field_key_error(reader, at, "the template is in a ConfigMap of a cluster");
    diag_hint(reader->diag, "write it here, as trialSpec");
}

/* What Kubernetes says of an object is no part of what was asked for. */
static void read_metadata(const struct field_reader *reader, struct place at,
                          const struct field *field, void *into)
{
    struct katib *katib = into;
    (void)field;
    katib->name = field_member(reader, at, "name");
    if (katib->name.node == NULL)
        katib->name = field_member(reader, at, "generateName");
    katib->labels = field_member(reader, at, "labels");
    katib->namespace = field_member(reader, at, "namespace");
    if (katib->namespace.node != NULL)
        foreign_no_effect(reader, katib->namespace, field, into);
}

/* A study here can always be taken up again. */
static void read_resume(const struct field_reader *reader, struct place at,
                        const struct field *field, void *into)
{
    static const struct field_choice policies[] = {{"LongRunning", -1, 0},
                                                   {"FromVolume", -1, 0},
                                                   {"Never", -1, 1},
                                                   {NULL, 0, 0}};
    const struct field row = {.name = field->name, .choices = policies};
    const struct field_choice *policy = field_choice(reader, at, &row);
    (void)into;
    if (policy != NULL && policy->value != 0)
        field_warning(reader, at,
                      "has no effect: hypertune resume takes up "
                      "every study that has ended");
}

/* The conditions that Katib has for a Job and for operators' jobs come to the
 * exit code of the command; others ask for the object in a cluster. */
static void read_condition(const struct field_reader *reader, struct place at,
                           const struct field *field, void *into)
{
    static const char *const types[] = {"Complete", "Succeeded", "Failed"};
    struct katib *katib = into;
    const char *text = node_string(at.node);
    (void)field;
    for (size_t i = 0; text && i < sizeof types / sizeof *types; i++)
        if (strcmp(text, arena_printf(reader->arena,
                                      "status.conditions.#(type==\"%s\")#|"
                                      "#(status==\"True\")#",
                                      types[i])) == 0)
            return;
    katib->has_own_ends = true;
}

static const struct field_choice goals[] = {
    {"maximize", -1, 0}, {"minimize", -1, 1}, {NULL, 0, 0}};

static const struct field objective_rows[] = {
    {"type", field_choose, KATIB(minimize), .choices = goals,
     .place = KATIB(goal_type)},
    {"goal", field_place, .offset = KATIB(goal)},
    {"objectiveMetricName", field_place, .offset = KATIB(metric)},
    {"additionalMetricNames", field_place, .offset = KATIB(additional)},
    {"metricStrategies", field_place, .offset = KATIB(strategies)},
    {0}};
static const struct field algorithm_rows[] = {
    {"algorithmName", field_place, .offset = KATIB(algorithm)},
    {"algorithmSettings", field_place, .offset = KATIB(algorithm_settings)},
    {0}};
static const struct field early_rows[] = {
    {"algorithmName", field_place, .offset = KATIB(early)},
    {"algorithmSettings", field_place, .offset = KATIB(early_settings)},
    {0}};
static const struct field file_rows[] = {
    {"path", field_place, .offset = KATIB(file)},
    {.name = "kind", .read = field_skip},
    {"format", field_place, .offset = KATIB(format)},
    {0}};
static const struct field filter_rows[] = {
    {"metricsFormat", field_place, .offset = KATIB(filters)}, {0}};
static const struct field source_rows[] = {
    {"fileSystemPath", field_map, .rows = file_rows},
    {"filter", field_map, .rows = filter_rows},
    {.name = "httpGet", .read = foreign_no_effect},
    {0}};
static const struct field kind_rows[] = {
    {"kind", field_place, .offset = KATIB(collector)},
    {.name = "customCollector", .read = field_skip},
    {0}};
static const struct field collector_rows[] = {
    {"source", field_map, .rows = source_rows},
    {"collector", field_map, .rows = kind_rows},
    {0}};
static const struct field template_rows[] = {
    {"trialParameters", field_place, .offset = KATIB(trial_parameters)},
    {"trialSpec", field_place, .offset = KATIB(trial_spec)},
    {"primaryContainerName", field_place, .offset = KATIB(primary)},
    {.name = "configMap", .read = refuse_map},
    {.name = "retain", .read = foreign_no_effect},
    {"primaryPodLabels", field_place, .offset = KATIB(primary_labels)},
    {"successCondition", read_condition, .place = KATIB(success)},
    {"failureCondition", read_condition, .place = KATIB(failure)},
    {0}};
static const struct field spec_rows[] = {
    {"objective", field_map, .rows = objective_rows},
    {"algorithm", field_map, .rows = algorithm_rows},
    {"earlyStopping", field_map, .rows = early_rows},
    {"parameters", field_place, .offset = KATIB(parameters)},
    {"parallelTrialCount", field_place, .offset = KATIB(parallel)},
    {"maxTrialCount", field_place, .offset = KATIB(trials)},
    {"maxFailedTrialCount", field_place, .offset = KATIB(max_failed)},
    {"metricsCollectorSpec", field_map, .rows = collector_rows},
    {"trialTemplate", field_map, .rows = template_rows},
    {.name = "nasConfig", .read = refuse_nas},
    {.name = "resumePolicy", .read = read_resume},
    {0}};
static const struct field root_rows[] = {
    {.name = "apiVersion", .read = field_skip},
    {.name = "kind", .read = field_skip},
    {.name = "metadata", .read = read_metadata},
    {"spec", field_map, .rows = spec_rows, .place = KATIB(spec)},
    {.name = "status", .read = field_skip},
    {0}};

bool katib_is_experiment(const struct node *root)
{
    static const char group[] = "kubeflow.org/";
    return strncmp(node_get_string(root, "apiVersion", ""), group,
                   sizeof group - 1) == 0 &&
           strcmp(node_get_string(root, "kind", ""), "Experiment") == 0;
}

/* ---- goal ---- */

/* Katib takes the best of a curve unless a strategy says otherwise. */
static void put_selection(struct katib *katib)
{
    const struct field_reader *reader = &katib->reader;
    const char *best = katib->minimize ? "min" : "max";
    const char *metric = katib->metric.node->text, *selection = "best";
    const struct place *one = katib->strategies.node
                                  ? field_items(reader, katib->strategies)
                                  : &(const struct place){0};
    for (; one->node != NULL; one++) {
        const char *value = node_get_string(one->node, "value", "");
        if (strcmp(node_get_string(one->node, "name", ""), metric) != 0)
            continue;
        if (strcmp(value, "latest") == 0)
            selection = "last";
        else if (strcmp(value, best) != 0)
            field_error(reader, *one,
                        "the result of a trial is its %s or its latest value",
                        best);
    }
    foreign_put_text(katib->arena, &katib->native, "selection", selection,
                     katib->metric.node);
}

void katib_put_number(struct katib *katib, struct grown *to, const char *key,
                      struct place at)
{
    double value;
    if (at.node == NULL || !foreign_number(&katib->reader, at, &value))
        return;
    struct node number = *at.node;
    number.kind = NODE_NUMBER;
    if (number_is_json(number.text))
        foreign_put(katib->arena, to, key, &number);
    else
        foreign_put_number(katib->arena, to, key, value, at.node);
}

static void put_goal(struct katib *katib)
{
    const struct field_reader *reader = &katib->reader;
    const char *metric = katib->metric.node ? katib->metric.node->text : NULL;
    if (metric == NULL)
        field_missing(reader, katib->spec, "objective.objectiveMetricName",
                      NULL);
    if (katib->goal_type.node == NULL)
        field_missing(reader, katib->spec, "objective.type",
                      "maximize or minimize");
    if (metric == NULL || katib->goal_type.node == NULL)
        return;
    foreign_put_text(katib->arena, &katib->native, "goal",
                     arena_printf(katib->arena, "%s %s",
                                  katib->minimize ? "minimize" : "maximize",
                                  metric),
                     katib->metric.node);
    put_selection(katib);
    if (katib->goal.node == NULL)
        return;
    struct grown until =
        foreign_begin(katib->arena, NODE_MAP, katib->goal.node);
    katib_put_number(katib, &until, "target", katib->goal);
    foreign_put(katib->arena, &katib->native, "until", until.node);
}

/* ---- parameters ---- */

struct feasible {
    struct place name, type, min, max, step, list, distribution;
};

#define SPACE(member) offsetof(struct feasible, member)

static const struct field feasible_rows[] = {
    {"min", field_place, .offset = SPACE(min)},
    {"max", field_place, .offset = SPACE(max)},
    {"step", field_place, .offset = SPACE(step)},
    {"list", field_place, .offset = SPACE(list)},
    {"distribution", field_place, .offset = SPACE(distribution)},
    {0}};
static const struct field parameter_rows[] = {
    {"name", field_place, .offset = SPACE(name)},
    {"parameterType", field_place, .offset = SPACE(type)},
    {"feasibleSpace", field_map, .rows = feasible_rows},
    {0}};

/* Katib passes the text of the list; numbers are passed in their own way. */
static bool are_numbers(const struct katib *katib, struct place list)
{
    for (const struct place *one = field_items(&katib->reader, list); one->node;
         one++) {
        double value;
        char text[TEXT_DOUBLE_BYTES];
        if (!node_double(one->node, &value)) {
            field_error(&katib->reader, *one, "is no number");
            return false;
        }
        if (strcmp(text_of_double(text, value), one->node->text) == 0)
            continue;
        field_warning(&katib->reader, *one,
                      "the values are searched as names, since %s as a number "
                      "would be passed as %s",
                      one->node->text, text);
        return false;
    }
    return true;
}

static void put_list(struct katib *katib, struct grown *out, struct place list,
                     bool discrete)
{
    struct grown values = foreign_begin(katib->arena, NODE_LIST, list.node);
    if (list.node->kind != NODE_LIST) {
        field_wrong_kind(&katib->reader, list, "a list of values");
        return;
    }
    const bool numbers = discrete && are_numbers(katib, list);
    for (const struct place *one = field_items(&katib->reader, list); one->node;
         one++)
        if (numbers)
            katib_put_number(katib, &values, NULL, *one);
        else
            foreign_put(katib->arena, &values, NULL, one->node);
    foreign_put_text(katib->arena, out, "type",
                     numbers ? "discrete" : "categorical", list.node);
    foreign_put(katib->arena, out, "values", values.node);
}

static const struct field_choice distributions[] = {
    {"uniform", -1, 0}, {"unknown", -1, 0},   {"logUniform", -1, 1},
    {"normal", -1, 2},  {"logNormal", -1, 3}, {NULL, 0, 0}};

static void put_constant(struct katib *katib, struct grown *out,
                         struct place at)
{
    struct grown one = foreign_begin(katib->arena, NODE_LIST, at.node);
    katib_put_number(katib, &one, NULL, at);
    foreign_put(katib->arena, out, "values", one.node);
}

static void put_range(struct katib *katib, struct grown *out,
                      const struct feasible *space, const char *type)
{
    const struct place at = space->distribution;
    const struct field row = {.name = "distribution", .choices = distributions};
    const struct field_choice *shape =
        at.node ? field_choice(&katib->reader, at, &row) : distributions;
    double min, max;
    if (space->min.node != NULL && node_double(space->min.node, &min) &&
        space->max.node != NULL && node_double(space->max.node, &max) &&
        min == max) {
        put_constant(katib, out, space->min);
        return;
    }
    foreign_put_text(katib->arena, out, "type", type, space->type.node);
    katib_put_number(katib, out, "min", space->min);
    katib_put_number(katib, out, "max", space->max);
    katib_put_number(katib, out, "step", space->step);
    if (shape == NULL)
        return;
    if (shape->value & 1)
        foreign_put_text(katib->arena, out, "scale", "log", at.node);
    if (shape->value > 1)
        field_warning(&katib->reader, at, "%s is searched as %s", shape->name,
                      shape->value & 1 ? "logUniform" : "uniform");
}

/* A range has no list, and a list no bounds. */
static void warn_of_rest(const struct katib *katib,
                         const struct feasible *space, bool is_range)
{
    const struct place of_range[] = {space->min, space->max, space->step,
                                     space->distribution};
    if (is_range && space->list.node != NULL)
        foreign_no_effect(&katib->reader, space->list, NULL, NULL);
    for (size_t i = 0; !is_range && i < sizeof of_range / sizeof *of_range; i++)
        if (of_range[i].node != NULL)
            foreign_no_effect(&katib->reader, of_range[i], NULL, NULL);
}

static void put_parameter(struct katib *katib, struct place at)
{
    static const struct field_choice types[] = {{"double", -1, 0},
                                                {"int", -1, 1},
                                                {"discrete", -1, 2},
                                                {"categorical", -1, 3},
                                                {NULL, 0, 0}};
    const struct field row = {.name = "parameterType", .choices = types};
    const struct field_reader *reader = &katib->reader;
    struct feasible space = {0};
    const size_t before = reader->diag->errors;
    field_read_map(reader, at, parameter_rows, &space);
    if (reader->diag->errors > before)
        return;
    if (space.name.node == NULL || node_string(space.name.node) == NULL) {
        field_missing(reader, at, "name", NULL);
        return;
    }
    if (space.type.node == NULL) {
        field_missing(reader, at, "parameterType", NULL);
        return;
    }
    const struct field_choice *type = field_choice(reader, space.type, &row);
    struct grown out = foreign_begin(katib->arena, NODE_MAP, at.node);
    if (type == NULL)
        return;
    warn_of_rest(katib, &space, type->value < 2);
    const struct place fixed = katib_resource(katib, space.name.node->text);
    if (fixed.node != NULL)
        put_constant(katib, &out, fixed);
    else if (type->value < 2)
        put_range(katib, &out, &space, type->value ? "integer" : "double");
    else if (space.list.node == NULL)
        field_missing(reader, at, "feasibleSpace.list", NULL);
    else
        put_list(katib, &out, space.list, type->value == 2);
    if (node_find(katib->space.node, space.name.node->text) != NULL)
        field_error(reader, space.name, "there are two parameters %s",
                    space.name.node->text);
    foreign_put(katib->arena, &katib->space, space.name.node->text, out.node);
}

static void put_parameters(struct katib *katib)
{
    const struct place at = katib->parameters;
    if (at.node == NULL) {
        field_missing(&katib->reader, katib->spec, "parameters",
                      "what to search");
        return;
    }
    if (at.node->kind != NODE_LIST || at.node->count > HT_MAX_PARAMETERS) {
        field_error(&katib->reader, at, "must be a list of 1 to %d parameters",
                    HT_MAX_PARAMETERS);
        return;
    }
    katib->space = foreign_begin(katib->arena, NODE_MAP, at.node);
    for (const struct place *one = field_items(&katib->reader, at); one->node;
         one++)
        put_parameter(katib, *one);
    foreign_put(katib->arena, &katib->native, "parameters", katib->space.node);
}

/* Values of such a parameter reach no trial. */
static void warn_of_unused(const struct katib *katib)
{
    NODE_EACH (one, node_items(katib->space.node))
        if (node_find(katib->used.node, one->key) == NULL)
            field_warning(
                &katib->reader, (struct place){one, katib->parameters.path},
                "no word of the trial has the parameter %s", one->key);
}

/* ---- the whole ---- */

struct job *katib_read(const struct node *root, struct diag *diag)
{
    const struct place at = {.node = root, .path = ""};
    struct katib *katib = arena_alloc(diag->arena, 1, sizeof *katib);
    *katib = (struct katib){
        .reader = {.diag = diag, .arena = diag->arena, .null_is_absent = true},
        .arena = diag->arena};
    field_read_map(&katib->reader, at, root_rows, katib);
    if (diag->errors == 0 && katib->spec.node == NULL)
        field_missing(&katib->reader, at, "spec", NULL);
    if (diag->errors > 0)
        return NULL;
    katib->native = foreign_begin(katib->arena, NODE_MAP, root);
    katib->container = foreign_begin(katib->arena, NODE_MAP, root);
    katib->volumes = foreign_begin(katib->arena, NODE_LIST, root);
    katib->used = foreign_begin(katib->arena, NODE_MAP, root);
    foreign_put_name(katib->arena, &katib->native, katib->name);
    foreign_move(katib->arena, &katib->native, "labels", katib->labels);
    put_goal(katib);
    put_parameters(katib);
    katib_put_search(katib);
    katib_plan_metrics(katib);
    katib_put_trial(katib);
    if (katib->container.node->count > 0)
        foreign_put(katib->arena, &katib->native, "container",
                    katib->container.node);
    if (katib->volumes.node->count > 0)
        foreign_put(katib->arena, &katib->native, "volumes",
                    katib->volumes.node);
    if (diag->errors > 0)
        return NULL;
    warn_of_unused(katib);
    katib_put_metrics(katib);
    const struct foreign foreign = {
        .root = root, .native = katib->native.node, .args = katib->args};
    return foreign_finish(&foreign, diag);
}
