/* Objects from templates, as they are made for an attempt, and what their
 * conditions say. */
#include <stdlib.h>
#include <string.h>

#include "proto/doc/json.h"
#include "proto/doc/node.h"
#include "runner/base/order.h"
#include "runner/base/site.h"
#include "runner/docker/image.h"
#include "runner/kubernetes/fields.h"
#include "runner/pods/shape.h"
#include "runner/pods/shim_maps.h"
#include "runner/pods/template.h"
#include "tests/check.h"

#define POD(containers) "{\"spec\":{\"containers\":[" containers "]}}"
#define ONE(name) "{\"name\":\"" name "\",\"image\":\"i\",\"args\":[\"a\"]}"
#define HEAD(kind) "{\"apiVersion\":\"x/v1\",\"kind\":\"" kind "\",\"spec\":{"

static struct arena *arena;

static const struct site site = {.state = "/state", .runner = "r1"};

static struct order order_of(const char *template)
{
    static struct replica_order replica = {
        .name = "master-0", .type = "master", .image = "own:1"};
    return (struct order){.arena = arena,
                          .key = {7, 3, 1},
                          .name = "ht-a-7-3-1",
                          .grace_ms = 5000,
                          .n_replicas = 1,
                          .replicas = &replica,
                          .kubernetes = {.said = true, .template = template}};
}

/* The member or item at "spec.containers.0.name", NULL: there is none. */
static const struct node *at(const struct node *node, const char *path)
{
    for (const char *c = path; node != NULL && *c != '\0';) {
        const size_t len = strcspn(c, ".");
        const char *key = arena_strndup(arena, c, len);
        if (node->kind == NODE_LIST) {
            long n = strtol(key, NULL, 10);
            node = node->first;
            while (node != NULL && n-- > 0)
                node = node->next;
        } else {
            node = node_find(node, key);
        }
        c += len + (c[len] == '.');
    }
    return node;
}

static const char *text_at(const struct node *node, const char *path)
{
    const struct node *found = at(node, path);
    return found != NULL && found->text != NULL ? found->text : "";
}

/* The object that is made; NULL: it cannot be. */
static const struct node *made_of(const struct order *order)
{
    struct text out = {0};
    struct pod_template template;
    struct ht_error err;
    const struct kube_fields fields = {.major = 1};
    const struct shim_maps shim = {.n = 0};
    const struct image image = {.id = NULL};
    const struct pod_shape shape = {.site = &site,
                                    .order = order,
                                    .fields = &fields,
                                    .shim = &shim,
                                    .images = &image,
                                    .template = &template};
    if (pod_template_read(arena, &order->kubernetes, &template, &err) != HT_OK)
        return NULL;
    pod_put_template(&out, &shape);
    return node_read_stored(arena, text_take(&out, arena));
}

/* Where the trial's pod template is, and one that is not it ("": none). */
static const struct {
    const char *template, *ours, *other, *container;
} cases[] = {
    {HEAD("Job") "\"template\":" POD(ONE("a")) "}}", "spec.template", "", "a"},
    {"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"containers\":"
     "[" ONE("a") "]}}",
     "", "none", "a"},
    {HEAD("PyTorchJob") "\"pytorchReplicaSpecs\":{\"Worker\":{"
                        "\"replicas\":2,"
                        "\"template\":" POD(ONE(
                            "pytorch")) "},\"Master\":{"
                                        "\"template\":" POD(ONE("side") "," ONE(
                                            "pytorch")) "}}}}",
     "spec.pytorchReplicaSpecs.Master.template",
     "spec.pytorchReplicaSpecs.Worker.template", "pytorch"},
    {HEAD("TFJob") "\"tfReplicaSpecs\":{\"PS\":{\"template\":" POD(
         ONE("tensorflow")) "},\"Chief\":{\"template\":" POD(ONE("tensorflo"
                                                                 "w")) "}}}"
                                                                       "}",
     "spec.tfReplicaSpecs.Chief.template", "spec.tfReplicaSpecs.PS.template",
     "tensorflow"},
    {HEAD("MPIJob") "\"mpiReplicaSpecs\":{\"Launcher\":{"
                    "\"template\":" POD(
                        ONE("l")) "},\"Worker\":{\"replicas\":4,"
                                  "\"template\":" POD(ONE("w")) "}}}}",
     "spec.mpiReplicaSpecs.Launcher.template",
     "spec.mpiReplicaSpecs.Worker.template", "l"},
    {HEAD("RayJob") "\"submitterPodTemplate\":" POD(
         ONE("s")) ",\"rayClusterSpec\":{\"headGroupSpec\":{"
                   "\"template\":" POD(ONE("head")) "},"
                                                    "\"workerGroupSpecs\":["
                                                    "{\"replicas\":2,"
                                                    "\"template\":" POD(
                                                        ONE("work")) "}]}}}",
     "spec.submitterPodTemplate",
     "spec.rayClusterSpec.workerGroupSpecs.0.template", "s"},
};

/* The container of that name; all others are as the template has them. */
static const struct node *find_ours(const struct node *pod,
                                    const char *container)
{
    const struct node *found = NULL;
    NODE_EACH (one, node_first(at(pod, "spec"), "containers")) {
        if (strcmp(text_at(one, "name"), container) == 0)
            found = one;
        else
            CHECK(at(one, "command") == NULL && at(one, "args") != NULL);
    }
    return found;
}

