#include "tuner/webhook/delivery.h"

#include <stdlib.h>

#include <curl/curl.h>

#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/base/token.h"
#include "tuner/base/meter.h"
#include "tuner/webhook/given_up.h"
#include "tuner/webhook/http_post.h"
#include "tuner/webhook/queue.h"

struct lane {
    struct webhook_line line;
    struct webhook_post *post; /* its first letter under way, or NULL */
};

struct webhook_delivery {
    CURLM *multi;
    struct webhook_delivery_parts parts;
    size_t n_lanes;
    struct lane *lanes;
};

/* --- life --- */

struct webhook_delivery *webhook_delivery_new(void)
{
    struct webhook_delivery *delivery = ht_xcalloc(1, sizeof *delivery);
    delivery->multi = curl_multi_init();
    if (delivery->multi == NULL)
        ht_out_of_memory();
    return delivery;
}

static void end_post(struct webhook_delivery *delivery, struct lane *lane)
{
    if (lane->post == NULL)
        return;
    curl_multi_remove_handle(delivery->multi, webhook_post_handle(lane->post));
    webhook_post_free(lane->post);
    lane->post = NULL;
}

void webhook_delivery_clear(struct webhook_delivery *delivery)
{
    for (size_t i = 0; i < delivery->n_lanes; i++) {
        end_post(delivery, &delivery->lanes[i]);
        webhook_line_close(&delivery->lanes[i].line);
    }
    free(delivery->lanes);
    delivery->lanes = NULL;
    delivery->n_lanes = 0;
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

/* --- lanes --- */

static enum ht_status keep_named(const struct webhook_delivery_parts *parts,
                                 struct ht_error *err)
{
    const char *names[HT_MAX_WEBHOOKS];
    for (size_t i = 0; i < parts->rules->n; i++)
        names[i] = parts->rules->items[i].name;
    return outbox_keep(parts->outbox, parts->rules->n, names, err);
}

enum ht_status webhook_delivery_set(struct webhook_delivery *delivery,
                                    const struct webhook_delivery_parts *parts,
                                    struct ht_error *err)
{
    const struct webhook_rules *rules = parts->rules;
    webhook_delivery_clear(delivery);
    delivery->parts = *parts;
    delivery->lanes = ht_xcalloc(rules->n + 1, sizeof *delivery->lanes);
    enum ht_status status = keep_named(parts, err);
    while (status == HT_OK && delivery->n_lanes < rules->n) {
        const size_t i = delivery->n_lanes++;
        status = webhook_line_open(&rules->items[i], parts->outbox,
                                   &delivery->lanes[i].line, err);
    }
    if (status != HT_OK)
        webhook_delivery_clear(delivery);
    return status;
}

/* --- sending --- */

static enum ht_status send_first(struct webhook_delivery *delivery,
                                 struct lane *lane, struct ht_error *err)
{
    const enum ht_status status = webhook_line_first(&lane->line, err);
    if (status != HT_OK)
        return status == HT_NOT_FOUND ? HT_OK : status;
    lane->post = webhook_post_new(
        &(struct webhook_post_parts){.webhook = lane->line.webhook,
                                     .letter = &lane->line.letter,
                                     .time_ms = clock_wall_ms()});
    CURL *curl = webhook_post_handle(lane->post);
    curl_easy_setopt(curl, CURLOPT_PRIVATE, lane);
    curl_multi_add_handle(delivery->multi, curl);
    return HT_OK;
}

enum ht_status webhook_delivery_send(struct webhook_delivery *delivery,
                                     int64_t *pause_ms, struct ht_error *err)
{
    const int64_t now_ms = clock_monotonic_ms();
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < delivery->n_lanes; i++) {
        struct lane *lane = &delivery->lanes[i];
        const int64_t left_ms = lane->line.due_ms - now_ms;
        if (lane->post == NULL && left_ms <= 0)
            status = send_first(delivery, lane, err);
        else if (lane->post == NULL && left_ms < *pause_ms)
            *pause_ms = left_ms;
    }
    return status;
}

/* --- settling --- */

static enum ht_status settle(struct webhook_delivery *delivery,
                             struct lane *lane, CURLcode code,
                             struct ht_error *err)
{
    struct ht_error why;
    struct loss_list lost;
    const struct webhook_line *line = &lane->line;
    const enum ht_status sent = webhook_post_judge(lane->post, code, &why);
    const struct webhook_attempt attempt = {.sent = sent,
                                            .why = why.text,
                                            .now_ms = clock_monotonic_ms(),
                                            .wall_ms = clock_wall_ms(),
                                            .random = token_random64()};
    end_post(delivery, lane);
    meter_add(sent == HT_OK ? METER_DELIVERIES : METER_DELIVERY_FAILURES, 1);
    const enum ht_status status =
        webhook_line_settle(&lane->line, &attempt, &lost, err);
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
        char *lane;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &lane);
        status = settle(delivery, (struct lane *)(void *)lane,
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
