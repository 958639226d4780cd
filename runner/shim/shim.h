/* shim.h - the supervisor of one replica's trainer: writes its output, records
 * its end and kills what it leaves behind.
 *
 * A folder's trainer is started at most once, however often a shim is started
 * on the folder. The shim needs neither runner nor server. */
#ifndef HT_RUNNER_SHIM_SHIM_H
#define HT_RUNNER_SHIM_SHIM_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "runner/element/addresses.h"

/* Exit codes of the program. */
enum {
    SHIM_DONE = 0,   /* exit.json has the trainer's end */
    SHIM_USAGE = 2,  /* wrong command line */
    SHIM_TAKEN = 5,  /* another shim has, or had, this folder */
    SHIM_FAILED = 1, /* the folder cannot be read or written */
};

/* For a trainer in a job of Slurm, whose folder may be on NFS, or in a pod of
 * Kubernetes, whose folder is its own; launch.json was written for another
 * machine.
 *
 * At `stop_at` the trainer is stopped before Slurm's limit, at SIGUSR1 unless
 * `stop_at` is near; SIGTERM is passed on when the parent of this process sends
 * it: else Slurm has sent it to the trainer, too. All of this is an end as
 * `lost`, for `with_job` or a reason of element.h. */
struct shim_batch {
    bool in_pod;                /* else in a job of Slurm */
    const char *with_job;       /* the reason when the cluster ends it */
    int64_t stop_at;            /* monotonic; INT64_MAX: never */
    int64_t end_at;             /* the limit itself, the same */
    int64_t kill_wait_ms;       /* from SIGTERM to Slurm's SIGKILL; INT64_MAX:
                                   the grace of launch.json holds */
    struct pairs given;         /* variables over those of launch.json */
    struct pairs defaults;      /* and what it may have itself */
    struct pairs modules;       /* see modules_put() */
    const char *workdir;        /* where launch.json names none; or NULL */
    struct addresses addresses; /* all known; n 0: the texts stay */
    struct strings container;   /* see image_way_read() */
};

/* Runs the trainer of FOLDER/launch.json until no process of it is left.
 * Changes this process: session, child subreaper, signal mask. `batch` NULL: it
 * is in no job of a cluster. */
int shim_run(const char *folder, const struct shim_batch *batch);

#endif
