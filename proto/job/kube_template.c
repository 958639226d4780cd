#include "proto/job/kube_template.h"

#include <string.h>
#include <strings.h>

#define CONDITION(type)                                                        \
    "status.conditions.#(type==\"" type "\")#|#(status==\"True\")#"
#define STATE(member, state) "status.[@this].#(" member "==\"" state "\")#"
#define RAY(state) STATE("jobDeploymentStatus", state)
#define OPERATOR CONDITION("Succeeded"), CONDITION("Failed")

/* As in Katib's experiment_defaults.go; container: the one that the Training
 * Operator takes for the trainer's; name_label: on the pods of an object that
 * describes none its operator puts the object's name there. */
static const struct {
    const char *kind, *success, *failure, *container, *name_label;
} kinds[] = {
    {"Job", CONDITION("Complete"), CONDITION("Failed"), NULL, NULL},
    {"JobSet", CONDITION("Completed"), CONDITION("Failed"), NULL, NULL},
    {"TFJob", OPERATOR, "tensorflow", NULL},
    {"PyTorchJob", OPERATOR, "pytorch", NULL},
    {"XGBoostJob", OPERATOR, "xgboost", NULL},
    {"PaddleJob", OPERATOR, "paddle", NULL},
    {"JAXJob", OPERATOR, "jax", NULL},
    {"MPIJob", OPERATOR, NULL, NULL},
    {"RayJob", RAY("Complete"), RAY("Failed"), NULL, NULL},
    {"TrainJob", CONDITION("Complete"), CONDITION("Failed"), "node",
     "jobset.sigs.k8s.io/jobset-name"},
    {"Workflow", STATE("phase", "Succeeded"), STATE("phase", "Failed"), "main",
     "workflows.argoproj.io/workflow"},
    {"PipelineRun", CONDITION("Succeeded"),
     "status.conditions.#(type==\"Succeeded\")#|#(status==\"False\")#", NULL,
     "tekton.dev/pipelineRun"},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static size_t find_kind(const struct node *object)
{
    const char *kind = node_get_string(object, "kind", "");
    size_t i = 0;
    while (i < N_KINDS && strcmp(kinds[i].kind, kind) != 0)
        i++;
    return i;
}

struct kube_ends kube_template_ends(const struct job_kubernetes *section,
                                    const struct node *object)
{
    const size_t i = find_kind(object);
    const bool known = i < N_KINDS;
    return (struct kube_ends){
        .success = section->success == NULL && known ? kinds[i].success
                                                     : section->success,
        .failure = section->failure == NULL && known ? kinds[i].failure
                                                     : section->failure};
}

/* ---- all pod templates ---- */

struct walk {
    const struct field_reader *reader;
    size_t n;
    struct kube_pod_template *items;
};

static bool is_template(const struct node *node)
{
    const struct node *containers =
        node_find(node_find(node, "spec"), "containers");
    return containers != NULL && containers->kind == NODE_LIST;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t len = strlen(text), of_end = strlen(end);
    return len >= of_end && strcmp(text + len - of_end, end) == 0;
}

/* How many times the map wants what is in it. */
static int64_t times(const struct node *map)
{
    const int64_t replicas = node_get_int(map, "replicas", 1);
    const int64_t completions = node_get_int(map, "completions", 1);
    const int64_t parallel = node_get_int(map, "parallelism", 1);
    const int64_t most = completions > parallel ? completions : parallel;
    return replicas > 1 ? replicas * (most > 1 ? most : 1)
                        : (most > 1 ? most : 1);
}

/* `of` has what is known of templates below `at`. */
static void walk_from(struct walk *walk, struct kube_pod_template of);

static void walk_map(struct walk *walk, struct kube_pod_template of)
{
    const struct place at = of.at;
    const char *key = at.node->key != NULL ? at.node->key : "";
    const bool names = ends_with(key, "ReplicaSpecs");
    of.pods *= times(at.node);
    for (const struct place *one = field_members(walk->reader, at); one->node;
         one++) {
        struct kube_pod_template below = of;
        below.at = *one;
        below.restarts = of.restarts || names;
        if (names || ends_with(one->node->key, "PodTemplate"))
            below.role = one->node->key;
        walk_from(walk, below);
    }
}

static void walk_from(struct walk *walk, struct kube_pod_template of)
{
    const struct node *node = of.at.node;
    if (is_template(node)) {
        walk->items = arena_grow(walk->reader->arena, walk->items, walk->n,
                                 sizeof *walk->items);
        walk->items[walk->n++] = of;
    } else if (node->kind == NODE_MAP) {
        walk_map(walk, of);
    } else if (node->kind == NODE_LIST) {
        const struct place list = of.at;
        for (const struct place *one = field_items(walk->reader, list);
             one->node; one++) {
            struct kube_pod_template below = of;
            below.at = *one;
            below.role = node_get_string(one->node, "name", of.role);
            walk_from(walk, below);
        }
    }
}

const struct kube_pod_template *
kube_templates(const struct field_reader *reader, struct place at, size_t *n)
{
    struct walk walk = {.reader = reader};
    walk_from(&walk,
              (struct kube_pod_template){.at = at, .role = "", .pods = 1});
    *n = walk.n;
    return walk.items;
}

/* ---- the trial's ---- */

static bool is_master(const char *role)
{
    static const char *const masters[] = {"master", "chief", "launcher",
                                          "submitterPodTemplate"};
    for (size_t i = 0; i < sizeof masters / sizeof *masters; i++)
        if (strcasecmp(masters[i], role) == 0)
            return true;
    return false;
}

/* Labels that operators add to pods. */
static bool has_role(const struct kube_pod_template *one,
                     const struct pair *label)
{
    static const char *const roles[] = {
        "training.kubeflow.org/job-role", "training.kubeflow.org/replica-type",
        "mpi-job-role", "jobset.sigs.k8s.io/replicatedjob-name"};
    static const char *const indexes[] = {
        "training.kubeflow.org/replica-index",
        "batch.kubernetes.io/job-completion-index",
        "jobset.sigs.k8s.io/job-index"};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i], label->name) == 0)
            return strcasecmp(one->role, label->value) == 0 ||
                   (i == 0 && strcmp(label->value, "master") == 0 &&
                    is_master(one->role));
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++)
        if (strcmp(indexes[i], label->name) == 0)
            return strcmp(label->value, "0") == 0;
    return false;
}

