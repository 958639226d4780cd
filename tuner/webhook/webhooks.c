#include "tuner/webhook/webhooks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <curl/curl.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/base/token.h"
#include "tuner/base/meter.h"
#include "tuner/base/reason.h"
#include "tuner/base/webhook_board.h"
#include "tuner/core/core.h"
#include "tuner/study/move.h"
#include "tuner/webhook/event_reader.h"
#include "tuner/webhook/http_post.h"
#include "tuner/webhook/outbox.h"

enum {
    LOOK_MS = 1000,  /* between two looks at the file */
    READ_MS = 50,    /* between two readings, so that a burst is one commit */
    AGAIN_MS = 5000, /* after a failure of our own files */
};

struct webhooks {
    char *folder;
    const char *http;
    struct core *core;
    pthread_t thread;
    bool running;
    atomic_bool stopping;
    atomic_bool active; /* there are webhooks, so that changes count */
    struct webhook_board *board;
    struct webhook_reader *reader;
    CURLM *multi;

    /* the thread's own */
    struct webhook_config config;
    struct db *outbox;            /* NULL: not needed yet */
    size_t n;                     /* of the queues */
    struct webhook_queue *queues; /* of the rules in force; NULL: to be made */
    int64_t look_ms, read_ms;     /* no look, no reading before; monotonic */
    int64_t again_ms;             /* nothing at all, after a failure */
};

void webhooks_note(struct webhooks *webhooks, int64_t study)
{
    if (atomic_load(&webhooks->active) &&
        webhook_reader_note(webhooks->reader, study))
        curl_multi_wakeup(webhooks->multi);
}

struct webhook_board *webhooks_board(struct webhooks *webhooks)
{
    return webhooks->board;
}

/* --- queues --- */

static void end_post(struct webhooks *webhooks, struct webhook_queue *queue)
{
    if (queue->post == NULL)
        return;
    curl_multi_remove_handle(webhooks->multi, webhook_post_handle(queue->post));
    webhook_post_free(queue->post);
    queue->post = NULL;
}

/* Ends requests under way. Afterwards the rules of the queues may be freed. */
static void close_queues(struct webhooks *webhooks)
{
    for (size_t i = 0; i < webhooks->n; i++) {
        end_post(webhooks, &webhooks->queues[i]);
        webhook_queue_fini(&webhooks->queues[i]);
    }
    free(webhooks->queues);
    webhooks->queues = NULL;
    webhooks->n = 0;
}

static enum ht_status open_queues(struct webhooks *webhooks,
                                  struct ht_error *err)
{
    const struct webhook_rules *rules = &webhooks->config.rules;
    struct db *outbox = webhooks->outbox;
    if (rules->n > 0) {
        const enum ht_status status = webhook_outbox_keep(outbox, rules, err);
        if (status != HT_OK)
            return status;
    }
    webhooks->n = rules->n;
    webhooks->queues = ht_xcalloc(rules->n + 1, sizeof *webhooks->queues);
    for (size_t i = 0; i < rules->n; i++)
        webhook_queue_init(&webhooks->queues[i], &rules->items[i], outbox);
    return HT_OK;
}

/* --- on and off --- */

static enum ht_status open_outbox(struct webhooks *webhooks,
                                  struct ht_error *err)
{
    struct text path = {0};
    enum ht_status status = HT_OK;
    text_printf(&path, "%s/webhooks.db", webhooks->folder);
    if (webhooks->outbox == NULL)
        status = webhook_outbox_open(path.data, &webhooks->outbox, err);
    text_free(&path);
    return status;
}

/* From no webhook to some. Changes are noted from here on. */
static enum ht_status switch_on(struct webhooks *webhooks, struct ht_error *err)
{
    bool resumed;
    enum ht_status status = open_outbox(webhooks, err);
    if (status != HT_OK)
        return status;
    atomic_store(&webhooks->active, true);
    status =
        webhook_reader_start(webhooks->reader, webhooks->folder, webhooks->http,
                             webhooks->outbox, &resumed, err);
    atomic_store(&webhooks->active, status == HT_OK);
    if (status == HT_OK)
        log_event(LOG_INFO, "webhooks.begun", "resumed=%d", (int)resumed);
    return status;
}

static enum ht_status switch_off(struct webhooks *webhooks,
                                 struct ht_error *err)
{
    atomic_store(&webhooks->active, false);
    return webhook_outbox_clear(webhooks->outbox, err);
}

