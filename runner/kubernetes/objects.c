#include "runner/kubernetes/objects.h"

#include <string.h>

#include "proto/base/text.h"
#include "runner/base/json.h"
#include "runner/docker/docker.h"

enum { PAGE = 500 };

const struct kube_kind kube_jobs = {"batch", "/apis/batch/v1", "jobs"};
const struct kube_kind kube_pods = {"", "/api/v1", "pods"};
const struct kube_kind kube_services = {"", "/api/v1", "services"};
const struct kube_kind kube_config_maps = {"", "/api/v1", "configmaps"};
const struct kube_kind kube_secrets = {"", "/api/v1", "secrets"};
const struct kube_kind kube_service_accounts = {"", "/api/v1",
                                                "serviceaccounts"};
const struct kube_kind kube_events = {"", "/api/v1", "events"};
const struct kube_kind kube_job_sets = {
    "jobset.x-k8s.io", "/apis/jobset.x-k8s.io/v1alpha2", "jobsets"};
const struct kube_kind kube_workloads = {
    "kueue.x-k8s.io", "/apis/kueue.x-k8s.io/v1beta1", "workloads"};

const char *kube_escape(struct arena *arena, const char *text)
{
    const char *escaped = docker_escape(arena, text);
    struct text out = {0};
    for (; *escaped != '\0'; escaped++)
        text_append(&out, *escaped == '/' ? "%2F" : escaped,
                    *escaped == '/' ? 3 : 1);
    return text_take(&out, arena);
}

const char *kube_path(struct arena *arena, const struct kube_object *object)
{
    const char *name = object->name;
    return arena_printf(arena, "%s/namespaces/%s/%s%s%s", object->kind->api,
                        kube_escape(arena, object->namespace),
                        object->kind->plural, name != NULL ? "/" : "",
                        name != NULL ? kube_escape(arena, name) : "");
}

enum ht_status kube_create(struct kube *kube,
                           const struct kube_creation *creation,
                           struct arena *arena, const struct node **answer,
                           struct ht_error *err)
{
    const struct kube_object all = {.kind = creation->kind,
                                    .namespace = creation->namespace};
    const struct kube_request request = {
        .method = "POST",
        .path = arena_printf(arena, "%s?fieldValidation=Strict%s",
                             kube_path(arena, &all),
                             creation->dry ? "&dryRun=All" : ""),
        .body = creation->json};
    return kube_call(kube, &request, arena, answer, err);
}

enum ht_status kube_get(struct kube *kube, const struct kube_object *object,
                        struct arena *arena, const struct node **answer,
                        struct ht_error *err)
{
    const struct kube_request request = {.method = "GET",
                                         .path = kube_path(arena, object)};
    return kube_call(kube, &request, arena, answer, err);
}

enum ht_status kube_patch(struct kube *kube, const struct kube_object *object,
                          const char *json, struct arena *arena,
                          const struct node **answer, struct ht_error *err)
{
    const struct kube_request request = {
        .method = "PATCH",
        .path = arena_printf(arena, "%s?fieldValidation=Strict",
                             kube_path(arena, object)),
        .body = json,
        .type = "application/merge-patch+json"};
    return kube_call(kube, &request, arena, answer, err);
}

/* Without a policy a Job of batch/v1 would leave its pods behind. */
static const char *policy_of(const struct kube_delete *how)
{
    if (how->orphans)
        return "Orphan";
    return how->waits ? "Foreground" : "Background";
}

enum ht_status kube_remove(struct kube *kube, const struct kube_object *object,
                           const struct kube_delete *how, struct ht_error *err)
{
    struct arena *arena = arena_new();
    const struct node *answer;
    struct text body = {0};
    json_open(&body, NULL);
    json_put_string(&body, "kind", "DeleteOptions");
    json_put_string(&body, "apiVersion", "v1");
    json_put_string(&body, "propagationPolicy", policy_of(how));
    if (how->grace_s >= 0)
        json_put_int(&body, "gracePeriodSeconds", how->grace_s);
    if (how->uid != NULL) {
        json_open(&body, "preconditions");
        json_put_string(&body, "uid", how->uid);
        json_close(&body);
    }
    json_close(&body);
    const struct kube_request request = {.method = "DELETE",
                                         .path = kube_path(arena, object),
                                         .body = text_take(&body, arena)};
    const enum ht_status status =
        kube_call(kube, &request, arena, &answer, err);
    arena_free(arena);
    return status;
}

/* ---- lists ---- */

/* One page; *next: where the next one begins, NULL: it was the last, or `each`
 * wants no more. In the arena. */
static enum ht_status list_page(struct kube *kube, const struct kube_list *list,
                                struct arena *arena, const char **next,
                                const char **version, struct ht_error *err)
{
    const struct kube_object all = {.kind = list->kind,
                                    .namespace = list->namespace};
    struct arena *page = arena_new();
    const struct node *answer;
    struct text path = {0};
    text_printf(&path, "%s?limit=%d", kube_path(page, &all),
                list->page > 0 ? list->page : PAGE);
    if (list->selector != NULL)
        text_printf(&path, "&labelSelector=%s",
                    kube_escape(page, list->selector));
    if (list->fields != NULL)
        text_printf(&path, "&fieldSelector=%s",
                    kube_escape(page, list->fields));
    if (*next != NULL)
        text_printf(&path, "&continue=%s", kube_escape(page, *next));
    const struct kube_request request = {.method = "GET",
                                         .path = text_take(&path, page)};
    const enum ht_status status = kube_call(kube, &request, page, &answer, err);
    if (status == HT_OK) {
        const struct node *meta = node_find(answer, "metadata");
        const char *more = node_get_string(meta, "continue", "");
        *next = more[0] != '\0' ? arena_strdup(arena, more) : NULL;
        *version =
            arena_strdup(arena, node_get_string(meta, "resourceVersion", ""));
        NODE_EACH (item, node_first(answer, "items")) {
            if (!list->each(list->context, item)) {
                *next = NULL;
                break;
            }
        }
    }
    arena_free(page);
    return status;
}

enum ht_status kube_list(struct kube *kube, const struct kube_list *list,
                         struct arena *arena, const char **version,
                         struct ht_error *err)
{
    const char *next = NULL;
    enum ht_status status;
    do {
        status = list_page(kube, list, arena, &next, version, err);
    } while (status == HT_OK && next != NULL);
    return status == HT_OK && (*version)[0] == '\0'
               ? ht_fail(err, HT_INTERNAL, "a list has no resourceVersion")
               : status;
}
