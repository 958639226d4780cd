#include "runner/pods/pull_login.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/log.h"
#include "proto/base/text.h"
#include "proto/doc/json.h"
#include "proto/doc/node.h"
#include "runner/base/json.h"
#include "runner/kubernetes/objects.h"
#include "runner/pods/template.h"

/* ---- the scope ---- */

/* The spec of the trial's pod, as far as the study says it; NULL: not at all.
 */
static const struct node *pod_spec(struct arena *arena,
                                   const struct order *order)
{
    struct pod_template template;
    const struct job_kubernetes *section = &order->kubernetes;
    if (section->template == NULL)
        return node_read_stored(arena, section->pod);
    return pod_template_read(arena, section, &template, NULL) == HT_OK
               ? node_find(template.primary.template.at.node, "spec")
               : NULL;
}

const char *pull_scope(struct arena *arena, const struct order *order)
{
    struct text out = {0};
    const struct node *spec = pod_spec(arena, order);
    const struct node *secrets = node_find(spec, "imagePullSecrets");
    const char *account =
        node_get_string(spec, "serviceAccountName", order->service_account);
    json_open(&out, NULL);
    json_put_string(&out, "account", account != NULL ? account : "default");
    if (secrets != NULL)
        json_put_raw(&out, "secrets", json_text(arena, json_of_node(secrets)));
    json_close(&out);
    return text_take(&out, arena);
}

/* ---- the login ---- */

struct search {
    const struct pull_login *from;
    struct arena *arena;
    const char *image;
    struct registry_login *login;
};

/* What is not there, or must not be read, is left out. */
static enum ht_status get(const struct search *search,
                          const struct kube_kind *kind, const char *name,
                          const struct node **object, struct ht_error *err)
{
    const struct kube_object place = {
        .kind = kind, .namespace = search->from->namespace, .name = name};
    const enum ht_status status =
        kube_get(search->from->kube, &place, search->arena, object, err);
    if (status != HT_DENIED && status != HT_NOT_FOUND)
        return status;
    log_event(LOG_INFO, "pull_secret.not_read", "reason=\"%s\"", err->text);
    *object = NULL;
    return HT_OK;
}

static enum ht_status find_in(const struct search *search, const char *secret,
                              struct ht_error *err)
{
    const struct node *object;
    size_t len;
    enum ht_status status = get(search, &kube_secrets, secret, &object, err);
    if (status != HT_OK || object == NULL)
        return status;
    const char *data = registry_auth_decode(
        search->arena,
        node_get_string(node_find(object, "data"), ".dockerconfigjson", ""),
        &len);
    const struct node *config =
        data != NULL ? json_read(search->arena, data, len) : NULL;
    status = registry_auth_login_of(search->arena, search->image, config,
                                    search->login, err);
    return status == HT_OK ? HT_OK
                           : ht_fail(err, HT_PRECONDITION,
                                     "the pull secret %s is damaged", secret);
}

static enum ht_status find_in_all(const struct search *search,
                                  const struct node *secrets,
                                  struct ht_error *err)
{
    enum ht_status status = HT_OK;
    NODE_EACH (one, node_items(secrets)) {
        if (status == HT_OK && !registry_auth_has_any(search->login))
            status = find_in(search, node_get_string(one, "name", ""), err);
    }
    return status;
}

static enum ht_status find_in_account(const struct search *search,
                                      const char *account, struct ht_error *err)
{
    const struct node *object;
    const enum ht_status status =
        get(search, &kube_service_accounts, account, &object, err);
    return status == HT_OK
               ? find_in_all(search, node_find(object, "imagePullSecrets"), err)
               : status;
}

enum ht_status pull_login_find(void *context, struct arena *arena,
                               const char *image, const char *scope,
                               struct registry_login *login,
                               struct ht_error *err)
{
    const struct node *of = json_read_map(arena, scope, strlen(scope));
    const struct node *secrets = node_find(of, "secrets");
    const struct search search = {
        .from = context, .arena = arena, .image = image, .login = login};
    const enum ht_status status =
        secrets != NULL
            ? find_in_all(&search, secrets, err)
            : find_in_account(&search, node_get_string(of, "account", ""), err);
    return status != HT_OK || registry_auth_has_any(login)
               ? status
               : registry_auth_login(arena, image, getenv, login, err);
}
