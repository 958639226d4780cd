/* search.h - the worker that turns a study's history into new points.
 *
 * Each study's state (the algorithm's, and the points taken) is kept and only
 * brought up to date from the events since; when it was dropped it is built
 * again from the first event on, with the same result. */
#ifndef HT_TUNER_SEARCH_H
#define HT_TUNER_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/error.h"

struct core;
struct worker;

struct suggestion {
    const char *params; /* canonical point */
    const char *why;    /* JSON, see why.h */
    bool repeats;       /* a tried point, to be measured again */
};

struct suggestions {
    int64_t study;
    size_t n;
    struct suggestion *items; /* distinct, untried when asked (but those that
                                 repeat) */
    bool exhausted;           /* no point is left besides these */
    bool failed;              /* nothing could be found out; ask again */
};

/* Starts the worker for the database at `path`; worker_stop() ends it. */
enum ht_status search_start(struct core *core, const char *path,
                            struct worker **search, struct ht_error *err);

/* Asks for `n` points, the first being suggestion number `ordinal`. The answer
 * comes through the core's queue to study_accept(). One question per study at
 * a time. Core thread. */
void search_ask(struct worker *search, int64_t study, int64_t ordinal,
                size_t n);

#endif
