/* batch.h - one batch job and its elements, each a slot for trials.
 *
 * What must survive the runner is in the batch's folder, STATE/batches/NAME:
 * batch.json, made before the job is submitted and again once its id is known,
 * and the files of the elements (runner/element). */
#ifndef HT_RUNNER_CLUSTER_BATCH_H
#define HT_RUNNER_CLUSTER_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/job/slurm.h"
#include "runner/slurm/ends.h"
#include "runner/slurm/slurm.h"

/* One element. Texts are in the batch's arena. */
struct slot {
    enum slurm_state state; /* as the cluster listed it last */
    bool listed;            /* it was, once */
    int missed;             /* listings without it since */
    bool vanished;          /* it is gone because of these */
    bool gone;              /* it has ended, or is ended by the runner */
    bool lingers;           /* ... and Slurm would run it again */
    bool settled;           /* ... which was looked into */
    int64_t gone_at;        /* monotonic: when that was */
    const char *reason;     /* in Slurm's words */
    const char *nodes;      /* "" before it begins */
    int exit, signal;       /* of its script; -1: not known */
    int64_t end_ms;         /* its limit, wall clock; 0: not known */
    int turn;               /* that it asked last; 0: none yet */
    bool asks;              /* ... and it has no answer */
    bool dismissed;         /* the last answer was the end */
    bool taken;             /* an attempt of this runner has it */
    uint64_t cancel;        /* the clerk's task that cancels it; 0: none does */
    int64_t look_at;        /* monotonic: not looked for a question before */
    int64_t evict_at;       /* monotonic: it is cancelled unless it has left the
                               trial that was removed; 0: there is none */
};

struct batch {
    struct batch *next;
    struct arena *arena;
    const char *name, *folder;
    int64_t study;
    const char *hash, *text; /* of its need, and that as JSON */
    struct slurm_need need;
    int64_t job;        /* 0: not known */
    uint64_t submit;    /* the clerk's task that submits it; 0: an earlier run
                           of the runner did */
    int64_t unknown_at; /* monotonic: since when its id is looked for; 0: it is
                           not */
    int n;              /* elements */
    struct slot *slots;
};

/* What a new batch is for. */
struct batch_model {
    const char *name;
    int64_t study;
    int64_t job; /* 0: not known */
    const char *hash, *text;
    int n; /* elements, at most: a heterogeneous job has one */
};

/* Makes it and its folder below `state`; the caller owns it.
 * HT_INVALID  the need is damaged
 * HT_IO       the folder or its file cannot be written */
enum ht_status batch_make(const char *state, const struct batch_model *model,
                          struct batch **batch, struct ht_error *err);
/* One of an earlier run of the runner.
 * HT_NOT_FOUND  batch.json is absent: nothing was submitted
 * HT_CORRUPT    it is damaged */
enum ht_status batch_read(const char *state, const char *name,
                          struct batch **batch, struct ht_error *err);
void batch_free(struct batch *batch); /* accepts NULL */
/* Writes the id of its job. HT_IO: the runner would look for it by its name. */
enum ht_status batch_know(struct batch *batch, int64_t job,
                          struct ht_error *err);
/* Nothing of it was or will be submitted: all of its slots are gone. */
void batch_give_up(struct batch *batch, int64_t now_ms);
/* Removes the folder. */
void batch_remove(const struct batch *batch);

/* Removes what is left in the folder of one that cannot be read. */
void batch_clear(const char *state, const char *name);

/* The folder of all batches, in the arena. */
const char *batch_root(struct arena *arena, const char *state);
/* The folder of an element, in the arena. */
const char *batch_element(const struct batch *batch, struct arena *arena,
                          int element);

/* The first of elements to cancel, as of slurm_cancel(). */
int batch_first(const struct batch *batch, int element);
/* How Slurm names the element, "12_4", or "12" for a heterogeneous job; in the
 * arena. */
const char *batch_element_id(const struct batch *batch, struct arena *arena,
                             int element);

/* Looks whether the element asks. */
void batch_look(struct batch *batch, int element);
/* How an element that is gone has ended, its words in the arena. */
struct slurm_end batch_end(const struct batch *batch, struct arena *arena,
                           int element);
/* Takes over a row of the listing that is of this batch. */
void batch_note(struct batch *batch, const struct slurm_row *row);

#endif
