#include "runner/talk/talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "runner/attempt/attempts.h"
#include "runner/attempt/checkpoints.h"
#include "runner/attempt/discard.h"
#include "runner/attempt/outputs.h"
#include "runner/attempt/probe.h"
#include "runner/base/folder.h"
#include "runner/base/json.h"
#include "runner/reports/record_queue.h"
#include "runner/reports/records.h"
#include "runner/talk/request_thread.h"
#include "runner/talk/server_address.h"
#include "runner/talk/uplink.h"
#include "runner/transfer/output_sends.h"

enum {
    HEARTBEAT_MS = 5000,
    HEARTBEAT_LEAST_MS = 100, /* even if the server asks for less */
    DENIED_MS = 5000,         /* until a refused request is tried again */
    EMPTY_PAUSE_MS =
        500, /* against a busy loop with a server that does not hold polls */
    REFUSED_PAUSE_MS = 5000,
    SILENT_BEATS =
        2, /* without an answer: the server may have given the runner up */
    MOST_FETCHED = 100 /* outputs that the server may want at a time */
};

void talk_init(struct talk *talk)
{
    talk->heartbeat_ms = HEARTBEAT_MS;
    talk->heard_at = clock_monotonic_ms();
    talk->probes = probes_new(talk->attempts->site);
    pace_init(&talk->pace, RECORD_BATCH_BYTES);
}

void talk_fini(struct talk *talk)
{
    elastic_fini(&talk->elastic);
    text_free(&talk->request.body);
    probes_free(talk->probes);
}

/* The attempt that an item of a list names; NULL: none of this runner. */
static struct attempt *find_named(const struct attempts *attempts,
                                  const struct node *item)
{
    struct order_key key;
    return order_key_read(item, &key) ? attempts_find(attempts, &key) : NULL;
}

/* Orders to stop, in answers of leases and heartbeats. */
static void apply_stops(struct attempts *attempts, const struct node *map)
{
    NODE_EACH (item, node_first(map, "stop")) {
        struct attempt *attempt = find_named(attempts, item);
        if (attempt == NULL)
            continue;
        struct stop_order order = {
            .kill = strcmp(node_get_string(item, "how", "stop"), "kill") == 0};
        (void)snprintf(order.reason, sizeof order.reason, "%s",
                       node_get_string(item, "reason", ""));
        attempt_stop(attempt, &order);
    }
}

static void drop(struct talk *talk, struct attempt *attempt, const char *why)
{
    log_event(LOG_WARN, "attempt.dropped", "name=%s reason=\"%s\"",
              attempt->order->name, why);
    attempts_drop(talk->attempts, attempt);
}

static void drop_listed(struct talk *talk, const struct node *first,
                        const char *why)
{
    NODE_EACH (item, first) {
        struct attempt *attempt = find_named(talk->attempts, item);
        if (attempt != NULL)
            drop(talk, attempt, why);
    }
}

/* Attempts from disk that the server did not keep. */
static void drop_unwanted(struct talk *talk)
{
    struct attempt *attempt = talk->attempts->first;
    while (attempt != NULL) {
        struct attempt *next = attempt->next;
        if (!attempt->accepted)
            drop(talk, attempt, "the server does not know it");
        attempt = next;
    }
}

static void take_hello(struct talk *talk, const struct node *map)
{
    drop_listed(talk, node_first(map, "forget"), "the server forgot it");
    NODE_EACH (item, node_first(map, "keep")) {
        struct attempt *attempt = find_named(talk->attempts, item);
        if (attempt != NULL && !attempt->accepted)
            attempts_adopt(talk->attempts, attempt);
    }
    const int64_t ms = node_get_int(map, "heartbeatMs", HEARTBEAT_MS);
    talk->heartbeat_ms = ms < HEARTBEAT_LEAST_MS ? HEARTBEAT_LEAST_MS : ms;
    talk->beat_at = clock_monotonic_ms();
    talk->greeted = true;
    drop_unwanted(talk);
    log_event(LOG_INFO, "server.greeted", "attempts=%zu",
              attempts_count(talk->attempts));
}

