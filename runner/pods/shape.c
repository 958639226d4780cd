#include "runner/pods/shape.h"

#include <stdlib.h>
#include <string.h>

#include "proto/doc/json.h"
#include "proto/doc/node.h"
#include "proto/job/pod_overlay.h"
#include "runner/attempt/prepare.h"
#include "runner/base/json.h"
#include "runner/base/safe_path.h"
#include "runner/base/site.h"
#include "runner/kubernetes/fields.h"
#include "runner/pods/template.h"
#include "runner/pods/volumes.h"

enum {
    STOP_EXTRA_S = 40,        /* for the shim, after the trainer's grace: more
                                 than its POD_OUTPUTS_MS */
    KEPT_S = 7 * 24 * 60 * 60 /* a net: runners remove what has ended */
};

/* The variable of a pod with its index, see pod_put_job(). */
#define INDEX "HYPERTUNE_REPLICA_INDEX"

/* ---- names ---- */

const struct pod_group *pod_groups(struct arena *arena,
                                   const struct order *order, size_t *n)
{
    struct pod_group *groups =
        arena_alloc(arena, order->n_replicas, sizeof *groups);
    *n = 0;
    for (size_t i = 0; i < order->n_replicas; i++) {
        const char *type = order->replicas[i].type;
        if (*n == 0 || strcmp(groups[*n - 1].type, type) != 0)
            groups[(*n)++] = (struct pod_group){.type = type, .first = i};
        groups[*n - 1].n++;
    }
    return groups;
}

const char *pod_job_name(struct arena *arena, const struct order *order,
                         const struct pod_group *group)
{
    return arena_printf(arena, "%s-%s-0", order->name, group->type);
}

const char *pod_host(struct arena *arena, const struct order *order,
                     size_t replica)
{
    const struct replica_order *one = &order->replicas[replica];
    const char *own = arena_printf(arena, "%s-%s-0-%lld", order->name,
                                   one->type, (long long)one->index);
    return order->n_replicas > 1
               ? arena_printf(arena, "%s.%s", own, order->name)
               : own;
}

const char *pod_attempt_label(struct arena *arena, const struct order_key *key)
{
    return arena_printf(arena, "%lld-%lld-%lld", (long long)key->study,
                        (long long)key->trial, (long long)key->attempt);
}

/* ---- what cannot be ---- */

/* UID and GID of the spec's user, -1 where it does not say one. False: it is
 * the name of one in the image. */
static bool read_user(const char *user, long *uid, long *gid)
{
    char *end;
    *uid = *gid = -1;
    if (user == NULL)
        return true;
    if (user[0] < '0' || user[0] > '9')
        return false;
    *uid = strtol(user, &end, 10);
    if (*end == ':' && end[1] >= '0' && end[1] <= '9')
        *gid = strtol(end + 1, &end, 10);
    return *end == '\0';
}

static enum ht_status check_replica(const struct replica_order *replica,
                                    struct ht_error *err)
{
    if (replica->image == NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "%s has no image: on Kubernetes trials run in images",
                       replica->name);
    if (replica->gpu_part > 0 || replica->gpu_memory > 0)
        return ht_fail(err, HT_PRECONDITION,
                       "%s asks for a part of a GPU, which Kubernetes does not "
                       "give",
                       replica->name);
    return HT_OK;
}

enum ht_status pod_check(const struct order *order, struct ht_error *err)
{
    const struct container_options *options = &order->container;
    long uid, gid;
    const char *field = NULL;
    struct pod_template template;
    if (order->volumes.n > 0)
        field = "volumes";
    else if (options->network != NULL)
        field = "network";
    else if (options->privileged || options->host_pid)
        field = "privileged";
    else if (order->output_dir != NULL && order->output_dir[0] == '/')
        field = "outputDir";
    else if (!read_user(options->user, &uid, &gid))
        return ht_fail(err, HT_PRECONDITION,
                       "user: on Kubernetes it is UID or UID:GID, not %.80s",
                       options->user);
    if (field != NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "%s: pods of this runner do not have it", field);
    enum ht_status status =
        order->kubernetes.template != NULL
            ? pod_template_read(order->arena, &order->kubernetes, &template,
                                err)
            : HT_OK;
    for (size_t i = 0; status == HT_OK && i < order->n_replicas; i++)
        status = check_replica(&order->replicas[i], err);
    return status;
}

