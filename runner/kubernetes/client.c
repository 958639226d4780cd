#include "runner/kubernetes/client.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <curl/curl.h>

#include "proto/base/clock.h"
#include "proto/base/secret_file.h"
#include "proto/base/text.h"
#include "proto/base/token.h"
#include "runner/kubernetes/login.h"
#include "runner/kubernetes/refusal.h"
#include "runner/kubernetes/reply.h"

enum {
    CONNECT_MS = 10000,
    MOST_BYTES = 64 * 1024 * 1024, /* of an answer in one piece */
    MOST_WORDS = 256 * 1024,       /* of a refusal; the rest is not needed */
    MOST_RETRY_S = 60,             /* whatever Retry-After says */
    MOST_FAILURES = 3              /* of the connection, in one call */
};

struct kube {
    const struct kube_config *config;
    struct kube_login *login;
    CURL *curl;
    char *host; /* of the server: "HOST:PORT" */
    atomic_bool aborted;
    int abort_fd; /* readable once aborted */
};

/* "HOST:PORT" of "https://HOST:PORT/PATH". */
static char *host_of(const char *server)
{
    const char *from = strstr(server, "://") + 3;
    char *host = ht_xstrdup(from);
    host[strcspn(host, "/")] = '\0';
    return host;
}

struct kube *kube_new(const struct kube_config *config)
{
    struct kube *kube = ht_xcalloc(1, sizeof *kube);
    kube->config = config;
    kube->host = host_of(config->server);
    kube->login = kube_login_new(config);
    kube->curl = curl_easy_init();
    kube->abort_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (kube->curl == NULL || kube->abort_fd < 0)
        ht_out_of_memory();
    return kube;
}

void kube_free(struct kube *kube)
{
    if (kube == NULL)
        return;
    curl_easy_cleanup(kube->curl);
    kube_login_free(kube->login);
    close(kube->abort_fd);
    free(kube->host);
    free(kube);
}

void kube_abort(struct kube *kube)
{
    atomic_store(&kube->aborted, true);
    (void)eventfd_write(kube->abort_fd, 1);
}

bool kube_is_aborted(const struct kube *kube)
{
    return atomic_load(&kube->aborted);
}

bool kube_pause(struct kube *kube, int64_t ms)
{
    const int64_t end = clock_monotonic_ms() + ms;
    struct pollfd aborted = {.fd = kube->abort_fd, .events = POLLIN};
    for (int64_t left = ms; left > 0 && !kube_is_aborted(kube);
         left = end - clock_monotonic_ms())
        (void)poll(&aborted, 1, (int)left);
    return !kube_is_aborted(kube);
}

int64_t kube_backoff_ms(int failures)
{
    enum { FIRST_MS = 300, MOST_MS = 30000 };
    int64_t ms = FIRST_MS;
    for (int i = 1; i < failures && ms < MOST_MS; i++)
        ms *= 2;
    ms = ms < MOST_MS ? ms : MOST_MS;
    return ms - (int64_t)(token_random64() % (uint64_t)(ms / 3));
}

/* ---- one request and its answer ---- */

struct exchange {
    struct kube *kube;
    const struct kube_request *request;
    const struct kube_flow *flow; /* NULL: the answer is one piece */
    int64_t patience_ms;          /* of all of it; 0: the flow's silence */
    struct text answer;           /* in one piece, or a refusal */
    int64_t heard_ms;             /* when the last bytes came */
    bool silent, left, too_long;
    int code;         /* of HTTP */
    int64_t retry_ms; /* as the server wants it; 0: it says nothing */
    char words[CURL_ERROR_SIZE];
};

static bool is_success(long code)
{
    return code >= 200 && code < 300;
}

