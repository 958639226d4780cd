#include "tuner/tracker/mlflow_call.h"

#include <ctype.h>
#include <string.h>

#include "proto/base/text.h"
#include "proto/doc/diag.h"
#include "proto/doc/json.h"
#include "tuner/webhook/config.h"

enum {
    CONNECT_MS = 5000,
    WHOLE_MS = 60000,
    ANSWER_BYTES = 8 << 20 /* runs/get has all parameters and metrics */
};

enum ht_status mlflow_url_check(const char *url, struct ht_error *err)
{
    const char *host;
    struct arena *arena = arena_new();
    const enum ht_status status =
        webhook_url_check(arena, url, true, &host, NULL);
    arena_free(arena);
    return status == HT_OK
               ? HT_OK
               /* It may have a password. */
               : ht_fail(err, HT_INVALID,
                         "this is no URL of http or https, without user and "
                         "password");
}

/* --- the request --- */

static size_t take_bytes(char *data, size_t size, size_t n, void *context)
{
    struct text *answer = context;
    if (answer->len + size * n > ANSWER_BYTES)
        return 0;
    text_append(answer, data, size * n);
    return size * n;
}

static int watch(void *context, curl_off_t all_down, curl_off_t down,
                 curl_off_t all_up, curl_off_t up)
{
    const struct mlflow_server *server = context;
    (void)all_down, (void)down, (void)all_up, (void)up;
    return atomic_load(server->stopping);
}

/* Read for each request: the admin may write another one at any time. */
static enum ht_status set_login(struct mlflow_server *server,
                                struct arena *arena, struct ht_error *err)
{
    const char *login = server->login;
    CURL *curl = server->curl;
    if (server->login_file != NULL &&
        webhook_secret_read(arena, server->folder, server->login_file, &login,
                            err) != HT_OK)
        return ht_wrap(err, HT_UNAVAILABLE, "%s", server->login_file);
    if (login == NULL)
        return HT_OK;
    const bool has_user = strchr(login, ':') != NULL;
    curl_easy_setopt(curl, CURLOPT_HTTPAUTH,
                     (long)(has_user ? CURLAUTH_BASIC : CURLAUTH_BEARER));
    curl_easy_setopt(curl, has_user ? CURLOPT_USERPWD : CURLOPT_XOAUTH2_BEARER,
                     login);
    return HT_OK;
}

static void set_rules(struct mlflow_server *server, struct text *answer)
{
    CURL *curl = server->curl;
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    /* On a connection of before, libcurl would repeat a request that has no
     * answer by itself, and a run would be made twice. */
    curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L); /* waits for no resolver */
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)WHOLE_MS);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "hypertune/" HT_VERSION);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, watch);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, server);
}

/* MLflow says in error_code what a status of HTTP does not. A text that is no
 * JSON is that of something before it. */
static enum ht_status judge(long code, const char *path,
                            const struct node *answer, struct ht_error *err)
{
    const char *name = node_get_string(answer, "error_code", "");
    const char *why = node_get_string(answer, "message", "");
    enum ht_status status = HT_PRECONDITION;
    if (code >= 200 && code < 300 && answer != NULL)
        return HT_OK;
    if (code >= 500 || code == 429 || code == 408 || code == 401 ||
        code == 403 || answer == NULL || answer->kind != NODE_MAP)
        status = HT_UNAVAILABLE;
    else if (strcmp(name, "RESOURCE_DOES_NOT_EXIST") == 0)
        status = HT_NOT_FOUND;
    else if (strcmp(name, "RESOURCE_ALREADY_EXISTS") == 0)
        status = HT_EXISTS;
    return ht_fail(err, status, "%.*s: answered %ld%s%s%s%.120s",
                   (int)strcspn(path, "?"), path, code,
                   name[0] != '\0' ? " " : "", name, why[0] != '\0' ? ": " : "",
                   why);
}

static enum ht_status perform(struct mlflow_server *server, const char *path,
                              struct ht_error *err)
{
    const CURLcode code = curl_easy_perform(server->curl);
    if (code == CURLE_OK)
        return HT_OK;
    return ht_fail(err, HT_UNAVAILABLE, "%.*s: %s", (int)strcspn(path, "?"),
                   path,
                   code == CURLE_WRITE_ERROR ? "its answer is too long"
                                             : curl_easy_strerror(code));
}

enum ht_status mlflow_call(struct mlflow_server *server, struct arena *arena,
                           const char *path, cJSON *body,
                           const struct node **answer, struct ht_error *err)
{
    struct text text = {0};
    struct diag diag;
    long code = 0;
    const char *sent = body != NULL ? json_text(arena, body) : NULL;
    struct curl_slist *headers =
        curl_slist_append(NULL, "Content-Type: application/json");
    set_rules(server, &text);
    enum ht_status status = set_login(server, arena, err);
    curl_easy_setopt(
        server->curl, CURLOPT_URL,
        arena_printf(arena, "%s/api/2.0/mlflow/%s", server->url, path));
    curl_easy_setopt(server->curl, CURLOPT_HTTPHEADER, headers);
    if (sent != NULL)
        curl_easy_setopt(server->curl, CURLOPT_POSTFIELDS, sent);
    if (status == HT_OK)
        status = perform(server, path, err);
    if (status == HT_OK) {
        curl_easy_getinfo(server->curl, CURLINFO_RESPONSE_CODE, &code);
        const char *copy = arena_strndup(arena, text_string(&text), text.len);
        diag_init(&diag, arena, "answer", copy, text.len);
        const struct node *root =
            node_read_long_json(arena, copy, text.len, &diag);
        status = judge(code, path, root, err);
        if (status == HT_OK)
            *answer = root;
    }
    curl_slist_free_all(headers);
    text_free(&text);
    return status;
}

/* --- names --- */

/* MLflow keeps a metric in a file of that path. */
static bool is_path(const char *name)
{
    for (const char *part = name;; part += strcspn(part, "/") + 1) {
        const size_t len = strcspn(part, "/");
        if (len == 0 || (len == 1 && part[0] == '.') ||
            (len == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        if (part[len] == '\0')
            return true;
    }
}

const char *mlflow_name(struct arena *arena, const char *name)
{
    struct text out = {0};
    const char *const fine = is_path(name) ? "_-. :/" : "_- :";
    for (const char *at = name; *at != '\0'; at++)
        if (isalnum((unsigned char)*at) || strchr(fine, *at) != NULL)
            text_append(&out, at, 1);
        else
            text_printf(&out, "_x%02X_", (unsigned)(unsigned char)*at);
    return text_take(&out, arena);
}

const char *mlflow_quoted(struct mlflow_server *server, struct arena *arena,
                          const char *text)
{
    char *quoted = curl_easy_escape(server->curl, text, 0);
    const char *copy = arena_strdup(arena, quoted);
    curl_free(quoted);
    return copy;
}
