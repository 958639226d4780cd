/* clerk.h - the one thread that talks to Slurm, whose calls block: it lists all
 * jobs of this runner again and again, and carries out submissions and
 * cancellations in between.
 *
 * At most one request a second. After an error it waits longer and longer.
 * The supervising thread calls the functions here. */
#ifndef HT_RUNNER_CLUSTER_CLERK_H
#define HT_RUNNER_CLUSTER_CLERK_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "runner/slurm/slurm.h"

struct clerk;
struct far;

enum { CLERK_FAULT_BYTES = 256 };

struct clerk_task {
    struct clerk_task *next;
    struct arena *arena;
    uint64_t number;          /* in the order of the work, from 1 */
    bool submits;             /* else it cancels */
    struct slurm_batch batch; /* to submit */
    struct far *far;          /* ... once its files are there; or NULL */
    int64_t job;              /* to cancel; or that was submitted */
    int first, last;
    bool waiting;        /* only what waits is cancelled */
    struct ht_error err; /* status HT_OK: it was done */
};

/* How often the jobs are listed. */
enum clerk_pace {
    CLERK_IDLE,   /* not at all: there are none */
    CLERK_STEADY, /* every 10 s */
    CLERK_BUSY    /* every 2 s */
};

/* A listing that was asked for when the task of that number was the last one
 * done. */
struct clerk_listing {
    struct arena *arena; /* the taker's */
    struct slurm_rows rows;
    uint64_t done;
};

/* The way to Slurm is the clerk's from now on, also after a failure. `prefix`
 * is of the names of this runner's jobs. HT_IO: no thread. */
enum ht_status clerk_start(struct slurm *slurm, const char *prefix,
                           struct clerk **clerk, struct ht_error *err);
/* Waits 2 s for the request under way, then aborts it; accepts NULL. What was
 * not begun is not done. */
void clerk_stop(struct clerk *clerk);

/* An empty task in its own arena; clerk_do() gives it its number, which it
 * returns, and owns it. */
struct clerk_task *clerk_task_new(void);
uint64_t clerk_do(struct clerk *clerk, struct clerk_task *task);
/* One that was done, or failed; the caller frees it. NULL: none. */
struct clerk_task *clerk_take(struct clerk *clerk);
void clerk_task_free(struct clerk_task *task); /* accepts NULL */

void clerk_set_pace(struct clerk *clerk, enum clerk_pace pace);
/* The newest listing that was not taken yet; false: there is none. */
bool clerk_take_listing(struct clerk *clerk, struct clerk_listing *listing);
/* What the cluster allows, borrowed until clerk_stop(); NULL: not known yet.
 * Empty where Slurm refuses to say it. */
const struct slurm_limits *clerk_limits(struct clerk *clerk);
/* Why nothing can be listed now; "" when all is well. */
void clerk_fault(struct clerk *clerk, char text[CLERK_FAULT_BYTES]);

#endif
