#include "runner/kubernetes/client.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "proto/base/token.h"
#include "runner/base/json.h"
#include "runner/kubernetes/connection.h"
#include "runner/kubernetes/refusal.h"
#include "runner/kubernetes/reply.h"
#include "runner/kubernetes/upgrade.h"

enum {
    MOST_BYTES = 64 * 1024 * 1024, /* of an answer in one piece */
    MOST_WORDS = 256 * 1024,       /* of a refusal; the rest is not needed */
    MOST_RETRY_MS = 60000,         /* whatever Retry-After says */
    MOST_FAILURES = 3              /* of the connection, in one call */
};

struct kube {
    const struct kube_config *config;
    struct kube_login *login;
    CURL *curl;
    atomic_bool aborted;
    int abort_fd; /* readable once aborted */
};

/* Owns the login. */
static struct kube *make_client(struct kube_login *login)
{
    struct kube *kube = ht_xcalloc(1, sizeof *kube);
    kube->config = kube_login_config(login);
    kube->login = login;
    kube->curl = curl_easy_init();
    kube->abort_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (kube->curl == NULL || kube->abort_fd < 0)
        ht_out_of_memory();
    return kube;
}

struct kube *kube_new(const struct kube_config *config)
{
    return make_client(kube_login_new(config));
}

struct kube *kube_new_beside(const struct kube *other)
{
    return make_client(kube_login_share(other->login));
}

void kube_free(struct kube *kube)
{
    if (kube == NULL)
        return;
    curl_easy_cleanup(kube->curl);
    kube_login_free(kube->login);
    close(kube->abort_fd);
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
    CURL *curl; /* the client's, or the one that becomes a WebSocket */
    const char *protocol; /* of the WebSocket; NULL: it is to be none */
    const struct kube_request *request;
    const struct kube_flow *flow; /* NULL: the answer is one piece */
    int64_t patience_ms;          /* of all of it; 0: the flow's silence */
    struct text answer;           /* in one piece, or a refusal */
    int64_t heard_ms;             /* when the last bytes came */
    bool silent, left, too_long;
    int code;         /* of HTTP */
    int64_t retry_ms; /* as the server wants it; 0: it says nothing */
    uint64_t pass;    /* of the ticket */
    char words[CURL_ERROR_SIZE];
};

static bool is_success(long code)
{
    return code >= 200 && code < 300;
}

static bool is_good(const struct exchange *exchange)
{
    return exchange->protocol != NULL ? exchange->code == 101
                                      : is_success(exchange->code);
}

/* Returns the bytes taken; any other number makes curl end the call. */
static size_t take_bytes(char *bytes, size_t size, size_t n, void *context)
{
    struct exchange *exchange = context;
    const size_t len = size * n;
    long code = 0;
    curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &code);
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

/* ---- the transfer ---- */

static void set_up(struct exchange *exchange, const struct kube_ticket *ticket)
{
    CURL *curl = exchange->curl;
    const struct kube_request *request = exchange->request;
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_over);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, exchange);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, exchange->words);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)exchange->patience_ms);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
    if (request->body != NULL)
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
    kube_connection_set(curl, exchange->kube->config, ticket);
}

static struct curl_slist *make_headers(const struct exchange *exchange,
                                       const struct kube_ticket *ticket)
{
    const struct kube_request *request = exchange->request;
    struct curl_slist *list =
        kube_connection_headers(exchange->kube->config, ticket);
    /* A kubelet refuses a WebSocket that would be JSON. */
    if (exchange->protocol == NULL)
        list = kube_connection_add(list, "Accept", "application/json");
    if (request->body != NULL)
        list = kube_connection_add(list, "Content-Type",
                                   request->type != NULL ? request->type
                                                         : "application/json");
    return list;
}

static enum ht_status fail_transfer(const struct exchange *exchange,
                                    CURLcode code, struct ht_error *err)
{
    const char *server = exchange->kube->config->server;
    long reason = 0;
    curl_easy_getinfo(exchange->curl, CURLINFO_OS_ERRNO, &reason);
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

static CURLcode perform(struct exchange *exchange, struct curl_slist *headers)
{
    long http = 0;
    curl_off_t retry_s = 0;
    /* No "Expect: 100-continue", which costs a second. */
    headers = curl_slist_append(headers, "Expect:");
    curl_easy_setopt(exchange->curl, CURLOPT_HTTPHEADER, headers);
    const CURLcode code = curl_easy_perform(exchange->curl);
    curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &http);
    curl_easy_getinfo(exchange->curl, CURLINFO_RETRY_AFTER, &retry_s);
    exchange->code = (int)http;
    exchange->retry_ms = retry_s * 1000;
    return code;
}

