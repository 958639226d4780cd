/* connection.c - options of libcurl and the headers of who asks. */
#include "runner/kubernetes/connection.h"

#include <stdlib.h>
#include <string.h>

#include <nettle/base64.h>

#include "proto/base/memory.h"
#include "proto/base/secret_file.h"
#include "proto/base/text.h"

enum { CONNECT_MS = 10000 };

/* ---- the way there ---- */

char *kube_connection_host(const char *server)
{
    const char *from = strstr(server, "://") + 3;
    char *host = ht_xstrdup(from);
    host[strcspn(host, "/")] = '\0';
    return host;
}

/* Under another name: curl takes the name that is checked from the URL, so
 * the way to the server is said apart from it. */
struct curl_slist *kube_connection_route(CURL *curl,
                                         const struct kube_config *config,
                                         const char *path)
{
    const char *rest = strstr(config->server, "://") + 3;
    const size_t n_host = strcspn(rest, "/");
    struct curl_slist *way = NULL;
    struct text url = {0}, line = {0};
    if (config->tls_name != NULL && strncmp(config->server, "https", 5) == 0) {
        const char *bracket = memchr(rest, ']', n_host);
        const char *name = bracket != NULL ? bracket : rest;
        const bool has_port =
            memchr(name, ':', n_host - (size_t)(name - rest)) != NULL;
        text_printf(&url, "https://%s%s", config->tls_name, rest + n_host);
        text_printf(&line, "::%.*s%s", (int)n_host, rest,
                    has_port ? "" : ":443");
        way = curl_slist_append(NULL, line.data);
        curl_easy_setopt(curl, CURLOPT_CONNECT_TO, way);
    } else {
        text_puts(&url, config->server);
    }
    text_puts(&url, path);
    curl_easy_setopt(curl, CURLOPT_URL, url.data); /* copied */
    text_free(&url);
    text_free(&line);
    return way;
}

/* ---- who is there, and who we are ---- */

static void set_blob(CURL *curl, CURLoption option, const char *pem)
{
    struct curl_blob blob = {
        .data = ht_xstrdup(pem), .len = strlen(pem), .flags = CURL_BLOB_COPY};
    curl_easy_setopt(curl, option, &blob);
    explicit_bzero(blob.data, blob.len);
    free(blob.data);
}

/* Only the named authority counts, none of this machine's. */
static void set_trust(CURL *curl, const struct kube_config *config)
{
    if (config->ca != NULL || config->ca_file != NULL) {
        curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
        curl_easy_setopt(curl, CURLOPT_CAINFO, NULL);
    }
    if (config->ca != NULL)
        set_blob(curl, CURLOPT_CAINFO_BLOB, config->ca);
    else if (config->ca_file != NULL)
        curl_easy_setopt(curl, CURLOPT_CAINFO, config->ca_file);
    if (config->insecure) {
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

static void set_certificate(CURL *curl, const struct kube_user *user,
                            const struct kube_ticket *ticket)
{
    /* A key with a password is an error, and not a question at a terminal. */
    curl_easy_setopt(curl, CURLOPT_KEYPASSWD, "");
    if (ticket->cert.len > 0) {
        set_blob(curl, CURLOPT_SSLCERT_BLOB, ticket->cert.data);
        set_blob(curl, CURLOPT_SSLKEY_BLOB, ticket->key.data);
        return;
    }
    if (user->cert != NULL)
        set_blob(curl, CURLOPT_SSLCERT_BLOB, user->cert);
    else if (user->cert_file != NULL)
        curl_easy_setopt(curl, CURLOPT_SSLCERT, user->cert_file);
    if (user->key != NULL)
        set_blob(curl, CURLOPT_SSLKEY_BLOB, user->key);
    else if (user->key_file != NULL)
        curl_easy_setopt(curl, CURLOPT_SSLKEY, user->key_file);
}

/* A server on this machine is asked without the environment's proxy. */
static void set_proxy(CURL *curl, const struct kube_config *config)
{
    if (config->proxy != NULL) {
        curl_easy_setopt(curl, CURLOPT_PROXY, config->proxy);
        curl_easy_setopt(curl, CURLOPT_NOPROXY, "");
    } else {
        curl_easy_setopt(curl, CURLOPT_NOPROXY, NULL);
        if (strstr(config->server, "://127.") != NULL ||
            strstr(config->server, "://localhost") != NULL ||
            strstr(config->server, "://[::1]") != NULL)
            curl_easy_setopt(curl, CURLOPT_PROXY, "");
    }
}

void kube_connection_set(CURL *curl, const struct kube_config *config,
                         const struct kube_ticket *ticket)
{
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPIDLE, 15L);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPINTVL, 5L);
    set_proxy(curl, config);
    set_trust(curl, config);
    set_certificate(curl, &config->user, ticket);
}

/* ---- headers ---- */

struct curl_slist *kube_connection_add(struct curl_slist *headers,
                                       const char *name, const char *value)
{
    struct text header = {0};
    text_printf(&header, "%s: %s", name, value);
    headers = curl_slist_append(headers, header.data);
    secret_wipe(&header);
    return headers;
}

void kube_connection_drop(struct curl_slist *headers)
{
    for (const struct curl_slist *one = headers; one; one = one->next)
        explicit_bzero(one->data, strlen(one->data));
    curl_slist_free_all(headers);
}

/* RFC 7617. */
static void put_basic(struct text *out, const struct kube_user *user)
{
    struct text pair = {0};
    text_printf(&pair, "%s:%s", user->name, user->password);
    char *base64 = ht_xcalloc(BASE64_ENCODE_RAW_LENGTH(pair.len) + 1, 1);
    base64_encode_raw(base64, pair.len, (const uint8_t *)pair.data);
    text_printf(out, "Basic %s", base64);
    explicit_bzero(base64, strlen(base64));
    free(base64);
    secret_wipe(&pair);
}

struct curl_slist *kube_connection_headers(const struct kube_config *config,
                                           const struct kube_ticket *ticket)
{
    const struct kube_user *user = &config->user;
    struct text secret = {0};
    char *host = kube_connection_host(config->server);
    struct curl_slist *list = kube_connection_add(NULL, "Host", host);
    list = kube_connection_add(list, "User-Agent", "hypertune-runner");
    if (ticket->token.len > 0)
        text_printf(&secret, "Bearer %s", ticket->token.data);
    else if (user->name != NULL)
        put_basic(&secret, user);
    if (secret.len > 0)
        list = kube_connection_add(list, "Authorization", secret.data);
    secret_wipe(&secret);
    if (user->as != NULL)
        list = kube_connection_add(list, "Impersonate-User", user->as);
    if (user->as_uid != NULL)
        list = kube_connection_add(list, "Impersonate-Uid", user->as_uid);
    for (size_t i = 0; i < user->as_groups.n; i++)
        list = kube_connection_add(list, "Impersonate-Group",
                                   user->as_groups.items[i]);
    free(host);
    return list;
}
