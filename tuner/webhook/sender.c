#include "tuner/webhook/sender.h"

#include <stdio.h>
#include <stdlib.h>

#include <curl/curl.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/base/token.h"
#include "tuner/base/meter.h"
#include "tuner/base/reason.h"
#include "tuner/core/core.h"
#include "tuner/study/move.h"
#include "tuner/webhook/http_post.h"

enum {
    FIRST_MS = 1000, /* before the second attempt */
    LONGEST_MS = 3600000,
    DAY_MS = 86400000,
    AGAIN_MS = 5000, /* after a failure of our own file */
    QUEUE_MOST = 10000
};

struct webhook_sender {
    CURLM *multi;
    struct core *core;
    size_t n;
    struct webhook_queue *queues;
};

/* --- one queue --- */

int64_t webhook_queue_pause(int64_t failures, uint64_t random)
{
    int64_t pause_ms = FIRST_MS;
    for (int64_t i = 1; i < failures && pause_ms < LONGEST_MS; i++)
        pause_ms *= 2;
    pause_ms = pause_ms < LONGEST_MS ? pause_ms : LONGEST_MS;
    return pause_ms + (int64_t)(random % (uint64_t)(pause_ms / 2));
}

void webhook_queue_init(struct webhook_queue *queue,
                        const struct webhook *webhook, struct db *outbox)
{
    *queue = (struct webhook_queue){
        .webhook = webhook, .outbox = outbox, .arena = arena_new()};
}

void webhook_queue_fini(struct webhook_queue *queue)
{
    arena_free(queue->arena);
}

enum ht_status webhook_queue_first(struct webhook_queue *queue,
                                   struct ht_error *err)
{
    arena_reset(queue->arena);
    return webhook_outbox_first(queue->outbox, queue->arena,
                                queue->webhook->name, &queue->first, err);
}

static void count_attempt(struct webhook_queue *queue,
                          const struct webhook_attempt *attempt,
                          struct webhook_row *row)
{
    if (attempt->sent == HT_OK) {
        row->taken_ms = attempt->wall_ms;
        row->failures = queue->failing_ms = queue->due_ms = 0;
        return;
    }
    row->failed_ms = attempt->wall_ms;
    row->failures++;
    row->why = arena_strdup(queue->arena, attempt->why);
    if (queue->failing_ms == 0)
        queue->failing_ms = attempt->now_ms;
    /* After one that was refused for good the next has a chance of its own. */
    queue->due_ms = attempt->sent == HT_PRECONDITION
                        ? 0
                        : attempt->now_ms + webhook_queue_pause(
                                                row->failures, attempt->random);
}

static enum ht_status store_attempt(struct webhook_queue *queue,
                                    const struct webhook_attempt *attempt,
                                    struct webhook_dropped_list *dropped,
                                    struct ht_error *err)
{
    struct db *outbox = queue->outbox;
    struct webhook_row *row = &queue->row;
    struct webhook_overdue which = {
        .webhook = queue->webhook->name,
        .refused = attempt->sent == HT_PRECONDITION ? queue->first.id : 0,
        .before_ms = INT64_MIN,
        .most = QUEUE_MOST};
    enum ht_status status =
        webhook_outbox_row(outbox, queue->arena, which.webhook, row, err);
    if (status != HT_OK)
        return status;
    count_attempt(queue, attempt, row);
    if (queue->failing_ms != 0 && attempt->now_ms - queue->failing_ms >= DAY_MS)
        which.before_ms = attempt->wall_ms - DAY_MS;
    if (attempt->sent == HT_OK)
        status = webhook_outbox_remove(outbox, queue->first.id, err);
    if (status == HT_OK)
        status =
            webhook_outbox_drop(outbox, queue->arena, &which, dropped, err);
    for (size_t i = 0; status == HT_OK && i < dropped->n; i++)
        row->given_up += dropped->items[i].deliveries;
    return status == HT_OK ? webhook_outbox_save_row(outbox, row, err) : status;
}

enum ht_status webhook_queue_settle(struct webhook_queue *queue,
                                    const struct webhook_attempt *attempt,
                                    struct webhook_dropped_list *dropped,
                                    struct ht_error *err)
{
    enum ht_status status = db_begin(queue->outbox, err);
    if (status == HT_OK)
        status = store_attempt(queue, attempt, dropped, err);
    status = webhook_outbox_end(queue->outbox, status, err);
    if (status != HT_OK)
        queue->due_ms = attempt->now_ms + AGAIN_MS;
    return status;
}

/* --- life --- */

struct webhook_sender *webhook_sender_new(void)
{
    struct webhook_sender *sender = ht_xcalloc(1, sizeof *sender);
    sender->multi = curl_multi_init();
    if (sender->multi == NULL)
        ht_out_of_memory();
    return sender;
}

static void end_post(struct webhook_sender *sender, struct webhook_queue *queue)
{
    if (queue->post == NULL)
        return;
    curl_multi_remove_handle(sender->multi, webhook_post_handle(queue->post));
    webhook_post_free(queue->post);
    queue->post = NULL;
}

void webhook_sender_clear(struct webhook_sender *sender)
{
    for (size_t i = 0; i < sender->n; i++) {
        end_post(sender, &sender->queues[i]);
        webhook_queue_fini(&sender->queues[i]);
    }
    free(sender->queues);
    sender->queues = NULL;
    sender->n = 0;
}