static struct attempt_replica *find_replica(const struct attempt *attempt,
                                            const char *name)
{
    for (size_t i = 0; attempt != NULL && i < attempt->order->n_replicas; i++) {
        if (strcmp(attempt->replicas[i].name, name) == 0)
            return &attempt->replicas[i];
    }
    return NULL;
}

static void take_writers(const struct attempt_replica *replica,
                         const struct node *writers)
{
    NODE_EACH (item, replica != NULL ? node_items(writers) : NULL) {
        int64_t seq;
        if (item->key != NULL && node_int64(item, &seq))
            records_have(replica->records, strtoull(item->key, NULL, 16), seq);
    }
}

/* The outputs of a trial that still runs here are not removed. */
static bool has_trial(const struct attempts *attempts, int64_t study,
                      int64_t trial)
{
    for (const struct attempt *attempt = attempts->first; attempt;
         attempt = attempt->next) {
        if (attempt->order->key.study == study &&
            attempt->order->key.trial == trial)
            return true;
    }
    return false;
}

static void take_unwanted(struct talk *talk, const struct node *map)
{
    NODE_EACH (item, node_first(map, "discard")) {
        const struct discard_request request = {
            .study = node_get_int(item, "study", 0),
            .trial = node_get_int(item, "trial", 0),
            .output_dir = node_get_string(item, "outputDir", NULL),
            .rewrite_gcs = node_get_bool(item, "rewriteGs", false),
        };
        if (request.study > 0 && request.trial > 0 &&
            !has_trial(talk->attempts, request.study, request.trial))
            discard_ask(talk->discard, &request);
    }
}

static void send_outputs(struct talk *talk, int64_t id, const struct node *item)
{
    struct arena *arena = arena_new();
    const char *names[OUTPUT_FOLDERS];
    const struct order_key key = {.study = node_get_int(item, "study", 0),
                                  .trial = node_get_int(item, "trial", 0)};
    const char *project = node_get_string(item, "project", NULL);
    for (size_t i = 0; i < OUTPUT_FOLDERS; i++)
        names[i] = output_folders[i].value;
    if (key.study > 0 && key.trial > 0 && project != NULL)
        output_sends_want(
            talk->sends,
            &(struct output_send){.id = id,
                                  .project = project,
                                  .folder = outputs_trial_folder(
                                      arena, talk->attempts->site, &key),
                                  .names = {OUTPUT_FOLDERS, names}});
    arena_free(arena);
}

/* Outputs that people elsewhere fetch. `all`: what is not among them is not
 * wanted any more. */
static void take_fetched(struct talk *talk, const struct node *map, bool all)
{
    int64_t ids[MOST_FETCHED];
    size_t n = 0;
    NODE_EACH (item, node_first(map, "fetch")) {
        const int64_t id = node_get_int(item, "fetch", 0);
        if (id <= 0 || n == MOST_FETCHED)
            continue;
        ids[n++] = id;
        send_outputs(talk, id, item);
    }
    if (all)
        output_sends_keep(talk->sends, ids, n);
}

static void take_heartbeat(struct talk *talk, const struct node *map)
{
    talk->beats_answered = talk->beats_sent;
    talk->beat_at = talk->heard_at; /* slow ones leave others a turn */
    discard_confirm(talk->discard);
    take_unwanted(talk, map);
    output_sends_confirm(talk->sends);
    take_fetched(talk, map, true);
    NODE_EACH (item, node_first(map, "have")) {
        const struct attempt *attempt = find_named(talk->attempts, item);
        take_writers(
            find_replica(attempt, node_get_string(item, "replica", "")),
            node_find(item, "writers"));
    }
    apply_stops(talk->attempts, map);
    drop_listed(talk, node_first(map, "gone"), "the server gave it up");
}

/* `stored`: the answer says that an earlier request was stored, too. */
static void note_pace(struct talk *talk, bool stored)
{
    pace_answered(&talk->pace, talk->request.body.len, stored,
                  talk->heard_at - talk->request.posted_at);
}

static void take_report(struct talk *talk, struct attempt *attempt,
                        const struct node *map)
{
    const struct attempt_replica *replica =
        &attempt->replicas[talk->request.replica];
    struct record_queue *queue = records_queue(replica->records);
    record_queue_confirm(queue);
    const size_t n = queue->n;
    take_writers(replica, node_find(map, "have"));
    note_pace(talk, queue->n < n);
    if (node_get_bool(map, "stop", false) && !attempt->ended)
        talk->beat_at = 0; /* its answer has the order to stop */
}

