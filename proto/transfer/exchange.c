#include "proto/transfer/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "proto/base/clock.h"
#include "proto/base/memory.h"
#include "proto/doc/refusal.h"

enum {
    CONNECT_MS = 10000,
    FIRST_PAUSE_MS = 100, /* before a request is sent again */
    LAST_PAUSE_MS = 5000,
    CUT_STEP = 16, /* answers for one more lane after a cut */
    MOST_STEP = 128,
    QUIET = 256,  /* answers after which earlier cuts are forgotten */
    POLL_MS = 250 /* until `stopped` is looked at again */
};

enum lane_state {
    LANE_FREE,
    LANE_WAITS, /* to be sent, or sent again */
    LANE_SENT
};

struct lane {
    enum lane_state state;
    CURL *easy;
    struct exchange exchange;
    size_t from; /* bytes of the answer that an earlier try received */
    bool begun;  /* this try has received something */
    char why[CURL_ERROR_SIZE];
};

struct exchanges {
    const struct transfer_settings *settings;
    CURLM *multi;
    struct lane lanes[EXCHANGE_LANES];
    struct curl_slist *headers[EXCHANGE_TYPES];
    struct text url; /* of the project */
    bool found;      /* the server, since the last cut */
    struct trust trust;
    size_t at_once, sent;  /* lanes that may be used, and are */
    size_t answered, step; /* since the last cut; for one more lane */
    int64_t pause_ms, again_at, moved_at;
};

/* ---- the server ---- */

static struct curl_slist *add_header(struct curl_slist *list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(list, line);
    if (longer == NULL)
        ht_out_of_memory();
    return longer;
}

static void drop_headers(struct exchanges *exchanges)
{
    for (int i = 0; i < EXCHANGE_TYPES; i++) {
        curl_slist_free_all(exchanges->headers[i]);
        exchanges->headers[i] = NULL;
    }
}

/* The server answers 100 late; bodies would wait for it. */
static void make_headers(struct exchanges *exchanges, const char *token)
{
    static const char *const types[EXCHANGE_TYPES] = {
        "Accept: */*", "Content-Type: application/json",
        "Content-Type: application/octet-stream"};
    struct text line = {0};
    drop_headers(exchanges);
    if (token != NULL)
        text_printf(&line, "Authorization: Bearer %s", token);
    for (int i = 0; i < EXCHANGE_TYPES; i++) {
        struct curl_slist *list = add_header(NULL, types[i]);
        list = add_header(list, "Expect:");
        if (token != NULL)
            list = add_header(list, line.data);
        exchanges->headers[i] = list;
    }
    text_free(&line);
}

static enum ht_status find(struct exchanges *exchanges, struct ht_error *err)
{
    const struct transfer_settings *settings = exchanges->settings;
    struct transfer_server server = {.url = NULL};
    enum ht_status status = settings->find(settings->context, &server, err);
    if (status == HT_OK)
        status =
            trust_check(&server.trust, server.url, server.token != NULL, err);
    if (status != HT_OK)
        return status;
    const size_t len = strlen(server.url);
    char *project = curl_easy_escape(NULL, settings->project, 0);
    if (project == NULL)
        ht_out_of_memory();
    text_clear(&exchanges->url);
    exchanges->found = true;
    text_printf(&exchanges->url, "%s%shypertune/v1/projects/%s/", server.url,
                len > 0 && server.url[len - 1] == '/' ? "" : "/", project);
    curl_free(project);
    exchanges->trust = server.trust;
    make_headers(exchanges, server.token);
    return HT_OK;
}

/* ---- one request ---- */

static size_t receive(char *bytes, size_t size, size_t n, void *context)
{
    struct lane *lane = context;
    struct text *answer = &lane->exchange.answer;
    long code = 0;
    if (!lane->begun) {
        curl_easy_getinfo(lane->easy, CURLINFO_RESPONSE_CODE, &code);
        if (code != 206) /* all of it comes, or other words */
            text_clear(answer);
    }
    lane->begun = true;
    if (answer->len + size * n > lane->exchange.most)
        return 0; /* makes curl fail */
    text_append(answer, bytes, size * n);
    return size * n;
}

