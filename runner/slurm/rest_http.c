#include "runner/slurm/rest_http.h"

#include <pwd.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>

#include "proto/base/clock.h"
#include "proto/base/secret_file.h"
#include "proto/base/text.h"
#include "runner/base/json.h"
#include "runner/docker/registry_auth.h"

enum {
    CONNECT_MS = 5000,
    MOST_BYTES = 256 * 1024 * 1024, /* all jobs of a cluster: 4 KB each */
    MOST_TOKEN = 16384
};

struct rest_http {
    char *text;       /* the address as it was given */
    char *socket;     /* path of a unix socket, or NULL */
    char *base;       /* of URLs, without a path */
    char *token_file; /* or NULL */
    CURL *curl;
    atomic_bool aborted;
};

/* ---- the address ---- */

static enum ht_status read_address(struct rest_http *http, struct ht_error *err)
{
    static const char local[] = "unix:";
    const char *text = http->text;
    if (strncmp(text, local, strlen(local)) == 0) {
        text += strlen(local);
        text += strncmp(text, "//", 2) == 0 ? 2 : 0;
        if (text[0] == '/') {
            http->socket = ht_xstrdup(text);
            http->base = ht_xstrdup("http://localhost");
            return HT_OK;
        }
    } else if (strncmp(text, "http://", 7) == 0 ||
               strncmp(text, "https://", 8) == 0) {
        http->base = ht_xstrdup(text);
        for (size_t n = strlen(text); n > 0 && http->base[n - 1] == '/'; n--)
            http->base[n - 1] = '\0';
        return HT_OK;
    }
    return ht_fail(err, HT_INVALID,
                   "%s is no address of slurmrestd: write unix:/PATH, "
                   "http://HOST:PORT or https://HOST:PORT",
                   text);
}

enum ht_status rest_http_new(const struct slurm_settings *settings,
                             struct rest_http **http, struct ht_error *err)
{
    struct rest_http *made = ht_xcalloc(1, sizeof *made);
    made->text = ht_xstrdup(settings->rest);
    if (settings->token_file != NULL)
        made->token_file = ht_xstrdup(settings->token_file);
    made->curl = curl_easy_init();
    if (made->curl == NULL)
        ht_out_of_memory();
    const enum ht_status status = read_address(made, err);
    if (status == HT_OK)
        *http = made;
    else
        rest_http_free(made);
    return status;
}

void rest_http_free(struct rest_http *http)
{
    if (http == NULL)
        return;
    curl_easy_cleanup(http->curl);
    free(http->text);
    free(http->socket);
    free(http->base);
    free(http->token_file);
    free(http);
}

void rest_http_abort(struct rest_http *http)
{
    http->aborted = true;
}

const char *rest_http_address(const struct rest_http *http)
{
    return http->text;
}

/* ---- who we are ---- */

static enum ht_status read_token(const struct rest_http *http,
                                 struct text *token, struct ht_error *err)
{
    const enum ht_status status =
        secret_file_read(http->token_file, token, err);
    if (status != HT_OK)
        return status;
    while (token->len > 0 && strchr(" \n\r\t", token->data[token->len - 1]))
        token->data[--token->len] = '\0';
    static const char sign[] = "SLURM_JWT="; /* as scontrol prints it */
    const size_t skip =
        strncmp(text_string(token), sign, strlen(sign)) == 0 ? strlen(sign) : 0;
    const size_t len = token->len - skip;
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789-_.=";
    if (len == 0 || len > MOST_TOKEN ||
        strspn(token->data + skip, allowed) != len)
        return ht_fail(err, HT_INVALID, "%s: there is no JSON web token in it",
                       http->token_file);
    memmove(token->data, token->data + skip, len + 1);
    token->len = len;
    return HT_OK;
}

static const char *own_name(struct arena *arena)
{
    char buffer[4096];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found) != 0 ||
        found == NULL)
        return NULL;
    return arena_strdup(arena, found->pw_name);
}

/* The user that a token of scontrol names; else this one, whom the site's own
 * tokens are for. */
static const char *user_of(struct arena *arena, const char *token)
{
    const char *claims = strchr(token, '.');
    if (claims != NULL) {
        const size_t len = strcspn(claims + 1, ".");
        char *standard = arena_strndup(arena, claims + 1, len);
        for (char *c = standard; (c = strpbrk(c, "-_")) != NULL; c++) {
            if (*c == '-')
                *c = '+';
            else
                *c = '/';
        }
        size_t n = 0;
        const char *json = registry_auth_decode(arena, standard, &n);
        const struct node *map =
            json != NULL ? json_read_map(arena, json, n) : NULL;
        const char *name = node_get_string(map, "sun", NULL);
        if (name != NULL && name[0] != '\0' && strpbrk(name, "\r\n") == NULL)
            return name;
    }
    return own_name(arena);
}

/* On a unix socket we are who we are on this machine. */
enum ht_status rest_http_user(const struct rest_http *http, struct arena *arena,
                              struct rest_user *user, struct ht_error *err)
{
    *user = (struct rest_user){NULL, geteuid()};
    if (http->token_file == NULL)
        return HT_OK;
    struct text token = {0};
    const enum ht_status status = read_token(http, &token, err);
    if (status == HT_OK)
        user->name = user_of(arena, token.data);
    secret_wipe(&token);
    return status;
}

/* ---- one request ---- */

struct reply {
    long code;
    struct text body;
    bool too_long;
};

static size_t take_bytes(char *bytes, size_t size, size_t n, void *context)
{
    struct reply *reply = context;
    const size_t len = size * n;
    reply->too_long = reply->body.len + len > MOST_BYTES;
    if (reply->too_long)
        return 0;
    text_append(&reply->body, bytes, len);
    return len;
}

