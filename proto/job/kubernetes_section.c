#include "proto/job/kubernetes_section.h"

#include <stddef.h>
#include <string.h>

#include "proto/doc/json.h"
#include "proto/job/draft.h"
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

/* ---- the section ---- */

const struct field job_kubernetes_rows[] = {
    {"labels", read_names, KUBERNETES(labels), .max = MOST_NAMES},
    {"annotations", read_names, KUBERNETES(annotations), .max = MOST_NAMES},
    {"queue", field_word, KUBERNETES(queue), .fault = queue_fault},
    {"pod", read_pod, .offset = KUBERNETES(pod)},
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
}

void job_kubernetes_check(const struct field_reader *reader,
                          struct job_draft *draft)
{
    const struct job_kubernetes *section = &draft->job.kubernetes;
    if (!section->said)
        return;
    job_run_on_section(reader, draft->kubernetes, KUBERNETES_ENGINE,
                       "Kubernetes", &draft->job.run_on);
    const struct place pod = field_member(reader, draft->kubernetes, "pod");
    if (draft->job.service_account != NULL && section->pod != NULL &&
        node_find(pod.node, "serviceAccountName") != NULL)
        field_error(reader, field_member(reader, pod, "serviceAccountName"),
                    "serviceAccount of the spec says it, too");
}
