/* fleet.h - all batches of this runner: what exists at the cluster, and what
 * the studies want.
 *
 * The supervising thread calls all functions; requests to Slurm are the
 * clerk's. After a restart everything is found again: the batches in their
 * folders, what runs by the cluster's listing. */
#ifndef HT_RUNNER_CLUSTER_FLEET_H
#define HT_RUNNER_CLUSTER_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "runner/attempt/engine.h"
#include "runner/slurm/slurm.h"

struct far;
struct fleet;

struct fleet_settings {
    const struct site *site;
    const struct job_slurm *defaults; /* for every study; borrowed */
    struct far *far; /* NULL: the cluster shares the state folder; borrowed */
};

/* Reads the batches of earlier runs. `slurm` is the fleet's from now on, also
 * after a failure. HT_IO: no thread, or a folder cannot be read. */
enum ht_status fleet_open(const struct fleet_settings *settings,
                          struct slurm *slurm, struct fleet **fleet,
                          struct ht_error *err);
void fleet_close(struct fleet *fleet); /* accepts NULL; jobs continue */

/* As of struct engine_elastic. */
int64_t fleet_tick(struct fleet *fleet, int64_t now_ms);
size_t fleet_look(struct fleet *fleet, struct arena *arena,
                  const struct engine_slots **slots);
void fleet_want(struct fleet *fleet, const struct engine_wanted *wanted,
                size_t n);

/* ---- slots for attempts ---- */

/* The slot is `element` of the batch. */
struct fleet_slot {
    struct batch *batch; /* NULL: none */
    int element;
};

/* Counts an attempt of the study that waits for a slot (1) or no longer does
 * (-1): a slot that asks is meant for it. */
void fleet_wait(struct fleet *fleet, int64_t study, int change);
/* A slot of the study that asks and belongs to no attempt; it has an attempt
 * from now on, until fleet_leave(). Its batch is NULL: there is none. */
struct fleet_slot fleet_take(struct fleet *fleet, int64_t study);
/* The slot that an attempt of an earlier run had, with an attempt again. Its
 * batch is NULL: it ended long ago. */
struct fleet_slot fleet_retake(struct fleet *fleet, const char *name,
                               int element);
/* The attempt has ended; `ran_ms`: for how long it ran, 0: not known. `evict`:
 * it was removed, and the slot is cancelled if it still has it in a while. */
void fleet_leave(struct fleet *fleet, struct fleet_slot slot, int64_t ran_ms,
                 bool evict);

#endif