/* curl asks at least once a second; not 0 ends the transfer. */
static int is_aborted(void *context, curl_off_t total, curl_off_t now,
                      curl_off_t total_sent, curl_off_t sent)
{
    const struct rest_http *http = context;
    (void)total;
    (void)now;
    (void)total_sent;
    (void)sent;
    return http->aborted;
}

static struct curl_slist *add_header(struct curl_slist *headers,
                                     const char *name, const char *value)
{
    struct text header = {0};
    text_printf(&header, "%s: %s", name, value);
    headers = curl_slist_append(headers, header.data);
    secret_wipe(&header);
    return headers;
}

/* The token's bytes stay in curl's list until the request has ended. */
static enum ht_status make_headers(const struct rest_http *http,
                                   const struct rest_request *request,
                                   struct arena *arena,
                                   struct curl_slist **headers,
                                   struct ht_error *err)
{
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");
    if (request->body != NULL)
        list = curl_slist_append(list, "Content-Type: application/json");
    if (http->token_file != NULL) {
        struct text token = {0};
        const enum ht_status status = read_token(http, &token, err);
        if (status != HT_OK) {
            secret_wipe(&token);
            curl_slist_free_all(list);
            return status;
        }
        const char *user = user_of(arena, token.data);
        if (user != NULL)
            list = add_header(list, "X-SLURM-USER-NAME", user);
        list = add_header(list, "X-SLURM-USER-TOKEN", token.data);
        secret_wipe(&token);
    }
    *headers = list;
    return HT_OK;
}

static void set_up(const struct rest_http *http,
                   const struct rest_request *request, int64_t patience_ms,
                   struct reply *reply)
{
    CURL *curl = http->curl;
    struct text url = {0};
    text_printf(&url, "%s%s", http->base, request->path);
    curl_easy_reset(curl);                         /* keeps the connection */
    curl_easy_setopt(curl, CURLOPT_URL, url.data); /* copied */
    text_free(&url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_aborted);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, http);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, reply);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)patience_ms);
    if (http->socket != NULL) {
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, http->socket);
        curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* not the environment's */
    }
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
    if (request->body != NULL) {
        /* curl sends it again by itself on a new connection when the kept one
         * was closed: two jobs of one submission. */
        curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
    }
}

static enum ht_status fail_transfer(const struct rest_http *http, CURLcode code,
                                    bool too_long, struct ht_error *err)
{
    long reason = 0;
    curl_easy_getinfo(http->curl, CURLINFO_OS_ERRNO, &reason);
    if (too_long)
        return ht_fail(err, HT_UNAVAILABLE,
                       "slurmrestd at %s: an answer of more than %d MiB is "
                       "not read",
                       http->text, MOST_BYTES / 1024 / 1024);
    if (code == CURLE_OPERATION_TIMEDOUT)
        return ht_fail(err, HT_UNAVAILABLE,
                       "slurmrestd at %s did not answer within %d s",
                       http->text, SLURM_PATIENCE_MS / 1000);
    return ht_fail(err, HT_UNAVAILABLE,
                   "slurmrestd at %s cannot be reached: %s", http->text,
                   code == CURLE_COULDNT_CONNECT && reason != 0
                       ? strerrordesc_np((int)reason)
                       : curl_easy_strerror(code));
}

static enum ht_status transfer(const struct rest_http *http,
                               const struct rest_request *request,
                               int64_t patience_ms, struct arena *arena,
                               struct reply *reply, struct ht_error *err)
{
    struct curl_slist *headers = NULL;
    enum ht_status status = make_headers(http, request, arena, &headers, err);
    if (status != HT_OK)
        return status;
    set_up(http, request, patience_ms, reply);
    curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, headers);
    const CURLcode code = curl_easy_perform(http->curl);
    curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &reply->code);
    if (code != CURLE_OK)
        status = fail_transfer(http, code, reply->too_long, err);
    for (const struct curl_slist *one = headers; one; one = one->next)
        explicit_bzero(one->data, strlen(one->data));
    curl_slist_free_all(headers);
    return status;
}

static enum ht_status fail_login(const struct rest_http *http,
                                 struct ht_error *err)
{
    if (http->token_file == NULL)
        return ht_fail(err, HT_UNAVAILABLE,
                       "slurmrestd at %s wants a token: name its file",
                       http->text);
    return ht_fail(err, HT_UNAVAILABLE,
                   "slurmrestd at %s refuses the token in %s: renew it, see "
                   "scontrol token",
                   http->text, http->token_file);
}

enum ht_status rest_http_call(struct rest_http *http,
                              const struct rest_request *request,
                              int64_t deadline_ms, struct arena *arena,
                              const struct node **answer, struct ht_error *err)
{
    struct reply reply = {0};
    struct diag diag;
    const int64_t left = deadline_ms - clock_monotonic_ms();
    *answer = NULL;
    enum ht_status status =
        transfer(http, request, left > 1 ? left : 1, arena, &reply, err);
    if (status == HT_OK && (reply.code == 401 || reply.code == 403))
        status = fail_login(http, err);
    if (status == HT_OK && reply.body.len > 0) {
        diag_init(&diag, arena, "answer", NULL, 0);
        *answer =
            node_read_long_json(arena, reply.body.data, reply.body.len, &diag);
    }
    if (status == HT_OK && *answer == NULL && reply.code == 200)
        status = ht_fail(err, HT_UNAVAILABLE,
                         "slurmrestd at %s: its answer is no JSON", http->text);
    else if (status == HT_OK)
        status = rest_check(arena, reply.code, *answer, err);
    text_free(&reply.body);
    return status;
}
