#include "proto/job/kubernetes_section.h"

#include <stddef.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "proto/job/container_words.h"
#include "proto/job/draft.h"
#include "proto/job/kube_condition.h"
#include "proto/job/kube_template.h"
#include "proto/job/pod_overlay.h"
#include "proto/job/run_on.h"

enum { MOST_NAMES = 64 };

#define KUBERNETES(member) offsetof(struct job_kubernetes, member)

/* ---- labels and annotations ---- */

static void read_names(const struct field_reader *reader, struct place at,
                       const struct field *field, void *into)
{
    field_pairs(reader, at, field, into);
    for (const struct place *item = field_members(reader, at); item->node;
         item++) {
        const char *name = item->node->key;
        if (name == NULL)
            continue;
        if (strncmp(name, "hypertune/", 10) == 0 ||
            strcmp(name, "app.kubernetes.io/managed-by") == 0)
            field_key_error(reader, *item, "is set by hypertune");
        else if (strcmp(name, KUBERNETES_QUEUE_LABEL) == 0)
            field_key_error(reader, *item, "is said by kubernetes.queue");
    }
}

/* ---- the queue ---- */

static const char *queue_fault(const char *word)
{
    const size_t len = strlen(word);
    if (len == 0 || len > 63)
        return "must have 1 to 63 characters";
    return word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-.")] == '\0'
               ? NULL
               : "is no LocalQueue: its name has small letters, digits and -";
}

/* ---- the pod ---- */

struct rule {
    const char *name, *why;
};

static const struct rule pod_rules[] = {
    {"restartPolicy", "a pod has one attempt; retries says how many a trial "
                      "may have"},
    {"hostname", "replicas find each other by it"},
    {"subdomain", "replicas find each other by it"},
    {"terminationGracePeriodSeconds", "grace says it"},
    {"activeDeadlineSeconds", "trialTimeout says it"},
    {NULL, NULL}};

/* Of the trainer's container. */
static const struct rule trial_rules[] = {
    {"image", "image says it"},
    {"command", "the command of the spec says what runs"},
    {"args", "the command of the spec says what runs"},
    {"workingDir", "workdir says it"},
    {"terminationMessagePath", "the end of a trial is read from there"},
    {NULL, NULL}};

static void check_rules(const struct field_reader *reader, struct place at,
                        const struct rule *rules)
{
    for (; rules->name != NULL; rules++) {
        const struct place member = field_member(reader, at, rules->name);
        if (member.node != NULL)
            field_key_error(reader, member, "is set by hypertune: %s",
                            rules->why);
    }
}

/* The items of a list of named items, some of which are ours: null would take
 * them away. `each` may be NULL. */
static void check_items(const struct field_reader *reader, struct place at,
                        const char *list,
                        void each(const struct field_reader *, struct place))
{
    const char *key = pod_overlay_key(list);
    const struct place all = field_member(reader, at, list);
    if (all.node == NULL)
        return;
    if (all.node->kind != NODE_LIST) {
        field_wrong_kind(reader, all, "a list");
        return;
    }
    for (const struct place *item = field_items(reader, all); item->node;
         item++) {
        const struct node *name = node_find(item->node, key);
        if (item->node->kind != NODE_MAP)
            field_wrong_kind(reader, *item, "a map");
        else if (name == NULL || name->text == NULL)
            field_missing(reader, *item, key, NULL);
        else if (each != NULL)
            each(reader, *item);
    }
}

static void check_not_ours(const struct field_reader *reader, struct place at)
{
    const char *name = node_get_string(at.node, "name", "");
    if (strncmp(name, KUBERNETES_PREFIX, strlen(KUBERNETES_PREFIX)) == 0)
        field_error(reader, at,
                    "names that begin with " KUBERNETES_PREFIX
                    " are those of hypertune's volumes");
}

static void check_mount(const struct field_reader *reader, struct place at)
{
    const size_t len = strlen(KUBERNETES_FOLDER);
    const char *path = node_get_string(at.node, "mountPath", "");
    if (strncmp(path, KUBERNETES_FOLDER, len) == 0 &&
        (path[len] == '/' || path[len] == '\0'))
        field_error(reader, at,
                    "hypertune mounts its own at " KUBERNETES_FOLDER);
    else
        check_not_ours(reader, at);
}

static void check_variable(const struct field_reader *reader, struct place at)
{
    if (strncmp(node_get_string(at.node, "name", ""), "HYPERTUNE_", 10) == 0)
        field_error(reader, at, "variables HYPERTUNE_* are set by hypertune");
}

