#include <stdlib.h>
#include <string.h>

#include "hypertune/cli/transfer/katib.h"
#include "proto/doc/json.h"

#define OPEN "${trialParameters."

struct trial_template {
    const struct node *parameters; /* trialParameters */
    struct katib_notes *notes;
};

/* ---- ${trialParameters.NAME} ---- */

static const char *reference(const struct trial_template *trial,
                             const char *name, size_t len)
{
    const struct node *list = trial->parameters;
    for (const struct node *one = list ? list->first : NULL; one != NULL;
         one = one->next) {
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
    while ((begin = strstr(at, OPEN)) != NULL) {
        const char *name = begin + strlen(OPEN);
        const size_t len = strcspn(name, "}");
        const char *found = reference(trial, name, len);
        text_append(&out, at, (size_t)(begin - at));
        if (found != NULL && found[0] != '$')
            text_printf(&out, "${%s}", found);
        else
            katib_note(trial->notes, node, "trialTemplate",
                       "trialParameters.%.*s is no parameter of the search; "
                       "left empty",
                       (int)len, name);
        at = name + len + (name[len] == '}');
    }
    text_puts(&out, at);
    const char *kept = arena_strdup(trial->notes->arena, out.data);
    text_free(&out);
    return kept;
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
        for (const struct node *one = map->first->next; one; one = one->next)
            katib_note(trial->notes, one, "trialTemplate",
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
    for (const struct node *one = found; one != NULL; one = one->next)
        if (strcmp(node_get_string(one, "name", ""), primary) == 0)
            found = one;
    for (const struct node *one = list ? list->first : NULL; one != NULL;
         one = one->next)
        if (one != found)
            katib_note(trial->notes, one, "trialTemplate",
                       "container %s is left out, a trial has one",
                       node_get_string(one, "name", ""));
    return found;
}

/* ---- its parts ---- */

static void push_words(const struct trial_template *trial, cJSON *command,
                       const struct node *list)
{
    for (const struct node *one = list ? list->first : NULL; one != NULL;
         one = one->next)
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
        katib_note(trial->notes, args, "trialTemplate",
                   "args follow the image's entry point in Katib; here command "
                   "replaces it: put its words first");
}

static void add_env(const struct trial_template *trial,
                    const struct node *container, cJSON *native)
{
    cJSON *env = NULL;
    for (const struct node *one = node_first(container, "env"); one != NULL;
         one = one->next) {
        const struct node *value = node_find(one, "value");
        const char *name = node_get_string(one, "name", "");
        if (value == NULL) {
            katib_note(trial->notes, one, "trialTemplate",
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
    const struct node *said = node_find(container, "resources");
    const struct node *limits = node_find(said, "limits");
    const struct node *list = limits ? limits : node_find(said, "requests");
    if (list == NULL || list->first == NULL)
        return;
    cJSON *resources = json_add_object(native, "resources");
    for (const struct node *one = list->first; one != NULL; one = one->next) {
        const char *amount = one->text != NULL ? one->text : "";
        if (strcmp(one->key, "cpu") == 0)
            json_add_double(resources, "cpus", cores(amount));
        else if (strcmp(one->key, "memory") == 0)
            json_add_string(resources, "memory", amount);
        else if (strcmp(one->key, "nvidia.com/gpu") == 0)
            json_add_int(resources, "gpus", strtoll(amount, NULL, 10));
        else
            katib_note(trial->notes, one, "trialTemplate",
                       "resource %s has no counterpart", one->key);
    }
}

static void note_rest(const struct trial_template *trial,
                      const struct node *container)
{
    static const char *const known[] = {
        "name", "image", "command", "args", "env", "resources", "workingDir"};
    for (const struct node *one = container->first; one; one = one->next) {
        size_t i = 0;
        while (i < sizeof known / sizeof *known &&
               strcmp(known[i], one->key) != 0)
            i++;
        if (i == sizeof known / sizeof *known)
            katib_note(trial->notes, one, "trialTemplate",
                       "%s of the container has no counterpart", one->key);
    }
}

void katib_add_template(const struct node *spec, cJSON *native,
                        struct katib_notes *notes)
{
    const struct node *said = node_find(spec, "trialTemplate");
    const struct trial_template made = {node_find(said, "trialParameters"),
                                        notes};
    const struct node *resource = node_find(said, "trialSpec");
    const struct node *container =
        main_container(&made, containers_of(&made, resource),
                       node_get_string(said, "primaryContainerName", ""));
    if (container == NULL) {
        katib_note(notes, said != NULL ? said : spec, "trialTemplate",
                   "has no container here%s",
                   node_find(said, "configMap") != NULL
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
    note_rest(&made, container);
}
