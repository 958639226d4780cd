/* webhooks.db: queues of deliveries, what is dropped, which files it opens. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/doc/json.h"
#include "tests/check.h"
#include "tuner/webhook/outbox.h"

static struct arena *arena;
static char folder[] = "/tmp/ht-outbox-XXXXXX";
static const char *path;

static struct db *open_outbox(void)
{
    struct db *outbox = NULL;
    struct ht_error err = {0};
    CHECK(webhook_outbox_open(path, &outbox, &err) == HT_OK);
    CHECK_TEXT(err.text, "");
    return outbox;
}

static void close_outbox(struct db *outbox)
{
    db_close(outbox);
    unlink(path);
}

static void add(struct db *outbox, const char *webhook, int64_t study,
                int64_t made_ms)
{
    const struct webhook_delivery delivery = {.study = study,
                                              .webhook = webhook,
                                              .event = "study.ended",
                                              .body = "{}",
                                              .made_ms = made_ms};
    CHECK(webhook_outbox_add(outbox, &delivery, NULL) == HT_OK);
}

/* The webhook's oldest delivery; id 0: none. */
static struct webhook_delivery first(struct db *outbox, const char *webhook)
{
    struct webhook_delivery delivery = {0};
    const enum ht_status status =
        webhook_outbox_first(outbox, arena, webhook, &delivery, NULL);
    CHECK(status == HT_OK || status == HT_NOT_FOUND);
    return delivery;
}

static void each_webhook_has_a_queue_of_its_own(void)
{
    struct db *outbox = open_outbox();
    add(outbox, "a", 1, 10);
    add(outbox, "b", 2, 20);
    add(outbox, "a", 3, 30);
    CHECK(first(outbox, "a").id == 1 && first(outbox, "b").id == 2);
    CHECK(webhook_outbox_remove(outbox, 1, NULL) == HT_OK);
    CHECK(first(outbox, "a").study == 3);
    CHECK(webhook_outbox_remove(outbox, 3, NULL) == HT_OK);
    CHECK(first(outbox, "a").id == 0 && first(outbox, "b").id == 2);
    add(outbox, "a", 1, 40);
    CHECK(first(outbox, "a").id == 4); /* no number is given twice */
    close_outbox(outbox);
}

static void what_is_old_or_too_much_is_dropped_by_study(void)
{
    struct db *outbox = open_outbox();
    struct webhook_dropped_list dropped;
    for (int64_t i = 1; i <= 10; i++)
        add(outbox, "a", i % 2 == 0 ? 8 : 7, i * 100);
    add(outbox, "b", 9, 0);
    const struct webhook_overdue none = {"a", 0, 0, 10},
                                 which = {"a", 0, 300, 6};
    CHECK(webhook_outbox_drop(outbox, arena, &none, &dropped, NULL) == HT_OK);
    CHECK(dropped.n == 0);
    CHECK(webhook_outbox_drop(outbox, arena, &which, &dropped, NULL) == HT_OK);
    CHECK(dropped.n == 2 && dropped.items[0].study == 7 &&
          dropped.items[0].deliveries == 2 && dropped.items[1].study == 8 &&
          dropped.items[1].deliveries == 2);
    CHECK(first(outbox, "a").id == 5 && first(outbox, "b").id == 11);
    close_outbox(outbox);
}

static void what_is_known_of_a_receiver_outlives_the_server(void)
{
    struct db *outbox = open_outbox();
    struct webhook_row receiver;
    const struct webhook_row known = {.name = "a",
                                      .given_up = 2,
                                      .failures = 3,
                                      .taken_ms = 4,
                                      .failed_ms = 5,
                                      .why = "answered 500"};
    add(outbox, "a", 1, 10);
    CHECK(webhook_outbox_save_row(outbox, &known, NULL) == HT_OK);
    db_close(outbox);
    outbox = open_outbox();
    CHECK(webhook_outbox_row(outbox, arena, "a", &receiver, NULL) == HT_OK);
    CHECK(receiver.pending == 1 && receiver.given_up == 2 &&
          receiver.failures == 3 && receiver.taken_ms == 4 &&
          receiver.failed_ms == 5);
    CHECK_TEXT(receiver.why, "answered 500");
    const struct webhook other = {.name = "b"};
    const struct webhook_rules others = {1, &other};
    CHECK(webhook_outbox_keep(outbox, &others, NULL) == HT_OK);
    CHECK(webhook_outbox_row(outbox, arena, "a", &receiver, NULL) == HT_OK);
    CHECK(receiver.pending == 0 && receiver.failures == 0);
    close_outbox(outbox);
}

static void a_file_of_before_the_release_is_refused_by_name(void)
{
    static const char old[] = "tests/data/before_release_webhooks.db";
    struct db *outbox;
    struct ht_error err = {0};
    CHECK(webhook_outbox_open(old, &outbox, &err) == HT_PRECONDITION);
    CHECK(strstr(err.text, "webhooks.db: is a hypertune database of before the "
                           "first release (id 0x48795768)") != NULL);
}

