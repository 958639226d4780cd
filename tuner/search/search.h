/* search.h - the worker that turns a study's history into new points.
 *
 * Each study's state (the algorithm's, and the points taken) is kept and only
 * brought up to date from the events since; when it was dropped it is built
 * again from the first event on, with the same result. */
#ifndef HT_TUNER_SEARCH_SEARCH_H
#define HT_TUNER_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"

struct core;
struct worker;

struct suggestion {
    const char *params; /* canonical point */
    const char *why;    /* JSON, see reason_json.h */
    bool repeats;       /* a tried point, to be measured again */
};

/* What is asked about a study. */
struct search_question {
    int64_t ordinal;     /* of the first point */
    size_t n;            /* points, in one batch */
    const char *context; /* the points have its values, see trial_context.h;
                            NULL: any */
};

struct suggestions {
    int64_t study;
    const char *context; /* as asked */
    size_t n;
    struct suggestion *items; /* distinct, untried when asked (but those that
                                 repeat) */
    bool exhausted;           /* no such point is left besides these */
    bool barren; /* nor was there ever one: none satisfies the constraints */
    bool failed; /* nothing could be found out; ask again */
};

/* Starts the worker for the database at `path`; worker_stop() ends it. */
enum ht_status search_start(struct core *core, const char *path,
                            struct worker **search, struct ht_error *err);

/* The answer comes through the core's queue to study_accept(). One question per
 * study at a time. Core thread. */
void search_ask(struct worker *search, int64_t study,
                const struct search_question *question);

#endif