void webhook_sender_free(struct webhook_sender *sender)
{
    if (sender == NULL)
        return;
    webhook_sender_clear(sender);
    curl_multi_cleanup(sender->multi);
    free(sender);
}

void webhook_sender_wake(struct webhook_sender *sender)
{
    curl_multi_wakeup(sender->multi);
}

enum ht_status webhook_sender_set(struct webhook_sender *sender,
                                  const struct webhook_rules *rules,
                                  struct db *outbox, struct core *core,
                                  struct ht_error *err)
{
    webhook_sender_clear(sender);
    const enum ht_status status = webhook_outbox_keep(outbox, rules, err);
    if (status != HT_OK)
        return status;
    sender->core = core;
    sender->n = rules->n;
    sender->queues = ht_xcalloc(rules->n + 1, sizeof *sender->queues);
    for (size_t i = 0; i < rules->n; i++)
        webhook_queue_init(&sender->queues[i], &rules->items[i], outbox);
    return HT_OK;
}

/* --- sending --- */

static enum ht_status send_first(struct webhook_sender *sender,
                                 struct webhook_queue *queue,
                                 struct ht_error *err)
{
    const enum ht_status status = webhook_queue_first(queue, err);
    if (status != HT_OK)
        return status == HT_NOT_FOUND ? HT_OK : status;
    queue->post =
        webhook_post_new(queue->webhook, &queue->first, clock_wall_ms(), NULL);
    CURL *curl = webhook_post_handle(queue->post);
    curl_easy_setopt(curl, CURLOPT_PRIVATE, queue);
    curl_multi_add_handle(sender->multi, curl);
    return HT_OK;
}

enum ht_status webhook_sender_send(struct webhook_sender *sender,
                                   int64_t *pause_ms, struct ht_error *err)
{
    const int64_t now_ms = clock_monotonic_ms();
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < sender->n; i++) {
        struct webhook_queue *queue = &sender->queues[i];
        const int64_t left_ms = queue->due_ms - now_ms;
        if (queue->post == NULL && left_ms <= 0)
            status = send_first(sender, queue, err);
        else if (queue->post == NULL && left_ms < *pause_ms)
            *pause_ms = left_ms;
    }
    return status;
}

/* --- what became of it --- */

static enum ht_status handle_dropped(struct core *core, struct request *req,
                                     struct ht_error *err)
{
    text_puts(&req->reply, "{}");
    return move_event(core, req->owner, err);
}

/* Adds it to the study's events and to the log. A URL may hold a secret: only
 * its host is shown. */
static void report_dropped(struct core *core, const struct webhook_queue *queue,
                           const struct webhook_dropped *dropped)
{
    const struct webhook_row *row = &queue->row;
    struct request *req = request_new();
    struct event_row *event = arena_alloc(req->arena, 1, sizeof *event);
    *event = (struct event_row){
        .study = dropped->study,
        .kind = "study.warned",
        .from = "",
        .to = "",
        .reason = reason_make(
            req->arena,
            "webhook %.128s gave up %lld letter%s to %.128s after %lld "
            "attempt%s: %s",
            row->name, (long long)dropped->deliveries,
            dropped->deliveries == 1 ? "" : "s", queue->webhook->host,
            (long long)row->failures, row->failures == 1 ? "" : "s", row->why),
        .data = ""};
    log_event(LOG_WARN, "webhook.dead", "study=%lld reason=\"%s\"",
              (long long)event->study, event->reason);
    req->owner = event;
    req->handle = handle_dropped;
    req->answer = request_free;
    core_post(core, req);
}

static enum ht_status settle(struct webhook_sender *sender,
                             struct webhook_queue *queue, CURLcode code,
                             struct ht_error *err)
{
    struct ht_error why;
    struct webhook_dropped_list dropped = {0};
    const enum ht_status sent = webhook_post_judge(queue->post, code, &why);
    const struct webhook_attempt attempt = {.sent = sent,
                                            .why = why.text,
                                            .now_ms = clock_monotonic_ms(),
                                            .wall_ms = clock_wall_ms(),
                                            .random = token_random64()};
    end_post(sender, queue);
    meter_add(sent == HT_OK ? METER_DELIVERIES : METER_DELIVERY_FAILURES, 1);
    const enum ht_status status =
        webhook_queue_settle(queue, &attempt, &dropped, err);
    for (size_t i = 0; status == HT_OK && i < dropped.n; i++)
        report_dropped(sender->core, queue, &dropped.items[i]);
    return status;
}

enum ht_status webhook_sender_wait(struct webhook_sender *sender,
                                   int64_t pause_ms, struct ht_error *err)
{
    int running, left;
    const CURLMsg *message;
    enum ht_status status = HT_OK;
    CURLMcode code =
        curl_multi_poll(sender->multi, NULL, 0, (int)pause_ms, NULL);
    if (code == CURLM_OK)
        code = curl_multi_perform(sender->multi, &running);
    if (code != CURLM_OK)
        return ht_fail(err, HT_IO, "libcurl: %s", curl_multi_strerror(code));
    while (status == HT_OK &&
           (message = curl_multi_info_read(sender->multi, &left)) != NULL) {
        char *queue;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &queue);
        status = settle(sender, (struct webhook_queue *)(void *)queue,
                        message->data.result, err);
    }
    return status;
}
