#include "runner/kubernetes/kubeconfig_read.h"

#include <string.h>

#include "runner/docker/registry_auth.h"

enum { MOST_WORDS = 1000 };

/* ---- members ---- */

enum ht_status kube_file_wrong(const struct kube_file *file,
                               const struct node *node, const char *path,
                               const char *wanted, struct ht_error *err)
{
    return ht_fail(err, HT_INVALID, "%s:%d:%d: %s must be %s, not %s",
                   file->path, node->line, node->column, path, wanted,
                   node_kind_name(node->kind));
}

/* A fault of the place itself, in words that have no secret. */
static enum ht_status refuse(const struct kube_place *place, const char *words,
                             struct ht_error *err)
{
    return ht_fail(err, HT_INVALID, "%s:%d:%d: %s %s", place->file->path,
                   place->node->line, place->node->column, place->path, words);
}

/* The member, NULL where it is absent or null. */
static enum ht_status read_member(const struct kube_place *place,
                                  const char *key, const struct node **member,
                                  struct ht_error *err)
{
    const struct node *node = place->node;
    *member = NULL;
    if (node != NULL && node->kind != NODE_MAP && node->kind != NODE_NULL)
        return kube_file_wrong(place->file, node, place->path, "a map", err);
    const struct node *found = node_find(node, key);
    if (found != NULL && found->kind != NODE_NULL)
        *member = found;
    return HT_OK;
}

static enum ht_status wrong_member(const struct kube_place *place,
                                   const struct node *member, const char *key,
                                   const char *wanted, struct ht_error *err)
{
    const char *path = arena_printf(place->file->arena, "%s%s%s", place->path,
                                    place->path[0] != '\0' ? "." : "", key);
    return kube_file_wrong(place->file, member, path, wanted, err);
}

enum ht_status kube_read_text(const struct kube_place *place, const char *key,
                              const char **text, struct ht_error *err)
{
    const struct node *member;
    const enum ht_status status = read_member(place, key, &member, err);
    if (status != HT_OK)
        return status;
    if (member != NULL && member->kind != NODE_STRING)
        return wrong_member(place, member, key, "text", err);
    *text = member != NULL && member->text[0] != '\0' ? member->text : NULL;
    return HT_OK;
}

static enum ht_status read_flag(const struct kube_place *place, const char *key,
                                bool *flag, struct ht_error *err)
{
    const struct node *member;
    const enum ht_status status = read_member(place, key, &member, err);
    if (status == HT_OK && member != NULL && !node_bool(member, flag))
        return wrong_member(place, member, key, "true or false", err);
    return status;
}

/* A path relative to the folder of the file. */
static enum ht_status read_path(const struct kube_place *place, const char *key,
                                const char **path, struct ht_error *err)
{
    const enum ht_status status = kube_read_text(place, key, path, err);
    if (status == HT_OK && *path != NULL && (*path)[0] != '/')
        *path = arena_printf(place->file->arena, "%s/%s", place->file->folder,
                             *path);
    return status;
}

/* PEM, which is there in base64. */
static enum ht_status read_pem(const struct kube_place *place, const char *key,
                               const char **pem, struct ht_error *err)
{
    size_t len;
    const enum ht_status status = kube_read_text(place, key, pem, err);
    if (status != HT_OK || *pem == NULL)
        return status;
    *pem = registry_auth_decode(place->file->arena, *pem, &len);
    return *pem != NULL && strlen(*pem) == len
               ? HT_OK
               : refuse(place,
                        arena_printf(place->file->arena, "has no base64 in %s",
                                     key),
                        err);
}

struct member { /* of a table of members that are read in the same way */
    const char *key;
    const char **into;
};

typedef enum ht_status read_function(const struct kube_place *place,
                                     const char *key, const char **into,
                                     struct ht_error *err);

static enum ht_status read_all(const struct kube_place *place,
                               read_function *read,
                               const struct member members[], size_t n,
                               struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t i = 0; i < n && status == HT_OK; i++)
        status = read(place, members[i].key, members[i].into, err);
    return status;
}

