#include "algorithms/search/explain.h"

#include <math.h>

/* Of the variance far from all results: with less left, a point is known. */
static const double known_share = 0.25;

static double length_between(const struct encoding *encoding,
                             const struct kernel *kernel, const double a[],
                             const double b[])
{
    double sum = 0;
    for (size_t c = 0; c < encoding->dim; c++) {
        const double gap = encoding->at[c].kind == COORDINATE_CATEGORY ||
                                   a[c] == COORDINATE_ABSENT ||
                                   b[c] == COORDINATE_ABSENT
                               ? (a[c] == b[c] ? 0 : 1)
                               : a[c] - b[c];
        sum += kernel->weight[c] * gap * gap;
    }
    return sqrt(sum);
}

static void find_nearest(const struct history *history,
                         const struct kernel *kernel, const double x[],
                         struct reason *reason)
{
    const size_t dim = history->encoding->dim;
    reason->distance = INFINITY;
    for (size_t i = 0; i < history->n; i++) {
        const double distance =
            length_between(history->encoding, kernel, history->x + i * dim, x);
        if (distance < reason->distance) {
            reason->has_nearest = true;
            reason->nearest = i;
            reason->distance = distance;
        }
    }
}

/* Little is open there of the value of any goal. */
static bool is_known(size_t n, const struct goal_model models[],
                     const double x[])
{
    for (size_t k = 0; k < n; k++) {
        double mean, variance;
        goal_model_predict(&models[k], 1, x, &mean, &variance);
        if (variance >= known_share * models[k].models[0]->kernel.signal)
            return false;
    }
    return true;
}

/* The mean alone is beyond the best that is known. */
static bool is_better(const struct acquisition *acquisition, const double x[])
{
    for (size_t i = 0; i < acquisition->n_outlooks; i++) {
        const struct outlook *outlook = &acquisition->outlooks[i];
        double mean[SETTING_METRICS];
        for (size_t k = 0; k < outlook->front.m; k++)
            mean[k] = gp_mean(outlook->models[k], x);
        if (!pareto_has(&outlook->front, mean))
            return true;
    }
    return false;
}

void explain(const struct history *history, size_t n,
             const struct goal_model models[],
             const struct acquisition *acquisition, const double x[],
             struct reason *reason)
{
    double gradient[HT_MAX_PARAMETERS];
    /* For its mean, or when not enough is open to hope for more than that. */
    const bool exploits = is_known(n, models, x) || is_better(acquisition, x);
    *reason = (struct reason){
        .kind = exploits ? REASON_EXPLOITS : REASON_EXPLORES, .n_predicted = n};
    reason->acquisition = acquisition_value(acquisition, x, gradient);
    for (size_t k = 0; k < n; k++)
        goal_model_quantiles(&models[k], 1, x, &reason->predicted[k]);
    find_nearest(history, &models[0].models[0]->kernel, x, reason);
}