static void check_ours(const struct node *pod, const char *container)
{
    const struct node *labels = at(pod, "metadata.labels");
    const struct node *found = find_ours(pod, container);
    CHECK_TEXT(node_get_string(labels, POD_LABEL_REPLICAS, ""), "master");
    CHECK_TEXT(node_get_string(labels, POD_LABEL_CONTAINER, ""), container);
    CHECK_TEXT(text_at(pod, "spec.restartPolicy"), "Never");
    CHECK_TEXT(text_at(found, "command.0"), POD_BIN "/shim");
    CHECK_TEXT(text_at(found, "image"), "own:1");
    CHECK(at(found, "args") == NULL);
    CHECK(at(pod, "spec.volumes") != NULL);
}

static void each_kind_has_the_shim_in_one_pod(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct order order = order_of(cases[i].template);
        const struct node *made = made_of(&order);
        const struct node *other =
            cases[i].other[0] != '\0' ? at(made, cases[i].other) : NULL;
        printf("# %s\n", text_at(made, "kind"));
        CHECK_TEXT(text_at(made, "metadata.name"), "ht-a-7-3-1");
        check_ours(at(made, cases[i].ours), cases[i].container);
        if (other == NULL)
            continue;
        const struct node *labels = at(other, "metadata.labels");
        CHECK_TEXT(node_get_string(labels, POD_LABEL_ATTEMPT, ""), "7-3-1");
        CHECK(node_find(labels, POD_LABEL_REPLICAS) == NULL);
        CHECK(at(other, "spec.containers.0.command") == NULL);
        CHECK(at(other, "spec.containers.0.args") != NULL);
    }
}

static void labels_choose_the_pod(void)
{
    static const char template[] = HEAD(
        "JobSet") "\"replicatedJobs\":[{\"name\":\"a\",\"template\":{"
                  "\"spec\":{\"template\":" POD(ONE(
                      "x")) "}}},{\"name\":"
                            "\"b\",\"template\":{\"spec\":{\"template\":" POD(
                                ONE("x")) "}}}]}}";
    static const struct pair label = {"jobset.sigs.k8s.io/replicatedjob-name",
                                      "b"};
    struct order order = order_of(template);
    CHECK(made_of(&order) == NULL);
    order.kubernetes.primary_labels = (struct pairs){1, &label};
    check_ours(
        at(made_of(&order), "spec.replicatedJobs.1.template.spec.template"),
        "x");
}

static void the_restart_policy_of_the_replicas_is_never(void)
{
    const struct order order = order_of(HEAD(
        "PyTorchJob") "\"pytorchReplicaSpecs\":{\"Master\":{"
                      "\"restartPolicy\":\"OnFailure\",\"template\":" POD(
                          ONE("pytorch")) "},\"Worker\":{\"restartPolicy\""
                                          ":\"OnFailure\",\"template\":" POD(
                                              ONE("w")) "}}}}");
    const struct node *all = at(made_of(&order), "spec.pytorchReplicaSpecs");
    CHECK_TEXT(text_at(all, "Master.restartPolicy"), "Never");
    CHECK_TEXT(text_at(all, "Worker.restartPolicy"), "OnFailure");
}

static void check_verdict(const char *kind, const char *status, int wanted,
                          const char *words)
{
    struct pod_template template;
    const struct job_kubernetes section = {
        .template = arena_printf(
            arena, HEAD("%s") "\"template\":" POD(ONE("a")) "}}", kind)};
    CHECK(pod_template_read(arena, &section, &template, NULL) == HT_OK);
    const struct pod_verdict verdict = pod_template_judge(
        &template, node_read_stored(
                       arena, arena_printf(arena, "{\"status\":%s}", status)));
    CHECK((int)verdict.kind == wanted);
    if (wanted != VERDICT_NONE)
        CHECK_TEXT(verdict.words, words);
}

static void conditions_are_those_of_the_kind(void)
{
#define SAID(type)                                                             \
    "{\"conditions\":[{\"type\":\"" type "\",\"status\":\"True\","             \
    "\"reason\":\"R\",\"message\":\"m\"}]}"
    check_verdict("Job", SAID("Complete"), VERDICT_SUCCEEDED,
                  "its Job succeeded: R: m");
    check_verdict("Job", SAID("Succeeded"), VERDICT_NONE, "");
    check_verdict("JobSet", SAID("Completed"), VERDICT_SUCCEEDED,
                  "its JobSet succeeded: R: m");
    check_verdict("MPIJob", SAID("Failed"), VERDICT_FAILED,
                  "its MPIJob failed: R: m");
    check_verdict("RayJob", "{\"jobDeploymentStatus\":\"Complete\"}",
                  VERDICT_SUCCEEDED, "its RayJob succeeded");
    check_verdict("RayJob",
                  "{\"jobDeploymentStatus\":\"Failed\",\"message\":\"m\"}",
                  VERDICT_FAILED, "its RayJob failed: m");
    check_verdict("Other", SAID("Failed"), VERDICT_NONE, "");
    check_verdict("Job", "{}", VERDICT_NONE, "");
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(each_kind_has_the_shim_in_one_pod);
    RUN(labels_choose_the_pod);
    RUN(the_restart_policy_of_the_replicas_is_never);
    RUN(conditions_are_those_of_the_kind);
    arena_free(arena);
    return check_done();
}
