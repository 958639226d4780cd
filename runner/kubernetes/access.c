#include "runner/kubernetes/access.h"

#include <string.h>

#include "proto/base/quote.h"
#include "proto/base/text.h"
#include "runner/base/json.h"
#include "runner/kubernetes/client.h"

/* ---- questions ---- */

static const char *make_review(struct arena *arena, const char *namespace,
                               const struct kube_right *right, const char *verb)
{
    struct text out = {0};
    const size_t len = strcspn(right->resource, "/");
    json_open(&out, NULL);
    json_put_string(&out, "apiVersion", "authorization.k8s.io/v1");
    json_put_string(&out, "kind", "SelfSubjectAccessReview");
    json_open(&out, "spec");
    json_open(&out, "resourceAttributes");
    json_put_string(&out, "namespace", namespace);
    json_put_string(&out, "verb", verb);
    json_put_string(&out, "group", right->group);
    json_put_string(&out, "resource",
                    arena_strndup(arena, right->resource, len));
    if (right->resource[len] == '/')
        json_put_string(&out, "subresource", right->resource + len + 1);
    json_close(&out);
    json_close(&out);
    json_close(&out);
    return text_take(&out, arena);
}

static enum ht_status ask(struct kube *kube, const char *review,
                          struct arena *arena, bool *allowed,
                          struct ht_error *err)
{
    const struct node *answer;
    const struct kube_request request = {
        .method = "POST",
        .path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        .body = review};
    const enum ht_status status =
        kube_call(kube, &request, arena, &answer, err);
    if (status == HT_OK)
        *allowed = node_get_bool(node_find(answer, "status"), "allowed", false);
    return status;
}

/* The verbs that are missing, "" for none. */
static enum ht_status ask_right(struct kube *kube, const char *namespace,
                                const struct kube_right *right,
                                struct arena *arena, const char **missing,
                                struct ht_error *err)
{
    struct text out = {0};
    enum ht_status status = HT_OK;
    for (const char *verb = right->verbs; *verb != '\0' && status == HT_OK;) {
        const size_t len = strcspn(verb, " ");
        const char *word = arena_strndup(arena, verb, len);
        bool allowed = true;
        status = ask(kube, make_review(arena, namespace, right, word), arena,
                     &allowed, err);
        if (status == HT_OK && !allowed)
            text_printf(&out, "%s%s", out.len > 0 ? " " : "", word);
        verb += len + (verb[len] == ' ');
    }
    *missing = text_take(&out, arena);
    return status;
}

/* Whether the cluster has what it is about. */
static bool is_there(const struct kube_place *place,
                     const struct kube_right *right)
{
    if (strcmp(right->resource, "jobsets") == 0)
        return place->job_sets;
    return place->workloads || strcmp(right->resource, "workloads") != 0;
}

enum ht_status kube_access_ask(struct kube *kube,
                               const struct kube_place *place,
                               struct arena *arena, struct kube_rights *missing,
                               struct ht_error *err)
{
    size_t n = 0;
    struct kube_right *found = arena_alloc(arena, kube_rights.n, sizeof *found);
    for (size_t i = 0; i < kube_rights.n; i++) {
        const struct kube_right *right = &kube_rights.items[i];
        if (!is_there(place, right))
            continue;
        found[n] = *right;
        const enum ht_status status = ask_right(kube, place->namespace, right,
                                                arena, &found[n].verbs, err);
        if (status != HT_OK)
            return status;
        n += found[n].verbs[0] != '\0';
    }
    *missing = (struct kube_rights){n, found};
    return HT_OK;
}

enum ht_status kube_access_has(struct kube *kube, const char *namespace,
                               const struct kube_right *right, bool *allowed,
                               struct ht_error *err)
{
    const char *missing = "";
    struct arena *arena = arena_new();
    const enum ht_status status =
        ask_right(kube, namespace, right, arena, &missing, err);
    *allowed = status == HT_OK && missing[0] == '\0';
    arena_free(arena);
    return status;
}

/* As one of kube_rights. */
static enum ht_status has_resource(struct kube *kube, const char *namespace,
                                   const char *resource, bool *allowed,
                                   struct ht_error *err)
{
    size_t i = 0;
    while (strcmp(kube_rights.items[i].resource, resource) != 0)
        i++;
    return kube_access_has(kube, namespace, &kube_rights.items[i], allowed,
                           err);
}

enum ht_status kube_access_logs_only(struct kube *kube, const char *namespace,
                                     bool *only, struct ht_error *err)
{
    bool enters = true, reads = false;
    enum ht_status status =
        has_resource(kube, namespace, "pods/exec", &enters, err);
    if (status == HT_OK && !enters)
        status = has_resource(kube, namespace, "pods/log", &reads, err);
    *only = reads;
    return status;
}

enum ht_status kube_access_job_sets(struct kube *kube, const char *namespace,
                                    bool *allowed, struct ht_error *err)
{
    return has_resource(kube, namespace, "jobsets", allowed, err);
}

const char *kube_access_role(struct arena *arena, const char *namespace,
                             const struct kube_rights *missing)
{
    struct text out = {0};
    text_puts(&out, "apiVersion: rbac.authorization.k8s.io/v1\n"
                    "kind: Role\n"
                    "metadata:\n"
                    "  name: hypertune-runner\n"
                    "  namespace: ");
    quote_json(&out, namespace);
    text_puts(&out, "\n");
    kube_rights_put(&out, missing);
    return text_take(&out, arena);
}
