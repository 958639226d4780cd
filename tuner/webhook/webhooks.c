#include "tuner/webhook/webhooks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <curl/curl.h>

#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "tuner/base/log.h"
#include "tuner/base/webhook_board.h"
#include "tuner/webhook/changed_studies.h"
#include "tuner/webhook/config_file.h"
#include "tuner/webhook/delivery.h"
#include "tuner/webhook/event_reader.h"
#include "tuner/webhook/outbox.h"

enum {
    LOOK_MS = 1000,  /* between two looks at the file */
    READ_MS = 50,    /* between two readings, so that a burst is one commit */
    AGAIN_MS = 5000, /* after a failure of our own files */
};

struct webhooks {
    struct webhooks_options options;
    char *folder;
    pthread_t thread;
    bool running;
    atomic_bool stopping;
    atomic_bool active; /* there are webhooks, so that news is wanted */
    struct webhook_news *news;
    struct webhook_board *board;

    /* the thread's own */
    struct webhook_file *file;
    struct webhook_delivery *delivery;
    struct outbox *outbox;           /* NULL: not needed yet */
    struct webhook_reading *reading; /* the same */
    bool fresh;                      /* the delivery has the rules in force */
    int64_t look_ms, read_ms;        /* no look, no reading before; monotonic */
    int64_t again_ms;                /* nothing at all, after a failure */
};

/* --- news --- */

void webhooks_note(struct webhooks *webhooks, int64_t study)
{
    if (atomic_load(&webhooks->active) &&
        webhook_news_add(webhooks->news, study))
        webhook_delivery_wake(webhooks->delivery);
}

struct webhook_board *webhooks_board(struct webhooks *webhooks)
{
    return webhooks->board;
}

/* --- on and off --- */

static enum ht_status open_files(struct webhooks *webhooks,
                                 struct ht_error *err)
{
    struct text path = {0};
    enum ht_status status = HT_OK;
    text_printf(&path, "%s/webhooks.db", webhooks->folder);
    if (webhooks->outbox == NULL)
        status = outbox_open(path.data, &webhooks->outbox, err);
    text_free(&path);
    if (status != HT_OK || webhooks->reading != NULL)
        return status;
    return webhook_reading_open(
        &(struct webhook_reading_options){.folder = webhooks->folder,
                                          .http = webhooks->options.http,
                                          .outbox = webhooks->outbox,
                                          .news = webhooks->news,
                                          .stop = &webhooks->stopping},
        &webhooks->reading, err);
}

/* From no webhook to some. */
static enum ht_status switch_on(struct webhooks *webhooks, struct ht_error *err)
{
    bool begun;
    enum ht_status status = open_files(webhooks, err);
    if (status == HT_OK)
        status = outbox_is_begun(webhooks->outbox, &begun, err);
    if (status != HT_OK)
        return status;
    atomic_store(&webhooks->active, true);
    status = begun ? webhook_reading_resume(webhooks->reading, err)
                   : webhook_reading_begin(webhooks->reading, err);
    if (status == HT_OK)
        log_event(LOG_INFO, "webhooks.begun", "resumed=%d", (int)begun);
    else
        atomic_store(&webhooks->active, false);
    return status;
}

static enum ht_status switch_off(struct webhooks *webhooks,
                                 struct ht_error *err)
{
    atomic_store(&webhooks->active, false);
    return outbox_set_begun(webhooks->outbox, false, err);
}

static enum ht_status follow_file(struct webhooks *webhooks,
                                  struct ht_error *err)
{
    const struct webhook_rules *rules = webhook_file_rules(webhooks->file);
    const bool active = atomic_load(&webhooks->active);
    enum ht_status status = HT_OK;
    if (rules->n > 0 && !active)
        status = switch_on(webhooks, err);
    else if (rules->n == 0 && active)
        status = switch_off(webhooks, err);
    if (status == HT_OK && rules->n > 0)
        status = webhook_delivery_set(
            webhooks->delivery,
            &(struct webhook_delivery_parts){.rules = rules,
                                             .outbox = webhooks->outbox,
                                             .core = webhooks->options.core},
            err);
    webhooks->fresh = status == HT_OK;
    return status;
}

/* --- the thread --- */

