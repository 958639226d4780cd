/* katib.c - a Katib Experiment as a native spec. */

#include "hypertune/cli/transfer/import.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "proto/doc/json.h"

static __attribute__((format(printf, 4, 5))) void
note(struct katib_notes *notes, const struct node *at, const char *path,
     const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *why = arena_vprintf(notes->arena, format, arguments);
    va_end(arguments);
    words_add(notes->arena, &notes->lines,
              arena_printf(notes->arena, "%d: %s: %s",
                           at->key_line > 0 ? at->key_line : at->line, path,
                           why));
}

static void note_unknown(const struct node *map, const char *const known[],
                         bool container, struct katib_notes *notes)
{
    NODE_EACH (one, node_items(map)) {
        size_t i = 0;
        while (known[i] != NULL && strcmp(known[i], one->key) != 0)
            i++;
        if (known[i] == NULL && container)
            note(notes, one, "trialTemplate",
                 "%s of the container has no counterpart", one->key);
        else if (known[i] == NULL)
            note(notes, one, one->key, "has no counterpart");
    }
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
    NODE_EACH (one, node_first(objective, "metricStrategies")) {
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
    NODE_EACH (one, node_items(list)) {
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
        note(notes, shape, arena_printf(notes->arena, "parameters %s", name),
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
    NODE_EACH (one, node_first(spec, "parameters"))
        add_parameter(parameters, one, notes);
}

/* ---- the search ---- */

static void add_algorithm(const struct node *spec, cJSON *native,
                          struct katib_notes *notes)
{
    const struct node *algorithm = node_find(spec, "algorithm");
    const char *theirs = node_get_string(algorithm, "algorithmName", "random");
    const bool same =
        strcmp(theirs, "random") == 0 || strcmp(theirs, "grid") == 0;
    const char *ours = same ? theirs : "bayesian";
    json_add_string(native, "algorithm", ours);
    if (algorithm != NULL && strcmp(theirs, ours) != 0 &&
        strcmp(theirs, "bayesianoptimization") != 0)
        note(notes, algorithm, "algorithm", "%s is searched as %s", theirs,
             ours);
    NODE_EACH (one, node_first(algorithm, "algorithmSettings")) {
        const char *name = node_get_string(one, "name", "");
        int64_t seed;
        if (strcmp(name, "random_state") == 0 &&
            node_int64(node_find(one, "value"), &seed) && seed >= 0)
            json_add_int(native, "seed", seed);
        else
            note(notes, one, "algorithm", "setting %s has no counterpart",
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
        note(notes, early, "earlyStopping", "%s has no counterpart", name);
        return;
    }
    cJSON *rule = json_add_object(native, "earlyStopping");
    json_add_string(rule, "rule", "median");
    NODE_EACH (one, node_first(early, "algorithmSettings")) {
        const char *setting = node_get_string(one, "name", "");
        const struct node *value = node_find(one, "value");
        if (strcmp(setting, "min_trials_required") == 0)
            add_number(rule, "minTrials", value);
        else if (strcmp(setting, "start_step") == 0)
            add_number(rule, "minSteps", value);
        else
            note(notes, one, "earlyStopping", "setting %s has no counterpart",
                 setting);
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
        note(notes, how, "metricsCollectorSpec",
             "%s has no counterpart: print NAME=VALUE lines, or report "
             "with hypertune",
             kind);
    } else if (node_find(source, "filter") != NULL) {
        note(notes, node_find(source, "filter"), "metricsCollectorSpec",
             "a filter has no counterpart: write it as metrics.stdout");
    }
    cJSON *patterns =
        json_add_array(json_add_object(native, "metrics"), "stdout");
    add_pattern(patterns, notes->arena,
                node_get_string(objective, "objectiveMetricName", ""));
    NODE_EACH (one, node_first(objective, "additionalMetricNames"))
        if (node_string(one) != NULL)
            add_pattern(patterns, notes->arena, one->text);
}

/* ---- the trial template ---- */

#define REFERENCE "${trialParameters."

struct trial_template {
    const struct node *parameters; /* trialParameters */
    struct katib_notes *notes;
};

/* ---- ${trialParameters.NAME} ---- */

static const char *reference(const struct trial_template *trial,
                             const char *name, size_t len)
{
    const struct node *list = trial->parameters;
    NODE_EACH (one, node_items(list)) {
        const char *known = node_get_string(one, "name", "");
        if (strlen(known) == len && strncmp(known, name, len) == 0)
            return node_get_string(one, "reference", "");
    }
    return NULL;
}

/* "--lr=${trialParameters.learningRate}" is "--lr=${lr}" here. */
static const char *substitute(const struct trial_template *trial,
                              const struct node *node)
{
    struct text out = {0};
    const char *at = node->text != NULL ? node->text : "", *begin;
    text_puts(&out, "");
    while ((begin = strstr(at, REFERENCE)) != NULL) {
        const char *name = begin + strlen(REFERENCE);
        const size_t len = strcspn(name, "}");
        const char *found = reference(trial, name, len);
        text_append(&out, at, (size_t)(begin - at));
        if (found != NULL && found[0] != '$')
            text_printf(&out, "${%s}", found);
        else
            note(trial->notes, node, "trialTemplate",
                 "trialParameters.%.*s is no parameter of the search; "
                 "left empty",
                 (int)len, name);
        at = name + len + (name[len] == '}');
    }
    text_puts(&out, at);
    return text_take(&out, trial->notes->arena);
}

/* ---- which container ---- */

static const struct node *pod_containers(const struct node *owner)
{
    return node_find(node_find(node_find(owner, "template"), "spec"),
                     "containers");
}

/* Those of a Job, of a training operator's first replica, or of a Pod. */
static const struct node *containers_of(const struct trial_template *trial,
                                        const struct node *resource)
{
    static const char *const replicas[] = {
        "pytorchReplicaSpecs", "tfReplicaSpecs", "xgbReplicaSpecs",
        "mpiReplicaSpecs", "paddleReplicaSpecs"};
    const struct node *spec = node_find(resource, "spec");
    const struct node *found = pod_containers(spec);
    for (size_t i = 0; found == NULL && i < sizeof replicas / sizeof *replicas;
         i++) {
        const struct node *map = node_find(spec, replicas[i]);
        if (map == NULL || map->first == NULL)
            continue;
        found = pod_containers(map->first);
        NODE_EACH (one, map->first->next)
            note(trial->notes, one, "trialTemplate",
                 "replicas %s are left out: see \"replicas\" of a spec",
                 one->key);
    }
    return found != NULL ? found : node_find(spec, "containers");
}

static const struct node *main_container(const struct trial_template *trial,
                                         const struct node *list,
                                         const char *primary)
{
    const struct node *found = list != NULL ? list->first : NULL;
    NODE_EACH (one, found)
        if (strcmp(node_get_string(one, "name", ""), primary) == 0)
            found = one;
    NODE_EACH (one, node_items(list))
        if (one != found)
            note(trial->notes, one, "trialTemplate",
                 "container %s is left out, a trial has one",
                 node_get_string(one, "name", ""));
    return found;
}

/* ---- its parts ---- */

static void push_words(const struct trial_template *trial, cJSON *command,
                       const struct node *list)
{
    NODE_EACH (one, node_items(list))
        json_push_string(command, substitute(trial, one));
}

static void add_command(const struct trial_template *trial,
                        const struct node *container, cJSON *native)
{
    const struct node *command = node_find(container, "command");
    const struct node *args = node_find(container, "args");
    if (command == NULL && args == NULL)
        return;
    cJSON *words = json_add_array(native, "command");
    push_words(trial, words, command);
    push_words(trial, words, args);
    json_add_string(native, "args", "none");
    if (command == NULL)
        note(trial->notes, args, "trialTemplate",
             "args follow the image's entry point in Katib; here command "
             "replaces it: put its words first");
}

static void add_env(const struct trial_template *trial,
                    const struct node *container, cJSON *native)
{
    cJSON *env = NULL;
    NODE_EACH (one, node_first(container, "env")) {
        const struct node *value = node_find(one, "value");
        const char *name = node_get_string(one, "name", "");
        if (value == NULL) {
            note(trial->notes, one, "trialTemplate",
                 "env %s has its value from the cluster: see \"secrets\" "
                 "of a spec",
                 name);
            continue;
        }
        if (env == NULL)
            env = json_add_object(native, "env");
        json_add_string(env, name, substitute(trial, value));
    }
}

/* "500m" is half a core. */
static double cores(const char *text)
{
    char *end;
    const double n = strtod(text, &end);
    return *end == 'm' ? n / 1000 : n;
}

static void add_resources(const struct trial_template *trial,
                          const struct node *container, cJSON *native)
{
    const struct node *theirs = node_find(container, "resources");
    const struct node *limits = node_find(theirs, "limits");
    const struct node *list = limits ? limits : node_find(theirs, "requests");
    if (list == NULL || list->first == NULL)
        return;
    cJSON *resources = json_add_object(native, "resources");
    NODE_EACH (one, list->first) {
        const char *amount = one->text != NULL ? one->text : "";
        if (strcmp(one->key, "cpu") == 0)
            json_add_double(resources, "cpus", cores(amount));
        else if (strcmp(one->key, "memory") == 0)
            json_add_string(resources, "memory", amount);
        else if (strcmp(one->key, "nvidia.com/gpu") == 0)
            json_add_int(resources, "gpus", strtoll(amount, NULL, 10));
        else
            note(trial->notes, one, "trialTemplate",
                 "resource %s has no counterpart", one->key);
    }
}

static void add_template(const struct node *spec, cJSON *native,
                         struct katib_notes *notes)
{
    static const char *const known[] = {"name",       "image", "command",
                                        "args",       "env",   "resources",
                                        "workingDir", NULL};
    const struct node *template = node_find(spec, "trialTemplate");
    const struct trial_template made = {node_find(template, "trialParameters"),
                                        notes};
    const struct node *resource = node_find(template, "trialSpec");
    const struct node *container =
        main_container(&made, containers_of(&made, resource),
                       node_get_string(template, "primaryContainerName", ""));
    if (container == NULL) {
        note(notes, template != NULL ? template : spec, "trialTemplate",
             "has no container here%s",
             node_find(template, "configMap") != NULL
                 ? ": its text is in a ConfigMap of the cluster"
                 : "");
        return;
    }
    const char *folder = node_get_string(container, "workingDir", NULL);
    json_add_string(native, "image", node_get_string(container, "image", ""));
    if (folder != NULL)
        json_add_string(native, "workdir", folder);
    add_command(&made, container, native);
    add_env(&made, container, native);
    add_resources(&made, container, native);
    note_unknown(container, known, true, notes);
}

/* ---- all ---- */

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
    add_template(spec, native, notes);
    add_metrics(spec, native, notes);
    note_unknown(spec, known, false, notes);
    return native;
}