static enum ht_status read_strings(const struct kube_place *place,
                                   const char *key, struct strings *strings,
                                   struct ht_error *err)
{
    const struct node *list;
    const enum ht_status status = read_member(place, key, &list, err);
    if (status != HT_OK || list == NULL)
        return status;
    if (list->kind != NODE_LIST || list->count > MOST_WORDS)
        return wrong_member(place, list, key, "a list", err);
    const char **items =
        arena_alloc(place->file->arena, list->count + 1, sizeof *items);
    size_t n = 0;
    NODE_EACH (item, node_items(list)) {
        items[n] = node_string(item);
        if (items[n++] == NULL)
            return wrong_member(place, item, key, "texts", err);
    }
    *strings = (struct strings){n, items};
    return HT_OK;
}

/* ---- a cluster ---- */

static enum ht_status check_cluster(const struct kube_place *place,
                                    struct kube_config *config,
                                    struct ht_error *err)
{
    if (config->server == NULL)
        return refuse(place, "has no server", err);
    if (strncmp(config->server, "https://", 8) != 0 &&
        strncmp(config->server, "http://", 7) != 0)
        return refuse(place, "has a server that does not begin with https://",
                      err);
    if (config->server[strcspn(config->server, "@?#\r\n ")] != '\0')
        return refuse(place,
                      "has a server with more in it than a host, a "
                      "port and a path",
                      err);
    if (config->insecure && (config->ca != NULL || config->ca_file != NULL))
        return refuse(place,
                      "has a certificate authority together with "
                      "insecure-skip-tls-verify",
                      err);
    size_t len = strlen(config->server);
    while (len > 0 && config->server[len - 1] == '/')
        len--;
    config->server = arena_strndup(place->file->arena, config->server, len);
    return HT_OK;
}

enum ht_status kube_read_cluster(const struct kube_place *place,
                                 struct kube_config *config,
                                 struct ht_error *err)
{
    const struct member texts[] = {{"server", &config->server},
                                   {"tls-server-name", &config->tls_name},
                                   {"proxy-url", &config->proxy}};
    enum ht_status status = read_all(place, kube_read_text, texts,
                                     sizeof texts / sizeof *texts, err);
    if (status == HT_OK)
        status =
            read_path(place, "certificate-authority", &config->ca_file, err);
    if (status == HT_OK)
        status =
            read_pem(place, "certificate-authority-data", &config->ca, err);
    if (status == HT_OK)
        status = read_flag(place, "insecure-skip-tls-verify", &config->insecure,
                           err);
    return status == HT_OK ? check_cluster(place, config, err) : status;
}

/* ---- a user ---- */

static enum ht_status read_env(const struct kube_place *place,
                               struct pairs *env, struct ht_error *err)
{
    const struct node *list;
    enum ht_status status = read_member(place, "env", &list, err);
    if (status != HT_OK || list == NULL)
        return status;
    if (list->kind != NODE_LIST || list->count > MOST_WORDS)
        return wrong_member(place, list, "env", "a list", err);
    struct pair *items =
        arena_alloc(place->file->arena, list->count + 1, sizeof *items);
    size_t n = 0;
    NODE_EACH (item, node_items(list)) {
        const struct kube_place at = {
            place->file, item,
            arena_printf(place->file->arena, "%s.env[%zu]", place->path, n)};
        status = kube_read_text(&at, "name", &items[n].name, err);
        if (status == HT_OK)
            status = kube_read_text(&at, "value", &items[n].value, err);
        if (status != HT_OK)
            return status;
        if (items[n].name == NULL || strchr(items[n].name, '=') != NULL)
            return refuse(&at, "has no name of a variable", err);
        if (items[n].value == NULL)
            items[n].value = "";
        n++;
    }
    *env = (struct pairs){n, items};
    return HT_OK;
}

static enum ht_status check_exec(const struct kube_place *place,
                                 struct kube_exec *exec, const char *mode,
                                 struct ht_error *err)
{
    const struct kube_file *file = place->file;
    if (exec->command == NULL)
        return refuse(place, "has no command", err);
    if (exec->version == NULL ||
        (strcmp(exec->version, "client.authentication.k8s.io/v1") != 0 &&
         strcmp(exec->version, "client.authentication.k8s.io/v1beta1") != 0))
        return refuse(place,
                      "must have the apiVersion "
                      "client.authentication.k8s.io/v1 or v1beta1; newer "
                      "releases of its program write that",
                      err);
    if (mode != NULL && strcmp(mode, "Always") == 0)
        return refuse(place,
                      "has a program that asks a person (interactiveMode "
                      "Always): a runner has none",
                      err);
    /* As a shell has it: a name is looked up, a path is relative. */
    if (exec->command[0] != '/' && strchr(exec->command, '/') != NULL)
        exec->command =
            arena_printf(file->arena, "%s/%s", file->folder, exec->command);
    return HT_OK;
}