static void check_container(const struct field_reader *reader, struct place at)
{
    check_items(reader, at, "env", check_variable);
    check_items(reader, at, "volumeMounts", check_mount);
    check_items(reader, at, "volumeDevices", NULL);
    check_items(reader, at, "ports", NULL);
    if (strcmp(node_get_string(at.node, "name", ""), KUBERNETES_CONTAINER) == 0)
        check_rules(reader, at, trial_rules);
}

static void read_pod(const struct field_reader *reader, struct place at,
                     const struct field *field, void *into)
{
    (void)field;
    static const char *const others[] = {"imagePullSecrets", "resourceClaims",
                                         "hostAliases",
                                         "topologySpreadConstraints", NULL};
    const size_t before = reader->diag->errors;
    if (at.node->kind != NODE_MAP) {
        field_wrong_kind(reader, at, "a map, part of a PodSpec");
        return;
    }
    check_rules(reader, at, pod_rules);
    check_items(reader, at, "containers", check_container);
    check_items(reader, at, "initContainers", check_container);
    check_items(reader, at, "volumes", check_not_ours);
    for (size_t i = 0; others[i] != NULL; i++)
        check_items(reader, at, others[i], NULL);
    if (reader->diag->errors == before)
        *(const char **)into = json_text(reader->arena, json_of_node(at.node));
}

/* ---- a template ---- */

static const struct rule template_rules[] = {
    {"name", "each attempt has its own"},
    {"generateName", "each attempt has its own"},
    {"namespace", "the runner's is used"},
    {NULL, NULL}};

static void require_text(const struct field_reader *reader, struct place at,
                         const char *key)
{
    const char *text = node_get_string(at.node, key, "");
    if (text[0] == '\0')
        field_missing(reader, at, key, "a template is a whole object");
}

static void read_template(const struct field_reader *reader, struct place at,
                          const struct field *field, void *into)
{
    (void)field;
    const size_t before = reader->diag->errors;
    if (at.node->kind != NODE_MAP) {
        field_wrong_kind(reader, at, "a map, an object of the cluster");
        return;
    }
    require_text(reader, at, "apiVersion");
    require_text(reader, at, "kind");
    check_rules(reader, field_member(reader, at, "metadata"), template_rules);
    if (reader->diag->errors == before)
        *(const char **)into = json_text(reader->arena, json_of_node(at.node));
}

static void read_condition(const struct field_reader *reader, struct place at,
                           const struct field *field, void *into)
{
    (void)field;
    size_t byte;
    const char *text = node_string(at.node);
    if (text == NULL) {
        field_wrong_kind(reader, at, "an expression");
        return;
    }
    const char *fault = kube_condition_fault(text, &byte);
    if (fault != NULL)
        field_error(reader, at, "at character %zu: %s", byte + 1, fault);
    else
        *(const char **)into = text;
}

/* Words of the container; false after a fault. The runner starts them in the
 * place of Kubernetes, and puts in no variables of the pod. */
static bool take_words(const struct field_reader *reader,
                       struct place container, const char *key,
                       struct strings *words)
{
    const struct place list = field_member(reader, container, key);
    const struct field row = {.name = key, .max = HT_MAX_ARGS};
    const size_t before = reader->diag->errors;
    if (list.node == NULL)
        return true;
    field_texts(reader, list, &row, words);
    for (size_t i = 0; reader->diag->errors == before && i < words->n; i++)
        NODE_EACH (one, node_first(container.node, "env")) {
            const char *name = node_get_string(one, "name", "");
            if (strstr(words->items[i],
                       arena_printf(reader->arena, "$(%s)", name)) != NULL)
                field_error(reader, list,
                            "$(%s) is not replaced in the trial's words: read "
                            "the variable in the trainer",
                            name);
        }
    return reader->diag->errors == before;
}

/* Without a command the image's own entry point has the args. */
static void take_command(const struct field_reader *reader,
                         struct place container, struct pool *pool)
{
    struct strings command = {0}, args = {0};
    if (!take_words(reader, container, "command", &command) ||
        !take_words(reader, container, "args", &args))
        return;
    if (pool->args.n > 0) /* said behind -- */
        args.n = 0;
    const char **items =
        arena_alloc(reader->arena, command.n + args.n + 1, sizeof *items);
    for (size_t i = 0; i < command.n; i++)
        items[i] = command.items[i];
    for (size_t i = 0; i < args.n; i++)
        items[command.n + i] = args.items[i];
    const struct strings all = {command.n + args.n, items};
    if (command.n > 0)
        pool->command = all;
    else if (args.n > 0)
        pool->args = all;
}

