#include "runner/kubernetes/account.h"

#include <string.h>
#include <unistd.h>

#include "proto/base/secret_file.h"

static const char usual[] = "/var/run/secrets/kubernetes.io/serviceaccount";

/* What the file says, without white space at its end; NULL: nothing. */
static const char *read_word(struct arena *arena, const char *path)
{
    struct text text = {0};
    if (secret_file_read(path, &text, NULL) != HT_OK)
        return NULL;
    while (text.len > 0 && strchr(" \t\r\n", text.data[text.len - 1]) != NULL)
        text.data[--text.len] = '\0';
    return text.len > 0 ? text_take(&text, arena) : NULL;
}

enum ht_status kube_account_find(const struct kube_config_wish *wish,
                                 struct arena *arena,
                                 struct kube_config *config,
                                 struct ht_error *err)
{
    const char *folder = wish->account != NULL ? wish->account : usual;
    const char *host = wish->lookup("KUBERNETES_SERVICE_HOST");
    const char *port = wish->lookup("KUBERNETES_SERVICE_PORT");
    const char *token = arena_printf(arena, "%s/token", folder);
    if (host == NULL || host[0] == '\0' || port == NULL || port[0] == '\0' ||
        access(token, F_OK) != 0)
        return ht_fail(err, HT_NOT_FOUND,
                       "there is no kubeconfig (KUBECONFIG, ~/.kube/config), "
                       "and this is no pod with a service account");
    const bool six = strchr(host, ':') != NULL;
    const char *ca = arena_printf(arena, "%s/ca.crt", folder);
    const char *namespace =
        read_word(arena, arena_printf(arena, "%s/namespace", folder));
    *config = (struct kube_config){
        .source = "the pod's service account",
        .server = arena_printf(arena, "https://%s%s%s:%s", six ? "[" : "", host,
                               six ? "]" : "", port),
        .ca_file = access(ca, F_OK) == 0 ? ca : NULL,
        .namespace = namespace != NULL ? namespace : "default",
        .user = {.token_file = token}};
    if (wish->namespace != NULL)
        config->namespace = wish->namespace;
    return HT_OK;
}
