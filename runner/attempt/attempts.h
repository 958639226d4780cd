/* attempts.h - all attempts in this runner's care and the watch on their
 * folders.
 *
 * One thread. Attempts are few (the slots, and those that still drain), so a
 * list is searched from its start. */
#ifndef HT_RUNNER_ATTEMPT_ATTEMPTS_H
#define HT_RUNNER_ATTEMPT_ATTEMPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/attempt/attempt.h"

struct attempts {
    const struct site *site;
    const struct engine *engine;
    struct attempt *first;
    int watch;  /* inotify, -1: only the clock tells */
    bool dirty; /* something moved in a folder since the last tick */
};

void attempts_init(struct attempts *attempts, const struct site *site,
                   const struct engine *engine);
void attempts_fini(struct attempts *attempts); /* leaves processes alone */

/* Takes in every attempt that lies in the state folder. What was prepared
 * without a readable lease is killed and removed. */
void attempts_scan(struct attempts *attempts);

struct attempt *attempts_find(const struct attempts *attempts,
                              const struct order_key *key);
/* Starts an attempt; one that is there already changes nothing. */
void attempts_start(struct attempts *attempts, struct order *order);
void attempts_adopt(struct attempts *attempts, struct attempt *attempt);
/* Kills it, removes its folder and forgets it. */
void attempts_drop(struct attempts *attempts, struct attempt *attempt);

/* Asks every engine and reads every file that may have grown; true when there
 * is more to read at once. */
bool attempts_tick(struct attempts *attempts, int64_t next_beat);
void attempts_read_watch(struct attempts *attempts);

int attempts_free_slots(const struct attempts *attempts);
/* GPUs that no attempt has which still runs, or where they are shared, all,
 * the least used first; in the arena. */
struct strings attempts_free_gpus(const struct attempts *attempts,
                                  struct arena *arena);
size_t attempts_count(const struct attempts *attempts);

#endif
