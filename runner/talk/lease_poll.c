#include "runner/talk/lease_poll.h"

#include "proto/base/clock.h"
#include "runner/base/json.h"
#include "runner/base/log.h"
#include "runner/talk/messages.h"

enum {
    EMPTY_PAUSE_MS = 500, /* so that a hasty server cannot make us spin */
    REFUSED_PAUSE_MS = 5000
};

static void take_attempt(struct lease_poll *poll, const struct node *item)
{
    struct order *order;
    struct ht_error err;
    if (order_read(item, &order, &err) == HT_OK)
        attempts_start(poll->attempts, order);
    else /* the server gives it up when no `started` comes */
        runner_log(RUNNER_ERROR, "lease.invalid", "reason=\"%s\"", err.text);
}

static void take_leases(struct lease_poll *poll, const struct node *map)
{
    talk_apply_stops(poll->attempts, node_find(map, "stop"));
    const struct node *list = node_find(map, "attempts");
    const struct node *item = list != NULL ? list->first : NULL;
    poll->next_at = item != NULL ? 0 : clock_monotonic_ms() + EMPTY_PAUSE_MS;
    for (; item != NULL; item = item->next)
        take_attempt(poll, item);
}

static void take_answer(struct lease_poll *poll, const struct text *text,
                        bool *greeted)
{
    struct arena *arena = arena_new();
    const struct answer answer = talk_read_answer(arena, text);
    const int64_t now = clock_monotonic_ms();
    switch (answer.status) {
    case ANSWER_OK:
        take_leases(poll, answer.map);
        break;
    case ANSWER_RETRY:
        poll->next_at = now + answer.retry_ms;
        break;
    case ANSWER_GONE:
        *greeted = false;
        poll->next_at = now + EMPTY_PAUSE_MS;
        break;
    case ANSWER_INVALID:
        *greeted = false; /* an unknown boot may be called so, too */
        poll->next_at = now + REFUSED_PAUSE_MS;
        break;
    case ANSWER_DENIED:
        runner_log(RUNNER_ERROR, "lease.refused", "error=\"%s\"", answer.error);
        poll->next_at = now + REFUSED_PAUSE_MS;
        break;
    }
    arena_free(arena);
}

static void build_poll(struct lease_poll *poll, int slots, struct text *out)
{
    poll->asked = slots;
    talk_open_message(out, poll->sender, "lease", ++poll->id);
    json_put_int(out, "free", slots);
    /* Which of them are free the server knows best while it holds the poll. */
    json_put_int(out, "gpus", (int64_t)poll->attempts->site->gpus.n);
    json_close(out);
}

void lease_poll_tick(struct lease_poll *poll, bool *greeted)
{
    struct text text = {0};
    if (request_thread_take(poll->thread, &text)) {
        poll->polling = false;
        if (*greeted) /* else our hello gives up what this names */
            take_answer(poll, &text, greeted);
        text_free(&text);
    }
    if (!*greeted)
        return;
    const int slots = attempts_free_slots(poll->attempts);
    struct text request = {0};
    if (poll->polling && poll->asked == 0 && slots > 0) {
        build_poll(poll, slots, &request);
        request_thread_post(poll->thread, &request);
    } else if (!poll->polling && clock_monotonic_ms() >= poll->next_at) {
        build_poll(poll, slots, &request);
        request_thread_post(poll->thread, &request);
        poll->polling = true;
    }
}
