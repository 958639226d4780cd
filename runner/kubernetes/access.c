#include "runner/kubernetes/access.h"

#include <string.h>

#include "proto/base/quote.h"
#include "proto/base/text.h"
#include "runner/base/json.h"
#include "runner/kubernetes/client.h"

/* All that a runner does in its namespace; nothing outside of it. The last one
 * is for clusters that have JobSets. */
static const struct kube_right wanted[] = {
    {"batch", "jobs", "create get list delete"},
    {"", "pods", "list watch delete"},
    /* A WebSocket is a GET; Kubernetes 1.35 asks for what a POST needs, too. */
    {"", "pods/exec", "create get"},
    {"", "services", "create get list delete"},
    {"", "configmaps", "create get"},
    {"", "events", "list"},
    {"jobset.x-k8s.io", "jobsets", "create get list delete"},
};
enum { RIGHTS = sizeof wanted / sizeof *wanted, JOB_SETS = RIGHTS - 1 };

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

enum ht_status kube_access_ask(struct kube *kube,
                               const struct kube_place *place,
                               struct arena *arena, struct kube_access *access,
                               struct ht_error *err)
{
    const size_t n = place->job_sets ? RIGHTS : JOB_SETS;
    struct kube_access found = {
        .missing = arena_alloc(arena, RIGHTS, sizeof *found.missing)};
    for (size_t i = 0; i < n; i++) {
        struct kube_right *next = &found.missing[found.n];
        *next = wanted[i];
        const enum ht_status status = ask_right(
            kube, place->namespace, &wanted[i], arena, &next->verbs, err);
        if (status != HT_OK)
            return status;
        found.n += next->verbs[0] != '\0';
    }
    *access = found;
    return HT_OK;
}

enum ht_status kube_access_job_sets(struct kube *kube, const char *namespace,
                                    bool *allowed, struct ht_error *err)
{
    const char *missing;
    struct arena *arena = arena_new();
    const enum ht_status status =
        ask_right(kube, namespace, &wanted[JOB_SETS], arena, &missing, err);
    *allowed = status == HT_OK && missing[0] == '\0';
    arena_free(arena);
    return status;
}

/* ---- the Role ---- */

/* "get list" as ["get", "list"]. */
static void put_verbs(struct text *out, const char *verbs)
{
    text_puts(out, "[\"");
    for (; *verbs != '\0'; verbs++)
        text_append(out, *verbs == ' ' ? "\", \"" : verbs,
                    *verbs == ' ' ? 4 : 1);
    text_puts(out, "\"]");
}

const char *kube_access_role(struct arena *arena, const char *namespace,
                             const struct kube_access *access)
{
    struct text out = {0};
    text_puts(&out, "apiVersion: rbac.authorization.k8s.io/v1\n"
                    "kind: Role\n"
                    "metadata:\n"
                    "  name: hypertune-runner\n"
                    "  namespace: ");
    quote_json(&out, namespace);
    text_puts(&out, "\nrules:\n");
    for (size_t i = 0; i < access->n; i++) {
        const struct kube_right *right = &access->missing[i];
        text_printf(&out,
                    "- apiGroups: [\"%s\"]\n  resources: [\"%s\"]\n  verbs: ",
                    right->group, right->resource);
        put_verbs(&out, right->verbs);
        text_puts(&out, "\n");
    }
    return text_take(&out, arena);
}