static enum ht_status apply_rules(struct webhooks *webhooks,
                                  struct ht_error *err)
{
    const bool wanted = webhooks->config.rules.n > 0;
    enum ht_status status = HT_OK;
    if (wanted != atomic_load(&webhooks->active))
        status = wanted ? switch_on(webhooks, err) : switch_off(webhooks, err);
    return status == HT_OK ? open_queues(webhooks, err) : status;
}

/* --- the admin's file --- */

/* Puts all webhooks on the board. */
static enum ht_status show(struct webhooks *webhooks, struct ht_error *err)
{
    const struct webhook_config *config = &webhooks->config;
    struct arena *arena = arena_new();
    struct webhook_rows rows = {
        .n = config->rules.n,
        .items = arena_alloc(arena, config->rules.n + 1, sizeof *rows.items),
        .complaint = config->wrong.status != HT_OK ? config->wrong.text : NULL};
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < rows.n; i++) {
        const struct webhook *webhook = &config->rules.items[i];
        struct webhook_row row = {.name = webhook->name, .why = ""};
        if (webhooks->outbox != NULL)
            status = webhook_outbox_row(webhooks->outbox, arena, webhook->name,
                                        &row, err);
        row.studies = webhook->studies;
        row.on = webhook->on;
        rows.items[i] = row;
    }
    if (status == HT_OK)
        webhook_board_set(webhooks->board, &rows);
    arena_free(arena);
    return status;
}

static enum ht_status look(struct webhooks *webhooks, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    if (webhook_config_look(&webhooks->config))
        close_queues(webhooks);
    webhooks->look_ms = clock_monotonic_ms() + LOOK_MS;
    if (webhooks->queues == NULL)
        status = apply_rules(webhooks, err);
    return status == HT_OK ? show(webhooks, err) : status;
}

static enum ht_status read_changed(struct webhooks *webhooks,
                                   struct ht_error *err)
{
    size_t n;
    if (!atomic_load(&webhooks->active) ||
        clock_monotonic_ms() < webhooks->read_ms)
        return HT_OK;
    const enum ht_status status =
        webhook_reader_read(webhooks->reader, &webhooks->config.rules,
                            &webhooks->stopping, &n, err);
    if (n > 0)
        webhooks->read_ms = clock_monotonic_ms() + READ_MS;
    return status;
}

/* --- sending --- */

static enum ht_status send_first(struct webhooks *webhooks,
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
    curl_multi_add_handle(webhooks->multi, curl);
    return HT_OK;
}

static enum ht_status send_due(struct webhooks *webhooks, int64_t *pause_ms,
                               struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < webhooks->n; i++) {
        struct webhook_queue *queue = &webhooks->queues[i];
        const int64_t left_ms = queue->due_ms - clock_monotonic_ms();
        if (queue->post == NULL && left_ms <= 0)
            status = send_first(webhooks, queue, err);
        else if (queue->post == NULL && left_ms < *pause_ms)
            *pause_ms = left_ms;
    }
    return status;
}

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
        .reason = reason_make(
            req->arena,
            "webhook %.128s gave up %lld %s to %.128s after %lld attempt%s: %s",
            row->name, (long long)dropped->deliveries,
            dropped->deliveries == 1 ? "delivery" : "deliveries",
            queue->webhook->host, (long long)row->failures,
            row->failures == 1 ? "" : "s", row->why)};
    log_event(LOG_WARN, "webhook.dead", "study=%lld reason=\"%s\"",
              (long long)event->study, event->reason);
    req->owner = event;
    req->handle = handle_dropped;
    req->answer = request_free;
    core_post(core, req);
}

static enum ht_status settle(struct webhooks *webhooks,
                             struct webhook_queue *queue, CURLcode code,
                             struct ht_error *err)
{
    struct ht_error why;
    struct webhook_dropped_list dropped = {0};
    const enum ht_status sent = webhook_post_result(queue->post, code, &why);
    const struct webhook_attempt attempt = {.sent = sent,
                                            .why = why.text,
                                            .now_ms = clock_monotonic_ms(),
                                            .wall_ms = clock_wall_ms(),
                                            .random = token_random64()};
    end_post(webhooks, queue);
    meter_add(sent == HT_OK ? METER_DELIVERIES : METER_DELIVERY_FAILURES, 1);
    const enum ht_status status =
        webhook_queue_settle(queue, &attempt, &dropped, err);
    for (size_t i = 0; status == HT_OK && i < dropped.n; i++)
        report_dropped(webhooks->core, queue, &dropped.items[i]);
    return status;
}

