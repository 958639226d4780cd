#include "runner/talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/clock.h"
#include "proto/json.h"
#include "runner/folder.h"
#include "runner/locator.h"
#include "runner/log.h"

enum {
    HEARTBEAT_MS = 5000,
    HEARTBEAT_BUSY_MS = 1000, /* when records wait for one */
    HEARTBEAT_LAST_MS = 100,  /* when an ended attempt waits for one */
    DENIED_MS = 5000          /* until a refused request is tried again */
};

void talk_init(struct talk *talk, struct fleet *fleet, struct courier *courier,
               struct sender *sender, const char *token_file, const char *host)
{
    *talk = (struct talk){
        .fleet = fleet,
        .courier = courier,
        .sender = sender,
        .token_file = token_file,
        .host = host,
        .heartbeat_ms = HEARTBEAT_MS,
        .heard_at = clock_monotonic_ms(),
    };
}

void talk_fini(struct talk *talk)
{
    text_free(&talk->request.body);
}

/* ---- posting ---- */

static struct text *open_request(struct talk *talk, enum request_kind kind,
                                 const struct run *run)
{
    static const char *const types[] = {
        [REQUEST_NONE] = "",
        [REQUEST_HELLO] = "hello",
        [REQUEST_HEARTBEAT] = "heartbeat",
        [REQUEST_STARTED] = "started",
        [REQUEST_ENDED] = "ended",
        [REQUEST_DRAINED] = "drained",
        [REQUEST_REPORT] = "report",
        [REQUEST_LOG] = "log",
    };
    struct request *request = &talk->request;
    text_clear(&request->body);
    request->kind = kind;
    message_open(&request->body, talk->sender, types[kind], ++talk->id);
    request->key =
        run != NULL ? run->order->key : (struct attempt_key){.study = 0};
    if (run != NULL)
        message_attempt(&request->body, &run->order->key);
    return &request->body;
}

static void post(struct talk *talk)
{
    struct text copy = {0};
    text_append(&copy, talk->request.body.data, talk->request.body.len);
    courier_post(talk->courier, &copy);
}

static void close_request(struct talk *talk)
{
    message_close(&talk->request.body);
    post(talk);
}

static void say_hello(struct talk *talk)
{
    struct text *out = open_request(talk, REQUEST_HELLO, NULL);
    message_string(out, "engine", talk->fleet->engine->name);
    message_int(out, "slots", talk->fleet->site->slots);
    message_string(out, "host", talk->host);
    message_string(out, "version", HT_VERSION);
    message_list(out, "attempts");
    for (const struct run *run = talk->fleet->first; run; run = run->next)
        message_list_attempt(out, &run->order->key);
    message_list_end(out);
    close_request(talk);
}

static void say_heartbeat(struct talk *talk)
{
    struct text *out = open_request(talk, REQUEST_HEARTBEAT, NULL);
    message_list(out, "attempts");
    for (const struct run *run = talk->fleet->first; run; run = run->next)
        message_list_attempt(out, &run->order->key);
    message_list_end(out);
    talk->beat_at = clock_monotonic_ms();
    talk->beats_sent++;
    close_request(talk);
}

static void say_ended(struct talk *talk, const struct run *run)
{
    const struct ending *ending = &run->ending;
    struct text *out = open_request(talk, REQUEST_ENDED, run);
    message_string(out, "outcome", outcome_name(ending->outcome));
    if (ending->has_exit)
        message_int(out, "exit", ending->exit);
    if (ending->has_signal)
        message_int(out, "signal", ending->signal);
    message_string(out, "reason", ending->reason);
    close_request(talk);
}

/* The life of an attempt: started, ended, drained. */
static bool say_progress(struct talk *talk)
{
    for (struct run *run = talk->fleet->first; run; run = run->next) {
        if (!run->accepted)
            continue;
        if (run->told_ended && run_is_shipped(run)) {
            open_request(talk, REQUEST_DRAINED, run);
            close_request(talk);
            return true;
        }
        if (!run->told_started) {
            open_request(talk, REQUEST_STARTED, run);
            close_request(talk);
            return true;
        }
        if (run->ended && !run->told_ended) {
            say_ended(talk, run);
            return true;
        }
    }
    return false;
}

