#include "tuner/http/call.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <microhttpd.h>

#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "tuner/ask/query.h"
#include "tuner/base/budget.h"
#include "tuner/core/audit.h"
#include "tuner/core/core.h"
#include "tuner/http/dashboard.h"
#include "tuner/http/entry.h"
#include "tuner/http/gate.h"
#include "tuner/http/head.h"
#include "tuner/http/login.h"
#include "tuner/http/reply.h"
#include "tuner/http/route.h"
#include "tuner/http/sessions.h"
#include "tuner/http/sse.h"
#include "tuner/http/state.h"
#include "tuner/read/reader.h"

enum { ANSWER_MS = 60000 }; /* a lane's time for one answer */

struct call *call_new(struct http *http, struct MHD_Connection *connection,
                      struct peer *peer)
{
    struct call *call = ht_xcalloc(1, sizeof *call);
    call->http = http;
    call->connection = connection;
    call->peer = peer;
    call->req = request_new();
    call->req->owner = call;
    call->req->page_most = http->options.page_most;
    call->holders = 1;
    return call;
}

static void call_free(struct call *call)
{
    store_release(call->http->options.store, call->req->transfer);
    request_free(call->req);
    text_free(&call->body);
    free(call);
}

/* --- the list of posted calls; http->lock is held --- */

static void list_add(struct call *call)
{
    call->next = call->http->posted;
    if (call->next != NULL)
        call->next->before = call;
    call->before = NULL;
    call->http->posted = call;
}

static void list_remove(struct call *call)
{
    if (call->before != NULL)
        call->before->next = call->next;
    else
        call->http->posted = call->next;
    if (call->next != NULL)
        call->next->before = call->before;
}

static void resume_as(struct call *call, enum call_phase phase)
{
    list_remove(call);
    call->phase = phase;
    MHD_resume_connection(call->connection);
}

void call_expire(struct call *call)
{
    resume_as(call, CALL_EXPIRED);
}

void call_abandon(struct call *call)
{
    atomic_store(&call->req->abandoned, true);
    call_expire(call);
}

/* A client that sends nothing more may have closed its end for good, or only
 * its own half and waits for the answer. An interim answer, which every client
 * of HTTP/1.1 skips, makes the system of one that has gone say so, and the
 * next look at the descriptor sees that. */