static bool has_variable(const struct pairs *env, const char *name)
{
    for (size_t i = 0; i < env->n; i++)
        if (strcmp(env->items[i].name, name) == 0)
            return true;
    return false;
}

/* Parameters in them are not passed as arguments, too. What has $(NAME) is left
 * to Kubernetes. */
static void take_variables(const struct field_reader *reader,
                           struct place container, struct pairs *env)
{
    const struct node *first = node_first(container.node, "env");
    struct pair *items = NULL;
    size_t n = 0;
    for (; n < env->n; n++) {
        items = arena_grow(reader->arena, items, n, sizeof *items);
        items[n] = env->items[n];
    }
    NODE_EACH (one, first) {
        const char *name = node_get_string(one, "name", "");
        const char *value = node_get_string(one, "value", "");
        if (strstr(value, "${") == NULL || strstr(value, "$(") != NULL ||
            has_variable(env, name))
            continue;
        items = arena_grow(reader->arena, items, n, sizeof *items);
        items[n++] = (struct pair){name, value};
    }
    *env = (struct pairs){.n = n, .items = items};
}

static void take_container(const struct field_reader *reader,
                           struct job_draft *draft, struct place container)
{
    struct pool *pool = &draft->job.pools[0];
    if (pool->image == NULL)
        pool->image = node_get_string(container.node, "image", NULL);
    if (pool->image == NULL)
        field_missing(reader, container, "image", "or say it in the spec");
    else if (container_image_fault(pool->image) != NULL)
        field_error(reader, container, "image %s",
                    container_image_fault(pool->image));
    if (pool->command.n == 0)
        take_command(reader, container, pool);
    if (draft->job.workdir == NULL)
        draft->job.workdir =
            node_get_string(container.node, "workingDir", NULL);
    take_variables(reader, container, &pool->env);
}

/* ---- ... that describes no pods ---- */

/* The first text of that name; NULL: there is none. */
static const char *find_text(const struct node *node, const char *key)
{
    const char *text =
        node->kind == NODE_MAP ? node_get_string(node, key, NULL) : NULL;
    if (node->kind == NODE_MAP || node->kind == NODE_LIST)
        for (const struct node *one = node->first; text == NULL && one != NULL;
             one = one->next)
            text = find_text(one, key);
    return text;
}

/* Its pods get no words of ours: a parameter that is not in the template would
 * have no effect. */
static void check_parameters(const struct field_reader *reader,
                             const struct job_draft *draft, struct place at)
{
    const struct space *space = &draft->job.space;
    for (size_t i = 0; i < space->n; i++) {
        const char *name = space->params[i].name;
        if (strstr(draft->job.kubernetes.template,
                   arena_printf(reader->arena, "${%s}", name)) == NULL)
            field_error(reader, at, "does not have the parameter %s: say ${%s}",
                        name, name);
    }
}

/* What the spec says of a process that hypertune does not start; NULL: nothing.
 */
static const char *find_said(const struct job *job)
{
    const struct pool *pool = &job->pools[0];
    if (pool->command.n > 0 || pool->args.n > 0)
        return "command";
    if (pool->env.n > 0)
        return "env";
    if (job->n_secrets > 0)
        return "secrets";
    if (job->service_account != NULL)
        return "serviceAccount";
    return pool->cpus > 0 || pool->memory_bytes > 0 || pool->gpus > 0 ||
                   job->cpus > 0 || job->memory_bytes > 0
               ? "resources"
               : NULL;
}

static void take_sought(const struct field_reader *reader,
                        struct job_draft *draft, struct place at)
{
    struct kube_sought sought;
    struct pool *pool = &draft->job.pools[0];
    const char *fault =
        kube_template_seek(&draft->job.kubernetes, at.node, &sought);
    if (fault != NULL) {
        field_error(reader, at, "%s", fault);
        return;
    }
    const char *said = find_said(&draft->job);
    if (said != NULL)
        field_error(reader, at,
                    "its operator makes the pods, which get no %s of the spec: "
                    "say that in the template",
                    said);
    check_parameters(reader, draft, at);
    if (pool->image == NULL)
        pool->image = find_text(at.node, "image");
    if (pool->image == NULL)
        field_error(reader, at,
                    "has no image: say the trainer's in it, or as `image` of "
                    "the spec");
    else if (container_image_fault(pool->image) != NULL)
        field_error(reader, at, "image %s", container_image_fault(pool->image));
}