static void pauses_double_up_to_an_hour(void)
{
    CHECK(webhook_queue_pause(1, 0) == 1000);
    CHECK(webhook_queue_pause(1, 499) == 1499);
    CHECK(webhook_queue_pause(3, 0) == 4000);
    CHECK(webhook_queue_pause(40, 0) == 3600000);
    CHECK(webhook_queue_pause(40, 1799999) == 5399999);
}

enum { DAY_MS = 86400000 };

/* Settles an attempt at that moment, on both clocks; returns what was dropped.
 */
static struct webhook_dropped_list attempt(struct webhook_queue *queue,
                                           enum ht_status sent, int64_t at_ms)
{
    struct webhook_dropped_list dropped = {0};
    const struct webhook_attempt made = {
        .sent = sent, .why = "answered 500", .now_ms = at_ms, .wall_ms = at_ms};
    CHECK(webhook_queue_first(queue, NULL) == HT_OK);
    CHECK(webhook_queue_settle(queue, &made, &dropped, NULL) == HT_OK);
    return dropped;
}

static void after_a_day_of_failures_old_deliveries_are_dropped(void)
{
    static const struct webhook webhook = {.name = "a"};
    struct db *outbox = open_outbox();
    struct webhook_queue queue;
    add(outbox, "a", 7, 0);
    add(outbox, "a", 7, 1000);
    add(outbox, "a", 8, 2000);
    add(outbox, "a", 8, DAY_MS);
    webhook_queue_init(&queue, &webhook, outbox);
    /* They are old, but it failed for the first time just now. */
    const int64_t begun_ms = DAY_MS + 1500;
    CHECK(attempt(&queue, HT_UNAVAILABLE, begun_ms).n == 0);
    CHECK(queue.due_ms == begun_ms + 1000 && queue.row.failures == 1);
    CHECK(attempt(&queue, HT_UNAVAILABLE, begun_ms + DAY_MS - 1).n == 0);
    CHECK(queue.first.id == 1 && queue.row.failures == 2);
    const struct webhook_dropped_list dropped =
        attempt(&queue, HT_UNAVAILABLE, begun_ms + DAY_MS);
    CHECK(dropped.n == 2 && dropped.items[0].study == 7 &&
          dropped.items[0].deliveries == 2 && dropped.items[1].study == 8 &&
          dropped.items[1].deliveries == 2);
    CHECK(queue.row.given_up == 4);
    CHECK(first(outbox, "a").id == 0);
    webhook_queue_fini(&queue);
    close_outbox(outbox);
}

static void one_success_ends_the_failing(void)
{
    static const struct webhook webhook = {.name = "a"};
    struct db *outbox = open_outbox();
    struct webhook_queue queue;
    struct webhook_row stored;
    for (int64_t i = 1; i <= 4; i++)
        add(outbox, "a", i, 0);
    webhook_queue_init(&queue, &webhook, outbox);
    attempt(&queue, HT_UNAVAILABLE, 1);
    CHECK(attempt(&queue, HT_OK, DAY_MS).n == 0 && queue.due_ms == 0);
    CHECK(attempt(&queue, HT_UNAVAILABLE, 2 * (int64_t)DAY_MS).n == 0);
    CHECK(queue.first.id == 2 && queue.row.failures == 1);
    /* Refused for good: the next one has a chance at once. */
    const struct webhook_dropped_list dropped =
        attempt(&queue, HT_PRECONDITION, 2 * (int64_t)DAY_MS + 1);
    CHECK(dropped.n == 1 && dropped.items[0].study == 2 && queue.due_ms == 0);
    CHECK(first(outbox, "a").id == 3);
    CHECK(webhook_outbox_row(outbox, arena, "a", &stored, NULL) == HT_OK);
    CHECK(stored.pending == 2 && stored.given_up == 1 &&
          stored.taken_ms == DAY_MS && stored.failures == 2);
    CHECK_TEXT(stored.why, "answered 500");
    webhook_queue_fini(&queue);
    close_outbox(outbox);
}

int main(void)
{
    json_init();
    arena = arena_new();
    if (mkdtemp(folder) == NULL)
        return 1;
    path = arena_printf(arena, "%s/webhooks.db", folder);
    RUN(each_webhook_has_a_queue_of_its_own);
    RUN(what_is_old_or_too_much_is_dropped_by_study);
    RUN(what_is_known_of_a_receiver_outlives_the_server);
    RUN(a_file_of_before_the_release_is_refused_by_name);
    RUN(pauses_double_up_to_an_hour);
    RUN(after_a_day_of_failures_old_deliveries_are_dropped);
    RUN(one_success_ends_the_failing);
    CHECK(rmdir(folder) == 0);
    arena_free(arena);
    return check_done();
}