static enum ht_status read_exec(const struct kube_place *user,
                                struct kube_exec *exec, struct ht_error *err)
{
    const struct node *node;
    const char *mode = NULL;
    enum ht_status status = read_member(user, "exec", &node, err);
    if (status != HT_OK || node == NULL)
        return status;
    const struct kube_place place = {
        user->file, node,
        arena_printf(user->file->arena, "%s.exec", user->path)};
    const struct member texts[] = {{"command", &exec->command},
                                   {"apiVersion", &exec->version},
                                   {"installHint", &exec->hint},
                                   {"interactiveMode", &mode}};
    status = read_all(&place, kube_read_text, texts,
                      sizeof texts / sizeof *texts, err);
    if (status == HT_OK)
        status = read_strings(&place, "args", &exec->args, err);
    if (status == HT_OK)
        status = read_env(&place, &exec->env, err);
    if (status == HT_OK)
        status = read_flag(&place, "provideClusterInfo", &exec->cluster, err);
    return status == HT_OK ? check_exec(&place, exec, mode, err) : status;
}

/* Headers and options of curl take these as they are. */
static bool is_one_line(const char *text)
{
    return text == NULL || strpbrk(text, "\r\n") == NULL;
}

static enum ht_status check_user(const struct kube_place *place,
                                 const struct kube_user *user,
                                 struct ht_error *err)
{
    const bool has_cert = user->cert != NULL || user->cert_file != NULL;
    const bool has_key = user->key != NULL || user->key_file != NULL;
    if (has_cert != has_key)
        return refuse(place, "has a client certificate or its key, not both",
                      err);
    if ((user->name != NULL) != (user->password != NULL))
        return refuse(place, "has a username or a password, not both", err);
    if (user->name != NULL && (user->token != NULL || user->token_file != NULL))
        return refuse(place, "has a token and a password: which one counts?",
                      err);
    if (!is_one_line(user->token) || !is_one_line(user->name) ||
        !is_one_line(user->password) || !is_one_line(user->as) ||
        !is_one_line(user->as_uid))
        return refuse(place, "has a line feed in a name or a secret", err);
    for (size_t i = 0; i < user->as_groups.n; i++) {
        if (!is_one_line(user->as_groups.items[i]))
            return refuse(place, "has a line feed in as-groups", err);
    }
    if (user->as == NULL && (user->as_uid != NULL || user->as_groups.n > 0))
        return refuse(place, "has as-uid or as-groups without as", err);
    return HT_OK;
}

static enum ht_status refuse_unknown(const struct kube_place *place,
                                     struct ht_error *err)
{
    const struct node *member;
    enum ht_status status = read_member(place, "auth-provider", &member, err);
    if (status == HT_OK && member != NULL)
        return refuse(place,
                      "has an auth-provider, which kubectl has not had since "
                      "1.26; use the cluster's exec plugin",
                      err);
    if (status == HT_OK)
        status = read_member(place, "as-user-extra", &member, err);
    return status == HT_OK && member != NULL
               ? refuse(place, "has as-user-extra, which is not supported", err)
               : status;
}

enum ht_status kube_read_user(const struct kube_place *place,
                              struct kube_user *user, struct ht_error *err)
{
    const struct member texts[] = {{"token", &user->token},
                                   {"username", &user->name},
                                   {"password", &user->password},
                                   {"as", &user->as},
                                   {"as-uid", &user->as_uid}};
    const struct member paths[] = {{"tokenFile", &user->token_file},
                                   {"client-certificate", &user->cert_file},
                                   {"client-key", &user->key_file}};
    const struct member pems[] = {{"client-certificate-data", &user->cert},
                                  {"client-key-data", &user->key}};
    enum ht_status status = refuse_unknown(place, err);
    if (status == HT_OK)
        status = read_all(place, kube_read_text, texts,
                          sizeof texts / sizeof *texts, err);
    if (status == HT_OK)
        status = read_all(place, read_path, paths, sizeof paths / sizeof *paths,
                          err);
    if (status == HT_OK)
        status =
            read_all(place, read_pem, pems, sizeof pems / sizeof *pems, err);
    if (status == HT_OK)
        status = read_strings(place, "as-groups", &user->as_groups, err);
    if (status == HT_OK)
        status = read_exec(place, &user->exec, err);
    return status == HT_OK ? check_user(place, user, err) : status;
}