/* Waits for answers, for at most so long or until it is woken, and stores the
 * attempts that ended. */
static enum ht_status wait_for_answers(struct webhooks *webhooks,
                                       int64_t pause_ms, struct ht_error *err)
{
    int running, left;
    const CURLMsg *message;
    enum ht_status status = HT_OK;
    CURLMcode code =
        curl_multi_poll(webhooks->multi, NULL, 0, (int)pause_ms, NULL);
    if (code == CURLM_OK)
        code = curl_multi_perform(webhooks->multi, &running);
    if (code != CURLM_OK)
        return ht_fail(err, HT_IO, "libcurl: %s", curl_multi_strerror(code));
    while (status == HT_OK &&
           (message = curl_multi_info_read(webhooks->multi, &left)) != NULL) {
        char *queue;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &queue);
        status = settle(webhooks, (struct webhook_queue *)(void *)queue,
                        message->data.result, err);
    }
    return status;
}

/* --- the thread --- */

static enum ht_status work(struct webhooks *webhooks, int64_t *pause_ms,
                           struct ht_error *err)
{
    enum ht_status status = HT_OK;
    if (clock_monotonic_ms() >= webhooks->look_ms)
        status = look(webhooks, err);
    if (status == HT_OK)
        status = read_changed(webhooks, err);
    return status == HT_OK ? send_due(webhooks, pause_ms, err) : status;
}

/* Makes *pause_ms end at that moment, unless it has passed. */
static void shorten(int64_t *pause_ms, int64_t until_ms)
{
    const int64_t left_ms = until_ms - clock_monotonic_ms();
    if (left_ms > 0 && left_ms < *pause_ms)
        *pause_ms = left_ms;
}

static void note_failure(struct webhooks *webhooks, const struct ht_error *err)
{
    log_event(LOG_ERROR, "webhooks.failed", "why=\"%s\"", err->text);
    webhooks->again_ms = clock_monotonic_ms() + AGAIN_MS;
}

static void *run(void *argument)
{
    struct webhooks *webhooks = argument;
    while (!atomic_load(&webhooks->stopping)) {
        struct ht_error err;
        int64_t pause_ms = LOOK_MS;
        if (clock_monotonic_ms() >= webhooks->again_ms &&
            work(webhooks, &pause_ms, &err) != HT_OK)
            note_failure(webhooks, &err);
        shorten(&pause_ms, webhooks->look_ms);
        shorten(&pause_ms, webhooks->read_ms);
        shorten(&pause_ms, webhooks->again_ms);
        if (wait_for_answers(webhooks, pause_ms, &err) != HT_OK)
            note_failure(webhooks, &err);
    }
    return NULL;
}

/* --- life --- */

struct webhooks *webhooks_new(void)
{
    struct webhooks *webhooks = ht_xcalloc(1, sizeof *webhooks);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    webhooks->board = webhook_board_new();
    webhooks->reader = webhook_reader_new();
    webhooks->multi = curl_multi_init();
    if (webhooks->multi == NULL)
        ht_out_of_memory();
    return webhooks;
}

/* The file is read before the thread runs: a spec that is submitted at once
 * may name its webhooks. */
enum ht_status webhooks_start(struct webhooks *webhooks, const char *folder,
                              const char *http, struct core *core,
                              struct ht_error *err)
{
    webhooks->folder = ht_xstrdup(folder);
    webhooks->http = http;
    webhooks->core = core;
    webhook_config_init(&webhooks->config, webhooks->folder);
    webhook_config_look(&webhooks->config);
    const enum ht_status status = show(webhooks, err);
    if (status != HT_OK)
        return status;
    const int code = pthread_create(&webhooks->thread, NULL, run, webhooks);
    webhooks->running = code == 0;
    return code == 0
               ? HT_OK
               : ht_fail_errno(err, code, "cannot start the webhook thread");
}

void webhooks_stop(struct webhooks *webhooks)
{
    atomic_store(&webhooks->stopping, true);
    curl_multi_wakeup(webhooks->multi);
    if (webhooks->running)
        pthread_join(webhooks->thread, NULL);
    webhooks->running = false;
}

void webhooks_free(struct webhooks *webhooks)
{
    if (webhooks == NULL)
        return;
    close_queues(webhooks);
    curl_multi_cleanup(webhooks->multi);
    webhook_reader_free(webhooks->reader);
    db_close(webhooks->outbox);
    webhook_config_fini(&webhooks->config);
    webhook_board_free(webhooks->board);
    free(webhooks->folder);
    free(webhooks);
}