/* Returns the bytes taken; any other number makes curl end the call. */
static size_t take_bytes(char *bytes, size_t size, size_t n, void *context)
{
    struct exchange *exchange = context;
    const size_t len = size * n;
    long code = 0;
    curl_easy_getinfo(exchange->kube->curl, CURLINFO_RESPONSE_CODE, &code);
    exchange->heard_ms = clock_monotonic_ms();
    if (is_success(code) && exchange->flow != NULL) {
        exchange->left =
            !exchange->flow->take(exchange->flow->context, bytes, len);
        return exchange->left ? 0 : len;
    }
    const bool good = is_success(code);
    const bool fits =
        exchange->answer.len + len <= (good ? MOST_BYTES : MOST_WORDS);
    exchange->too_long = good && !fits;
    if (fits)
        text_append(&exchange->answer, bytes, len);
    return exchange->too_long ? 0 : len;
}

/* curl asks at least once a second; not 0 ends the transfer. */
static int is_over(void *context, curl_off_t total, curl_off_t now,
                   curl_off_t total_sent, curl_off_t sent)
{
    struct exchange *exchange = context;
    (void)total;
    (void)now;
    (void)total_sent;
    (void)sent;
    exchange->silent =
        exchange->flow != NULL &&
        clock_monotonic_ms() - exchange->heard_ms > exchange->flow->silence_ms;
    return exchange->silent || kube_is_aborted(exchange->kube);
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
    if (ticket->cert != NULL) {
        set_blob(curl, CURLOPT_SSLCERT_BLOB, ticket->cert);
        set_blob(curl, CURLOPT_SSLKEY_BLOB, ticket->key);
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

/* Under another name: curl takes the name that is checked from the URL, so
 * the way to the server is said apart from it. */
static struct curl_slist *set_route(const struct exchange *exchange)
{
    const struct kube *kube = exchange->kube;
    const struct kube_config *config = kube->config;
    const char *rest = strstr(config->server, "://") + 3;
    const bool named =
        config->tls_name != NULL && strncmp(config->server, "https", 5) == 0;
    struct curl_slist *way = NULL;
    struct text url = {0}, line = {0};
    if (named) {
        const char *bracket = strchr(kube->host, ']');
        const bool has_port =
            strchr(bracket != NULL ? bracket : kube->host, ':') != NULL;
        text_printf(&url, "https://%s%s", config->tls_name,
                    rest + strlen(kube->host));
        text_printf(&line, "::%s%s", kube->host, has_port ? "" : ":443");
        way = curl_slist_append(NULL, line.data);
        curl_easy_setopt(kube->curl, CURLOPT_CONNECT_TO, way);
    } else {
        text_puts(&url, config->server);
    }
    text_puts(&url, exchange->request->path);
    curl_easy_setopt(kube->curl, CURLOPT_URL, url.data); /* copied */
    text_free(&url);
    text_free(&line);
    return way;
}

/* ---- headers ---- */

static struct curl_slist *add_header(struct curl_slist *headers,
                                     const char *name, const char *value)
{
    struct text header = {0};
    text_printf(&header, "%s: %s", name, value);
    headers = curl_slist_append(headers, header.data);
    secret_wipe(&header);
    return headers;
}

static void free_headers(struct curl_slist *headers)
{
    for (const struct curl_slist *one = headers; one; one = one->next)
        explicit_bzero(one->data, strlen(one->data));
    curl_slist_free_all(headers);
}

static struct curl_slist *make_headers(const struct exchange *exchange,
                                       const struct kube_ticket *ticket)
{
    const struct kube_request *request = exchange->request;
    const struct kube_config *config = exchange->kube->config;
    const struct kube_user *user = &config->user;
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");
    list = add_header(list, "Accept", "application/json");
    if (request->body != NULL)
        list = add_header(list, "Content-Type",
                          request->type != NULL ? request->type
                                                : "application/json");
    if (config->tls_name != NULL)
        list = add_header(list, "Host", exchange->kube->host);
    if (ticket->token.len > 0) {
        struct text value = {0};
        text_printf(&value, "Bearer %s", ticket->token.data);
        list = add_header(list, "Authorization", value.data);
        secret_wipe(&value);
    }
    if (user->as != NULL)
        list = add_header(list, "Impersonate-User", user->as);
    if (user->as_uid != NULL)
        list = add_header(list, "Impersonate-Uid", user->as_uid);
    for (size_t i = 0; i < user->as_groups.n; i++)
        list = add_header(list, "Impersonate-Group", user->as_groups.items[i]);
    return list;
}

/* ---- the transfer ---- */

static void set_up(struct exchange *exchange, const struct kube_ticket *ticket)
{
    CURL *curl = exchange->kube->curl;
    const struct kube_request *request = exchange->request;
    const struct kube_config *config = exchange->kube->config;
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "hypertune-runner");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_over);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, exchange);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, exchange->words);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)exchange->patience_ms);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPIDLE, 15L);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPINTVL, 5L);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
    if (request->body != NULL)
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
    if (config->user.name != NULL) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(curl, CURLOPT_USERNAME, config->user.name);
        curl_easy_setopt(curl, CURLOPT_PASSWORD, config->user.password);
    }
    set_proxy(curl, config);
    set_trust(curl, config);
    set_certificate(curl, &config->user, ticket);
}

