/* hyper.h - the hyperparameters of a study's models, fitted again as results
 * arrive.
 *
 * They are a function of the first n results alone, not of when they were
 * asked for: at certain sizes, the anchors, they are found from nothing, in
 * between improved from the anchor before. So a state that is built again
 * after a restart fits one anchor, however long the study is.
 *
 * What a suggestion waits for is bounded: beyond HYPER_AT_ONCE results an
 * anchor's fits from several starts come one with each result, those of another
 * model with later ones; beyond HYPER_IMPROVED an anchor's serve until the
 * next; beyond HYPER_ROWS a fit sees only that many (history.h). */
#ifndef HT_ALGORITHMS_MODEL_HYPER_H
#define HT_ALGORITHMS_MODEL_HYPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "algorithms/model/history.h"
#include "algorithms/model/prior.h"

enum {
    HYPER_AT_ONCE = 104, /* the last before an anchor */
    HYPER_IMPROVED = 150,
    HYPER_ROWS = 300
};

struct hyper {
    struct target target; /* set by the owner, as are what is believed before
                             and what was said of the noise */
    enum prior prior;
    enum noise noise;

    /* of the newest anchor, after some of its starts */
    size_t anchor_n; /* results; 0: none */
    size_t starts;
    double anchor_value; /* infinite: no covariance factored */
    double anchor[HYPER_MAX];

    /* what was found last */
    size_t n; /* results; 0: none */
    bool found;
    double theta[HYPER_MAX];
};

/* The size of the newest anchor that is not above n >= 1: every result up to
 * 20, every fifth up to 100, then every 5 %. */
size_t hyper_anchor(size_t n);

/* Writes the dim + 2 hyperparameters after the first n >= 1 results; false
 * when no covariance factored. Asked again for the same n it returns the same
 * at no cost; the seed is that of the study, always the same. */
bool hyper_find(struct hyper *hyper, const struct history *history, size_t n,
                uint64_t seed, double theta[]);

#endif