static bool say_records(struct talk *talk, const struct run *run, size_t i)
{
    struct record_queue *queue = records_queue(run->replicas[i].records);
    if (!record_queue_is_ready(queue, talk->beats_answered))
        return false;
    struct text *out = open_request(talk, REQUEST_REPORT, run);
    talk->request.replica = i;
    message_string(out, "replica", run->replicas[i].name);
    text_puts(out, ",\"records\":");
    record_queue_batch(queue, talk->beats_answered, out);
    close_request(talk);
    return true;
}

static bool say_log(struct talk *talk, const struct run *run, size_t i,
                    int stream)
{
    struct log_ship *ship = &run->replicas[i].logs[stream];
    struct log_chunk chunk;
    struct text data = {0};
    if (!log_ship_next(ship, clock_monotonic_ms(), run->ended, &chunk, &data))
        return false;
    struct text *out = open_request(talk, REQUEST_LOG, run);
    talk->request.replica = i;
    talk->request.stream = stream;
    talk->request.chunk = chunk;
    message_string(out, "replica", run->replicas[i].name);
    message_string(out, "stream", ship->source.stream);
    message_int(out, "offset", chunk.offset);
    message_int(out, "bytes", chunk.bytes);
    message_string(out, "data", data.data);
    text_free(&data);
    close_request(talk);
    return true;
}

/* Records before logs, but every attempt in its turn. */
static bool say_from(struct talk *talk, const struct run *run)
{
    if (!run->accepted || !run->told_started)
        return false;
    for (size_t i = 0; i < run->order->n_replicas; i++) {
        if (say_records(talk, run, i))
            return true;
    }
    for (size_t i = 0; i < run->order->n_replicas; i++) {
        if (say_log(talk, run, i, 0) || say_log(talk, run, i, 1))
            return true;
    }
    return false;
}

static bool say_content(struct talk *talk)
{
    const size_t n = fleet_count(talk->fleet);
    for (size_t k = 0; k < n; k++) {
        const struct run *run = talk->fleet->first;
        for (size_t i = (talk->turn + k) % n; i > 0; i--)
            run = run->next;
        if (say_from(talk, run)) {
            talk->turn += k + 1;
            return true;
        }
    }
    return false;
}

static int64_t heartbeat_at(const struct talk *talk)
{
    int64_t wait = talk->heartbeat_ms;
    for (const struct run *run = talk->fleet->first; run; run = run->next) {
        if (!run->accepted || !run_has_queue(run))
            continue;
        const int64_t most = run->ended ? HEARTBEAT_LAST_MS : HEARTBEAT_BUSY_MS;
        wait = wait < most ? wait : most;
    }
    return talk->beat_at + wait;
}

static void say_next(struct talk *talk)
{
    if (!talk->greeted)
        say_hello(talk);
    else if (clock_monotonic_ms() >= heartbeat_at(talk))
        say_heartbeat(talk);
    else if (!say_progress(talk))
        say_content(talk);
}

/* ---- answers ---- */

void talk_apply_stops(struct fleet *fleet, const struct node *list)
{
    const struct node *item = list != NULL ? list->first : NULL;
    for (; item != NULL; item = item->next) {
        struct attempt_key key;
        struct run *run =
            attempt_key_read(item, &key) ? fleet_find(fleet, &key) : NULL;
        if (run == NULL)
            continue;
        struct stop_order order = {
            .kill = strcmp(node_get_string(item, "how", "stop"), "kill") == 0};
        (void)snprintf(order.reason, sizeof order.reason, "%s",
                       node_get_string(item, "reason", ""));
        run_stop(run, &order);
    }
}

static void drop(struct talk *talk, struct run *run, const char *why)
{
    runner_log(RUNNER_WARN, "attempt.dropped", "name=%s reason=\"%s\"",
               run->order->name, why);
    fleet_drop(talk->fleet, run);
}