static void take_log(struct talk *talk, struct attempt *attempt, int64_t wanted)
{
    const struct talk_request *request = &talk->request;
    note_pace(talk, wanted > request->chunk.offset + request->chunk.bytes);
    log_ship_confirm(&attempt->replicas[request->replica].logs[request->stream],
                     &request->chunk, wanted);
}

/* A server of before takes one piece of the changes and does not say what it
 * has. */
static void take_started(struct talk *talk, struct attempt *attempt,
                         const struct node *map)
{
    const int64_t all = talk->request.changes;
    const int64_t before = attempt->changes_sent;
    attempt->changes_sent = node_get_int(map, "changes", all);
    note_pace(talk, talk->pace.failed > 0 && attempt->changes_sent > before);
    if (!attempt->started_confirmed)
        attempt_mark_started(attempt);
    attempt->facts_confirmed =
        talk->request.whole && attempt->changes_sent >= all;
}

static void take_ok(struct talk *talk, const struct node *map)
{
    const struct talk_request *request = &talk->request;
    struct attempt *attempt = attempts_find(talk->attempts, &request->key);
    if (request->kind != REQUEST_HELLO)
        talk->doubtful = false;
    if (request->kind > REQUEST_HEARTBEAT && attempt == NULL)
        return; /* it was dropped meanwhile */
    switch (request->kind) {
    case REQUEST_HELLO:
        take_hello(talk, map);
        return;
    case REQUEST_HEARTBEAT:
        take_heartbeat(talk, map);
        return;
    case REQUEST_STARTED:
        take_started(talk, attempt, map);
        return;
    case REQUEST_ENDED:
        attempt_mark_ended(attempt);
        attempt->wants_checkpoint = node_get_bool(map, "checkpoint", false);
        return;
    case REQUEST_CHECKPOINT:
        checkpoints_confirm(attempt, &request->sent);
        return;
    case REQUEST_DRAINED:
        attempts_drop(talk->attempts, attempt);
        return;
    case REQUEST_REPORT:
        take_report(talk, attempt, map);
        return;
    case REQUEST_LOG:
        take_log(talk, attempt, node_get_int(map, "offset", 0));
        return;
    case REQUEST_NONE:
        return;
    }
}

static void return_records(struct talk *talk)
{
    const struct attempt *attempt =
        attempts_find(talk->attempts, &talk->request.key);
    if (attempt != NULL && talk->request.kind == REQUEST_REPORT)
        record_queue_return(
            records_queue(attempt->replicas[talk->request.replica].records));
}

/* What was not accepted is sent later in a new request. */
static void pause_requests(struct talk *talk)
{
    return_records(talk);
    talk->quiet_until = clock_monotonic_ms() + DENIED_MS;
}

/* The attempt is no longer this runner's, or the server does not know this
 * boot. */
static void take_gone(struct talk *talk)
{
    struct attempt *attempt = attempts_find(talk->attempts, &talk->request.key);
    if (talk->request.kind == REQUEST_HELLO)
        pause_requests(talk);
    else if (talk->request.kind == REQUEST_HEARTBEAT)
        talk->greeted = false;
    else if (attempt != NULL)
        drop(talk, attempt, "the server does not want it any more");
}

/* The message itself is wrong: it must not be sent again. */
static void give_up_request(struct talk *talk, struct attempt *attempt)
{
    const struct talk_request *request = &talk->request;
    if (request->kind == REQUEST_REPORT) {
        if (record_queue_refuse(
                records_queue(attempt->replicas[request->replica].records)) > 0)
            log_event(LOG_WARN, "records.refused", "name=%s",
                      attempt->order->name);
    } else if (request->kind == REQUEST_LOG) {
        log_ship_confirm(
            &attempt->replicas[request->replica].logs[request->stream],
            &request->chunk, 0);
    } else if (request->kind == REQUEST_CHECKPOINT) {
        checkpoints_confirm(attempt, &request->sent);
    } else {
        drop(talk, attempt, "the server refused a message about it");
    }
}

