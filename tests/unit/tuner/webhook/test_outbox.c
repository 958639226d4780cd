/* webhooks.db: lines of letters, what is given up, who may open it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/doc/json.h"
#include "tests/check.h"
#include "tuner/webhook/outbox.h"
#include "tuner/webhook/queue.h"

static struct arena *arena;
static char folder[] = "/tmp/ht-outbox-XXXXXX";
static const char *path;

static struct outbox *open_outbox(void)
{
    struct outbox *outbox = NULL;
    struct ht_error err = {0};
    CHECK(outbox_open(path, &outbox, &err) == HT_OK);
    CHECK_TEXT(err.text, "");
    return outbox;
}

static void close_outbox(struct outbox *outbox)
{
    outbox_close(outbox);
    unlink(path);
}

static void add(struct outbox *outbox, const char *webhook, int64_t study,
                int64_t made_ms)
{
    const struct letter letter = {.study = study,
                                  .webhook = webhook,
                                  .event = "study.ended",
                                  .body = "{}",
                                  .made_ms = made_ms};
    CHECK(outbox_add(outbox, &letter, NULL) == HT_OK);
}

/* The webhook's oldest letter; id 0: none. */
static struct letter first(struct outbox *outbox, const char *webhook)
{
    struct letter letter = {0};
    const enum ht_status status =
        outbox_first(outbox, arena, webhook, &letter, NULL);
    CHECK(status == HT_OK || status == HT_NOT_FOUND);
    return letter;
}

static void each_webhook_has_a_line_of_its_own(void)
{
    struct outbox *outbox = open_outbox();
    add(outbox, "a", 1, 10);
    add(outbox, "b", 2, 20);
    add(outbox, "a", 3, 30);
    CHECK(first(outbox, "a").id == 1 && first(outbox, "b").id == 2);
    CHECK(outbox_remove(outbox, 1, NULL) == HT_OK);
    CHECK(first(outbox, "a").study == 3);
    CHECK(outbox_remove(outbox, 3, NULL) == HT_OK);
    CHECK(first(outbox, "a").id == 0 && first(outbox, "b").id == 2);
    add(outbox, "a", 1, 40);
    CHECK(first(outbox, "a").id == 4); /* no number is given twice */
    close_outbox(outbox);
}

static void what_is_old_or_too_much_is_dropped_by_study(void)
{
    struct outbox *outbox = open_outbox();
    struct loss_list lost;
    for (int64_t i = 1; i <= 10; i++)
        add(outbox, "a", i % 2 == 0 ? 8 : 7, i * 100);
    add(outbox, "b", 9, 0);
    const struct overdue none = {"a", 0, 10}, which = {"a", 300, 6};
    CHECK(outbox_drop(outbox, arena, &none, &lost, NULL) == HT_OK);
    CHECK(lost.n == 0);
    CHECK(outbox_drop(outbox, arena, &which, &lost, NULL) == HT_OK);
    CHECK(lost.n == 2 && lost.items[0].study == 7 &&
          lost.items[0].letters == 2 && lost.items[1].study == 8 &&
          lost.items[1].letters == 2);
    CHECK(first(outbox, "a").id == 5 && first(outbox, "b").id == 11);
    close_outbox(outbox);
}

static void what_is_known_of_a_receiver_outlives_the_server(void)
{
    struct outbox *outbox = open_outbox();
    struct receiver receiver;
    const struct receiver known = {.webhook = "a",
                                   .given_up = 2,
                                   .failures = 3,
                                   .taken_ms = 4,
                                   .failed_ms = 5,
                                   .why = "answered 500"};
    add(outbox, "a", 1, 10);
    CHECK(outbox_save_receiver(outbox, &known, NULL) == HT_OK);
    outbox_close(outbox);
    outbox = open_outbox();
    CHECK(outbox_receiver(outbox, arena, "a", &receiver, NULL) == HT_OK);
    CHECK(receiver.pending == 1 && receiver.given_up == 2 &&
          receiver.failures == 3 && receiver.taken_ms == 4 &&
          receiver.failed_ms == 5);
    CHECK_TEXT(receiver.why, "answered 500");
    CHECK(outbox_keep(outbox, 1, (const char *const[]){"b"}, NULL) == HT_OK);
    CHECK(outbox_receiver(outbox, arena, "a", &receiver, NULL) == HT_OK);
    CHECK(receiver.pending == 0 && receiver.failures == 0);
    close_outbox(outbox);
}

static void a_file_of_before_the_release_is_refused_by_name(void)
{
    static const char old[] = "tests/data/before_release_webhooks.db";
    struct outbox *outbox;
    struct ht_error err = {0};
    CHECK(outbox_open(old, &outbox, &err) == HT_PRECONDITION);
    CHECK(strstr(err.text, "webhooks.db: is a hypertune database of before the "
                           "first release (id 0x48795768)") != NULL);
}