void job_kubernetes_take(const struct field_reader *reader,
                         struct job_draft *draft)
{
    const struct job_kubernetes *section = &draft->job.kubernetes;
    const struct place at = field_member(reader, draft->kubernetes, "template");
    struct kube_primary primary;
    struct place wrong;
    if (section->template == NULL)
        return;
    if (draft->job.n_pools > 1) {
        field_error(reader, draft->pools,
                    "a trial from a template has one replica: the template "
                    "has all of its pods");
        return;
    }
    if (!kube_template_is_whole(reader, at)) {
        take_sought(reader, draft, at);
        return;
    }
    const char *fault =
        kube_template_find(reader, section, at, &primary, &wrong);
    if (fault != NULL) {
        field_error(reader, wrong, "%s", fault);
        return;
    }
    check_items(reader, field_member(reader, primary.template.at, "spec"),
                "volumes", check_not_ours);
    check_items(reader, primary.container, "volumeMounts", check_mount);
    check_items(reader, primary.container, "env", check_variable);
    take_container(reader, draft, primary.container);
}

/* Members that have a meaning beside a template alone, or without one alone. */
static void check_beside(const struct field_reader *reader, struct place at)
{
    static const char *const with[] = {"success", "failure", "primaryContainer",
                                       "primaryPodLabels"};
    const struct place pod = field_member(reader, at, "pod");
    const bool whole = node_find(at.node, "template") != NULL;
    if (whole && pod.node != NULL)
        field_key_error(reader, pod,
                        "is for pods of hypertune's own, and template for "
                        "others: say one of them");
    for (size_t i = 0; !whole && i < sizeof with / sizeof *with; i++) {
        const struct place one = field_member(reader, at, with[i]);
        if (one.node != NULL)
            field_key_error(reader, one, "is said of a template alone");
    }
}

/* ---- the section ---- */

const struct field job_kubernetes_rows[] = {
    {"labels", read_names, KUBERNETES(labels), .max = MOST_NAMES},
    {"annotations", read_names, KUBERNETES(annotations), .max = MOST_NAMES},
    {"queue", field_word, KUBERNETES(queue), .fault = queue_fault},
    {"pod", read_pod, .offset = KUBERNETES(pod)},
    {"template", read_template, .offset = KUBERNETES(template)},
    {"success", read_condition, .offset = KUBERNETES(success)},
    {"failure", read_condition, .offset = KUBERNETES(failure)},
    {"primaryContainer", field_text, .offset = KUBERNETES(primary_container)},
    {"primaryPodLabels", field_pairs, KUBERNETES(primary_labels),
     .max = MOST_NAMES},
    {0}};

void job_kubernetes_write(cJSON *object, const struct job_kubernetes *section)
{
    if (!section->said)
        return;
    cJSON *map = json_add_object(object, KUBERNETES_ENGINE);
    json_add_pairs(map, "labels", &section->labels);
    json_add_pairs(map, "annotations", &section->annotations);
    json_add_text(map, "queue", section->queue);
    if (section->pod != NULL)
        cJSON_AddItemToObject(map, "pod", cJSON_CreateRaw(section->pod));
    if (section->template != NULL)
        cJSON_AddItemToObject(map, "template",
                              cJSON_CreateRaw(section->template));
    json_add_text(map, "success", section->success);
    json_add_text(map, "failure", section->failure);
    json_add_text(map, "primaryContainer", section->primary_container);
    json_add_pairs(map, "primaryPodLabels", &section->primary_labels);
}

void job_kubernetes_check(const struct field_reader *reader,
                          struct job_draft *draft)
{
    const struct job_kubernetes *section = &draft->job.kubernetes;
    if (!section->said)
        return;
    job_run_on_section(reader, draft->kubernetes, KUBERNETES_ENGINE,
                       "Kubernetes", &draft->job.run_on);
    check_beside(reader, draft->kubernetes);
    const struct place pod = field_member(reader, draft->kubernetes, "pod");
    if (draft->job.service_account != NULL && section->pod != NULL &&
        node_find(pod.node, "serviceAccountName") != NULL)
        field_error(reader, field_member(reader, pod, "serviceAccountName"),
                    "serviceAccount of the spec says it, too");
}
