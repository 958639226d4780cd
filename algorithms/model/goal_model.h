/* goal_model.h - the model of one goal of a study: Gaussian processes of its
 * warped values, and the way back to the values reported.
 *
 * There is a model under each prior, since the right one is not known: of many
 * parameters only the one that is quick with few results, and one only when
 * results are so many that they decide.
 *
 * Where earlier studies are a base, one of two models does, as
 * long as the results are likelier so than under a model without it. The
 * other never does: it keeps the search from going where a base that is wrong
 * leads it. */
#ifndef HT_ALGORITHMS_MODEL_GOAL_MODEL_H
#define HT_ALGORITHMS_MODEL_GOAL_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/model/history.h"
#include "algorithms/model/hyper.h"
#include "algorithms/model/warp.h"

enum { GOAL_MODELS = 2 };

/* models[k] for k < n, of one warping; the first has the base, if any has. */
struct goal_model {
    size_t n; /* 0: nothing factored, no belief */
    struct gp *models[GOAL_MODELS];
    struct warping warping;
};

/* Hyperparameters of one goal as its study grows, by prior. */
struct goal_hyper {
    struct hyper by_prior[GOAL_MODELS];
    struct hyper standing; /* on the base */
};
/* Nothing is found yet: the first goal_model_init() begins anew. `hyper` owns
 * no memory. */
void goal_model_hyper_init(struct goal_hyper *hyper, size_t goal,
                           enum noise noise);

/* The models of all results, with room for `extra` points to believe. Returns
 * whether there is one; goal_model_fini() either way. `history` must outlive
 * them. Fits hyperparameters where they are due, which takes most of the time,
 * and keeps them in `hyper`. */
bool goal_model_init(struct goal_model *model, const struct history *history,
                     struct goal_hyper *hyper, uint64_t seed, size_t extra);
/* Frees the models; the struct must be initialised again before it is used. */
void goal_model_fini(struct goal_model *model);

/* A model of all results by what hyper->target and its prior say, the caller's;
 * NULL when none factored. */
struct gp *goal_model_target(const struct history *history, struct hyper *hyper,
                             uint64_t seed);

/* Whether one of the models has earlier studies as its base. */
bool goal_model_has_base(const struct goal_model *model);

/* Believes that a pending point comes out as each model predicts. */
void goal_model_believe(struct goal_model *model, const double x[],
                        bool outside);

/* The mean of the warped latent value at x, the `dim` coordinates of a point:
 * much cheaper than its variance. */
double goal_model_mean(const struct goal_model *model, const double x[]);

/* Mean and variance of the warped latent value at m points, of the models as
 * one; `x` is m rows of `dim` coordinates. The model must have n > 0. */
void goal_model_predict(const struct goal_model *model, size_t m,
                        const double x[], double mean[], double variance[]);

/* What results at m points should be, in the units of the observations. */
void goal_model_quantiles(const struct goal_model *model, size_t m,
                          const double x[], struct quantiles quantiles[]);

#endif
