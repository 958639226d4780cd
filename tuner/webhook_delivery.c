#include "tuner/webhook_delivery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "proto/clock.h"
#include "proto/limits.h"
#include "proto/token.h"
#include "tuner/meter.h"
#include "tuner/webhook_loss.h"
#include "tuner/webhook_post.h"

enum {
    FIRST_MS = 1000, /* before the second attempt */
    LONGEST_MS = 3600000,
    DAY_MS = 86400000,
    AGAIN_MS = 5000,     /* after a failure of our own file */
    LETTERS_MOST = 10000 /* in a line */
};

struct line {
    const struct webhook *webhook;
    struct receiver receiver;
    char why[256];      /* of the receiver */
    int64_t due_ms;     /* no attempt before; monotonic */
    int64_t failing_ms; /* nothing was taken since; 0: it does not fail */
    struct webhook_post *post; /* under way, or NULL */
    struct letter letter;      /* that one */
    struct arena *arena;       /* of it */
};

struct webhook_delivery {
    CURLM *multi;
    struct webhook_delivery_parts parts;
    size_t n_lines;
    struct line *lines;
};

int64_t webhook_delivery_pause(int64_t failures, uint64_t random)
{
    int64_t pause_ms = FIRST_MS;
    for (int64_t i = 1; i < failures && pause_ms < LONGEST_MS; i++)
        pause_ms *= 2;
    pause_ms = pause_ms < LONGEST_MS ? pause_ms : LONGEST_MS;
    return pause_ms + (int64_t)(random % (uint64_t)(pause_ms / 2));
}

/* --- life --- */

struct webhook_delivery *webhook_delivery_new(void)
{
    struct webhook_delivery *delivery = ht_xcalloc(1, sizeof *delivery);
    delivery->multi = curl_multi_init();
    if (delivery->multi == NULL)
        ht_out_of_memory();
    return delivery;
}

static void end_post(struct webhook_delivery *delivery, struct line *line)
{
    if (line->post == NULL)
        return;
    curl_multi_remove_handle(delivery->multi, webhook_post_handle(line->post));
    webhook_post_free(line->post);
    line->post = NULL;
}

void webhook_delivery_clear(struct webhook_delivery *delivery)
{
    for (size_t i = 0; i < delivery->n_lines; i++) {
        end_post(delivery, &delivery->lines[i]);
        arena_free(delivery->lines[i].arena);
    }
    free(delivery->lines);
    delivery->lines = NULL;
    delivery->n_lines = 0;
}

void webhook_delivery_free(struct webhook_delivery *delivery)
{
    if (delivery == NULL)
        return;
    webhook_delivery_clear(delivery);
    curl_multi_cleanup(delivery->multi);
    free(delivery);
}

void webhook_delivery_wake(struct webhook_delivery *delivery)
{
    curl_multi_wakeup(delivery->multi);
}

/* --- lines --- */

static enum ht_status keep_named(const struct webhook_delivery_parts *parts,
                                 struct ht_error *err)
{
    const char *names[HT_MAX_WEBHOOKS];
    for (size_t i = 0; i < parts->rules->n; i++)
        names[i] = parts->rules->items[i].name;
    return outbox_keep(parts->outbox, parts->rules->n, names, err);
}

static void set_why(struct line *line, const char *why)
{
    snprintf(line->why, sizeof line->why, "%s", why);
    line->receiver.why = line->why;
}

static enum ht_status make_line(const struct webhook_delivery_parts *parts,
                                const struct webhook *webhook,
                                struct line *line, struct ht_error *err)
{
    struct arena *arena = arena_new();
    *line = (struct line){.webhook = webhook, .arena = arena};
    const enum ht_status status = outbox_receiver(
        parts->outbox, arena, webhook->name, &line->receiver, err);
    if (status == HT_OK)
        set_why(line, line->receiver.why);
    arena_reset(arena);
    return status;
}

enum ht_status webhook_delivery_set(struct webhook_delivery *delivery,
                                    const struct webhook_delivery_parts *parts,
                                    struct ht_error *err)
{
    const struct webhook_rules *rules = parts->rules;
    webhook_delivery_clear(delivery);
    delivery->parts = *parts;
    delivery->lines = ht_xcalloc(rules->n + 1, sizeof *delivery->lines);
    enum ht_status status = keep_named(parts, err);
    while (status == HT_OK && delivery->n_lines < rules->n) {
        const size_t i = delivery->n_lines++;
        status = make_line(parts, &rules->items[i], &delivery->lines[i], err);
    }
    if (status != HT_OK)
        webhook_delivery_clear(delivery);
    return status;
}

/* --- sending --- */

static enum ht_status send_first(struct webhook_delivery *delivery,
                                 struct line *line, struct ht_error *err)
{
    arena_reset(line->arena);
    const enum ht_status status =
        outbox_first(delivery->parts.outbox, line->arena, line->webhook->name,
                     &line->letter, err);
    if (status != HT_OK)
        return status == HT_NOT_FOUND ? HT_OK : status;
    line->post = webhook_post_new(
        &(struct webhook_post_parts){.webhook = line->webhook,
                                     .letter = &line->letter,
                                     .time_ms = clock_wall_ms()});
    CURL *curl = webhook_post_handle(line->post);
    curl_easy_setopt(curl, CURLOPT_PRIVATE, line);
    curl_multi_add_handle(delivery->multi, curl);
    return HT_OK;
}