/* ---- parts ---- */

static void put_pairs(struct text *out, const struct pairs *pairs)
{
    for (size_t i = 0; i < pairs->n; i++)
        json_put_string(out, pairs->items[i].name, pairs->items[i].value);
}

enum object { SERVICE, JOB, POD }; /* a JobSet is as a Job */

/* Kueue wants its label at the Job alone. */
static void put_labels(struct text *out, const struct pod_shape *shape,
                       const char *type, const char *container,
                       enum object what)
{
    struct arena *arena = arena_new();
    const struct job_kubernetes *section = &shape->order->kubernetes;
    json_open(out, "labels");
    json_put_string(out, "app.kubernetes.io/managed-by", "hypertune");
    json_put_string(out, POD_LABEL_RUNNER, shape->site->runner);
    json_put_string(out, POD_LABEL_ATTEMPT,
                    pod_attempt_label(arena, &shape->order->key));
    if (type != NULL)
        json_put_string(out, POD_LABEL_REPLICAS, type);
    if (container != NULL)
        json_put_string(out, POD_LABEL_CONTAINER, container);
    if (what != SERVICE)
        put_pairs(out, &section->labels);
    if (what == JOB && section->queue != NULL)
        json_put_string(out, KUBERNETES_QUEUE_LABEL, section->queue);
    json_close(out);
    if (what != SERVICE && section->annotations.n > 0) {
        json_open(out, "annotations");
        put_pairs(out, &section->annotations);
        json_close(out);
    }
    arena_free(arena);
}

static void put_head(struct text *out, const char *api, const char *kind,
                     const struct pod_shape *shape,
                     const struct pod_group *group)
{
    struct arena *arena = arena_new();
    const enum object what = strcmp(kind, "Service") == 0 ? SERVICE : JOB;
    json_put_string(out, "apiVersion", api);
    json_put_string(out, "kind", kind);
    json_open(out, "metadata");
    json_put_string(out, "name",
                    group != NULL ? pod_job_name(arena, shape->order, group)
                                  : shape->order->name);
    put_labels(out, shape, group != NULL ? group->type : NULL, NULL, what);
    json_close(out);
    arena_free(arena);
}

/* Where the pod's replica is below POD_ROOT, with the pod's index as a
 * variable that Kubernetes puts in. */
static const char *folder_of(struct arena *arena, const struct pod_shape *shape,
                             const char *type, const char *index)
{
    const char *attempt =
        prepare_attempt_folder(arena, shape->site, &shape->order->key);
    return arena_printf(arena, "%s/%s-%s",
                        safe_path_rest(shape->site->state, attempt), type,
                        index);
}

static void put_amounts(struct text *out, const char *key,
                        const struct replica_order *replica)
{
    json_open(out, key);
    struct arena *arena = arena_new();
    if (replica->cpus > 0)
        json_put_string(out, "cpu", arena_printf(arena, "%g", replica->cpus));
    if (replica->memory > 0)
        json_put_string(
            out, "memory",
            arena_printf(arena, "%lld", (long long)replica->memory));
    if (replica->gpus > 0)
        json_put_string(out, "nvidia.com/gpu",
                        arena_printf(arena, "%lld", (long long)replica->gpus));
    arena_free(arena);
    json_close(out);
}

static const char *pull_of(const struct order *order)
{
    switch (order->container.pull) {
    case PULL_ALWAYS:
        return "Always";
    case PULL_NEVER:
        return "Never";
    case PULL_IF_NOT_PRESENT:
        break;
    }
    return "IfNotPresent";
}

