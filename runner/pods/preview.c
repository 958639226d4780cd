#include "runner/pods/preview.h"

#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/json.h"
#include "runner/base/json.h"
#include "runner/kubernetes/access.h"
#include "runner/kubernetes/client.h"
#include "runner/kubernetes/discovery.h"
#include "runner/kubernetes/fields.h"
#include "runner/kubernetes/objects.h"
#include "runner/pods/attempt_objects.h"
#include "runner/pods/config.h"
#include "runner/pods/maker.h"
#include "runner/pods/shape.h"
#include "runner/pods/shim_maps.h"
#include "runner/pods/template.h"

/* Where no cluster is asked. */
static const char usual_version[] = "{\"major\":\"1\",\"minor\":\"34\"}";

struct preview {
    const struct preview_wish *wish;
    struct arena *arena;
    struct text *out;
    struct site site;
    struct kube_config config;
    struct kube *kube; /* NULL: no cluster */
    struct order *order;
    struct kube_fields fields;
    bool job_sets;
    size_t n;
    const struct maker_object *objects;
};

/* ---- the cluster ---- */

static void put_cluster(const struct preview *preview)
{
    if (preview->kube != NULL) {
        json_put_string(preview->out, "server", preview->config.server);
        json_put_string(preview->out, "namespace", preview->config.namespace);
    }
    json_put_string(preview->out, "version",
                    arena_printf(preview->arena, "%d.%d", preview->fields.major,
                                 preview->fields.minor));
}

static void take_usual(struct preview *preview)
{
    kube_fields_read(node_read_stored(preview->arena, usual_version), NULL,
                     &preview->fields);
    preview->job_sets = false;
}

static enum ht_status ask_fields(struct preview *preview, struct ht_error *err)
{
    enum ht_status status =
        kube_fields_ask(preview->kube, &preview->fields, err);
    if (status == HT_OK && preview->fields.job_sets)
        status = kube_access_job_sets(preview->kube, preview->config.namespace,
                                      &preview->job_sets, err);
    return status;
}

static enum ht_status find_cluster(struct preview *preview,
                                   struct ht_error *err)
{
    const bool needed =
        preview->wish->dry_run || preview->site.kube_context != NULL;
    enum ht_status status =
        pods_config(&preview->site, preview->arena, &preview->config, err);
    if (status == HT_OK) {
        preview->kube = kube_new(&preview->config);
        status = ask_fields(preview, err);
        if (status != HT_OK && !needed) {
            json_put_string(preview->out, "unasked", err->text);
            kube_free(preview->kube);
            preview->kube = NULL;
        }
    } else if (status != HT_NOT_FOUND) {
        return status;
    }
    if (status != HT_OK && needed)
        return status;
    if (status != HT_OK)
        take_usual(preview);
    put_cluster(preview);
    return HT_OK;
}

/* ---- the objects ---- */

static enum ht_status make_objects(struct preview *preview,
                                   struct ht_error *err)
{
    const struct order *order = preview->order;
    struct arena *arena = preview->arena;
    struct pod_template template;
    struct shim_maps shim;
    struct pod_shape shape = {.site = &preview->site,
                              .order = order,
                              .fields = &preview->fields,
                              .shim = &shim,
                              .job_sets = preview->job_sets};
    enum ht_status status =
        preview->site.kube_shim_image != NULL
            ? HT_OK
            : shim_maps_name(preview->site.shim, arena, &shim, err);
    if (status == HT_OK && order->kubernetes.template != NULL) {
        shape.template = &template;
        status = pod_template_read(arena, &order->kubernetes, &template, err);
    }
    if (status == HT_OK)
        preview->objects = pod_objects(arena, &shape, &preview->n);
    return status;
}

static void put_objects(const struct preview *preview)
{
    json_open_list(preview->out, "objects");
    for (size_t i = 0; i < preview->n; i++)
        json_put_raw(preview->out, NULL, preview->objects[i].json);
    json_close_list(preview->out);
}

