/* slurm.h - a way to one Slurm cluster: submit, list, cancel, and what the
 * cluster allows.
 *
 * There are three ways: slurmrestd, the commands of Slurm on this machine, and
 * the same commands on a login node over ssh. All have the same results. Calls
 * block, at most SLURM_PATIENCE_MS each; one thread at a time. */
#ifndef HT_RUNNER_SLURM_SLURM_H
#define HT_RUNNER_SLURM_SLURM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/job/slurm.h"

enum { SLURM_PATIENCE_MS = 20000 };

struct slurm; /* an open way */

/* What is NULL is looked for: slurmrestd in SLURM_REST_URL, else the commands
 * in PATH. */
struct slurm_settings {
    const char *rest;       /* "unix:/PATH" or http(s)://HOST:PORT */
    const char *token_file; /* a JSON web token for it, read at each use */
    const char *ssh;        /* [USER@]HOST: a login node */
    const char *folder;     /* of ssh_control_path(): NULL is that which
                               `hypertune runners connect` takes, too */
};

/* Every state of Slurm is one of these; see ends.h for what an end means. */
enum slurm_state {
    SLURM_PENDING,
    SLURM_RUNNING, /* CONFIGURING, RUNNING, SUSPENDED, STAGE_OUT, SIGNALING */
    SLURM_ENDING,  /* COMPLETING: processes may still run */
    SLURM_COMPLETED,
    SLURM_FAILED, /* FAILED, its exit code or signal is known */
    SLURM_CANCELLED,
    SLURM_TIMEOUT,
    SLURM_DEADLINE,
    SLURM_OUT_OF_MEMORY,
    SLURM_NODE_FAIL, /* NODE_FAIL, BOOT_FAIL, LAUNCH_FAILED */
    SLURM_PREEMPTED,
    SLURM_REQUEUED, /* PENDING again after it had begun */
    SLURM_HELD,     /* PENDING with JobHeldUser or JobHeldAdmin */
    SLURM_UNKNOWN   /* a word that this version does not know */
};

/* In place of a first element: the job is no array but a heterogeneous one,
 * which is the element 0 as a whole. */
enum { SLURM_WHOLE = -1 };

/* One element as the cluster lists it. All that wait may be one row. */
struct slurm_row {
    int64_t job;     /* of the array, or of the first component */
    int first, last; /* elements; the same for one that has begun; SLURM_WHOLE
                        and 0 for a heterogeneous job */
    bool cut; /* Slurm cuts long lists off: any of these that have no row of
                 their own may wait */
    const char *name; /* of the array */
    enum slurm_state state;
    const char *reason; /* in Slurm's words, "" when there is none */
    const char *nodes;  /* "n[1-2]", "" before it begins */
    int64_t end_ms;     /* wall clock: its limit, or when it ended; 0: not
                           known */
    int exit, signal;   /* -1: not known */
};
struct slurm_rows {
    size_t n;
    struct slurm_row *rows;
};

struct slurm_partition {
    const char *name;
    bool is_default, is_up;
    int64_t default_ms, most_ms; /* limits of a job; 0: none */
};
struct slurm_limits {
    const char *version;  /* "22.05.8" */
    int most_array;       /* MaxArraySize: elements are 0 .. this - 1; 0: not
                             known, as slurmrestd does not say it */
    int64_t kill_wait_ms; /* KillWait; 0: not known, the same */
    size_t n_partitions;
    const struct slurm_partition *partitions;
    size_t n_reservations;
    const char *const *reservations;
};

/* HT_UNAVAILABLE    it cannot be reached now (a master of ssh that lapsed, no
 *                   answer), with what a person can do
 * HT_NOT_FOUND      this machine has no way to Slurm
 * HT_INVALID        a setting is wrong */
enum ht_status slurm_open(const struct slurm_settings *settings,
                          struct slurm **slurm, struct ht_error *err);
void slurm_close(struct slurm *slurm); /* accepts NULL; jobs continue */
/* For another thread than that of the calls: the one under way ends within
 * about a second, later ones at once, as HT_UNAVAILABLE. */
void slurm_abort(struct slurm *slurm);
/* "slurmrestd, v0.0.38", "commands", "ssh to login"; borrowed. */
const char *slurm_way(const struct slurm *slurm);

/* *job: its id.
 * HT_UNAVAILABLE    no answer: it may have been accepted; list before another
 *                   try
 * HT_PRECONDITION   refused, in Slurm's words */
enum ht_status slurm_submit(struct slurm *slurm,
                            const struct slurm_batch *batch, int64_t *job,
                            struct ht_error *err);
/* sbatch --test-only; *words: Slurm's, in the arena. Errors as of submit. */
enum ht_status slurm_test(struct slurm *slurm, const struct slurm_batch *batch,
                          struct arena *arena, const char **words,
                          struct ht_error *err);
/* All jobs of this user whose name begins with the prefix, also the
 * ended ones that are still kept; one request. In the arena. */
enum ht_status slurm_list(struct slurm *slurm, const char *prefix,
                          struct arena *arena, struct slurm_rows *rows,
                          struct ht_error *err);
/* Ends elements first..last of an array, or a job as a whole; `waiting`: only
 * what waits, and none that had begun when it was asked. One that is gone
 * is no error. */
enum ht_status slurm_cancel(struct slurm *slurm, int64_t job, int first,
                            int last, bool waiting, struct ht_error *err);
enum ht_status slurm_limits(struct slurm *slurm, struct arena *arena,
                            struct slurm_limits *limits, struct ht_error *err);

#endif