/* A server that does not know this boot refuses all but hello, so hello is sent
 * before the message counts as wrong. */
static void take_invalid(struct talk *talk, const char *error)
{
    struct attempt *attempt = attempts_find(talk->attempts, &talk->request.key);
    log_event(LOG_ERROR, "request.invalid", "kind=%d error=\"%s\"",
              (int)talk->request.kind, error);
    if (talk->request.kind != REQUEST_HELLO && !talk->doubtful) {
        return_records(talk);
        talk->doubtful = true;
        talk->greeted = false;
    } else if (talk->request.kind <= REQUEST_HEARTBEAT) {
        pause_requests(talk);
    } else if (attempt != NULL) {
        give_up_request(talk, attempt);
        talk->doubtful = false;
    }
}

static void take_answer(struct talk *talk, const struct text *text)
{
    struct arena *arena = arena_new();
    const struct server_answer answer = talk_read_answer(arena, text);
    talk->heard_at = clock_monotonic_ms();
    switch (answer.status) {
    case ANSWER_OK:
        take_ok(talk, answer.map);
        break;
    case ANSWER_RETRY:
        talk->waiting = true;
        talk->retry_at = talk->heard_at + answer.retry_ms;
        break;
    case ANSWER_GONE:
        take_gone(talk);
        break;
    case ANSWER_DENIED:
        log_event(LOG_ERROR, "request.denied", "error=\"%s\"", answer.error);
        (void)server_address_token(talk->token_file, talk->sender->token, NULL);
        pause_requests(talk);
        break;
    case ANSWER_INVALID:
        take_invalid(talk, answer.error);
        break;
    }
    if (!talk->waiting)
        talk->request.kind = REQUEST_NONE;
    arena_free(arena);
}

/* After a long time without answers, or when this process was suspended, the
 * attempts may be another runner's: hello comes before any new work. */
static void check_silence(struct talk *talk)
{
    if (clock_monotonic_ms() - talk->heard_at >=
        SILENT_BEATS * talk->heartbeat_ms)
        talk->greeted = false;
}

/* A link that cuts connections or is slow passes smaller messages; others go
 * between them. */
static void give_up_failed(struct talk *talk)
{
    const enum request_kind kind = talk->request.kind;
    if ((kind != REQUEST_REPORT && kind != REQUEST_LOG &&
         kind != REQUEST_STARTED) ||
        !request_thread_has_failed(talk->thread))
        return;
    pace_failed(&talk->pace, talk->request.body.len);
    return_records(talk);
    talk->request.kind = REQUEST_NONE;
}

static void take_turn(struct talk *talk)
{
    struct text text = {0};
    check_silence(talk);
    if (request_thread_take(talk->thread, &text)) {
        take_answer(talk, &text);
        text_free(&text);
    }
    give_up_failed(talk);
    if (talk->waiting) {
        if (clock_monotonic_ms() < talk->retry_at)
            return;
        talk->waiting = false;
        talk_post(talk);
    }
    if (talk->request.kind == REQUEST_NONE &&
        clock_monotonic_ms() >= talk->quiet_until)
        talk_send_next(talk);
}

/* ---- the poll for work ---- */

static void take_attempt(struct talk *talk, const struct node *item)
{
    struct order *order;
    struct ht_error err;
    char report_url[UPLINK_URL_BYTES];
    struct uplink_far far;
    uplink_report_url(talk->uplink, report_url);
    uplink_far(talk->uplink, &far);
    if (order_read(item, report_url[0] != '\0' ? report_url : NULL, &far.way,
                   &order, &err) == HT_OK)
        attempts_start(talk->attempts, order);
    else /* without `started` the server gives it up */
        log_event(LOG_ERROR, "lease.invalid", "reason=\"%s\"", err.text);
}

static bool is_elastic(const struct talk *talk)
{
    return talk->attempts->engine->elastic != NULL;
}

static void take_leases(struct talk *talk, const struct node *map)
{
    apply_stops(talk->attempts, map);
    if (is_elastic(talk))
        elastic_take(talk->attempts->engine, map);
    take_fetched(talk, map, false);
    const struct node *first = node_first(map, "attempts");
    talk->poll_at = first != NULL ? 0 : clock_monotonic_ms() + EMPTY_PAUSE_MS;
    NODE_EACH (item, first)
        take_attempt(talk, item);
}