static enum ht_status try_object(struct preview *preview,
                                 const struct maker_object *object,
                                 struct ht_error *err)
{
    const struct node *answer;
    struct kube_kind found;
    struct kube_creation creation = {.kind = object->kind,
                                     .namespace = preview->config.namespace,
                                     .json = object->json,
                                     .dry = true};
    enum ht_status status = HT_OK;
    if (object->kind == NULL) {
        status = kube_discover(preview->kube, &object->foreign, preview->arena,
                               &found, err);
        creation.kind = &found;
    }
    return status == HT_OK ? kube_create(preview->kube, &creation,
                                         preview->arena, &answer, err)
                           : status;
}

static enum ht_status try_objects(struct preview *preview, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t i = 0; i < preview->n && status == HT_OK; i++)
        status = try_object(preview, &preview->objects[i], err);
    return status;
}

/* ---- pods ---- */

/* What the controller makes of a Job; NULL: it is none. */
static const char *pod_of(struct arena *arena, const struct maker_object *job)
{
    const struct node *object = node_read_stored(arena, job->json);
    const struct node *template =
        node_find(node_find(object, "spec"), "template");
    if (strcmp(node_get_string(object, "kind", ""), "Job") != 0)
        return NULL;
    cJSON *pod = json_of_node(template);
    json_add_string(pod, "apiVersion", "v1");
    json_add_string(pod, "kind", "Pod");
    json_add_string(cJSON_GetObjectItemCaseSensitive(pod, "metadata"), "name",
                    job->name);
    return json_text(arena, pod);
}

/* Policies and quotas of pods do not see their Job. A pod is not made by itself
 * here, and a policy may want that it is not, so that a refusal is only said.
 */
static void try_pods(struct preview *preview)
{
    static const struct kube_right right = {"", "pods", "create"};
    const char *namespace = preview->config.namespace;
    struct ht_error err;
    const struct node *answer;
    bool allowed;
    enum ht_status status =
        kube_access_has(preview->kube, namespace, &right, &allowed, &err);
    for (size_t i = 0; status == HT_OK && allowed && i < preview->n; i++) {
        const struct kube_creation creation = {
            .kind = &kube_pods,
            .namespace = namespace,
            .json = pod_of(preview->arena, &preview->objects[i]),
            .dry = true};
        if (creation.json != NULL)
            status = kube_create(preview->kube, &creation, preview->arena,
                                 &answer, &err);
    }
    if (status != HT_OK)
        json_put_string(preview->out, "pods", err.text);
}

/* ---- all ---- */

/* Before there is a cluster, the job or a setting is wrong, unless there is no
 * kubeconfig. Then it is an answer of the cluster, unless that is away or does
 * not know us. */
static bool is_refusal(const struct preview *preview, enum ht_status status)
{
    if (preview->kube == NULL)
        return status != HT_NOT_FOUND || preview->site.kube_context != NULL;
    return status != HT_UNAVAILABLE && status != HT_TIMEOUT &&
           status != HT_LIMIT && status != HT_UNAUTHENTICATED &&
           status != HT_INTERNAL && status != HT_IO;
}

static enum ht_status show(struct preview *preview, struct ht_error *err)
{
    enum ht_status status = order_parse(
        preview->wish->attempt, preview->wish->len, &preview->order, err);
    if (status == HT_OK)
        status = pod_check(preview->order, err);
    if (status == HT_OK)
        status = find_cluster(preview, err);
    if (status == HT_OK)
        status = make_objects(preview, err);
    if (status == HT_OK) {
        put_objects(preview);
        if (preview->wish->dry_run)
            status = try_objects(preview, err);
        if (preview->wish->dry_run && status == HT_OK)
            try_pods(preview);
    }
    return status;
}

void pods_preview(const struct preview_wish *wish, struct text *out)
{
    struct ht_error err;
    struct preview preview = {
        .wish = wish, .arena = arena_new(), .out = out, .site = *wish->site};
    preview.site.state = "/state"; /* no path of it is in the objects */
    preview.site.runner = "runner";
    json_open(out, NULL);
    const enum ht_status status = show(&preview, &err);
    if (status != HT_OK) {
        json_put_string(out, "error", err.text);
        json_put_bool(out, "refused", is_refusal(&preview, status));
    }
    json_close(out);
    text_puts(out, "\n");
    order_free(preview.order);
    kube_free(preview.kube);
    arena_free(preview.arena);
}
