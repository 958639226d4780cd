#include "runner/talk/usage.h"

#include "proto/base/clock.h"
#include "runner/attempt/gpu_use.h"
#include "runner/base/json.h"

static void put_series(struct text *out, const struct attempt *attempt,
                       const char *replica, const char *device,
                       const struct usage *usage)
{
    struct text series = {0};
    const struct order_key *key = &attempt->order->key;
    usage_write(usage, &series);
    json_open(out, NULL);
    json_put_int(out, "study", key->study);
    json_put_int(out, "trial", key->trial);
    json_put_int(out, "attempt", key->attempt);
    json_put_string(out, "replica", replica);
    json_put_string(out, "device", device);
    json_put_raw(out, "series", series.data);
    json_close(out);
    text_free(&series);
}

static void put_gpus(struct text *out, const struct attempt *attempt, size_t i)
{
    const struct attempt_replica *replica = &attempt->replicas[i];
    const int64_t now = clock_monotonic_ms();
    for (size_t k = 0;
         replica->gpus != NULL && k < attempt->placement.replicas[i].gpus.n;
         k++) {
        struct gpu_use *use = &replica->gpus[k];
        if (gpu_use_take(use, attempt->ended, now))
            put_series(out, attempt, replica->name, use->name,
                       &use->counter.usage);
    }
}

/* `end`: of `out`, beyond which nothing more is added. */
static void put_attempt(struct text *out, struct attempt *attempt, size_t end)
{
    struct usage usage;
    for (size_t i = 0; i < attempt->order->n_replicas && out->len < end; i++) {
        struct attempt_replica *replica = &attempt->replicas[i];
        if (usage_file_take(&replica->usage, &usage))
            put_series(out, attempt, replica->name, "", &usage);
        put_gpus(out, attempt, i);
    }
}

void usage_put_all(struct text *out, struct attempts *attempts, size_t most)
{
    json_open_list(out, "usage");
    const size_t end = out->len + most;
    for (struct attempt *attempt = attempts->first; attempt != NULL;
         attempt = attempt->next)
        if (attempt->accepted && attempt->started_confirmed)
            put_attempt(out, attempt, end);
    json_close_list(out);
}

void usage_put_one(struct text *out, struct attempt *attempt, size_t most)
{
    json_open_list(out, "usage");
    put_attempt(out, attempt, out->len + most);
    json_close_list(out);
}