static void take_lease_answer(struct talk *talk, const struct text *text)
{
    struct arena *arena = arena_new();
    const struct server_answer answer = talk_read_answer(arena, text);
    const int64_t now = clock_monotonic_ms();
    switch (answer.status) {
    case ANSWER_OK:
        take_leases(talk, answer.map);
        break;
    case ANSWER_RETRY:
        talk->poll_at = now + answer.retry_ms;
        break;
    case ANSWER_GONE:
        talk->greeted = false;
        talk->poll_at = now + EMPTY_PAUSE_MS;
        break;
    case ANSWER_INVALID:
        talk->greeted = false; /* also the answer for an unknown boot */
        talk->poll_at = now + REFUSED_PAUSE_MS;
        break;
    case ANSWER_DENIED:
        log_event(LOG_ERROR, "lease.refused", "error=\"%s\"", answer.error);
        talk->poll_at = now + REFUSED_PAUSE_MS;
        break;
    }
    arena_free(arena);
}

/* A poll that replaces others says so: what the server leased to these comes
 * again. */
static void build_poll(struct talk *talk, int slots, struct text *out)
{
    talk->polled_slots = slots;
    talk->poll_id++;
    if (!talk->polling)
        talk->poll_since = talk->poll_id;
    talk_open_message(out, talk->sender, "lease", talk->poll_id);
    if (talk->poll_since < talk->poll_id)
        json_put_int(out, "since", talk->poll_since);
    json_put_int(out, "free", slots);
    /* The server counts which of them are free while it holds the poll. */
    json_put_int(out, "gpus", (int64_t)talk->attempts->site->gpus.n);
    if (is_elastic(talk))
        elastic_put(&talk->elastic, talk->attempts, clock_monotonic_ms(), out);
    json_close(out);
}

/* Whether the poll under way is to be replaced by one with so many slots. */
static bool is_outdated(struct talk *talk, int slots)
{
    return is_elastic(talk) ? elastic_has_news(&talk->elastic, talk->attempts,
                                               clock_monotonic_ms())
                            : talk->polled_slots == 0 && slots > 0;
}

/* Handles an answer that has come and keeps a poll going. */
static void poll_leases(struct talk *talk)
{
    struct text text = {0};
    if (request_thread_take(talk->lease_thread, &text)) {
        talk->polling = false;
        if (talk->greeted) /* else hello gives its attempts up */
            take_lease_answer(talk, &text);
        text_free(&text);
    }
    if (!talk->greeted)
        return;
    const int slots =
        is_elastic(talk) ? 0 : attempts_free_slots(talk->attempts);
    if (talk->polling ? !is_outdated(talk, slots)
                      : clock_monotonic_ms() < talk->poll_at)
        return;
    struct text request = {0};
    build_poll(talk, slots, &request);
    request_thread_post(talk->lease_thread, &request);
    talk->polling = true;
}

/* ---- both ---- */

void talk_tick(struct talk *talk)
{
    take_turn(talk);
    if (is_elastic(talk))
        elastic_tick(&talk->elastic, talk->attempts->engine,
                     clock_monotonic_ms());
    poll_leases(talk);
}

static int64_t turn_at(const struct talk *talk)
{
    if (talk->waiting)
        return talk->retry_at;
    if (talk->request.kind != REQUEST_NONE)
        return INT64_MAX;
    const int64_t beat = talk_heartbeat_at(talk);
    const int64_t facts = probes_wake_at(talk->probes, clock_monotonic_ms());
    const int64_t first = beat < facts ? beat : facts;
    return first > talk->quiet_until ? first : talk->quiet_until;
}

int64_t talk_wake_at(const struct talk *talk)
{
    int64_t wake_at =
        talk->polling || !talk->greeted ? INT64_MAX : talk->poll_at;
    if (is_elastic(talk) && talk->elastic.tick_at < wake_at)
        wake_at = talk->elastic.tick_at;
    return wake_at < turn_at(talk) ? wake_at : turn_at(talk);
}