static bool has_labels(const struct kube_pod_template *one,
                       const struct pairs *labels)
{
    const struct node *own =
        node_find(node_find(one->at.node, "metadata"), "labels");
    for (size_t i = 0; i < labels->n; i++) {
        const struct pair *label = &labels->items[i];
        if (strcmp(node_get_string(own, label->name, ""), label->value) != 0 &&
            !has_role(one, label))
            return false;
    }
    return true;
}

static const char *choose(const struct field_reader *reader,
                          const struct job_kubernetes *section, struct place at,
                          struct kube_pod_template *chosen)
{
    size_t n, fitting = 0;
    const struct pairs *labels = &section->primary_labels;
    const struct kube_pod_template *all = kube_templates(reader, at, &n);
    for (size_t i = 0; i < n; i++) {
        if (labels->n > 0 ? !has_labels(&all[i], labels)
                          : n > 1 && !is_master(all[i].role))
            continue;
        *chosen = all[i];
        fitting++;
    }
    if (n == 0)
        return "has no pod template, a map with spec.containers, in which "
               "hypertune could start the trainer";
    if (fitting == 1)
        return NULL;
    return fitting == 0 && labels->n > 0
               ? "primaryPodLabels are of none of its pod templates"
               : "has several pod templates: say the trial's by "
                 "primaryPodLabels";
}

static struct place container_of(const struct field_reader *reader,
                                 const struct job_kubernetes *section,
                                 struct place at, struct place list)
{
    const size_t kind = find_kind(at.node);
    const char *name = section->primary_container;
    if (name == NULL && kind < N_KINDS)
        name = kinds[kind].container;
    const struct place *items = field_items(reader, list);
    for (const struct place *one = items; name != NULL && one->node; one++)
        if (strcmp(node_get_string(one->node, "name", ""), name) == 0)
            return *one;
    return list.node->count == 1 && section->primary_container == NULL
               ? items[0]
               : (struct place){.node = NULL};
}

const char *kube_template_find(const struct field_reader *reader,
                               const struct job_kubernetes *section,
                               struct place at, struct kube_primary *primary,
                               struct place *wrong)
{
    *wrong = at;
    const char *fault = choose(reader, section, at, &primary->template);
    if (fault != NULL)
        return fault;
    *wrong = primary->template.at;
    if (primary->template.pods > 1)
        return arena_printf(reader->arena,
                            "the trial is in one pod, and there are %lld of "
                            "this template: say another by primaryPodLabels",
                            (long long)primary->template.pods);
    const struct place spec =
        field_member(reader, primary->template.at, "spec");
    *wrong = field_member(reader, spec, "containers");
    primary->container = container_of(reader, section, at, *wrong);
    if (primary->container.node == NULL)
        return section->primary_container != NULL
                   ? "primaryContainer is none of its containers"
                   : "has several containers: say the trainer's as "
                     "primaryContainer";
    *wrong = primary->container;
    primary->name = node_get_string(primary->container.node, "name", NULL);
    return primary->name == NULL ? "has no name" : NULL;
}

/* ---- an object that describes no pods ---- */

bool kube_template_is_whole(const struct field_reader *reader, struct place at)
{
    size_t n;
    (void)kube_templates(reader, at, &n);
    return n > 0;
}

/* Of the nodes of a TrainJob the first. */
static const struct pair first_node[] = {
    {"jobset.sigs.k8s.io/replicatedjob-name", "node"},
    {"batch.kubernetes.io/job-completion-index", "0"}};

const char *kube_template_seek(const struct job_kubernetes *section,
                               const struct node *object,
                               struct kube_sought *sought)
{
    const size_t kind = find_kind(object);
    *sought = (struct kube_sought){.container = section->primary_container,
                                   .labels = section->primary_labels};
    if (kind == N_KINDS || kinds[kind].name_label == NULL)
        return "has no pod template, a map with spec.containers, in which "
               "hypertune could start the trainer, and is not of a kind whose "
               "pods hypertune finds (TrainJob, Workflow, PipelineRun)";
    sought->name_label = kinds[kind].name_label;
    if (sought->container == NULL)
        sought->container = kinds[kind].container;
    if (sought->labels.n == 0 && strcmp(kinds[kind].kind, "TrainJob") == 0)
        sought->labels = (struct pairs){2, first_node};
    if (sought->container == NULL)
        return "may have several containers in a pod: say the trainer's as "
               "primaryContainer";
    return sought->labels.n > 0
               ? NULL
               : "may have several pods: say the trial's by primaryPodLabels";
}