static void set_up(struct exchanges *exchanges, struct lane *lane)
{
    const struct exchange *exchange = &lane->exchange;
    CURL *easy = lane->easy;
    struct text url = {0};
    char range[32];
    text_printf(&url, "%s%s", exchanges->url.data, exchange->path);
    curl_easy_reset(easy); /* keeps the connection */
    trust_apply(&exchanges->trust, easy);
    curl_easy_setopt(easy, CURLOPT_URL, url.data);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, lane);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, lane->why);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "hypertune/" HT_VERSION);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, exchange->wait_s);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, exchange->method);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER,
                     exchanges->headers[exchange->type]);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, lane);
    if (exchange->type != EXCHANGE_EMPTY) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                         (curl_off_t)exchange->len);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, exchange->body);
    }
    if (lane->from > 0) {
        (void)snprintf(range, sizeof range, "%zu-", lane->from);
        curl_easy_setopt(easy, CURLOPT_RANGE, range);
    }
    text_free(&url);
}

static void send_lane(struct exchanges *exchanges, struct lane *lane)
{
    lane->from = lane->exchange.answer.len;
    lane->begun = false;
    lane->why[0] = '\0';
    set_up(exchanges, lane);
    if (curl_multi_add_handle(exchanges->multi, lane->easy) != CURLM_OK)
        ht_out_of_memory();
    lane->state = LANE_SENT;
    exchanges->sent++;
}

static void free_lane(struct lane *lane)
{
    text_free(&lane->exchange.answer);
    lane->state = LANE_FREE;
}

/* ---- answers ---- */

enum ht_status exchange_refusal(const struct exchange *exchange,
                                struct ht_error *err)
{
    return refusal_parse(text_string(&exchange->answer), exchange->answer.len,
                         exchange->code, err);
}

/* A server that is busy, restarts, or is behind a proxy that waits for it. */
static bool asks_again(long code)
{
    return code == 408 || code == 429 ||
           (code >= 500 && code != 501 && code != 507);
}

static enum ht_status be_unavailable(const struct exchange *exchange,
                                     struct ht_error *err)
{
    struct ht_error why;
    exchange_refusal(exchange, &why);
    return ht_fail(err, HT_UNAVAILABLE, "%s", why.text);
}

/* Of a request that got no answer: HT_UNAVAILABLE, or why it never will. */
static enum ht_status fail_lane(const struct exchanges *exchanges,
                                const struct lane *lane, CURLcode code,
                                struct ht_error *err)
{
    const char *url = exchanges->url.data;
    if (trust_check_refusal(url, lane->why, err) != HT_OK)
        return HT_DENIED;
    if (trust_is_lacking((int)code))
        return ht_fail(err, HT_DENIED, "no trust in %.100s: %.120s", url,
                       curl_easy_strerror(code));
    return ht_fail(err, HT_UNAVAILABLE, "%.120s: %s", url,
                   curl_easy_strerror(code));
}

/* It is sent again, and others wait for its answer. What it had of an answer
 * stays only where that was a part of what is wanted. */
static void repeat(struct exchanges *exchanges, struct lane *lane, bool keep)
{
    const int64_t now = clock_monotonic_ms();
    struct text *answer = &lane->exchange.answer;
    if (!keep || lane->exchange.type != EXCHANGE_EMPTY)
        text_clear(answer);
    if (answer->len > lane->from)
        exchanges->moved_at = now;
    lane->state = LANE_WAITS;
    exchanges->at_once = 1;
    exchanges->step = exchanges->step < CUT_STEP        ? CUT_STEP
                      : 2 * exchanges->step < MOST_STEP ? 2 * exchanges->step
                                                        : MOST_STEP;
    exchanges->answered = 0;
    exchanges->again_at = now + exchanges->pause_ms;
    exchanges->pause_ms = 2 * exchanges->pause_ms < LAST_PAUSE_MS
                              ? 2 * exchanges->pause_ms
                              : LAST_PAUSE_MS;
    exchanges->found = false;
}

