/* acquisition.h - the acquisition function: the logarithm of the expected gain
 * over the best known results, times the chances that a result comes out and
 * that it is safe, and less near pending points.
 *
 * Objectives, priors and chances are one sum of products: several objectives
 * gain volume as one gains height (ehvi.h), models under several priors are
 * averaged in the gain, not in its logarithm, and each chance is a factor. */
#ifndef HT_ALGORITHMS_MODEL_ACQUISITION_H
#define HT_ALGORITHMS_MODEL_ACQUISITION_H

#include <stddef.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/model/ehvi.h"
#include "algorithms/model/gp.h"
#include "algorithms/model/pareto.h"
#include "algorithms/model/spacing.h"

enum { ACQUISITION_MODELS = 2, ACQUISITION_CHANCES = SETTING_METRICS + 1 };

/* What the models of the objectives under one prior promise. */
struct outlook {
    const struct gp *models[SETTING_METRICS]; /* borrowed, by objective */
    struct pareto front;                      /* owned: the best known means */
    struct ehvi gain;                         /* owned: beyond them */
};

/* That a value, noise included, is at least `threshold`; the mean over
 * models of different priors. */
struct chance {
    size_t n;
    const struct gp *models[ACQUISITION_MODELS]; /* borrowed */
    double threshold;                            /* as the models see values */
};

struct acquisition {
    const struct gp *guide; /* borrowed: its points are known, its lengths are
                               the steps */
    size_t n_outlooks;      /* 0: nothing to improve on, only the chances */
    struct outlook outlooks[ACQUISITION_MODELS];
    size_t n_chances;
    struct chance chances[ACQUISITION_CHANCES];
    struct spacing spacing; /* owned: of pending points; zeros: none */
    double least_chance;    /* of all together, 0 to 1: with less, a point comes
                               after all that have it */
};

/* Adds an outlook on m objectives, of m models, which must outlive it, and the
 * front, which it owns from now on: `front` is copied and must not be ended by
 * the caller. At most ACQUISITION_MODELS. `reference` (m values) and `place`
 * as of ehvi_init(). */
void acquisition_add_outlook(struct acquisition *acquisition, size_t m,
                             const struct gp *const models[],
                             const struct pareto *front,
                             const double reference[],
                             const struct rng_place *place);
/* Frees the fronts and the spacing, not the models. */
void acquisition_fini(struct acquisition *acquisition);

/* Writes the promises of n points to values[n], as natural logarithms of any
 * size; `x` is n rows of `dim` coordinates. One thread at a time for one
 * acquisition. */
void acquisition_values(const struct acquisition *acquisition, size_t n,
                        const double x[], double values[]);

/* The promise of one point, as above, with its gradient of `dim` numbers by
 * the continuous, present coordinates; 0 by others. */
double acquisition_value(const struct acquisition *acquisition,
                         const double x[], double gradient[]);

#endif