void pod_put_safety(struct text *out, const struct order *order)
{
    long uid, gid;
    (void)read_user(order->container.user, &uid, &gid);
    json_open(out, "securityContext");
    json_put_bool(out, "allowPrivilegeEscalation", false);
    if (order->container.read_only)
        json_put_bool(out, "readOnlyRootFilesystem", true);
    if (uid >= 0)
        json_put_int(out, "runAsUser", uid);
    if (gid >= 0)
        json_put_int(out, "runAsGroup", gid);
    if (uid > 0) {
        json_put_bool(out, "runAsNonRoot", true);
        json_put_raw(out, "capabilities", "{\"drop\":[\"ALL\"]}");
        json_put_raw(out, "seccompProfile", "{\"type\":\"RuntimeDefault\"}");
    }
    json_close(out);
}

static const char *image_of(const struct pod_shape *shape, size_t replica)
{
    const char *digest =
        shape->images != NULL ? shape->images[replica].digest : NULL;
    return digest != NULL ? digest : shape->order->replicas[replica].image;
}

/* What Kubernetes puts no variables into: $$ is one $ to it. */
static const char *literal(struct arena *arena, const char *word)
{
    struct text out = {0};
    for (; *word != '\0'; word++)
        text_append(&out, *word == '$' ? "$$" : word, *word == '$' ? 2 : 1);
    return text_take(&out, arena);
}

/* Takes what a template has there away. */
static void put_none(struct text *out, const struct pod_shape *shape,
                     const char *key)
{
    if (shape->template != NULL)
        json_put_raw(out, key, "null");
}

/* The words of the trial as Kubernetes has them: a command replaces the entry
 * point of the image, without one it gets the arguments. */
static void put_words(struct text *out, const struct pod_shape *shape,
                      const struct replica_order *replica)
{
    struct arena *arena = arena_new();
    const struct strings *argv = &replica->argv;
    const char **items = arena_alloc(arena, argv->n + 1, sizeof *items);
    for (size_t i = 0; i < argv->n; i++)
        items[i] = literal(arena, argv->items[i]);
    const bool whole = replica->entry_words > 0;
    put_none(out, shape, whole ? "args" : "command");
    json_put_strings(out, whole ? "command" : "args",
                     &(struct strings){argv->n, items});
    if (replica->workdir != NULL)
        json_put_string(out, "workingDir", replica->workdir);
    arena_free(arena);
}

static void put_variables(struct text *out, const struct pairs *variables)
{
    struct arena *arena = arena_new();
    json_open_list(out, "env");
    for (size_t i = 0; i < variables->n; i++) {
        json_open(out, NULL);
        json_put_string(out, "name", variables->items[i].name);
        json_put_string(out, "value",
                        literal(arena, variables->items[i].value));
        json_close(out);
    }
    json_close_list(out);
    arena_free(arena);
}

/* The image, the shim as its process, and what that sees; or the trial's own
 * words. */
static void put_start(struct text *out, const struct pod_shape *shape,
                      size_t replica, const char *folder)
{
    const char *const command[] = {POD_BIN "/shim", "--pod", POD_ROOT, folder};
    json_put_string(out, "image", image_of(shape, replica));
    if (shape->variables != NULL) {
        put_words(out, shape, &shape->order->replicas[replica]);
        put_variables(out, &shape->variables[replica]);
        pod_put_shm_mount(out, shape);
        return;
    }
    json_put_strings(out, "command", &(struct strings){4, command});
    put_none(out, shape, "args");
    pod_put_mounts(out, shape, folder);
}

static void put_resources(struct text *out, const struct replica_order *replica)
{
    json_open(out, "resources");
    put_amounts(out, "requests", replica);
    put_amounts(out, "limits", replica);
    json_close(out);
}

