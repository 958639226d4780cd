#include "runner/kubernetes/kubeconfig.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/secret_file.h"
#include "proto/doc/node.h"
#include "runner/kubernetes/account.h"
#include "runner/kubernetes/kubeconfig_read.h"

enum { MOST_FILES = 64 };

/* The files that exist, in the order in which they win. */
struct files {
    size_t n;
    struct kube_file items[MOST_FILES];
};

/* ---- the files ---- */

/* `optional`: a missing file is no error. */
static enum ht_status add_file(struct files *files, struct arena *arena,
                               const char *path, bool optional,
                               struct ht_error *err)
{
    struct text text = {0};
    struct diag diag;
    if (files->n == MOST_FILES)
        return ht_fail(err, HT_INVALID, "KUBECONFIG names more than %d files",
                       MOST_FILES);
    if (optional && access(path, F_OK) != 0 &&
        (errno == ENOENT || errno == ENOTDIR))
        return HT_OK;
    const enum ht_status status = secret_file_read(path, &text, err);
    if (status != HT_OK)
        return status;
    diag_init(&diag, arena, path, NULL, 0);
    const struct node *root =
        text.len > 0 ? node_read_long(arena, text.data, text.len, &diag) : NULL;
    const bool empty = text.len == 0;
    secret_wipe(&text);
    if (root == NULL && !empty) /* without the sentence: it may show a secret */
        return ht_fail(err, HT_INVALID,
                       "%s:%d:%d: is no YAML of a kubeconfig (it may have no "
                       "anchors and tags)",
                       path, diag.first->line, diag.first->column);
    if (root != NULL && root->kind != NODE_MAP && root->kind != NODE_NULL)
        return ht_fail(err, HT_INVALID,
                       "%s:%d:%d: must be a kubeconfig, not %s", path,
                       root->line, root->column, node_kind_name(root->kind));
    const char *slash = strrchr(path, '/');
    files->items[files->n++] = (struct kube_file){
        .arena = arena,
        .path = arena_strdup(arena, path),
        .folder = slash != NULL
                      ? arena_strndup(arena, path, (size_t)(slash - path))
                      : ".",
        .root = root};
    return HT_OK;
}

static bool was_named(const struct files *files, const char *path)
{
    for (size_t i = 0; i < files->n; i++) {
        if (strcmp(files->items[i].path, path) == 0)
            return true;
    }
    return false;
}

/* Separated by colons; empty names are none. */
static enum ht_status add_list(struct files *files, struct arena *arena,
                               const char *list, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    while (*list != '\0' && status == HT_OK) {
        const size_t len = strcspn(list, ":");
        const char *path = arena_strndup(arena, list, len);
        if (len > 0 && !was_named(files, path))
            status = add_file(files, arena, path, true, err);
        list += len + (list[len] == ':');
    }
    return status;
}

static enum ht_status read_files(const struct kube_config_wish *wish,
                                 struct arena *arena, struct files *files,
                                 struct ht_error *err)
{
    const char *list = wish->lookup("KUBECONFIG");
    const char *home = wish->lookup("HOME");
    if (wish->file != NULL)
        return add_file(files, arena, wish->file, false, err);
    if (list != NULL && list[0] != '\0')
        return add_list(files, arena, list, err);
    return home != NULL ? add_file(files, arena,
                                   arena_printf(arena, "%s/.kube/config", home),
                                   true, err)
                        : HT_OK;
}

/* ---- what they say together ---- */

/* The `member` of the item of that name in the lists `key`: of the first file
 * that has the name, with nothing of the others. The node is NULL: none. */
static enum ht_status find_item(const struct files *files, const char *key,
                                const char *member, const char *name,
                                struct kube_place *found, struct ht_error *err)
{
    const char *has = NULL;
    for (size_t i = 0; i < files->n; i++) {
        const struct kube_file *file = &files->items[i];
        const struct node *list = node_find(file->root, key);
        if (list != NULL && list->kind != NODE_LIST && list->kind != NODE_NULL)
            return kube_file_wrong(file, list, key, "a list", err);
        NODE_EACH (item, node_items(list)) {
            const struct kube_place place = {
                file, item, arena_printf(file->arena, "%s[]", key)};
            const enum ht_status status =
                kube_read_text(&place, "name", &has, err);
            if (status != HT_OK)
                return status;
            if (has == NULL || strcmp(has, name) != 0)
                continue;
            *found = (struct kube_place){
                file, node_find(item, member),
                arena_printf(file->arena, "%s[%s].%s", key, name, member)};
            return HT_OK;
        }
    }
    *found = (struct kube_place){0};
    return HT_OK;
}