static enum ht_status fail_transfer(const struct exchange *exchange,
                                    CURLcode code, struct ht_error *err)
{
    const char *server = exchange->kube->config->server;
    long reason = 0;
    curl_easy_getinfo(exchange->kube->curl, CURLINFO_OS_ERRNO, &reason);
    if (kube_is_aborted(exchange->kube))
        return ht_fail(err, HT_UNAVAILABLE, "%s: aborted", server);
    if (exchange->too_long)
        return ht_fail(err, HT_INTERNAL,
                       "%s: an answer of more than %d MiB is not read", server,
                       MOST_BYTES / 1024 / 1024);
    if (exchange->silent || code == CURLE_OPERATION_TIMEDOUT)
        return ht_fail(err, HT_UNAVAILABLE, "%s did not answer in time",
                       server);
    if (code == CURLE_COULDNT_CONNECT && reason != 0)
        return ht_fail(err, HT_UNAVAILABLE, "%s cannot be reached: %s", server,
                       strerrordesc_np((int)reason));
    return ht_fail(err, HT_UNAVAILABLE, "%s cannot be reached: %s", server,
                   exchange->words[0] != '\0' ? exchange->words
                                              : curl_easy_strerror(code));
}

/* One request as it is; HT_OK: there is an answer with exchange->code. */
static enum ht_status transfer(struct exchange *exchange, struct ht_error *err)
{
    struct kube *kube = exchange->kube;
    struct kube_ticket ticket = {.cert = NULL};
    if (kube_is_aborted(kube))
        return fail_transfer(exchange, CURLE_OK, err);
    const enum ht_status status = kube_login_get(kube->login, &ticket, err);
    if (status != HT_OK)
        return status;
    curl_easy_reset(kube->curl); /* keeps the connection */
    text_clear(&exchange->answer);
    exchange->words[0] = '\0';
    exchange->heard_ms = clock_monotonic_ms();
    struct curl_slist *way = set_route(exchange);
    struct curl_slist *headers = make_headers(exchange, &ticket);
    secret_wipe(&ticket.token);
    set_up(exchange, &ticket);
    curl_easy_setopt(kube->curl, CURLOPT_HTTPHEADER, headers);
    const CURLcode code = curl_easy_perform(kube->curl);
    long http = 0;
    curl_off_t retry_s = 0;
    curl_easy_getinfo(kube->curl, CURLINFO_RESPONSE_CODE, &http);
    curl_easy_getinfo(kube->curl, CURLINFO_RETRY_AFTER, &retry_s);
    exchange->code = (int)http;
    exchange->retry_ms =
        (retry_s < MOST_RETRY_S ? retry_s : MOST_RETRY_S) * 1000;
    free_headers(headers);
    curl_slist_free_all(way);
    return code == CURLE_OK || exchange->left
               ? HT_OK
               : fail_transfer(exchange, code, err);
}

