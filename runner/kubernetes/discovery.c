#include "runner/kubernetes/discovery.h"

#include <string.h>

/* Subresources, such as pytorchjobs/status, are of the same kind. */
static const struct node *find_resource(const struct node *list,
                                        const char *kind)
{
    NODE_EACH (one, node_first(list, "resources")) {
        if (strcmp(node_get_string(one, "kind", ""), kind) == 0 &&
            strchr(node_get_string(one, "name", "/"), '/') == NULL)
            return one;
    }
    return NULL;
}

enum ht_status kube_discover(struct kube *kube,
                             const struct kube_kind_name *name,
                             struct arena *arena, struct kube_kind *found,
                             struct ht_error *err)
{
    const char *slash = strchr(name->api_version, '/');
    const char *path =
        slash == NULL
            ? arena_printf(arena, "/api/%s",
                           kube_escape(arena, name->api_version))
            : arena_printf(
                  arena, "/apis/%s/%s",
                  kube_escape(arena, arena_strndup(
                                         arena, name->api_version,
                                         (size_t)(slash - name->api_version))),
                  kube_escape(arena, slash + 1));
    const struct node *list = NULL;
    const struct kube_request ask = {.method = "GET", .path = path};
    const enum ht_status status = kube_call(kube, &ask, arena, &list, err);
    if (status != HT_OK && status != HT_NOT_FOUND)
        return status;
    const struct node *one = find_resource(list, name->kind);
    if (status == HT_NOT_FOUND || one == NULL)
        return ht_fail(err, HT_PRECONDITION, "the cluster has no kind %s of %s",
                       name->kind, name->api_version);
    if (!node_get_bool(one, "namespaced", false))
        return ht_fail(err, HT_PRECONDITION,
                       "objects of kind %s are in no namespace", name->kind);
    *found = (struct kube_kind){
        .group = slash == NULL
                     ? ""
                     : arena_strndup(arena, name->api_version,
                                     (size_t)(slash - name->api_version)),
        .api = path,
        .plural = arena_strdup(arena, node_get_string(one, "name", ""))};
    return HT_OK;
}