/* Connects, and asks for a WebSocket there. */
static CURLcode perform_upgrade(struct exchange *exchange,
                                const struct curl_slist *headers)
{
    CURL *curl = exchange->curl;
    const char *server = strstr(exchange->kube->config->server, "://") + 3;
    struct text target = {0};
    struct kube_upgraded answer = {.code = 0};
    text_printf(&target, "%s%s", server + strcspn(server, "/"),
                exchange->request->path);
    const struct kube_upgrade upgrade = {.curl = curl,
                                         .target = target.data,
                                         .headers = headers,
                                         .protocol = exchange->protocol,
                                         .deadline_ms = exchange->heard_ms +
                                                        exchange->patience_ms,
                                         .abort_fd = exchange->kube->abort_fd};
    curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTPPROXYTUNNEL, 1L);
    CURLcode code = curl_easy_perform(curl);
    if (code == CURLE_OK)
        code = kube_upgrade_ask(&upgrade, MOST_WORDS, &answer, exchange->words);
    exchange->code = answer.code;
    exchange->retry_ms = answer.retry_s * 1000;
    text_free(&exchange->answer);
    exchange->answer = answer.rest;
    /* The connection is there for longer than the exchange. */
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 1L);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
    text_free(&target);
    return code;
}

/* Keeps the connection of a client; a WebSocket wants a new one. */
static void renew(struct exchange *exchange)
{
    if (exchange->protocol == NULL) {
        curl_easy_reset(exchange->curl);
        return;
    }
    curl_easy_cleanup(exchange->curl);
    exchange->curl = curl_easy_init();
    if (exchange->curl == NULL)
        ht_out_of_memory();
}

/* One request as it is; HT_OK: there is an answer with exchange->code. */
static enum ht_status transfer(struct exchange *exchange, struct ht_error *err)
{
    struct kube *kube = exchange->kube;
    struct kube_ticket ticket;
    if (kube_is_aborted(kube))
        return fail_transfer(exchange, CURLE_OK, err);
    const enum ht_status status = kube_login_get(kube->login, &ticket, err);
    if (status != HT_OK) {
        kube_ticket_wipe(&ticket);
        return status;
    }
    exchange->pass = ticket.pass;
    renew(exchange);
    text_clear(&exchange->answer);
    exchange->words[0] = '\0';
    exchange->heard_ms = clock_monotonic_ms();
    struct curl_slist *way = kube_connection_route(exchange->curl, kube->config,
                                                   exchange->request->path);
    struct curl_slist *headers = make_headers(exchange, &ticket);
    set_up(exchange, &ticket);
    kube_ticket_wipe(&ticket);
    const CURLcode code = exchange->protocol != NULL
                              ? perform_upgrade(exchange, headers)
                              : perform(exchange, headers);
    if (exchange->retry_ms > MOST_RETRY_MS)
        exchange->retry_ms = MOST_RETRY_MS;
    kube_connection_drop(headers);
    curl_slist_free_all(way);
    return code == CURLE_OK || exchange->left
               ? HT_OK
               : fail_transfer(exchange, code, err);
}

/* A Status, or the plain words of a kubelet or a proxy as the message of one.
 * NULL: a page, or nothing. */
static const struct node *read_refusal(struct arena *arena, struct text *answer)
{
    enum { MOST_PLAIN = 1000 };
    const struct node *status = kube_reply_read(arena, answer);
    if (status != NULL || answer->len == 0 || answer->len > MOST_PLAIN ||
        answer->data[0] == '<')
        return status;
    struct text clean = {0}, json = {0};
    text_clean(&clean, answer->data, answer->len);
    json_open(&json, NULL);
    json_put_string(&json, "message", text_string(&clean));
    json_close(&json);
    status = kube_reply_read(arena, &json);
    text_free(&clean);
    text_free(&json);
    return status;
}

static enum ht_status refuse(struct exchange *exchange, struct ht_error *err)
{
    const struct kube *kube = exchange->kube;
    struct arena *arena = arena_new();
    enum ht_status status = kube_refuse(
        arena, exchange->code, read_refusal(arena, &exchange->answer), err);
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
        kube_login_refused(exchange->kube->login, exchange->pass))
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
        exchange->protocol == NULL &&
        (strcmp(method, "GET") == 0 || strcmp(method, "DELETE") == 0);
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
    struct exchange exchange = {
        .kube = kube, .curl = kube->curl, .request = request};
    enum ht_status status =
        try_until(&exchange, clock_monotonic_ms() + KUBE_PATIENCE_MS, err);
    if (status == HT_OK && !is_good(&exchange))
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
        .kube = kube, .curl = kube->curl, .request = &request, .flow = flow};
    enum ht_status status = exchange_once(&exchange, err);
    if (status == HT_OK && !is_good(&exchange))
        status = refuse(&exchange, err);
    *retry_ms = exchange.retry_ms;
    text_free(&exchange.answer);
    return status;
}

enum ht_status kube_upgrade(struct kube *kube, const char *path,
                            const char *protocol, struct kube_socket *socket,
                            struct ht_error *err)
{
    const struct kube_request request = {.method = "GET", .path = path};
    struct exchange exchange = {
        .kube = kube, .protocol = protocol, .request = &request};
    enum ht_status status =
        try_until(&exchange, clock_monotonic_ms() + KUBE_PATIENCE_MS, err);
    if (status == HT_OK && !is_good(&exchange))
        status = refuse(&exchange, err);
    if (status == HT_OK) {
        *socket = (struct kube_socket){.curl = exchange.curl,
                                       .early = exchange.answer};
        return HT_OK;
    }
    curl_easy_cleanup(exchange.curl);
    text_free(&exchange.answer);
    return status;
}