static void put_container(struct text *out, const struct pod_shape *shape,
                          const struct pod_group *group)
{
    struct arena *arena = arena_new();
    const struct replica_order *replica = &shape->order->replicas[group->first];
    const char *folder = folder_of(arena, shape, group->type, "$(" INDEX ")");
    json_open(out, NULL);
    json_put_string(out, "name", POD_CONTAINER);
    json_put_string(out, "imagePullPolicy", pull_of(shape->order));
    put_start(out, shape, group->first, folder);
    if (shape->variables == NULL)
        json_put_raw(out, "env",
                     "[{\"name\":\"" INDEX
                     "\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":"
                     "\"metadata.annotations['batch.kubernetes.io/"
                     "job-completion-index']\"}}}]");
    put_resources(out, replica);
    pod_put_safety(out, shape->order);
    json_close(out);
    arena_free(arena);
}

static int64_t grace_s(const struct pod_shape *shape)
{
    const int64_t own_s = (shape->order->grace_ms + 999) / 1000;
    return shape->variables != NULL ? own_s : own_s + STOP_EXTRA_S;
}

/* The pod as the engine needs it. A named account is there to be used, so that
 * its token is mounted. */
static void put_pod_spec(struct text *out, const struct pod_shape *shape,
                         const struct pod_group *group,
                         const struct node *overlay)
{
    const struct order *order = shape->order;
    json_open(out, NULL);
    json_put_string(out, "restartPolicy", "Never");
    if (order->service_account != NULL)
        json_put_string(out, "serviceAccountName", order->service_account);
    else if (node_find(overlay, "serviceAccountName") == NULL)
        json_put_bool(out, "automountServiceAccountToken", false);
    json_put_bool(out, "enableServiceLinks", false);
    json_put_int(out, "terminationGracePeriodSeconds", grace_s(shape));
    if (order->n_replicas > 1) /* a JobSet says the same */
        json_put_string(out, "subdomain", order->name);
    json_open_list(out, "containers");
    put_container(out, shape, group);
    json_close_list(out);
    pod_put_shim(out, shape);
    json_close(out);
}

static void put_pod(struct text *out, const struct pod_shape *shape,
                    const struct pod_group *group)
{
    struct text spec = {0};
    struct arena *arena = arena_new();
    const struct node *overlay =
        node_read_stored(arena, shape->order->kubernetes.pod);
    json_open(out, "template");
    json_open(out, "metadata");
    put_labels(out, shape, group->type, NULL, POD);
    json_close(out);
    put_pod_spec(&spec, shape, group, overlay);
    cJSON *merged = json_of_node(node_read_stored(arena, text_string(&spec)));
    if (overlay != NULL)
        pod_overlay(merged, overlay);
    json_put_raw(out, "spec", json_text(arena, merged));
    json_close(out);
    text_free(&spec);
    arena_free(arena);
}

/* ---- objects ---- */

static void put_life(struct text *out, const struct pod_shape *shape)
{
    json_put_int(out, "ttlSecondsAfterFinished", KEPT_S);
    if (shape->order->kubernetes.queue != NULL)
        json_put_bool(out, "suspend", true); /* until Kueue has room */
}

/* A pod that the cluster takes away ends the Job, so that no other pod of it
 * starts: the server decides what becomes of the trial. `whole`: it is not part
 * of a JobSet, which would make it anew. */
static void put_job_spec(struct text *out, const struct pod_shape *shape,
                         const struct pod_group *group, bool whole)
{
    json_open(out, "spec");
    if (whole)
        put_life(out, shape);
    json_put_string(out, "completionMode", "Indexed");
    json_put_int(out, "completions", (int64_t)group->n);
    json_put_int(out, "parallelism", (int64_t)group->n);
    json_put_int(out, "backoffLimit", 0);
    if (shape->fields->has[KUBE_POD_FAILURE_POLICY])
        json_put_raw(out, "podFailurePolicy",
                     "{\"rules\":[{\"action\":\"FailJob\",\"onPodConditions\":"
                     "[{\"type\":\"DisruptionTarget\",\"status\":\"True\"}]}]"
                     "}");
    if (shape->fields->has[KUBE_POD_REPLACEMENT_POLICY])
        json_put_string(out, "podReplacementPolicy", "Failed");
    put_pod(out, shape, group);
    json_close(out);
}

