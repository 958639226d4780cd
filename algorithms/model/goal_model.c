#include "algorithms/model/goal_model.h"

#include <math.h>
#include <stdlib.h>

#include "algorithms/model/gp.h"

enum {
    MODEL_ROWS = 600, /* results of a model (history.h) */
    FEW = 15,         /* coordinates: of more, only the last prior */
    DOUBTFUL = 200,   /* results: of more, only one prior */
    CALM_TRIES = 5,   /* more noise each, for a covariance to factor */
    COMPARABLE = 2    /* results that tell a good base from a bad one */
};

/* One failure among successes may be chance: it must not count as certain. */
static const double least_label_noise = 0.1;

/* ---- finding it ---- */

void goal_model_hyper_init(struct goal_hyper *hyper, size_t goal,
                           enum noise noise)
{
    static const enum prior priors[GOAL_MODELS] = {PRIOR_LONG, PRIOR_UNIT};
    for (size_t k = 0; k < GOAL_MODELS; k++)
        hyper->by_prior[k] =
            (struct hyper){.target = {.aspect = ASPECT_VALUE, .goal = goal},
                           .prior = priors[k],
                           .noise = noise};
    hyper->standing = (struct hyper){.target = {ASPECT_VALUE, goal, true},
                                     .prior = PRIOR_LONG,
                                     .noise = noise};
}

/* Conditions with a little more noise, should rounding ask for it. */
static bool condition(struct gp *gp, double theta[])
{
    const size_t noise = gp->rows->encoding->dim + 1;
    for (int i = 0; i < CALM_TRIES; i++) {
        if (gp_condition(gp, theta))
            return true;
        theta[noise] += log(10);
    }
    return false;
}

/* NULL when none factored; then there is no warping either. */
static struct gp *find(const struct history *history, struct hyper *hyper,
                       uint64_t seed, size_t extra, struct warping *warping)
{
    double theta[HYPER_MAX];
    if (!hyper_find(hyper, history, history->n, seed, theta))
        return NULL;
    double *noise = &theta[history->encoding->dim + 1];
    if (hyper->target.aspect == ASPECT_FEASIBILITY)
        *noise = fmax(*noise, log(least_label_noise));
    const struct selection selection = {history->n, MODEL_ROWS, extra};
    struct gp *gp =
        history_model(history, &hyper->target, &selection, false, warping);
    gp->kernel.apart = prior_apart(hyper->prior);
    if (condition(gp, theta))
        return gp;
    gp_free(gp);
    warp_fini(warping);
    return NULL;
}

static void set_model(struct goal_model *model, size_t k, struct gp *gp,
                      const struct warping *warping)
{
    warp_fini(&model->warping);
    model->warping = *warping;
    model->models[k] = gp;
}

/* A model with the base becomes the first of two, unless the first
 * without it makes the results likelier. */
static void add_standing(struct goal_model *model,
                         const struct history *history, struct hyper *hyper,
                         uint64_t seed, size_t extra)
{
    struct warping warping;
    struct gp *gp = find(history, hyper, seed, extra, &warping);
    if (gp == NULL)
        return;
    struct gp *alone = model->n > 0 ? model->models[0] : NULL;
    if (alone != NULL && gp->n_seen >= COMPARABLE &&
        alone->log_likelihood > gp->log_likelihood) {
        gp_free(gp);
        warp_fini(&warping);
        return;
    }
    if (model->n == GOAL_MODELS)
        gp_free(alone);
    else
        model->models[model->n++] = alone;
    set_model(model, 0, gp, &warping);
}

bool goal_model_init(struct goal_model *model, const struct history *history,
                     struct goal_hyper *hyper, uint64_t seed, size_t extra)
{
    *model = (struct goal_model){0};
    const size_t first = history->encoding->dim > FEW ? 1 : 0;
    const size_t end = history->n > DOUBTFUL ? first + 1 : GOAL_MODELS;
    for (size_t k = first; k < end; k++) {
        struct warping warping;
        struct gp *gp =
            find(history, &hyper->by_prior[k], seed, extra, &warping);
        if (gp == NULL)
            continue;
        set_model(model, model->n++, gp, &warping);
    }
    if (history->bases[hyper->standing.target.goal] != NULL)
        add_standing(model, history, &hyper->standing, seed, extra);
    return model->n > 0;
}

bool goal_model_has_base(const struct goal_model *model)
{
    return model->n > 0 && model->models[0]->base != NULL;
}

void goal_model_fini(struct goal_model *model)
{
    for (size_t k = 0; k < model->n; k++)
        gp_free(model->models[k]);
    warp_fini(&model->warping);
}

struct gp *goal_model_target(const struct history *history, struct hyper *hyper,
                             uint64_t seed)
{
    struct warping warping;
    struct gp *gp = find(history, hyper, seed, 0, &warping);
    if (gp != NULL)
        warp_fini(&warping);
    return gp;
}

/* ---- using it ---- */

void goal_model_believe(struct goal_model *model, const double x[],
                        bool outside)
{
    for (size_t k = 0; k < model->n; k++) {
        struct rows *rows = model->models[k]->rows;
        gp_believe(model->models[k], x);
        rows->outside[rows->n - 1] = outside;
    }
}

double goal_model_mean(const struct goal_model *model, const double x[])
{
    double sum = 0;
    for (size_t k = 0; k < model->n; k++)
        sum += gp_mean(model->models[k], x) / (double)model->n;
    return sum;
}

/* A mixture of normals has the mean of their means, and besides the mean of
 * their variances that of the squared distances between means. */
void goal_model_predict(const struct goal_model *model, size_t m,
                        const double x[], double mean[], double variance[])
{
    const double n = (double)model->n;
    double *means = ht_xcalloc(2 * m + 1, sizeof *means),
           *variances = means + m;
    for (size_t j = 0; j < m; j++)
        mean[j] = variance[j] = 0;
    for (size_t k = 0; k < model->n; k++) {
        gp_predict(model->models[k], m, x, means, variances);
        for (size_t j = 0; j < m; j++) {
            mean[j] += means[j] / n;
            variance[j] += (variances[j] + means[j] * means[j]) / n;
        }
    }
    for (size_t j = 0; j < m; j++)
        variance[j] -= mean[j] * mean[j];
    free(means);
}

void goal_model_quantiles(const struct goal_model *model, size_t m,
                          const double x[], struct quantiles quantiles[])
{
    const struct warping *warping = &model->warping;
    double *mean = ht_xcalloc(2 * m + 1, sizeof *mean), *variance = mean + m;
    goal_model_predict(model, m, x, mean, variance);
    for (size_t j = 0; j < m; j++) {
        const double s = sqrt(fmax(variance[j], 0) + model->models[0]->noise);
        quantiles[j] =
            (struct quantiles){.low = warp_undo(warping, mean[j] - s),
                               .median = warp_undo(warping, mean[j]),
                               .high = warp_undo(warping, mean[j] + s)};
    }
    free(mean);
}
