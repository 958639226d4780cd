#include "hypertune/cli/frame/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "proto/base/clock.h"
#include "proto/doc/diag.h"
#include "proto/doc/node.h"
#include "proto/doc/refusal.h"

enum {
    CONNECT_MS = 5000,
    REQUEST_MS = 30000,
    REOPEN_MS = 1000,              /* between tries to open the stream */
    MAX_ANSWER = 256 * 1024 * 1024 /* bytes; a list page is far below */
};

struct cli_http {
    char *url, *token;
    CURL *easy;
    struct curl_slist *headers;
    int64_t timeout_ms;
    struct trust trust;
    char why[CURL_ERROR_SIZE]; /* of the newest failure */
    bool answered;             /* the newest request was */
    CURLM *multi;              /* event stream, made on first use */
    CURL *stream;
    struct curl_slist *stream_headers;
    bool streaming, woken;
    int64_t reopen_at_ms;
};

static struct curl_slist *add_header(struct curl_slist *list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(list, line);
    if (longer == NULL)
        abort();
    return longer;
}

static struct curl_slist *add_token(struct curl_slist *list, const char *token)
{
    if (token == NULL)
        return list;
    struct text line = {0};
    text_printf(&line, "Authorization: Bearer %s", token);
    list = add_header(list, line.data);
    text_free(&line);
    return list;
}

struct cli_http *cli_http_new(const struct cli_http_settings *settings)
{
    struct cli_http *http = ht_xcalloc(1, sizeof *http);
    http->url = ht_xstrdup(settings->url);
    if (settings->token != NULL)
        http->token = ht_xstrdup(settings->token);
    http->timeout_ms = settings->timeout_ms ? settings->timeout_ms : REQUEST_MS;
    http->trust = settings->trust;
    http->easy = curl_easy_init();
    if (http->easy == NULL)
        abort();
    http->headers = add_token(NULL, settings->token);
    http->headers = add_header(http->headers, "Content-Type: application/json");
    /* The server answers 100 late; large bodies would wait for it. */
    http->headers = add_header(http->headers, "Expect:");
    http->stream_headers = add_token(NULL, settings->token);
    http->stream_headers =
        add_header(http->stream_headers, "Accept: text/event-stream");
    return http;
}

void cli_http_free(struct cli_http *http)
{
    if (http == NULL)
        return;
    if (http->streaming)
        curl_multi_remove_handle(http->multi, http->stream);
    curl_easy_cleanup(http->stream);
    if (http->multi != NULL)
        curl_multi_cleanup(http->multi);
    curl_easy_cleanup(http->easy);
    curl_slist_free_all(http->headers);
    curl_slist_free_all(http->stream_headers);
    free(http->url);
    free(http->token);
    free(http);
}

const char *cli_http_url(const struct cli_http *http)
{
    return http->url;
}

const char *cli_http_token(const struct cli_http *http)
{
    return http->token;
}

const struct trust *cli_http_trust(const struct cli_http *http)
{
    return &http->trust;
}

bool cli_http_has_answered(const struct cli_http *http)
{
    return http->answered;
}

static size_t receive(char *bytes, size_t size, size_t n, void *context)
{
    struct text *body = context;
    if (body->len + size * n > MAX_ANSWER)
        return 0;
    text_append(body, bytes, size * n);
    return size * n;
}

void cli_http_prepare(void *easy, const char *url, long timeout_ms,
                      struct text *body)
{
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "hypertune/" HT_VERSION);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, body);
}

static void prepare(struct cli_http *http, CURL *easy, const char *path,
                    long timeout_ms, struct text *body)
{
    struct text url = {0};
    text_printf(&url, "%s%s", http->url, path);
    cli_http_prepare(easy, url.data, timeout_ms, body);
    trust_apply(&http->trust, easy);
    text_free(&url);
}

static enum ht_status refuse_connection(struct cli_http *http, CURLcode code,
                                        struct ht_error *err)
{
    if (code == CURLE_OPERATION_TIMEDOUT)
        return ht_fail(err, HT_TIMEOUT, "no answer from %s in time", http->url);
    http->answered = trust_check_refusal(http->url, http->why, err) != HT_OK;
    if (http->answered)
        return HT_DENIED;
    if (trust_is_lacking((int)code))
        return ht_fail(err, HT_DENIED, "no trust in %.100s: %.120s", http->url,
                       http->why[0] != '\0' ? http->why
                                            : curl_easy_strerror(code));
    long number = 0;
    char buffer[128];
    curl_easy_getinfo(http->easy, CURLINFO_OS_ERRNO, &number);
    const char *why = curl_easy_strerror(code);
    if (code == CURLE_SSL_CONNECT_ERROR)
        why = "no TLS of version 1.2 or later is spoken there";
    else if (number == ECONNREFUSED)
        why = "connection refused";
    else if (number != 0)
        why = strerror_r((int)number, buffer, sizeof buffer);
    return ht_fail(err, HT_UNAVAILABLE, "cannot reach %s (%s)", http->url, why);
}

