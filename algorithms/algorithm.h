/* algorithm.h - what every search method is: a table of four functions.
 *
 * Algorithms are pure: the same space, seed, history and request give the same
 * answer bit for bit. They have no I/O, no clock and no threads; a state is
 * used by one thread at a time. */
#ifndef HT_ALGORITHMS_ALGORITHM_H
#define HT_ALGORITHMS_ALGORITHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/constraint.h"
#include "proto/error.h"
#include "proto/space.h"

/* One finished trial as the model sees it. */
struct observation {
    const struct value *point; /* space->n settled values, borrowed for the
                                  call; within its bounds */
    bool feasible;             /* false: no objective came out */
    double objective;          /* larger is better (minimised ones negated) */
};

/* Points that must not be suggested again. */
struct taken {
    bool (*has)(void *context, const struct value point[]);
    void *context;
    uint64_t n; /* how many distinct points of the space it holds */
};

struct suggest_request {
    uint64_t ordinal;          /* of the suggestion in its study, from 0 */
    const struct taken *taken; /* tried or pending */
    const struct constraint_set *constraints; /* NULL: none */
    /* Points whose results are still out: open trials by id, then what this
     * batch was given before; settled, borrowed for the call. */
    size_t n_pending;
    const struct value *const *pending;
    uint64_t max_trials; /* of the study; 0: no limit */
};

/* Whether a point may be the answer: neither taken nor in violation. */
bool request_allows(const struct suggest_request *request,
                    const struct value point[]);

/* Once in a process, before the first algorithm is made: numeric libraries
 * must report failures instead of ending the program, and use one thread. */
void algorithms_init(void);

struct algorithm {
    const char *name; /* Vertex's, or in its manner: "RANDOM_SEARCH" */

    /* A state for one study, owned by the caller until free(); it borrows the
     * space. HT_INVALID when the method cannot search such a space. */
    enum ht_status (*new)(const struct space *space, uint64_t seed,
                          void **state, struct ht_error *err);
    /* Adds one finished trial, in committed result order. */
    enum ht_status (*observe)(void *state, const struct observation *seen,
                              struct ht_error *err);
    /* Writes space->n settled values to `point`, never one that `taken` has
     * or that violates a constraint.
     * HT_EXHAUSTED  every point of the space is taken or violates one */
    enum ht_status (*suggest)(void *state,
                              const struct suggest_request *request,
                              struct value point[], struct ht_error *err);
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