static void drop_listed(struct talk *talk, const struct node *list,
                        const char *why)
{
    const struct node *item = list != NULL ? list->first : NULL;
    for (; item != NULL; item = item->next) {
        struct attempt_key key;
        struct run *run =
            attempt_key_read(item, &key) ? fleet_find(talk->fleet, &key) : NULL;
        if (run != NULL)
            drop(talk, run, why);
    }
}

/* What lay on disk and was not named as kept is nobody's. */
static void drop_unwanted(struct talk *talk)
{
    struct run *run = talk->fleet->first;
    while (run != NULL) {
        struct run *next = run->next;
        if (!run->accepted)
            drop(talk, run, "the server does not know it");
        run = next;
    }
}

static void take_hello(struct talk *talk, const struct node *map)
{
    drop_listed(talk, node_find(map, "forget"), "the server forgot it");
    const struct node *keep = node_find(map, "keep");
    for (const struct node *item = keep ? keep->first : NULL; item;
         item = item->next) {
        struct attempt_key key;
        struct run *run =
            attempt_key_read(item, &key) ? fleet_find(talk->fleet, &key) : NULL;
        if (run != NULL && !run->accepted)
            fleet_adopt(talk->fleet, run);
    }
    const int64_t ms = node_get_int(map, "heartbeatMs", HEARTBEAT_MS);
    talk->heartbeat_ms = ms < HEARTBEAT_LAST_MS ? HEARTBEAT_LAST_MS : ms;
    talk->beat_at = clock_monotonic_ms();
    talk->greeted = true;
    drop_unwanted(talk);
    runner_log(RUNNER_INFO, "server.greeted", "attempts=%zu",
               fleet_count(talk->fleet));
}

static struct run_replica *find_replica(const struct run *run, const char *name)
{
    for (size_t i = 0; run != NULL && i < run->order->n_replicas; i++) {
        if (strcmp(run->replicas[i].name, name) == 0)
            return &run->replicas[i];
    }
    return NULL;
}

static void take_writers(const struct run_replica *replica,
                         const struct node *writers)
{
    const struct node *item =
        replica != NULL && writers != NULL ? writers->first : NULL;
    for (; item != NULL; item = item->next) {
        int64_t seq;
        if (item->key != NULL && node_int64(item, &seq))
            records_have(replica->records, strtoull(item->key, NULL, 16), seq);
    }
}

static void take_heartbeat(struct talk *talk, const struct node *map)
{
    talk->beats_answered = talk->beats_sent;
    const struct node *have = node_find(map, "have");
    for (const struct node *item = have ? have->first : NULL; item;
         item = item->next) {
        struct attempt_key key;
        if (!attempt_key_read(item, &key))
            continue;
        const struct run *run = fleet_find(talk->fleet, &key);
        take_writers(find_replica(run, node_get_string(item, "replica", "")),
                     node_find(item, "writers"));
    }
    talk_apply_stops(talk->fleet, node_find(map, "stop"));
    drop_listed(talk, node_find(map, "gone"), "the server gave it up");
}

static void take_report(struct talk *talk, struct run *run,
                        const struct node *map)
{
    const struct run_replica *replica = &run->replicas[talk->request.replica];
    record_queue_confirm(records_queue(replica->records));
    take_writers(replica, node_find(map, "have"));
    if (node_get_bool(map, "stop", false) && !run->ended)
        talk->beat_at = 0; /* ask at once who wants it to stop, and how */
}

static void take_ok(struct talk *talk, const struct node *map)
{
    struct run *run = fleet_find(talk->fleet, &talk->request.key);
    if (talk->request.kind != REQUEST_HELLO)
        talk->doubtful = false;
    switch (talk->request.kind) {
    case REQUEST_HELLO:
        take_hello(talk, map);
        return;
    case REQUEST_HEARTBEAT:
        take_heartbeat(talk, map);
        return;
    case REQUEST_STARTED:
        if (run != NULL)
            run_mark_started(run);
        return;
    case REQUEST_ENDED:
        if (run != NULL)
            run_mark_ended(run);
        return;
    case REQUEST_DRAINED:
        if (run != NULL)
            fleet_drop(talk->fleet, run);
        return;
    case REQUEST_REPORT:
        if (run != NULL)
            take_report(talk, run, map);
        return;
    case REQUEST_LOG:
        if (run != NULL)
            log_ship_confirm(&run->replicas[talk->request.replica]
                                  .logs[talk->request.stream],
                             &talk->request.chunk,
                             node_get_int(map, "offset", 0));
        return;
    case REQUEST_NONE:
        return;
    }
}