static enum ht_status read_answer(struct arena *arena, struct text *body,
                                  struct cli_http_answer *answer,
                                  struct ht_error *err)
{
    struct cli_http_answer got = {.len = body->len};
    got.body = arena_strndup(arena, text_string(body), body->len);
    if (body->len > 0) {
        struct diag diag;
        diag_init(&diag, arena, "answer", NULL, 0);
        got.root = node_read_json(arena, got.body, got.len, &diag);
        if (got.root == NULL)
            return ht_fail(err, HT_CORRUPT,
                           "the server's answer is not JSON: %s",
                           diag.first != NULL ? diag.first->text : "empty");
    }
    *answer = got;
    return HT_OK;
}

enum ht_status cli_http_call(struct cli_http *http, struct arena *arena,
                             const struct cli_http_request *request,
                             struct cli_http_answer *answer,
                             struct ht_error *err)
{
    CURL *easy = http->easy;
    struct text received = {0};
    curl_easy_reset(easy); /* keeps the connection */
    prepare(http, easy, request->path, (long)http->timeout_ms, &received);
    http->why[0] = '\0';
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, http->why);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, http->headers);
    if (request->body != NULL)
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body);

    long code = 0;
    CURLcode rc = curl_easy_perform(easy);
    http->answered = rc == CURLE_OK;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
    enum ht_status status = rc != CURLE_OK
                                ? refuse_connection(http, rc, err)
                                : read_answer(arena, &received, answer, err);
    if (rc == CURLE_OK && code >= 400)
        status = refusal_read(status == HT_OK ? answer->root : NULL, code, err);
    text_free(&received);
    return status;
}

static size_t wake(char *bytes, size_t size, size_t n, void *context)
{
    struct cli_http *http = context;
    /* A comment (":") is the server's sign of life, no news. */
    if (size * n > 0 && bytes[0] != ':')
        http->woken = true;
    return size * n;
}

static void open_stream(struct cli_http *http)
{
    if (http->multi == NULL) {
        http->multi = curl_multi_init();
        http->stream = curl_easy_init();
        if (http->multi == NULL || http->stream == NULL)
            abort();
    }
    prepare(http, http->stream, "/hypertune/v1/events", 0, NULL);
    curl_easy_setopt(http->stream, CURLOPT_HTTPHEADER, http->stream_headers);
    curl_easy_setopt(http->stream, CURLOPT_WRITEFUNCTION, wake);
    curl_easy_setopt(http->stream, CURLOPT_WRITEDATA, http);
    /* Silence beyond three comments means that the server has ended. */
    curl_easy_setopt(http->stream, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(http->stream, CURLOPT_LOW_SPEED_TIME, 45L);
    curl_easy_setopt(http->stream, CURLOPT_FAILONERROR, 1L);
    http->streaming =
        curl_multi_add_handle(http->multi, http->stream) == CURLM_OK;
}

static void drop_ended_stream(struct cli_http *http)
{
    int left;
    CURLMsg *message = curl_multi_info_read(http->multi, &left);
    if (message == NULL || message->msg != CURLMSG_DONE)
        return;
    curl_multi_remove_handle(http->multi, http->stream);
    http->streaming = false;
    http->woken = true; /* the end of the server is news */
    http->reopen_at_ms = clock_monotonic_ms() + REOPEN_MS;
}

void cli_http_wait(struct cli_http *http, size_t n, const int fds[],
                   int timeout_ms)
{
    struct curl_waitfd extra[CLI_HTTP_MAX_FDS] = {0};
    int64_t deadline = clock_monotonic_ms() + timeout_ms;
    for (;;) {
        int64_t now = clock_monotonic_ms();
        if (!http->streaming && now >= http->reopen_at_ms)
            open_stream(http);
        int running;
        curl_multi_perform(http->multi, &running);
        drop_ended_stream(http);
        if (http->woken || now >= deadline)
            break;
        for (size_t i = 0; i < n; i++)
            extra[i] =
                (struct curl_waitfd){.fd = fds[i], .events = CURL_WAIT_POLLIN};
        curl_multi_poll(http->multi, extra, (unsigned)n, (int)(deadline - now),
                        NULL);
        if (extra[0].revents != 0 || extra[1].revents != 0)
            break;
    }
    http->woken = false;
}

char *cli_http_segment(struct arena *arena, const char *name)
{
    char *escaped = curl_easy_escape(NULL, name, 0);
    if (escaped == NULL)
        abort();
    char *copy = arena_strdup(arena, escaped);
    curl_free(escaped);
    return copy;
}