/* What is behind an ingress or a proxy may be a page, and no Status. */
static enum ht_status refuse(struct exchange *exchange, struct ht_error *err)
{
    const struct kube *kube = exchange->kube;
    struct arena *arena = arena_new();
    enum ht_status status = kube_refuse(
        arena, exchange->code, kube_reply_read(arena, &exchange->answer), err);
    if (status == HT_UNAUTHENTICATED)
        status = ht_fail(err, status, "%s does not accept %s",
                         kube->config->server, kube_login_words(kube->login));
    arena_free(arena);
    return status;
}

/* The transfer, once more with new credentials where there are some. */
static enum ht_status exchange_once(struct exchange *exchange,
                                    struct ht_error *err)
{
    enum ht_status status = transfer(exchange, err);
    if (status == HT_OK && exchange->code == 401 &&
        kube_login_refused(exchange->kube->login))
        status = transfer(exchange, err);
    return status;
}

/* ---- calls ---- */

/* How long to wait before one more try; -1: there is none. */
static int64_t find_pause(const struct exchange *exchange,
                          enum ht_status status, int failures)
{
    const char *method = exchange->request->method;
    const bool repeats =
        strcmp(method, "GET") == 0 || strcmp(method, "DELETE") == 0;
    const int64_t backoff_ms = kube_backoff_ms(failures);
    if (status == HT_UNAVAILABLE)
        return repeats && failures < MOST_FAILURES ? backoff_ms : -1;
    if (status != HT_OK || (exchange->code != 429 &&
                            (exchange->code < 500 || exchange->retry_ms == 0)))
        return -1;
    return backoff_ms > exchange->retry_ms ? backoff_ms
                                           : exchange->retry_ms + backoff_ms;
}

static enum ht_status try_until(struct exchange *exchange, int64_t deadline_ms,
                                struct ht_error *err)
{
    for (int failures = 1;; failures++) {
        const int64_t left_ms = deadline_ms - clock_monotonic_ms();
        exchange->patience_ms = left_ms > 1 ? left_ms : 1;
        const enum ht_status status = exchange_once(exchange, err);
        const int64_t pause_ms = find_pause(exchange, status, failures);
        if (pause_ms < 0 || clock_monotonic_ms() + pause_ms >= deadline_ms ||
            !kube_pause(exchange->kube, pause_ms))
            return status;
    }
}

enum ht_status kube_call(struct kube *kube, const struct kube_request *request,
                         struct arena *arena, const struct node **answer,
                         struct ht_error *err)
{
    struct exchange exchange = {.kube = kube, .request = request};
    enum ht_status status =
        try_until(&exchange, clock_monotonic_ms() + KUBE_PATIENCE_MS, err);
    if (status == HT_OK && !is_success(exchange.code))
        status = refuse(&exchange, err);
    if (status == HT_OK) {
        const struct node *read = kube_reply_read(arena, &exchange.answer);
        if (read != NULL)
            *answer = read;
        else
            status = ht_fail(err, HT_INTERNAL, "%s: the answer is no JSON",
                             kube->config->server);
    }
    text_free(&exchange.answer);
    return status;
}

enum ht_status kube_stream(struct kube *kube, const char *path,
                           const struct kube_flow *flow, int64_t *retry_ms,
                           struct ht_error *err)
{
    const struct kube_request request = {.method = "GET", .path = path};
    struct exchange exchange = {
        .kube = kube, .request = &request, .flow = flow};
    enum ht_status status = exchange_once(&exchange, err);
    if (status == HT_OK && !is_success(exchange.code))
        status = refuse(&exchange, err);
    *retry_ms = exchange.retry_ms;
    text_free(&exchange.answer);
    return status;
}