/* What is under way at a cut is sent twice, so where that happens again and
 * again there is little of it. */
static void widen(struct exchanges *exchanges)
{
    const size_t lanes = exchanges->settings->lanes;
    const size_t most =
        lanes > 0 && lanes < EXCHANGE_LANES ? lanes : EXCHANGE_LANES;
    exchanges->answered++;
    if (exchanges->answered >= QUIET)
        exchanges->step = 1;
    if (exchanges->answered % exchanges->step == 0 && exchanges->at_once < most)
        exchanges->at_once++;
}

static enum ht_status end_lane(struct exchanges *exchanges, struct lane *lane,
                               CURLcode code,
                               const struct exchange_source *source,
                               struct ht_error *err)
{
    struct exchange *exchange = &lane->exchange;
    curl_easy_getinfo(lane->easy, CURLINFO_RESPONSE_CODE, &exchange->code);
    const bool partial = exchange->code == 200 || exchange->code == 206;
    enum ht_status status;
    if (code != CURLE_OK)
        status = fail_lane(exchanges, lane, code, err);
    else if (asks_again(exchange->code))
        status = be_unavailable(exchange, err);
    else
        status = source->take(source->context, exchange, err);
    if (status == HT_UNAVAILABLE) {
        repeat(exchanges, lane, code != CURLE_OK && partial);
        return HT_OK;
    }
    free_lane(lane);
    exchanges->moved_at = clock_monotonic_ms();
    exchanges->pause_ms = FIRST_PAUSE_MS;
    widen(exchanges);
    return status;
}

static enum ht_status take_answers(struct exchanges *exchanges,
                                   const struct exchange_source *source,
                                   struct ht_error *err)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(exchanges->multi, &left)) != NULL) {
        char *lane = NULL;
        const CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &lane);
        curl_multi_remove_handle(exchanges->multi, message->easy_handle);
        exchanges->sent--;
        const enum ht_status status =
            end_lane(exchanges, (struct lane *)(void *)lane, code, source, err);
        if (status != HT_OK)
            return status;
    }
    return HT_OK;
}

/* ---- all of them ---- */

/* Requests that wait come first. *left: some are under way, wait, or may come
 * after the pause. */
static enum ht_status fill_lanes(struct exchanges *exchanges,
                                 const struct exchange_source *source,
                                 bool *left, struct ht_error *err)
{
    const bool may_send = clock_monotonic_ms() >= exchanges->again_at;
    enum ht_status status = HT_OK;
    bool has = true;
    *left = !may_send;
    if (may_send && !exchanges->found)
        status = find(exchanges, err);
    for (int waiting = 1; status == HT_OK && waiting >= 0; waiting--) {
        for (size_t i = 0; status == HT_OK && i < EXCHANGE_LANES; i++) {
            struct lane *lane = &exchanges->lanes[i];
            const bool room = may_send && exchanges->sent < exchanges->at_once;
            *left |= lane->state != LANE_FREE;
            if (lane->state == LANE_FREE && !waiting && room && has) {
                lane->exchange = (struct exchange){.lane = i};
                status =
                    source->next(source->context, &lane->exchange, &has, err);
                if (status == HT_OK && has)
                    lane->state = LANE_WAITS;
            }
            if (status == HT_OK && lane->state == LANE_WAITS && room)
                send_lane(exchanges, lane);
            *left |= lane->state != LANE_FREE;
        }
    }
    return status;
}

static bool is_stopped(const struct exchanges *exchanges)
{
    const atomic_bool *stopped = exchanges->settings->stopped;
    return stopped != NULL && atomic_load(stopped);
}

