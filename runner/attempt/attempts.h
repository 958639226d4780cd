/* attempts.h - all attempts of this runner; inotify on their folders wakes it
 * when a file changes.
 *
 * One thread. Attempts are few (the slots, and those that still send their
 * logs), so they are a list. */
#ifndef HT_RUNNER_ATTEMPT_ATTEMPTS_H
#define HT_RUNNER_ATTEMPT_ATTEMPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/attempt/attempt.h"

struct gpu_meter;

struct gpu_meter;

struct attempts {
    const struct site *site;
    const struct engine *engine;
    struct gpu_meter *gpus;      /* NULL at first: none is measured */
    struct trees *trees;         /* NULL at first: none can be fetched */
    struct transfers *transfers; /* NULL at first: checkpoints stay here */
    struct attempt *first;
    int watch;    /* inotify, -1: none, folders are read by the clock */
    bool dirty;   /* something changed since the last tick, of any attempt */
    bool touched; /* the same, of the attempts that are marked so */
};

/* An empty list; the site and the engine must outlive it. */
void attempts_init(struct attempts *attempts, const struct site *site,
                   const struct engine *engine);
void attempts_fini(struct attempts *attempts); /* processes continue */

/* Adds every attempt of the state folder. What has no readable lease is killed
 * and removed. */
void attempts_scan(struct attempts *attempts);

/* NULL when there is none of that key; borrowed until attempts_drop(). */
struct attempt *attempts_find(const struct attempts *attempts,
                              const struct order_key *key);
/* Starts an attempt, unless there is one of that key. Owns the order from now
 * on, which is freed in that case. One that would disturb another one's
 * metrics file ends as lost at once. */
void attempts_start(struct attempts *attempts, struct order *order);
/* Continues one of attempts_scan() that the server still wants. */
void attempts_adopt(struct attempts *attempts, struct attempt *attempt);
/* Kills it, removes its folder and frees it. */
void attempts_drop(struct attempts *attempts, struct attempt *attempt);

/* Ticks every attempt, or only the touched ones: of many that run, few
 * change at a time. Those with more to read are touched again. */
void attempts_tick(struct attempts *attempts, int64_t next_beat, bool all);
/* Takes what inotify has to report and sets `touched`; never blocks. */
void attempts_read_watch(struct attempts *attempts);

/* Slots without an attempt that still runs, not below 0. One that has ended
 * and still sends its logs takes none. */
int attempts_free_slots(const struct attempts *attempts);
/* GPUs of which running attempts leave something or, where GPUs are shared by
 * any number, all, the least used first; in the arena. */
struct gpu_rooms attempts_gpu_rooms(const struct attempts *attempts,
                                    struct arena *arena);
/* All in the list, ended ones and those not yet adopted too. */
size_t attempts_count(const struct attempts *attempts);

#endif