static enum ht_status show(struct webhooks *webhooks, struct ht_error *err)
{
    const struct webhook_rules *rules = webhook_file_rules(webhooks->file);
    struct arena *arena = arena_new();
    struct receiver *receivers =
        arena_alloc(arena, rules->n + 1, sizeof *receivers);
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < rules->n; i++)
        status = outbox_receiver(webhooks->outbox, arena, rules->items[i].name,
                                 &receivers[i], err);
    if (status == HT_OK)
        webhook_board_set(webhooks->board, rules, receivers,
                          webhook_file_complaint(webhooks->file));
    arena_free(arena);
    return status;
}

static enum ht_status look(struct webhooks *webhooks, struct ht_error *err)
{
    if (webhook_file_look(webhooks->file)) {
        webhook_delivery_clear(webhooks->delivery);
        webhooks->fresh = false;
    }
    webhooks->look_ms = clock_monotonic_ms() + LOOK_MS;
    const enum ht_status status =
        webhooks->fresh ? HT_OK : follow_file(webhooks, err);
    return status == HT_OK ? show(webhooks, err) : status;
}

static enum ht_status read_news(struct webhooks *webhooks, struct ht_error *err)
{
    size_t n;
    if (!atomic_load(&webhooks->active) ||
        clock_monotonic_ms() < webhooks->read_ms)
        return HT_OK;
    const enum ht_status status = webhook_reading_take(
        webhooks->reading, webhook_file_rules(webhooks->file), &n, err);
    if (n > 0)
        webhooks->read_ms = clock_monotonic_ms() + READ_MS;
    return status;
}

/* Makes *pause_ms end at a moment that is still to come. */
static void shorten(int64_t *pause_ms, int64_t until_ms)
{
    const int64_t left_ms = until_ms - clock_monotonic_ms();
    if (left_ms > 0 && left_ms < *pause_ms)
        *pause_ms = left_ms;
}

static enum ht_status work(struct webhooks *webhooks, int64_t *pause_ms,
                           struct ht_error *err)
{
    enum ht_status status = HT_OK;
    if (clock_monotonic_ms() >= webhooks->look_ms)
        status = look(webhooks, err);
    if (status == HT_OK)
        status = read_news(webhooks, err);
    if (status == HT_OK)
        status = webhook_delivery_send(webhooks->delivery, pause_ms, err);
    return status;
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
        if (webhook_delivery_wait(webhooks->delivery, pause_ms, &err) != HT_OK)
            note_failure(webhooks, &err);
    }
    return NULL;
}

/* --- life --- */

struct webhooks *webhooks_new(void)
{
    struct webhooks *webhooks = ht_xcalloc(1, sizeof *webhooks);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    webhooks->news = webhook_news_new();
    webhooks->board = webhook_board_new();
    webhooks->delivery = webhook_delivery_new();
    return webhooks;
}

/* Who submits a spec at once is told of the webhooks that there are. */
static void show_names(struct webhooks *webhooks)
{
    struct receiver receivers[HT_MAX_WEBHOOKS] = {0};
    for (size_t i = 0; i < HT_MAX_WEBHOOKS; i++)
        receivers[i].why = "";
    webhook_file_look(webhooks->file);
    webhook_board_set(webhooks->board, webhook_file_rules(webhooks->file),
                      receivers, webhook_file_complaint(webhooks->file));
}

enum ht_status webhooks_start(struct webhooks *webhooks,
                              const struct webhooks_options *options,
                              struct ht_error *err)
{
    webhooks->options = *options;
    webhooks->folder = ht_xstrdup(options->folder);
    webhooks->file = webhook_file_new(webhooks->folder);
    show_names(webhooks);
    const int code = pthread_create(&webhooks->thread, NULL, run, webhooks);
    webhooks->running = code == 0;
    return code == 0
               ? HT_OK
               : ht_fail_errno(err, code, "cannot start the webhook thread");
}

void webhooks_stop(struct webhooks *webhooks)
{
    atomic_store(&webhooks->stopping, true);
    webhook_delivery_wake(webhooks->delivery);
    if (webhooks->running)
        pthread_join(webhooks->thread, NULL);
    webhooks->running = false;
}

void webhooks_free(struct webhooks *webhooks)
{
    if (webhooks == NULL)
        return;
    webhook_delivery_free(webhooks->delivery);
    webhook_reading_close(webhooks->reading);
    outbox_close(webhooks->outbox);
    webhook_file_free(webhooks->file);
    webhook_board_free(webhooks->board);
    webhook_news_free(webhooks->news);
    free(webhooks->folder);
    free(webhooks);
}