static enum ht_status find_context_name(const struct kube_config_wish *wish,
                                        const struct files *files,
                                        const char **name, struct ht_error *err)
{
    *name = wish->context;
    for (size_t i = 0; i < files->n && *name == NULL; i++) {
        const struct kube_place root = {&files->items[i], files->items[i].root,
                                        ""};
        const enum ht_status status =
            kube_read_text(&root, "current-context", name, err);
        if (status != HT_OK)
            return status;
    }
    return *name != NULL
               ? HT_OK
               : ht_fail(err, HT_INVALID,
                         "%s: there is no current-context; choose one by "
                         "kubectl config use-context NAME",
                         files->items[0].path);
}

static enum ht_status fail_missing(const struct files *files, const char *what,
                                   const char *name, struct ht_error *err)
{
    return ht_fail(err, HT_INVALID, "%s%s: has no %s \"%s\"",
                   files->items[0].path, files->n > 1 ? " and the others" : "",
                   what, name);
}

/* What the context leads to. */
struct parts {
    const char *cluster, *user, *namespace; /* names, or NULL */
};

static enum ht_status read_context(const struct files *files, const char *name,
                                   struct parts *parts, struct ht_error *err)
{
    struct kube_place place;
    enum ht_status status =
        find_item(files, "contexts", "context", name, &place, err);
    if (status == HT_OK && place.node == NULL)
        return fail_missing(files, "context", name, err);
    if (status == HT_OK)
        status = kube_read_text(&place, "cluster", &parts->cluster, err);
    if (status == HT_OK)
        status = kube_read_text(&place, "user", &parts->user, err);
    if (status == HT_OK)
        status = kube_read_text(&place, "namespace", &parts->namespace, err);
    if (status == HT_OK && parts->cluster == NULL)
        return ht_fail(err, HT_INVALID, "%s:%d:%d: %s.cluster is missing",
                       place.file->path, place.node->line, place.node->column,
                       place.path);
    return status;
}

/* A context without a user is that of who needs to be none. */
static enum ht_status read_parts(const struct files *files,
                                 const struct parts *parts,
                                 struct kube_config *config,
                                 struct ht_error *err)
{
    struct kube_place cluster, user = {0};
    enum ht_status status =
        find_item(files, "clusters", "cluster", parts->cluster, &cluster, err);
    if (status == HT_OK && cluster.node == NULL)
        return fail_missing(files, "cluster", parts->cluster, err);
    if (status == HT_OK)
        status = kube_read_cluster(&cluster, config, err);
    if (status == HT_OK && parts->user != NULL)
        status = find_item(files, "users", "user", parts->user, &user, err);
    if (status == HT_OK && parts->user != NULL && user.file == NULL)
        return fail_missing(files, "user", parts->user, err);
    return status == HT_OK && user.node != NULL
               ? kube_read_user(&user, &config->user, err)
               : status;
}

static const char *name_files(struct arena *arena, const struct files *files)
{
    struct text out = {0};
    for (size_t i = 0; i < files->n; i++)
        text_printf(&out, "%s%s", i > 0 ? ":" : "", files->items[i].path);
    return text_take(&out, arena);
}

static enum ht_status read_config(const struct kube_config_wish *wish,
                                  struct arena *arena,
                                  const struct files *files,
                                  struct kube_config *config,
                                  struct ht_error *err)
{
    struct parts parts = {0};
    struct kube_config read = {.source = name_files(arena, files)};
    enum ht_status status = find_context_name(wish, files, &read.context, err);
    if (status == HT_OK)
        status = read_context(files, read.context, &parts, err);
    if (status == HT_OK)
        status = read_parts(files, &parts, &read, err);
    if (status != HT_OK)
        return status;
    read.namespace = parts.namespace != NULL ? parts.namespace : "default";
    if (wish->namespace != NULL)
        read.namespace = wish->namespace;
    *config = read;
    return HT_OK;
}

enum ht_status kube_config_find(const struct kube_config_wish *wish,
                                struct arena *arena, struct kube_config *config,
                                struct ht_error *err)
{
    struct files files = {0};
    const enum ht_status status = read_files(wish, arena, &files, err);
    if (status != HT_OK)
        return status;
    return files.n > 0 ? read_config(wish, arena, &files, config, err)
                       : kube_account_find(wish, arena, config, err);
}
