/* plan.h - which slots to ask a cluster for, and which to give back: the pure
 * decision. Nothing here talks to a cluster or reads a clock. */
#ifndef HT_RUNNER_CLUSTER_PLAN_H
#define HT_RUNNER_CLUSTER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"

/* Slots that are too many for so long are given back: a study may want them
 * again a moment later, when a trial has ended. */
enum { PLAN_SURPLUS_MS = 2000 };

enum plan_slot {
    PLAN_GONE,  /* it has ended, or has been cancelled */
    PLAN_WAITS, /* for the cluster */
    PLAN_BUSY,  /* it begins, or has a trial */
    PLAN_ASKS   /* for a trial */
};

/* The elements of one batch job. */
struct plan_batch {
    int64_t study;
    const char *need; /* hash */
    bool known;       /* the id of its job: else it cannot be cancelled yet */
    int n;
    const enum plan_slot *slots;
};

/* A study that wants slots, or has some; kept from one decision to the next. */
struct plan_study {
    int64_t study;
    int64_t wanted;     /* slots; 0: none */
    const char *need;   /* hash; NULL: none of the batches fits */
    int64_t try_at;     /* monotonic: nothing is submitted before */
    int most;           /* elements of the next batch; 0: any number */
    int64_t surplus_at; /* monotonic: since when it has too many; 0: it has
                           not; set by plan_make() */
};

struct plan_fleet {
    size_t n_studies, n_batches;
    struct plan_study *studies; /* of every batch there is one */
    const struct plan_batch *batches;
    int64_t most_slots; /* of all studies together */
    int most_array;     /* elements of one batch; 0: any number */
};

enum plan_kind {
    PLAN_SUBMIT, /* `last` elements for the study */
    PLAN_CANCEL, /* elements first..last of the batch, which wait */
    PLAN_END     /* the element `first` of the batch, which asks */
};

struct plan_step {
    enum plan_kind kind;
    size_t of; /* index of the study or batch */
    int first, last;
};

/* The steps are in the arena; *n of them. At most one batch of a study is being
 * submitted at a time. */
const struct plan_step *plan_make(struct arena *arena,
                                  const struct plan_fleet *fleet,
                                  int64_t now_ms, size_t *n);

#endif
