#include "tuner/webhook/queue.h"

#include <stdio.h>
#include <string.h>

enum {
    FIRST_MS = 1000, /* before the second attempt */
    LONGEST_MS = 3600000,
    DAY_MS = 86400000,
    AGAIN_MS = 5000 /* after a failure of our own file */
};

int64_t webhook_line_pause(int64_t failures, uint64_t random)
{
    int64_t pause_ms = FIRST_MS;
    for (int64_t i = 1; i < failures && pause_ms < LONGEST_MS; i++)
        pause_ms *= 2;
    pause_ms = pause_ms < LONGEST_MS ? pause_ms : LONGEST_MS;
    return pause_ms + (int64_t)(random % (uint64_t)(pause_ms / 2));
}

static void set_why(struct webhook_line *line, const char *why)
{
    snprintf(line->why, sizeof line->why, "%s", why);
    line->receiver.why = line->why;
}

enum ht_status webhook_line_open(const struct webhook *webhook,
                                 struct outbox *outbox,
                                 struct webhook_line *line,
                                 struct ht_error *err)
{
    *line = (struct webhook_line){
        .webhook = webhook, .outbox = outbox, .arena = arena_new()};
    const enum ht_status status = outbox_receiver(
        outbox, line->arena, webhook->name, &line->receiver, err);
    if (status == HT_OK)
        set_why(line, line->receiver.why);
    return status;
}

void webhook_line_close(struct webhook_line *line)
{
    arena_free(line->arena);
}

enum ht_status webhook_line_first(struct webhook_line *line,
                                  struct ht_error *err)
{
    arena_reset(line->arena);
    return outbox_first(line->outbox, line->arena, line->webhook->name,
                        &line->letter, err);
}

/* --- settling --- */

static void note_taken(struct webhook_line *line,
                       const struct webhook_attempt *attempt)
{
    line->receiver.taken_ms = attempt->wall_ms;
    line->receiver.failures = 0;
    line->failing_ms = line->due_ms = 0;
}

static void note_failed(struct webhook_line *line,
                        const struct webhook_attempt *attempt)
{
    const int64_t failures = ++line->receiver.failures;
    line->receiver.failed_ms = attempt->wall_ms;
    set_why(line, attempt->why);
    if (line->failing_ms == 0)
        line->failing_ms = attempt->now_ms;
    /* After one that was refused for good the next has a chance of its own. */
    line->due_ms =
        attempt->sent == HT_PRECONDITION
            ? 0
            : attempt->now_ms + webhook_line_pause(failures, attempt->random);
}

static enum ht_status drop(struct webhook_line *line,
                           const struct webhook_attempt *attempt,
                           struct loss_list *lost, struct ht_error *err)
{
    const bool dead =
        line->failing_ms != 0 && attempt->now_ms - line->failing_ms >= DAY_MS;
    const struct overdue which = {.webhook = line->webhook->name,
                                  .before_ms = dead ? attempt->wall_ms - DAY_MS
                                                    : INT64_MIN,
                                  .most = WEBHOOK_LINE_MOST};
    return outbox_drop(line->outbox, line->arena, &which, lost, err);
}

/* A letter that was refused for good is a loss, too. */
static void add_refused(const struct webhook_line *line, struct loss_list *lost)
{
    struct loss *items = arena_alloc(line->arena, lost->n + 1, sizeof *items);
    if (lost->n > 0)
        memcpy(items, lost->items, lost->n * sizeof *items);
    items[lost->n++] = (struct loss){line->letter.study, 1};
    lost->items = items;
}

static enum ht_status store(struct webhook_line *line,
                            const struct webhook_attempt *attempt,
                            struct loss_list *lost, struct ht_error *err)
{
    struct receiver receiver = line->receiver;
    struct loss_list found = {0};
    enum ht_status status = HT_OK;
    if (attempt->sent != HT_UNAVAILABLE)
        status = outbox_remove(line->outbox, line->letter.id, err);
    if (status == HT_OK)
        status = drop(line, attempt, &found, err);
    if (attempt->sent == HT_PRECONDITION)
        add_refused(line, &found);
    for (size_t i = 0; i < found.n; i++)
        receiver.given_up += found.items[i].letters;
    if (status == HT_OK)
        status = outbox_save_receiver(line->outbox, &receiver, err);
    if (status == HT_OK)
        status = outbox_commit(line->outbox, err);
    if (status != HT_OK)
        return status;
    line->receiver = receiver;
    *lost = found;
    return HT_OK;
}

enum ht_status webhook_line_settle(struct webhook_line *line,
                                   const struct webhook_attempt *attempt,
                                   struct loss_list *lost, struct ht_error *err)
{
    if (attempt->sent == HT_OK)
        note_taken(line, attempt);
    else
        note_failed(line, attempt);
    enum ht_status status = outbox_begin(line->outbox, err);
    if (status == HT_OK) {
        status = store(line, attempt, lost, err);
        if (status != HT_OK)
            outbox_rollback(line->outbox);
    }
    if (status != HT_OK)
        line->due_ms = attempt->now_ms + AGAIN_MS;
    return status;
}
