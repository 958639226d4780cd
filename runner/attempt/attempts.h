/* attempts.h - all attempts in this runner's care and the watch on their
 * folders.
 *
 * One thread. Runs are few (the slots, and those that still drain), so a list
 * is searched from its start. */
#ifndef HT_RUNNER_ATTEMPT_ATTEMPTS_H
#define HT_RUNNER_ATTEMPT_ATTEMPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/attempt/attempt.h"

struct fleet {
    const struct site *site;
    const struct engine *engine;
    struct run *first;
    int watch;  /* inotify, -1: only the clock tells */
    bool dirty; /* something moved in a folder since the last tick */
};

void fleet_init(struct fleet *fleet, const struct site *site,
                const struct engine *engine);
void fleet_fini(struct fleet *fleet); /* leaves processes alone */

/* Takes in every attempt that lies in the state folder. What was prepared
 * without a readable lease is killed and removed. */
void fleet_scan(struct fleet *fleet);

struct run *fleet_find(const struct fleet *fleet,
                       const struct attempt_key *key);
/* Starts an attempt; one that is there already changes nothing. */
void fleet_start(struct fleet *fleet, struct order *order, const char *lease,
                 size_t len);
void fleet_adopt(struct fleet *fleet, struct run *run);
/* Kills it, removes its folder and forgets it. */
void fleet_drop(struct fleet *fleet, struct run *run);

/* Asks every engine and reads every file that may have grown; true when there
 * is more to read at once. */
bool fleet_tick(struct fleet *fleet, int64_t next_beat);
void fleet_read_watch(struct fleet *fleet);

int fleet_free_slots(const struct fleet *fleet);
/* GPUs that no attempt has which still runs, or where they are shared, all,
 * the least used first; in the arena. */
struct strings fleet_free_gpus(const struct fleet *fleet, struct arena *arena);
size_t fleet_count(const struct fleet *fleet);

#endif
