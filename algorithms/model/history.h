/* history.h - a study's results in their committed order, as models see them.
 */
#ifndef HT_ALGORITHMS_MODEL_HISTORY_H
#define HT_ALGORITHMS_MODEL_HISTORY_H

#include <stddef.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/model/warp.h"
#include "algorithms/space/encoding.h"

/* Row i of x (`dim` numbers), points (space->n values) and values (n_goals
 * numbers), and variance[i], are of result i. */
struct history {
    const struct encoding *encoding; /* borrowed */
    const bool *shared; /* borrowed, by coordinate: what an earlier study knew,
                           others are absent from its results; NULL: all */
    size_t n_goals;
    bool traded[SETTING_METRICS]; /* by goal: its distances count */
    size_t n, cap;
    double *x;            /* owned, a row of coordinates for each */
    struct value *points; /* owned, what they are coordinates of */
    double *values; /* owned, a row of goals for each; NaN: not reported, as is
                       every value of what failed */
    double *variance; /* owned; of the first value, 0 where it is a result */
    bool *outside;    /* owned; of points that may not be suggested today: the
                         study has changed since, or its constraints do not
                         hold there */
    const struct gp_base *bases[SETTING_METRICS]; /* borrowed, by goal: models
                                                     of earlier studies; NULL:
                                                     none */
    const struct history *outcomes; /* borrowed: these results behind those of
                                       earlier studies, to learn from where
                                       nothing comes out; NULL: of this alone */
};

/* An empty history without memory; `shared`, `bases` and `outcomes` are NULL,
 * for the caller to set. The encoding must outlive it. */
void history_init(struct history *history, const struct encoding *encoding,
                  size_t n_goals);
/* Which goals are objectives among many: their values keep their distances
 * (warp.h). Before the first model. */
void history_trade(struct history *history, const struct setting *setting);
/* Frees what it owns, not what it borrows. */
void history_fini(struct history *history);
/* Copies the result: point of space->n values and n_goals values, larger being
 * better. When it is not feasible or its first value is not finite it counts
 * as failed, and all its values become NaN. */
void history_add(struct history *history, const struct observation *seen);

/* Marks as outside what the constraints (NULL: none) forbid, too; before the
 * models of a suggestion. */
void history_constrain(struct history *history,
                       const struct constraint_set *constraints);

/* Result i < n as it was added, borrowed from the history until the next
 * history_add(). */
struct observation history_get(const struct history *history, size_t i);

/* The history to learn from where nothing comes out. */
const struct history *history_outcomes(const struct history *history);

/* The value of a goal in result i < n; NaN when it has none, or when the
 * history has no such goal. */
double history_value(const struct history *history, size_t i, size_t goal);

/* How many of the first n results have an objective. */
size_t history_feasible(const struct history *history, size_t n);

/* What a model is of. */
enum aspect {
    /* Warped values of a goal; a result without one counts as half as bad as
     * the worst. Leaving it out would send the search back to where the
     * objective seems to rise and nothing ever comes out. */
    ASPECT_VALUE,
    ASPECT_FEASIBILITY /* 1 of results with an objective, -1 of others */
};

struct target {
    enum aspect aspect;
    size_t goal;  /* of ASPECT_VALUE */
    bool on_base; /* of ASPECT_VALUE: on the goal's base */
};

/* Which results a model sees. */
struct selection {
    size_t n;     /* of the first ones so many */
    size_t most;  /* when they are more: up to two thirds of `most` the best
                     that are not outside, and the newest for the rest */
    size_t extra; /* room for points beside them */
};

/* A model that has seen the selected results; one that `fits` keeps what a fit
 * needs. `warping`, unless NULL, is set to how values of the goal became the
 * model's, for the caller to end. The caller owns the model. */
struct gp *history_model(const struct history *history,
                         const struct target *target,
                         const struct selection *selection, bool fits,
                         struct warping *warping);

#endif