static void return_records(struct talk *talk)
{
    const struct run *run = fleet_find(talk->fleet, &talk->request.key);
    if (run != NULL && talk->request.kind == REQUEST_REPORT)
        record_queue_return(
            records_queue(run->replicas[talk->request.replica].records));
}

/* What was not accepted is said again later, in a new request. */
static void fall_quiet(struct talk *talk)
{
    return_records(talk);
    talk->quiet_until = clock_monotonic_ms() + DENIED_MS;
}

/* The attempt is no longer ours, or the server does not know this boot. */
static void take_gone(struct talk *talk)
{
    struct run *run = fleet_find(talk->fleet, &talk->request.key);
    if (talk->request.kind == REQUEST_HELLO)
        fall_quiet(talk);
    else if (talk->request.kind == REQUEST_HEARTBEAT)
        talk->greeted = false;
    else if (run != NULL)
        drop(talk, run, "the server does not want it any more");
}

/* The message itself is wrong: it must never be said again. */
static void give_up_request(struct talk *talk, struct run *run)
{
    const struct request *request = &talk->request;
    if (request->kind == REQUEST_REPORT) {
        if (record_queue_refuse(
                records_queue(run->replicas[request->replica].records)) > 0)
            runner_log(RUNNER_WARN, "records.refused", "name=%s",
                       run->order->name);
    } else if (request->kind == REQUEST_LOG) {
        log_ship_confirm(&run->replicas[request->replica].logs[request->stream],
                         &request->chunk, 0);
    } else {
        drop(talk, run, "the server refused a message about it");
    }
}

/* A server that does not know this boot calls everything wrong but hello, so
 * that comes before judging the message. */
static void take_invalid(struct talk *talk, const char *error)
{
    struct run *run = fleet_find(talk->fleet, &talk->request.key);
    runner_log(RUNNER_ERROR, "request.invalid", "kind=%d error=\"%s\"",
               (int)talk->request.kind, error);
    if (talk->request.kind == REQUEST_HELLO) {
        fall_quiet(talk);
    } else if (!talk->doubtful) {
        return_records(talk);
        talk->doubtful = true;
        talk->greeted = false;
    } else if (talk->request.kind == REQUEST_HEARTBEAT) {
        fall_quiet(talk);
    } else if (run != NULL) {
        give_up_request(talk, run);
        talk->doubtful = false;
    }
}

static void take_answer(struct talk *talk, const struct text *text)
{
    struct arena *arena = arena_new();
    const struct answer answer = message_read(arena, text);
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
        runner_log(RUNNER_ERROR, "request.denied", "error=\"%s\"",
                   answer.error);
        (void)locator_token(talk->token_file, talk->sender->token, NULL);
        fall_quiet(talk);
        break;
    case ANSWER_INVALID:
        take_invalid(talk, answer.error);
        break;
    }
    if (!talk->waiting)
        talk->request.kind = REQUEST_NONE;
    arena_free(arena);
}

void talk_go_on(struct talk *talk)
{
    struct text text = {0};
    if (courier_take(talk->courier, &text)) {
        take_answer(talk, &text);
        text_free(&text);
    }
    if (talk->waiting) {
        if (clock_monotonic_ms() < talk->retry_at)
            return;
        talk->waiting = false;
        post(talk);
    }
    if (talk->request.kind == REQUEST_NONE &&
        clock_monotonic_ms() >= talk->quiet_until)
        say_next(talk);
}

int64_t talk_wake_at(const struct talk *talk)
{
    if (talk->waiting)
        return talk->retry_at;
    if (talk->request.kind != REQUEST_NONE)
        return INT64_MAX;
    const int64_t beat = heartbeat_at(talk);
    return beat > talk->quiet_until ? beat : talk->quiet_until;
}
