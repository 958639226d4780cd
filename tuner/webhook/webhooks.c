#include "tuner/webhook/webhooks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <curl/curl.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "tuner/base/webhook_board.h"
#include "tuner/webhook/event_reader.h"
#include "tuner/webhook/outbox.h"
#include "tuner/webhook/sender.h"

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
    struct webhook_sender *sender;

    /* the thread's own */
    struct webhook_config config;
    struct db *outbox;        /* NULL: not needed yet */
    bool fresh;               /* the sender has the rules in force */
    int64_t look_ms, read_ms; /* no look, no reading before; monotonic */
    int64_t again_ms;         /* nothing at all, after a failure */
};

void webhooks_note(struct webhooks *webhooks, int64_t study)
{
    if (atomic_load(&webhooks->active) &&
        webhook_reader_note(webhooks->reader, study))
        webhook_sender_wake(webhooks->sender);
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
        status = webhook_outbox_open(path.data, &webhooks->outbox, err);
    text_free(&path);
    return status == HT_OK
               ? webhook_reader_open(webhooks->reader, webhooks->folder,
                                     webhooks->http, webhooks->outbox, err)
               : status;
}

/* From no webhook to some. Changes from here on are noted, too. */
static enum ht_status switch_on(struct webhooks *webhooks, struct ht_error *err)
{
    bool resumed;
    enum ht_status status = open_files(webhooks, err);
    if (status != HT_OK)
        return status;
    atomic_store(&webhooks->active, true);
    status = webhook_reader_start(webhooks->reader, &resumed, err);
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

static enum ht_status follow_file(struct webhooks *webhooks,
                                  struct ht_error *err)
{
    const struct webhook_rules *rules = &webhooks->config.rules;
    const bool wanted = rules->n > 0;
    enum ht_status status = HT_OK;
    if (wanted != atomic_load(&webhooks->active))
        status = wanted ? switch_on(webhooks, err) : switch_off(webhooks, err);
    if (status == HT_OK && wanted)
        status = webhook_sender_set(webhooks->sender, rules, webhooks->outbox,
                                    webhooks->core, err);
    webhooks->fresh = status == HT_OK;
    return status;
}

/* --- the thread --- */

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
    if (webhook_config_look(&webhooks->config)) {
        webhook_sender_clear(webhooks->sender);
        webhooks->fresh = false;
    }
    webhooks->look_ms = clock_monotonic_ms() + LOOK_MS;
    const enum ht_status status =
        webhooks->fresh ? HT_OK : follow_file(webhooks, err);
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

static enum ht_status work(struct webhooks *webhooks, int64_t *pause_ms,
                           struct ht_error *err)
{
    enum ht_status status = HT_OK;
    if (clock_monotonic_ms() >= webhooks->look_ms)
        status = look(webhooks, err);
    if (status == HT_OK)
        status = read_changed(webhooks, err);
    if (status == HT_OK)
        status = webhook_sender_send(webhooks->sender, pause_ms, err);
    return status;
}

/* Makes *pause_ms end at a moment that is still to come. */
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
        if (webhook_sender_wait(webhooks->sender, pause_ms, &err) != HT_OK)
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
    webhooks->sender = webhook_sender_new();
    return webhooks;
}

/* The file is looked at before the thread runs: a spec that is submitted at
 * once may name what it has. */
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
    webhook_sender_wake(webhooks->sender);
    if (webhooks->running)
        pthread_join(webhooks->thread, NULL);
    webhooks->running = false;
}

void webhooks_free(struct webhooks *webhooks)
{
    if (webhooks == NULL)
        return;
    webhook_sender_free(webhooks->sender);
    webhook_reader_free(webhooks->reader);
    db_close(webhooks->outbox);
    webhook_config_fini(&webhooks->config);
    webhook_board_free(webhooks->board);
    free(webhooks->folder);
    free(webhooks);
}