static enum ht_status run(struct exchanges *exchanges,
                          const struct exchange_source *source,
                          struct ht_error *err)
{
    exchanges->moved_at = clock_monotonic_ms();
    for (;;) {
        bool left;
        int running;
        if (is_stopped(exchanges))
            return ht_fail(err, HT_UNAVAILABLE, "the transfer was ended");
        enum ht_status status = fill_lanes(exchanges, source, &left, err);
        if (status == HT_UNAVAILABLE) { /* the server's place is not known */
            exchanges->again_at = clock_monotonic_ms() + LAST_PAUSE_MS;
            left = true;
            status = HT_OK;
        }
        if (status != HT_OK || !left)
            return status;
        curl_multi_perform(exchanges->multi, &running);
        status = take_answers(exchanges, source, err);
        if (status != HT_OK)
            return status;
        const int64_t now = clock_monotonic_ms();
        if (exchanges->sent == 0 &&
            now - exchanges->moved_at > exchanges->settings->patience_ms)
            return HT_UNAVAILABLE;
        int64_t wait = exchanges->again_at - now;
        if (wait <= 0 || exchanges->sent > 0)
            wait = exchanges->sent > 0 ? POLL_MS : 0;
        curl_multi_poll(exchanges->multi, NULL, 0,
                        (int)(wait < POLL_MS ? wait : POLL_MS), NULL);
    }
}

enum ht_status exchanges_run(struct exchanges *exchanges,
                             const struct exchange_source *source,
                             struct ht_error *err)
{
    struct ht_error own;
    const enum ht_status status = run(exchanges, source, &own);
    if (status != HT_OK && err != NULL)
        *err = own; /* it is also of what succeeded later */
    for (size_t i = 0; i < EXCHANGE_LANES; i++) {
        struct lane *lane = &exchanges->lanes[i];
        if (lane->state == LANE_SENT)
            curl_multi_remove_handle(exchanges->multi, lane->easy);
        free_lane(lane);
    }
    exchanges->sent = 0;
    return status;
}

struct exchanges *exchanges_new(const struct transfer_settings *settings)
{
    struct exchanges *exchanges = ht_xcalloc(1, sizeof *exchanges);
    exchanges->settings = settings;
    exchanges->at_once = exchanges->step = 1;
    exchanges->pause_ms = FIRST_PAUSE_MS;
    exchanges->multi = curl_multi_init();
    if (exchanges->multi == NULL)
        ht_out_of_memory();
    for (size_t i = 0; i < EXCHANGE_LANES; i++) {
        exchanges->lanes[i].easy = curl_easy_init();
        if (exchanges->lanes[i].easy == NULL)
            ht_out_of_memory();
    }
    return exchanges;
}

void exchanges_free(struct exchanges *exchanges)
{
    if (exchanges == NULL)
        return;
    for (size_t i = 0; i < EXCHANGE_LANES; i++)
        curl_easy_cleanup(exchanges->lanes[i].easy);
    curl_multi_cleanup(exchanges->multi);
    drop_headers(exchanges);
    text_free(&exchanges->url);
    free(exchanges);
}

/* ---- one alone ---- */

struct call {
    const struct exchange *request;
    struct text *answer;
    long *code;
    bool asked;
};

static enum ht_status next_call(void *context, struct exchange *exchange,
                                bool *has, struct ht_error *err)
{
    struct call *call = context;
    (void)err;
    *has = !call->asked;
    if (*has)
        *exchange = *call->request;
    call->asked = true;
    return HT_OK;
}

static enum ht_status take_call(void *context, struct exchange *exchange,
                                struct ht_error *err)
{
    struct call *call = context;
    const bool conflict = call->code != NULL && exchange->code == 409;
    if (exchange->code >= 300 && !conflict)
        return exchange_refusal(exchange, err);
    if (call->code != NULL)
        *call->code = exchange->code;
    *call->answer = exchange->answer;
    exchange->answer = (struct text){0};
    return HT_OK;
}

enum ht_status exchanges_call(struct exchanges *exchanges,
                              const struct exchange *request,
                              struct text *answer, long *code,
                              struct ht_error *err)
{
    struct call call = {request, answer, code, false};
    const struct exchange_source source = {&call, next_call, take_call};
    return exchanges_run(exchanges, &source, err);
}