void pod_put_job(struct text *out, const struct pod_shape *shape,
                 const struct pod_group *group)
{
    json_open(out, NULL);
    put_head(out, "batch/v1", "Job", shape, group);
    put_job_spec(out, shape, group, true);
    json_close(out);
}

/* One Job for each type. Its controller makes the Service, too, and ends the
 * JobSet with the first Job that fails. */
void pod_put_job_set(struct text *out, const struct pod_shape *shape)
{
    size_t n;
    struct arena *arena = arena_new();
    const struct pod_group *groups = pod_groups(arena, shape->order, &n);
    json_open(out, NULL);
    put_head(out, "jobset.x-k8s.io/v1alpha2", "JobSet", shape, NULL);
    json_open(out, "spec");
    put_life(out, shape);
    json_put_raw(out, "network",
                 "{\"enableDNSHostnames\":true,"
                 "\"publishNotReadyAddresses\":true}");
    json_open_list(out, "replicatedJobs");
    for (size_t i = 0; i < n; i++) {
        json_open(out, NULL);
        json_put_string(out, "name", groups[i].type);
        json_put_int(out, "replicas", 1);
        json_open(out, "template");
        put_job_spec(out, shape, &groups[i], false);
        json_close(out);
        json_close(out);
    }
    json_close_list(out);
    json_close(out);
    json_close(out);
    arena_free(arena);
}

void pod_put_service(struct text *out, const struct pod_shape *shape)
{
    struct arena *arena = arena_new();
    json_open(out, NULL);
    put_head(out, "v1", "Service", shape, NULL);
    json_open(out, "spec");
    json_put_string(out, "clusterIP", "None");
    json_put_bool(out, "publishNotReadyAddresses", true);
    json_open(out, "selector");
    json_put_string(out, POD_LABEL_RUNNER, shape->site->runner);
    json_put_string(out, POD_LABEL_ATTEMPT,
                    pod_attempt_label(arena, &shape->order->key));
    json_close(out);
    json_close(out);
    json_close(out);
    arena_free(arena);
}

/* ---- parts of an object from a template ---- */

void pod_put_object_part(struct text *out, const struct pod_shape *shape)
{
    json_open(out, NULL);
    json_open(out, "metadata");
    json_put_string(out, "name", shape->order->name);
    put_labels(out, shape, NULL, NULL, JOB);
    json_close(out);
    json_close(out);
}

/* What the template says of it stays, where the spec does not say it. */
static void put_wrapped(struct text *out, const struct pod_shape *shape,
                        const char *container)
{
    const struct order *order = shape->order;
    const struct replica_order *replica = &order->replicas[0];
    struct arena *arena = arena_new();
    json_open(out, NULL);
    json_put_string(out, "name", container);
    put_start(out, shape, 0, folder_of(arena, shape, replica->type, "0"));
    if (order->container.pull != PULL_IF_NOT_PRESENT)
        json_put_string(out, "imagePullPolicy", pull_of(order));
    put_resources(out, replica);
    if (order->container.user != NULL || order->container.read_only)
        pod_put_safety(out, order);
    json_close(out);
    arena_free(arena);
}

void pod_put_pod_part(struct text *out, const struct pod_shape *shape,
                      const char *container)
{
    const struct order *order = shape->order;
    json_open(out, NULL);
    json_open(out, "metadata");
    put_labels(out, shape, container != NULL ? order->replicas[0].type : NULL,
               container, POD);
    json_close(out);
    if (container != NULL) {
        json_open(out, "spec");
        json_put_string(out, "restartPolicy", "Never");
        if (order->service_account != NULL)
            json_put_string(out, "serviceAccountName", order->service_account);
        json_put_int(out, "terminationGracePeriodSeconds", grace_s(shape));
        json_open_list(out, "containers");
        put_wrapped(out, shape, container);
        json_close_list(out);
        pod_put_shim(out, shape);
        json_close(out);
    }
    json_close(out);
}