static void pauses_double_up_to_an_hour(void)
{
    CHECK(webhook_line_pause(1, 0) == 1000);
    CHECK(webhook_line_pause(1, 499) == 1499);
    CHECK(webhook_line_pause(3, 0) == 4000);
    CHECK(webhook_line_pause(40, 0) == 3600000);
    CHECK(webhook_line_pause(40, 1799999) == 5399999);
}

enum { DAY_MS = 86400000 };

/* Settles an attempt at that moment, on both clocks; returns what was lost. */
static struct loss_list attempt(struct webhook_line *line, enum ht_status sent,
                                int64_t at_ms)
{
    struct loss_list lost = {0};
    const struct webhook_attempt made = {
        .sent = sent, .why = "answered 500", .now_ms = at_ms, .wall_ms = at_ms};
    CHECK(webhook_line_first(line, NULL) == HT_OK);
    CHECK(webhook_line_settle(line, &made, &lost, NULL) == HT_OK);
    return lost;
}

static void after_a_day_of_failures_old_letters_are_given_up(void)
{
    static const struct webhook webhook = {.name = "a"};
    struct outbox *outbox = open_outbox();
    struct webhook_line line;
    add(outbox, "a", 7, 0);
    add(outbox, "a", 7, 1000);
    add(outbox, "a", 8, 2000);
    add(outbox, "a", 8, DAY_MS);
    CHECK(webhook_line_open(&webhook, outbox, &line, NULL) == HT_OK);
    /* They are old, but it failed for the first time just now. */
    const int64_t begun_ms = DAY_MS + 1500;
    CHECK(attempt(&line, HT_UNAVAILABLE, begun_ms).n == 0);
    CHECK(line.due_ms == begun_ms + 1000 && line.receiver.failures == 1);
    CHECK(attempt(&line, HT_UNAVAILABLE, begun_ms + DAY_MS - 1).n == 0);
    CHECK(line.letter.id == 1 && line.receiver.failures == 2);
    const struct loss_list lost =
        attempt(&line, HT_UNAVAILABLE, begun_ms + DAY_MS);
    CHECK(lost.n == 2 && lost.items[0].study == 7 &&
          lost.items[0].letters == 2 && lost.items[1].study == 8 &&
          lost.items[1].letters == 2);
    CHECK(line.receiver.given_up == 4);
    CHECK(first(outbox, "a").id == 0);
    webhook_line_close(&line);
    close_outbox(outbox);
}

static void one_success_ends_the_failing(void)
{
    static const struct webhook webhook = {.name = "a"};
    struct outbox *outbox = open_outbox();
    struct webhook_line line;
    struct receiver stored;
    for (int64_t i = 1; i <= 4; i++)
        add(outbox, "a", i, 0);
    CHECK(webhook_line_open(&webhook, outbox, &line, NULL) == HT_OK);
    attempt(&line, HT_UNAVAILABLE, 1);
    CHECK(attempt(&line, HT_OK, DAY_MS).n == 0 && line.due_ms == 0);
    CHECK(attempt(&line, HT_UNAVAILABLE, 2 * (int64_t)DAY_MS).n == 0);
    CHECK(line.letter.id == 2 && line.receiver.failures == 1);
    /* Refused for good: the next one has a chance at once. */
    const struct loss_list lost =
        attempt(&line, HT_PRECONDITION, 2 * (int64_t)DAY_MS + 1);
    CHECK(lost.n == 1 && lost.items[0].study == 2 && line.due_ms == 0);
    CHECK(first(outbox, "a").id == 3);
    CHECK(outbox_receiver(outbox, arena, "a", &stored, NULL) == HT_OK);
    CHECK(stored.pending == 2 && stored.given_up == 1 &&
          stored.taken_ms == DAY_MS && stored.failures == 2);
    CHECK_TEXT(stored.why, "answered 500");
    webhook_line_close(&line);
    close_outbox(outbox);
}

int main(void)
{
    json_init();
    arena = arena_new();
    if (mkdtemp(folder) == NULL)
        return 1;
    path = arena_printf(arena, "%s/webhooks.db", folder);
    RUN(each_webhook_has_a_line_of_its_own);
    RUN(what_is_old_or_too_much_is_dropped_by_study);
    RUN(what_is_known_of_a_receiver_outlives_the_server);
    RUN(a_file_of_before_the_release_is_refused_by_name);
    RUN(pauses_double_up_to_an_hour);
    RUN(after_a_day_of_failures_old_letters_are_given_up);
    RUN(one_success_ends_the_failing);
    CHECK(rmdir(folder) == 0);
    arena_free(arena);
    return check_done();
}
