#include "hypertune/cli/transfer/katib.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/doc/json.h"

void katib_note(struct katib_notes *notes, const struct node *at,
                const char *path, const char *format, ...)
{
    char why[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    cli_words_add(notes->arena, &notes->lines,
                  arena_printf(notes->arena, "%d: %s: %s",
                               at->key_line > 0 ? at->key_line : at->line, path,
                               why));
}

/* Katib's numbers of a feasible space are texts. */
static void add_number(cJSON *object, const char *key, const struct node *node)
{
    double value;
    if (node_double(node, &value))
        json_add_double(object, key, value);
    else
        json_add_string(object, key, node->text != NULL ? node->text : "");
}

/* ---- goal ---- */

static void add_goal(const struct node *spec, cJSON *native,
                     struct katib_notes *notes)
{
    const struct node *objective = node_find(spec, "objective");
    const struct node *goal = node_find(objective, "goal");
    const char *metric = node_get_string(objective, "objectiveMetricName", "");
    json_add_string(native, "goal",
                    arena_printf(notes->arena, "%s %s",
                                 node_get_string(objective, "type", ""),
                                 metric));
    if (goal != NULL)
        add_number(json_add_object(native, "until"), "target", goal);
    for (const struct node *one = node_first(objective, "metricStrategies");
         one != NULL; one = one->next) {
        const char *value = node_get_string(one, "value", "");
        const bool best =
            strcmp(value, "max") == 0 || strcmp(value, "min") == 0;
        if (strcmp(node_get_string(one, "name", ""), metric) != 0)
            continue;
        if (best)
            json_add_string(native, "selection", "best");
    }
}

/* ---- parameters ---- */

static void add_values(cJSON *parameter, const struct node *list, bool numbers)
{
    cJSON *values = json_add_array(parameter, "values");
    for (const struct node *one = list ? list->first : NULL; one != NULL;
         one = one->next) {
        double number;
        if (numbers && node_double(one, &number))
            json_push_double(values, number);
        else
            json_push_string(values, one->text != NULL ? one->text : "");
    }
}

static void add_range(cJSON *parameter, const struct node *space,
                      const char *name, struct katib_notes *notes)
{
    static const char *const bounds[] = {"min", "max", "step"};
    const struct node *shape = node_find(space, "distribution");
    const char *word = node_get_string(space, "distribution", "uniform");
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (node_find(space, bounds[i]) != NULL)
            add_number(parameter, bounds[i], node_find(space, bounds[i]));
    if (strcmp(word, "logUniform") == 0)
        json_add_string(parameter, "scale", "log");
    else if (shape != NULL && strcmp(word, "uniform") != 0)
        katib_note(notes, shape,
                   arena_printf(notes->arena, "parameters %s", name),
                   "distribution %s is searched evenly", word);
}

static void add_parameter(cJSON *parameters, const struct node *one,
                          struct katib_notes *notes)
{
    const char *name = node_get_string(one, "name", "");
    const char *type = node_get_string(one, "parameterType", "");
    const struct node *space = node_find(one, "feasibleSpace");
    cJSON *parameter = json_add_object(parameters, name);
    json_add_string(parameter, "type",
                    strcmp(type, "int") == 0 ? "integer" : type);
    if (node_find(space, "list") != NULL)
        add_values(parameter, node_find(space, "list"),
                   strcmp(type, "discrete") == 0);
    else
        add_range(parameter, space, name, notes);
}

static void add_parameters(const struct node *spec, cJSON *native,
                           struct katib_notes *notes)
{
    cJSON *parameters = json_add_object(native, "parameters");
    for (const struct node *one = node_first(spec, "parameters"); one != NULL;
         one = one->next)
        add_parameter(parameters, one, notes);
}

/* ---- the search ---- */

static const char *our_algorithm(const char *theirs)
{
    static const char *const same[] = {"random", "grid"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (strcmp(theirs, same[i]) == 0)
            return same[i];
    return "bayesian";
}

static void add_algorithm(const struct node *spec, cJSON *native,
                          struct katib_notes *notes)
{
    const struct node *algorithm = node_find(spec, "algorithm");
    const char *theirs = node_get_string(algorithm, "algorithmName", "random");
    const char *ours = our_algorithm(theirs);
    json_add_string(native, "algorithm", ours);
    if (algorithm != NULL && strcmp(theirs, ours) != 0 &&
        strcmp(theirs, "bayesianoptimization") != 0)
        katib_note(notes, algorithm, "algorithm", "%s is searched as %s",
                   theirs, ours);
    for (const struct node *one = node_first(algorithm, "algorithmSettings");
         one != NULL; one = one->next) {
        const char *name = node_get_string(one, "name", "");
        int64_t seed;
        if (strcmp(name, "random_state") == 0 &&
            node_int64(node_find(one, "value"), &seed) && seed >= 0)
            json_add_int(native, "seed", seed);
        else
            katib_note(notes, one, "algorithm", "setting %s has no counterpart",
                       name);
    }
}

static void add_counts(const struct node *spec, cJSON *native)
{
    static const struct {
        const char *theirs, *ours;
    } counts[] = {{"maxTrialCount", "trials"},
                  {"parallelTrialCount", "parallel"},
                  {"maxFailedTrialCount", "maxFailed"}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int64_t n;
        if (node_int64(node_find(spec, counts[i].theirs), &n))
            json_add_int(native, counts[i].ours, n);
    }
    /* Katib starts no failed trial again. */
    json_add_int(native, "retries", 0);
}

static void add_early_stopping(const struct node *spec, cJSON *native,
                               struct katib_notes *notes)
{
    const struct node *early = node_find(spec, "earlyStopping");
    const char *name = node_get_string(early, "algorithmName", "");
    if (early == NULL)
        return;
    if (strcmp(name, "medianstop") != 0) {
        katib_note(notes, early, "earlyStopping", "%s has no counterpart",
                   name);
        return;
    }
    cJSON *rule = json_add_object(native, "earlyStopping");
    json_add_string(rule, "rule", "median");
    for (const struct node *one = node_first(early, "algorithmSettings");
         one != NULL; one = one->next) {
        const char *setting = node_get_string(one, "name", "");
        const struct node *value = node_find(one, "value");
        if (strcmp(setting, "min_trials_required") == 0)
            add_number(rule, "minTrials", value);
        else if (strcmp(setting, "start_step") == 0)
            add_number(rule, "minSteps", value);
        else
            katib_note(notes, one, "earlyStopping",
                       "setting %s has no counterpart", setting);
    }
}

/* ---- metrics ---- */

/* Katib's own pattern reads NAME=VALUE anywhere in a line. */
static void add_pattern(cJSON *patterns, struct arena *arena, const char *name)
{
    json_push_string(patterns, arena_printf(arena, "%s={%s}", name, name));
}

static void add_metrics(const struct node *spec, cJSON *native,
                        struct katib_notes *notes)
{
    const struct node *collector = node_find(spec, "metricsCollectorSpec");
    const struct node *how = node_find(collector, "collector");
    const struct node *source = node_find(collector, "source");
    const struct node *objective = node_find(spec, "objective");
    const char *kind = node_get_string(how, "kind", "StdOut");
    if (strcmp(kind, "StdOut") != 0) {
        katib_note(notes, how, "metricsCollectorSpec",
                   "%s has no counterpart: print NAME=VALUE lines, or report "
                   "with hypertune",
                   kind);
    } else if (node_find(source, "filter") != NULL) {
        katib_note(notes, node_find(source, "filter"), "metricsCollectorSpec",
                   "a filter has no counterpart: write it as metrics.stdout");
    }
    cJSON *patterns =
        json_add_array(json_add_object(native, "metrics"), "stdout");
    add_pattern(patterns, notes->arena,
                node_get_string(objective, "objectiveMetricName", ""));
    for (const struct node *one =
             node_first(objective, "additionalMetricNames");
         one != NULL; one = one->next)
        if (node_string(one) != NULL)
            add_pattern(patterns, notes->arena, one->text);
}

/* ---- all ---- */

static void note_unknown(const struct node *map, const char *const known[],
                         struct katib_notes *notes)
{
    for (const struct node *one = map ? map->first : NULL; one;
         one = one->next) {
        size_t i = 0;
        while (known[i] != NULL && strcmp(known[i], one->key) != 0)
            i++;
        if (known[i] == NULL)
            katib_note(notes, one, one->key, "has no counterpart");
    }
}

cJSON *katib_spec(const struct node *experiment, const char *name,
                  struct katib_notes *notes)
{
    static const char *const known[] = {"objective",
                                        "algorithm",
                                        "parallelTrialCount",
                                        "maxTrialCount",
                                        "maxFailedTrialCount",
                                        "parameters",
                                        "earlyStopping",
                                        "trialTemplate",
                                        "metricsCollectorSpec",
                                        NULL};
    const struct node *spec = node_find(experiment, "spec");
    cJSON *native = cJSON_CreateObject();
    json_add_string(native, "name",
                    name != NULL
                        ? name
                        : node_get_string(node_find(experiment, "metadata"),
                                          "name", "katib"));
    add_goal(spec, native, notes);
    add_parameters(spec, native, notes);
    add_algorithm(spec, native, notes);
    add_counts(spec, native);
    add_early_stopping(spec, native, notes);
    katib_add_template(spec, native, notes);
    add_metrics(spec, native, notes);
    note_unknown(spec, known, notes);
    return native;
}