void call_probe(struct call *call)
{
    static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
    if (call->probed || call->begun || !call->takes_interim)
        return;
    call->probed = true;
    if (send(peer_fd(call->peer), interim, sizeof interim - 1,
             MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        call_abandon(call);
}

/* Whether what a reader has gathered, or the store has put on its disk, is to
 * be stored by the core. */
static bool has_gathered(struct call *call)
{
    const enum route_lane lane = call->route->lane;
    const bool first =
        !call->gathered && call->req->status == HT_OK &&
        (lane == LANE_GATHER ||
         (lane == LANE_STORE && call->finishing && call->route->core != NULL));
    call->gathered |= first;
    return first;
}

/* Whether the store answers from what the core has just found. */
static bool has_found(struct call *call)
{
    const bool first = !call->gathered && call->route->lane == LANE_SEND &&
                       call->req->status == HT_OK;
    call->gathered |= first;
    return first;
}

/* Runs on the thread of the lane that answered. */
static void on_answer(struct request *req)
{
    struct call *call = req->owner;
    struct http *http = call->http;
    if (has_found(call)) {
        store_post(http->options.store, req, call->step);
        return;
    }
    if (has_gathered(call)) {
        core_post(http->options.core, req);
        return;
    }
    pthread_mutex_lock(&http->lock);
    if (call->phase == CALL_POSTED)
        resume_as(call, CALL_ANSWERED);
    bool last = --call->holders == 0;
    pthread_mutex_unlock(&http->lock);
    if (last)
        call_free(call);
}

void call_end(struct call *call)
{
    struct http *http = call->http;
    pthread_mutex_lock(&http->lock);
    if (call->phase == CALL_POSTED) {
        list_remove(call);
        call->phase = CALL_EXPIRED;
    }
    if (call->phase != CALL_READING) {
        http->n_unfinished--;
        pthread_cond_broadcast(&http->changed);
    }
    bool last = --call->holders == 0;
    pthread_mutex_unlock(&http->lock);
    atomic_store(&http->active_ms, clock_monotonic_ms());
    if (last)
        call_free(call);
}

/* --- checking the headers --- */

const char *call_header(const struct call *call, const char *name)
{
    return MHD_lookup_connection_value(call->connection, MHD_HEADER_KIND, name);
}

static uint64_t announced_bytes(const struct call *call)
{
    const char *length = call_header(call, "Content-Length");
    return length != NULL ? strtoull(length, NULL, 10) : 0;
}

bool call_is_bounded(const struct call *call)
{
    return call->is_framed && call_header(call, "Expect") == NULL &&
           announced_bytes(call) <= CALL_MOST_READ;
}

int64_t call_most_body(const struct call *call)
{
    return call->route != NULL && call->route->takes > 0 ? call->route->takes
                                                         : HT_MAX_SPEC;
}

enum ht_status call_refuse_size(const struct call *call, struct ht_error *err)
{
    return ht_fail(err, HT_TOO_LARGE, "the body is over %lld bytes",
                   (long long)call_most_body(call));
}

static enum ht_status check_stream(const struct call *call,
                                   struct ht_error *err)
{
    const char *accept = call_header(call, "Accept");
    if (call->route->lane != LANE_STREAM ||
        (accept != NULL && strstr(accept, "text/event-stream") != NULL))
        return HT_OK;
    return ht_fail(err, HT_INVALID,
                   "this is a stream: ask with Accept: text/event-stream");
}

/* One that passed the gate by its name is the principal's. */
static enum ht_status claim_connection(struct call *call, struct ht_error *err)
{
    const char *name = call->req->from.name;
    if (name[0] == '\0' || peers_claim(call->http->peers, call->peer, name))
        return HT_OK;
    call->unclaimed = true;
    return ht_fail(err, HT_LIMIT,
                   "%s has %lld connections in use, no more are given: ask "
                   "again when one is free",
                   name, (long long)budget_of(BUDGET_CONNECTIONS));
}

enum ht_status call_begin(struct call *call, const struct head *head,
                          struct ht_error *err)
{
    const char *path;
    call->is_head = strcmp(head->method, "HEAD") == 0;
    call->takes_interim = strcmp(head->version, "HTTP/1.1") == 0;
    enum ht_status status = head_check(head, &path, err);
    call->is_framed = status == HT_OK;
    if (status == HT_OK)
        status = entry_check(call, head->method, path, err);
    if (status == HT_OK)
        status = claim_connection(call, err);
    if (status == HT_OK)
        status = check_stream(call, err);
    if (status == HT_OK &&
        announced_bytes(call) > (uint64_t)call_most_body(call))
        status = call_refuse_size(call, err);
    return status;
}

/* --- to the lane --- */

struct query_pairs {
    struct arena *arena;
    struct pair *items;
    size_t n;
    bool malformed;
};

static enum MHD_Result add_pair(void *context, enum MHD_ValueKind kind,
                                const char *key, const char *value)
{
    struct query_pairs *said = context;
    (void)kind;
    value = value != NULL ? value : "";
    struct pair *item = &said->items[said->n++];
    item->name = route_decode(said->arena, key, strlen(key));
    item->value = route_decode(said->arena, value, strlen(value));
    said->malformed |= item->name == NULL || item->value == NULL;
    return said->malformed ? MHD_NO : MHD_YES;
}

static enum ht_status read_query(struct call *call, struct ht_error *err)
{
    int n = MHD_get_connection_values(call->connection, MHD_GET_ARGUMENT_KIND,
                                      NULL, NULL);
    if (n <= 0)
        return HT_OK;
    struct query_pairs said = {.arena = call->req->arena};
    said.items = arena_alloc(said.arena, (size_t)n, sizeof *said.items);
    MHD_get_connection_values(call->connection, MHD_GET_ARGUMENT_KIND, add_pair,
                              &said);
    if (said.malformed)
        return ht_fail(err, HT_INVALID,
                       "the query is not percent-encoded UTF-8");
    const struct pairs pairs = {.n = said.n, .items = said.items};
    return query_take(call->req, call->route->query, &pairs, err);
}

static enum ht_status read_body(struct call *call, struct ht_error *err)
{
    struct request *req = call->req;
    if (call->received > (uint64_t)call_most_body(call))
        return call_refuse_size(call, err);
    if (call->body.len == 0)
        return HT_OK;
    req->diag = arena_alloc(req->arena, 1, sizeof *req->diag);
    diag_init(req->diag, req->arena, "body", call->body.data, call->body.len);
    req->body =
        node_read_json(req->arena, call->body.data, call->body.len, req->diag);
    if (req->body != NULL) {
        req->diag = NULL;
        return HT_OK;
    }
    const struct diag_item *first = req->diag->first;
    return ht_fail(err, HT_INVALID, "the body is not JSON: %s at %d:%d",
                   first->text, first->line, first->column);
}

/* A line of the audit log for what the core does not handle. */
static void note(const struct call *call, enum ht_status status,
                 const char *error)
{
    const struct request *req = call->req;
    const struct audit_note line = {.from = &req->from,
                                    .peer = peer_address(call->peer),
                                    .method = req->method,
                                    .pattern = req->pattern,
                                    .study = req->study,
                                    .trial = req->trial,
                                    .status = status,
                                    .error = error};
    audit_note(call->http->options.core, &line);
}

static void note_refusal(const struct call *call, const struct ht_error *err)
{
    const bool has_line =
        call->phase != CALL_READING && call->req->audit != AUDIT_NOT;
    if (has_line)
        return;
    /* Its client learns only that there is no such project. */
    if (call->is_foreign)
        note(call, HT_DENIED, err->text);
    else if (err->status == HT_UNAUTHENTICATED || err->status == HT_DENIED ||
             err->status == HT_MISDIRECTED)
        note(call, err->status, err->text);
}

/* Whether there is a session to end; its token may have ended before it. */
static bool has_left(struct call *call)
{
    struct session session;
    struct request *req = call->req;
    if (!entry_session(call, &session))
        return false;
    req->session = session.id;
    req->session_until_s = session.until_s;
    (void)gate_find_token(call->http->options.gate, session.token, &req->from,
                          NULL);
    return true;
}

static enum ht_status answer_login(struct call *call, struct ht_error *err)
{
    struct http *http = call->http;
    struct login login = {.gate = http->options.gate,
                          .sessions = http->options.sessions,
                          .secure = call->secure,
                          .req = call->req};
    const enum ht_status status = call->route->login(&login, err);
    if (status != HT_OK)
        return status;
    call->cookie = login.cookie;
    if (call->route->core != NULL && has_left(call))
        return call_post(call, err);
    /* A stranger who logs out of nothing would push other lines out. */
    if (strcmp(call->route->method, "POST") == 0 &&
        call->req->from.name[0] != '\0')
        note(call, HT_OK, NULL);
    const struct http_reply reply = {.code = MHD_HTTP_OK,
                                     .cookie = call->cookie};
    http_queue(call->connection, &reply, &call->req->reply);
    return HT_OK;
}

static enum ht_status answer_constant(const struct call *call)
{
    const struct http_reply reply = {.code = MHD_HTTP_OK};
    struct text body = {0};
    text_puts(&body, call->route->instant);
    http_queue(call->connection, &reply, &body);
    text_free(&body);
    return HT_OK;
}

/* Suspends first, as the answer may come before this returns. */
enum ht_status call_post(struct call *call, struct ht_error *err)
{
    struct http *http = call->http;
    pthread_mutex_lock(&http->lock);
    bool closed = http->closed;
    if (!closed) {
        http->n_unfinished += call->phase == CALL_READING;
        call->phase = CALL_POSTED;
        call->holders++;
        call->posted_ms = clock_monotonic_ms();
        call->deadline_ms = call->posted_ms + ANSWER_MS;
        list_add(call);
        MHD_suspend_connection(call->connection);
    }
    pthread_mutex_unlock(&http->lock);
    if (closed)
        return ht_fail(err, HT_UNAVAILABLE, "the server is stopping");
    peers_enter(http->peers, call->peer, PEER_WORK);

    const enum route_lane lane = call->route->lane;
    call->req->handle = call->route->core;
    call->req->answer = on_answer;
    if (lane == LANE_CORE || lane == LANE_LOGIN ||
        (lane == LANE_SEND && !call->gathered))
        core_post(http->options.core, call->req);
    else if (lane == LANE_STORE || lane == LANE_SEND)
        store_post(http->options.store, call->req, call->step);
    else
        reader_post(lane == LANE_MODEL ? http->options.models
                                       : http->options.readers,
                    call->req, call->route->read);
    return HT_OK;
}

/* All has come; a body that it takes is in its transfer. */
static enum ht_status finish_for_store(struct call *call, struct ht_error *err)
{
    const char *range = call_header(call, "Range");
    if (call->route->takes > 0 && call->received == 0)
        return ht_fail(err, HT_INVALID, "the body is empty");
    if (range != NULL)
        call->req->range = arena_strdup(call->req->arena, range);
    call->step = call->route->store;
    call->finishing = true;
    return HT_OK;
}

enum ht_status call_dispatch(struct call *call, struct ht_error *err)
{
    enum ht_status status = entry_check_again(call, err);
    if (status == HT_OK)
        status = read_query(call, err);
    if (status == HT_OK)
        status = read_body(call, err);
    if (status != HT_OK)
        return status;
    switch (call->route->lane) {
    case LANE_INSTANT:
        return answer_constant(call);
    case LANE_LOGIN:
        return answer_login(call, err);
    case LANE_PAGE:
        return dashboard_answer(call->connection, call->req->file, err);
    case LANE_STORE:
    case LANE_SEND:
        status = finish_for_store(call, err);
        break;
    case LANE_CORE:
    case LANE_READER:
    case LANE_MODEL:
    case LANE_GATHER:
    case LANE_STREAM:
        break;
    }
    return status == HT_OK ? call_post(call, err) : status;
}

/* --- answering --- */

bool call_refuse(struct call *call, const struct ht_error *err, bool close)
{
    struct http_reply reply = {
        .code = ht_status_http(err->status),
        .allow = err->status == HT_NO_METHOD ? call->allow : NULL,
        .close = close,
    };
    struct text body = {0};
    http_error_text(&body, err,
                    call->phase == CALL_EXPIRED ? NULL : call->req->diag,
                    call->phase == CALL_EXPIRED ? NULL : call->req->missing);
    bool queued = http_queue(call->connection, &reply, &body);
    text_free(&body);
    note_refusal(call, err);
    return queued;
}

bool call_is_answered(struct call *call)
{
    pthread_mutex_lock(&call->http->lock);
    bool answered = call->phase == CALL_ANSWERED;
    pthread_mutex_unlock(&call->http->lock);
    return answered;
}

enum { BLOCK_BYTES = 16384 };

/* Called by the library whenever the connection takes more. */
static ssize_t produce(void *context, uint64_t position, char *buffer,
                       size_t room)
{
    struct call *call = context;
    struct request *req = call->req;
    (void)position;
    if (!call_is_answered(call) || req->status != HT_OK)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (call->sent == req->reply.len) {
        if (!req->more)
            return MHD_CONTENT_READER_END_OF_STREAM;
        text_clear(&req->reply);
        call->sent = 0;
        struct ht_error stopping;
        return call_post(call, &stopping) == HT_OK
                   ? 0
                   : MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (call->sent == 0)
        peers_enter(call->http->peers, call->peer, PEER_ANSWER);
    const size_t left = req->reply.len - call->sent;
    const size_t n = left < room ? left : room;
    memcpy(buffer, req->reply.data + call->sent, n);
    call->sent += n;
    return (ssize_t)n;
}

/* Begins the answer with the piece in req->reply; false when there is no
 * memory. A later piece that fails cuts the connection, since the status line
 * has been sent. */
static bool begin_pieces(struct call *call, bool close)
{
    char header[80];
    struct transfer_range range;
    const bool known = transfer_goes(call->req->transfer, &range);
    struct MHD_Response *response = MHD_create_response_from_callback(
        known ? (uint64_t)range.bytes : MHD_SIZE_UNKNOWN, BLOCK_BYTES, produce,
        call, NULL);
    struct http_reply reply = {.code = MHD_HTTP_OK,
                               .type = call->req->reply_type,
                               .name = call->req->reply_name,
                               .close = close};
    if (response == NULL)
        return false;
    if (known && range.partial) {
        snprintf(header, sizeof header, "bytes %lld-%lld/%lld",
                 (long long)range.begin,
                 (long long)(range.begin + range.bytes - 1),
                 (long long)range.total);
        reply.code = MHD_HTTP_PARTIAL_CONTENT;
        reply.range = header;
    }
    call->begun = true;
    if (call->is_head && !known)
        http_fit_head(response);
    return http_queue_response(call->connection, &reply, response);
}

static bool send_reply(struct call *call, bool close)
{
    struct transfer_range range;
    if (call->req->more || transfer_goes(call->req->transfer, &range))
        return begin_pieces(call, close);
    struct http_reply reply = {.code = MHD_HTTP_OK,
                               .type = call->req->reply_type,
                               .cookie = call->cookie,
                               .close = close};
    return http_queue(call->connection, &reply, &call->req->reply);
}

static void attach_stream(const struct call *call, struct ht_error *err)
{
    const struct sse_client client = {call->connection, call->req->from.project,
                                      call->req->from.study, call->is_head};
    sse_attach(call->http->options.sse, &client, err);
}

bool call_finish(struct call *call)
{
    struct http *http = call->http;
    struct ht_error err = {0};
    struct transfer_range none;
    bool answered = call_is_answered(call);
    pthread_mutex_lock(&http->lock);
    bool stopping = http->stopping;
    pthread_mutex_unlock(&http->lock);
    /* While EXPIRED the request still belongs to its lane. */
    if (!answered)
        ht_fail(&err, stopping ? HT_UNAVAILABLE : HT_TIMEOUT,
                "no answer in time; it may still be carried out");
    else if (call->req->status != HT_OK)
        ht_fail(&err, call->req->status, "%s", call->req->err.text);
    else if (call->route->lane == LANE_STREAM)
        attach_stream(call, &err);
    else if (call->req->reply.len == 0 &&
             !transfer_goes(call->req->transfer, &none))
        ht_fail(&err, HT_INTERNAL, "the handler gave no answer");
    else
        return send_reply(call, stopping);
    if (err.status == HT_OK)
        return true; /* a stream has begun */
    return call_refuse(call, &err, stopping);
}