enum ht_status webhook_delivery_send(struct webhook_delivery *delivery,
                                     int64_t *pause_ms, struct ht_error *err)
{
    const int64_t now_ms = clock_monotonic_ms();
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < delivery->n_lines; i++) {
        struct line *line = &delivery->lines[i];
        const int64_t left_ms = line->due_ms - now_ms;
        if (line->post == NULL && left_ms <= 0)
            status = send_first(delivery, line, err);
        else if (line->post == NULL && left_ms < *pause_ms)
            *pause_ms = left_ms;
    }
    return status;
}

/* --- settling --- */

static void note_taken(struct line *line)
{
    meter_add(METER_DELIVERIES, 1);
    line->receiver.taken_ms = clock_wall_ms();
    line->receiver.failures = 0;
    line->failing_ms = line->due_ms = 0;
}

static void note_failed(struct line *line, const char *why)
{
    const int64_t now_ms = clock_monotonic_ms();
    meter_add(METER_DELIVERY_FAILURES, 1);
    line->receiver.failed_ms = clock_wall_ms();
    line->receiver.failures++;
    set_why(line, why);
    if (line->failing_ms == 0)
        line->failing_ms = now_ms;
    line->due_ms = now_ms + webhook_delivery_pause(line->receiver.failures,
                                                   token_random64());
}

/* What is a day old goes when nothing was taken for a day; what the line has
 * no room for goes at once. */
static enum ht_status drop(struct webhook_delivery *delivery, struct line *line,
                           struct loss_list *lost, struct ht_error *err)
{
    const bool dead = line->failing_ms != 0 &&
                      clock_monotonic_ms() - line->failing_ms >= DAY_MS;
    const struct overdue which = {.webhook = line->webhook->name,
                                  .before_ms = dead ? clock_wall_ms() - DAY_MS
                                                    : INT64_MIN,
                                  .most = LETTERS_MOST};
    return outbox_drop(delivery->parts.outbox, line->arena, &which, lost, err);
}

/* A letter that was refused for good is a loss, too. */
static void add_refused(const struct line *line, struct loss_list *lost)
{
    struct loss *items = arena_alloc(line->arena, lost->n + 1, sizeof *items);
    if (lost->n > 0)
        memcpy(items, lost->items, lost->n * sizeof *items);
    items[lost->n++] = (struct loss){line->letter.study, 1};
    lost->items = items;
}

/* `sent` tells what became of the letter that was under way. */
static enum ht_status store(struct webhook_delivery *delivery,
                            struct line *line, enum ht_status sent,
                            struct loss_list *lost, struct ht_error *err)
{
    struct outbox *outbox = delivery->parts.outbox;
    struct receiver receiver = line->receiver;
    enum ht_status status = outbox_begin(outbox, err);
    if (status != HT_OK)
        return status;
    if (sent != HT_UNAVAILABLE)
        status = outbox_remove(outbox, line->letter.id, err);
    if (status == HT_OK)
        status = drop(delivery, line, lost, err);
    if (sent == HT_PRECONDITION)
        add_refused(line, lost);
    for (size_t i = 0; i < lost->n; i++)
        receiver.given_up += lost->items[i].letters;
    if (status == HT_OK)
        status = outbox_save_receiver(outbox, &receiver, err);
    if (status == HT_OK)
        status = outbox_commit(outbox, err);
    if (status == HT_OK)
        line->receiver = receiver;
    else
        outbox_rollback(outbox);
    return status;
}

static enum ht_status settle(struct webhook_delivery *delivery,
                             struct line *line, CURLcode code,
                             struct ht_error *err)
{
    struct ht_error why;
    struct loss_list lost = {0};
    const enum ht_status sent = webhook_post_judge(line->post, code, &why);
    end_post(delivery, line);
    if (sent == HT_OK)
        note_taken(line);
    else
        note_failed(line, why.text);
    if (sent == HT_PRECONDITION)
        line->due_ms = 0; /* the next one has a chance of its own */
    const enum ht_status status = store(delivery, line, sent, &lost, err);
    if (status != HT_OK)
        line->due_ms = clock_monotonic_ms() + AGAIN_MS;
    for (size_t i = 0; status == HT_OK && i < lost.n; i++)
        webhook_loss_announce(delivery->parts.core, line->webhook,
                              &line->receiver, &lost.items[i]);
    return status;
}

static enum ht_status settle_all(struct webhook_delivery *delivery,
                                 struct ht_error *err)
{
    int left;
    const CURLMsg *message;
    enum ht_status status = HT_OK;
    while (status == HT_OK &&
           (message = curl_multi_info_read(delivery->multi, &left)) != NULL) {
        char *line;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &line);
        status = settle(delivery, (struct line *)(void *)line,
                        message->data.result, err);
    }
    return status;
}

enum ht_status webhook_delivery_wait(struct webhook_delivery *delivery,
                                     int64_t pause_ms, struct ht_error *err)
{
    int running;
    CURLMcode code =
        curl_multi_poll(delivery->multi, NULL, 0, (int)pause_ms, NULL);
    if (code == CURLM_OK)
        code = curl_multi_perform(delivery->multi, &running);
    if (code != CURLM_OK)
        return ht_fail(err, HT_IO, "libcurl: %s", curl_multi_strerror(code));
    return settle_all(delivery, err);
}
