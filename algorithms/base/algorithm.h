/* algorithm.h - a search method: a table of functions.
 *
 * Algorithms are pure: the same space, seed, history and request give the same
 * answer bit for bit. They have no I/O, no clock and no threads; a state is
 * used by one thread at a time. */
#ifndef HT_ALGORITHMS_BASE_ALGORITHM_H
#define HT_ALGORITHMS_BASE_ALGORITHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/space/constraint.h"
#include "proto/space/space.h"

enum { SETTING_METRICS = 16 }; /* of one study, at most */

enum noise { NOISE_UNKNOWN, NOISE_LOW, NOISE_HIGH };

/* A metric as a search sees it: larger is better, minimised ones are negated
 * before they get here. */
struct goal {
    bool safety;       /* not improved, only to be at least `threshold` */
    double threshold;  /* of a safety metric */
    double safe_share; /* of trials that must be safe, 0: not asked */
};

struct prior_study;

/* What all searches of one study share, as long as it exists. */
struct setting {
    const struct space *space; /* borrowed */
    uint64_t seed;
    size_t n_goals; /* 0: no metric; goals[0] is an objective otherwise */
    struct goal goals[SETTING_METRICS];
    enum noise noise; /* as its owner described it */
    /* Earlier studies to learn from, borrowed for the call of new(). */
    size_t n_priors;
    const struct prior_study *priors;
};

/* How many of its metrics are objectives. */
size_t setting_objectives(const struct setting *setting);

/* One finished trial as the model sees it. */
struct observation {
    const struct value *point; /* space->n settled values, borrowed for the
                                  call; within its bounds, or once so: a point
                                  outside of today's space or constraints
                                  teaches the model, but is never the best */
    bool feasible;             /* false: no objective came out */
    const double *values; /* setting->n_goals, borrowed; NaN: not reported */
    double variance; /* of values[0] where it is a prediction, not a result:
                        the trial was stopped early; otherwise 0 */
};

/* The results of another study in this space. */
struct prior_study {
    const bool *shared; /* by parameter: it was searched there, too; values of
                           others say nothing */
    size_t n;
    const struct observation *results; /* in their order */
};

/* Points that must not be suggested again. */
struct taken {
    bool (*has)(void *context, const struct value point[]);
    void *context;
    uint64_t n; /* how many distinct points of today's space it holds */
};

/* All is borrowed for the call. */
struct suggest_request {
    uint64_t ordinal;          /* of the suggestion in its study, from 0 */
    const struct taken *taken; /* tried or pending */
    const struct constraint_set *constraints; /* NULL: none */
    const struct subspace *within; /* the answer lies there; NULL: anywhere */
    /* Points whose results are still out: open trials by id, then what this
     * batch was given before; settled, borrowed for the call. */
    size_t n_pending;
    const struct value *const *pending;
    uint64_t max_trials; /* of the study; 0: no limit */
    bool may_repeat; /* the answer may be a point that was tried, to measure it
                        again: REASON_REPEATS */
};

/* Whether a point may be the answer: in the part asked for, neither taken nor
 * in violation. */
bool algorithm_request_allows(const struct suggest_request *request,
                              const struct value point[]);

/* The first index in [from, to), of the part asked for, whose point is allowed
 * so; `to` when there is none. subspace_point() has the points. */
uint64_t algorithm_request_next(const struct space *space,
                                const struct suggest_request *request,
                                uint64_t from, uint64_t to);

/* Once in a process, before the first algorithm is made: numeric libraries
 * must report failures instead of ending the program, and use one thread. */
void algorithm_init(void);

/* Why a point was chosen. */
enum reason_kind {
    REASON_DRAWN,    /* no model: random, or the next of a grid */
    REASON_DESIGN,   /* a first point, spread evenly */
    REASON_EXPLOITS, /* the model expects a better value just there */
    REASON_EXPLORES, /* little is known there */
    REASON_REPEATS,  /* tried: `nearest` is measured again, for results are
                        noisy */
    REASON_SEED      /* the best point of an earlier study */
};

/* The model's prediction of a point's objectives, in the units of the
 * observations: quantiles, since warped beliefs are not symmetric. */
struct quantiles {
    double low, median, high; /* 16, 50, 84 % */
};

/* Written by suggest(), beside the point. */
struct reason {
    enum reason_kind kind;
    size_t n_predicted; /* goals; 0: no model */
    struct quantiles predicted[SETTING_METRICS];
    double acquisition; /* what was maximised; NaN: nothing was */
    bool has_nearest;   /* some result is there to be near to */
    size_t nearest;     /* the observation, in the order of observe() */
    double distance;    /* to it, in lengths of the model */
};

/* One way to search. All functions of one state run on one thread at a time. */
struct algorithm {
    const char *name; /* Vertex's, or in its manner: "RANDOM_SEARCH" */

    /* A state for one study, owned by the caller until free(); it copies the
     * setting and borrows the space. HT_INVALID when the method cannot search
     * such a space. */
    enum ht_status (*new)(const struct setting *setting, void **state,
                          struct ht_error *err);
    /* Adds one finished trial, in committed result order. */
    enum ht_status (*observe)(void *state, const struct observation *seen,
                              struct ht_error *err);
    /* Takes all results back: the state is as new() made it. */
    void (*forget)(void *state);
    /* Writes space->n settled values to `point`, never one that `taken` has
     * (but see may_repeat) or that violates a constraint, and why.
     * HT_EXHAUSTED  every point of the space, or of the part asked for, is
     *               taken or violates one */
    enum ht_status (*suggest)(void *state,
                              const struct suggest_request *request,
                              struct value point[], struct reason *reason,
                              struct ht_error *err);
    void (*free)(void *state); /* accepts NULL */
};

extern const struct algorithm bayesian_search;
extern const struct algorithm random_search;
extern const struct algorithm grid_search;

/* By Vertex name, NULL when there is none. */
const struct algorithm *algorithm_find(const char *name);
/* What a study without an algorithm gets. */
const struct algorithm *algorithm_default(void);

#endif
