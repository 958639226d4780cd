#include "algorithms/explain.h"

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

/* A point is chosen for its mean when that is better than anything known, or
 * when not enough is open there to hope for more than the mean. */
static enum reason_kind kind_of(const struct goal_model *model,
                                const double x[])
{
    double mean, variance;
    goal_model_predict(model, x, &mean, &variance);
    const bool known = variance < known_share * model->models[0]->kernel.signal;
    return known || mean >= goal_model_best(model, 0) ? REASON_EXPLOITS
                                                      : REASON_EXPLORES;
}

void explain(const struct history *history, size_t n,
             const struct goal_model models[],
             const struct acquisition *acquisition, const double x[],
             struct reason *reason)
{
    double gradient[HT_MAX_PARAMETERS];
    *reason = (struct reason){.kind = kind_of(&models[0], x), .n_predicted = n};
    reason->acquisition = acquisition_value(acquisition, x, gradient);
    for (size_t k = 0; k < n; k++)
        goal_model_quantiles(&models[k], x, &reason->predicted[k]);
    find_nearest(history, &models[0].models[0]->kernel, x, reason);
}
