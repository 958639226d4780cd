#include "algorithms/model/acquisition.h"

#include <math.h>
#include <stdlib.h>

#include "algorithms/base/normal.h"
#include "proto/base/arena.h"

/* What a chance that is too small costs for each e-fold it lacks: more than
 * gains differ by. */
static const double caution = 1e4;

/* ---- life ---- */

void acquisition_add_outlook(struct acquisition *acquisition, size_t m,
                             const struct gp *const models[],
                             const struct pareto *front,
                             const double reference[],
                             const struct rng_place *place)
{
    struct outlook *outlook = &acquisition->outlooks[acquisition->n_outlooks++];
    outlook->front = *front;
    for (size_t k = 0; k < m; k++)
        outlook->models[k] = models[k];
    ehvi_init(&outlook->gain, &outlook->front, reference, place);
}

void acquisition_fini(struct acquisition *acquisition)
{
    for (size_t i = 0; i < acquisition->n_outlooks; i++) {
        ehvi_fini(&acquisition->outlooks[i].gain);
        pareto_fini(&acquisition->outlooks[i].front);
    }
    spacing_fini(&acquisition->spacing);
}

/* ---- sums of logarithms ---- */

/* ln(e^a + e^b); either may be -INFINITY. */
static double log_sum(double a, double b)
{
    const double most = fmax(a, b), least = fmin(a, b);
    return isinf(least) ? most : most + log1p(exp(least - most));
}

/* The promise of a gain that comes with a chance. */
static double with_chance(const struct acquisition *acquisition, double gain,
                          double chance)
{
    const double lack = chance - log(acquisition->least_chance);
    return gain + chance + (lack < 0 ? caution * lack : 0);
}

/* ---- many points ---- */

/* Means and variances of m models at a few points, by model. */
static void predict(size_t m, const struct gp *const models[], size_t n,
                    const double x[], double mean[], double variance[])
{
    for (size_t k = 0; k < m; k++)
        gp_predict(models[k], n, x, mean + k * n, variance + k * n);
}

static void add_gains(const struct acquisition *acquisition, size_t n,
                      const double x[], double gains[])
{
    for (size_t i = 0; i < acquisition->n_outlooks; i++) {
        const struct outlook *outlook = &acquisition->outlooks[i];
        const size_t m = outlook->gain.m;
        double *mean = ht_xcalloc(2 * m * n + 1, sizeof *mean);
        double *variance = mean + m * n;
        predict(m, outlook->models, n, x, mean, variance);
        for (size_t j = 0; j < n; j++) {
            double at[SETTING_METRICS], spread[SETTING_METRICS];
            for (size_t k = 0; k < m; k++) {
                at[k] = mean[k * n + j];
                spread[k] = variance[k * n + j];
            }
            const double gain =
                ehvi_log(&outlook->gain, at, spread, NULL, NULL);
            gains[j] = i == 0 ? gain : log_sum(gains[j], gain);
        }
        free(mean);
    }
    for (size_t j = 0; j < n && acquisition->n_outlooks > 0; j++)
        gains[j] -= log((double)acquisition->n_outlooks);
}

/* ln of the chance by one model, and its slopes. */
static double reaches(const struct gp *gp, double threshold, double mean,
                      double variance, double *by_mean, double *by_variance)
{
    double slope;
    const double all = variance + gp->noise;
    const double z = (mean - threshold) / sqrt(all);
    const double value = normal_log_cdf(z, &slope);
    *by_mean = slope / sqrt(all);
    *by_variance = -0.5 * slope * z / all;
    return value;
}

static void add_chance(const struct chance *chance, size_t n, const double x[],
                       double sums[])
{
    double *mean = ht_xcalloc(3 * n + 1, sizeof *mean), by_mean, by_variance;
    double *variance = mean + n, *logs = variance + n;
    for (size_t i = 0; i < chance->n; i++) {
        gp_predict(chance->models[i], n, x, mean, variance);
        for (size_t j = 0; j < n; j++) {
            const double log =
                reaches(chance->models[i], chance->threshold, mean[j],
                        variance[j], &by_mean, &by_variance);
            logs[j] = i == 0 ? log : log_sum(logs[j], log);
        }
    }
    for (size_t j = 0; j < n; j++)
        sums[j] += logs[j] - log((double)chance->n);
    free(mean);
}

void acquisition_values(const struct acquisition *acquisition, size_t n,
                        const double x[], double values[])
{
    const size_t dim = acquisition->guide->rows->encoding->dim;
    double *chances = ht_xcalloc(n + 1, sizeof *chances);
    for (size_t j = 0; j < n; j++)
        values[j] = 0;
    add_gains(acquisition, n, x, values);
    for (size_t i = 0; i < acquisition->n_chances; i++)
        add_chance(&acquisition->chances[i], n, x, chances);
    for (size_t j = 0; j < n; j++)
        values[j] = with_chance(acquisition, values[j], chances[j]) +
                    spacing_log(&acquisition->spacing, x + j * dim, NULL);
    free(chances);
}

/* ---- one point with slopes ---- */

/* Part of a logarithm's gradient: where it comes through one model. */
static void add_slopes(const struct gp *gp, const struct gp_slopes *slopes,
                       double by_mean, double by_variance, double gradient[])
{
    for (size_t c = 0; c < gp->rows->encoding->dim; c++)
        gradient[c] +=
            by_mean * slopes->mean[c] + by_variance * slopes->variance[c];
}

static double outlook_gain(const struct outlook *outlook, const double x[],
                           double gradient[])
{
    const size_t m = outlook->gain.m;
    double mean[SETTING_METRICS], variance[SETTING_METRICS];
    double by_mean[SETTING_METRICS], by_variance[SETTING_METRICS];
    struct gp_slopes *slopes = ht_xcalloc(m, sizeof *slopes);
    for (size_t k = 0; k < m; k++)
        gp_predict_slopes(outlook->models[k], x, &mean[k], &variance[k],
                          &slopes[k]);
    const double gain =
        ehvi_log(&outlook->gain, mean, variance, by_mean, by_variance);
    for (size_t k = 0; k < m; k++)
        add_slopes(outlook->models[k], &slopes[k], by_mean[k], by_variance[k],
                   gradient);
    free(slopes);
    return gain;
}

static double model_chance(const struct chance *chance, size_t i,
                           const double x[], double gradient[])
{
    const struct gp *gp = chance->models[i];
    struct gp_slopes slopes;
    double mean, variance, by_mean, by_variance;
    gp_predict_slopes(gp, x, &mean, &variance, &slopes);
    const double log =
        reaches(gp, chance->threshold, mean, variance, &by_mean, &by_variance);
    add_slopes(gp, &slopes, by_mean, by_variance, gradient);
    return log;
}

/* Takes in one more term of a mean in the exponentials: its logarithm and
 * gradient join those of the sum by their shares. */
static double join(size_t dim, double sum, double next, const double other[],
                   double gradient[])
{
    const double both = log_sum(sum, next);
    const double share = isinf(both) ? 0 : exp(next - both);
    for (size_t c = 0; c < dim; c++)
        gradient[c] += share * (other[c] - gradient[c]);
    return both;
}

static double find_gain(const struct acquisition *acquisition, const double x[],
                        double gradient[])
{
    const size_t dim = acquisition->guide->rows->encoding->dim;
    double sum = -INFINITY;
    for (size_t i = 0; i < acquisition->n_outlooks; i++) {
        double other[HT_MAX_PARAMETERS] = {0};
        const double next = outlook_gain(&acquisition->outlooks[i], x, other);
        sum = join(dim, sum, next, other, gradient);
    }
    return acquisition->n_outlooks == 0
               ? 0
               : sum - log((double)acquisition->n_outlooks);
}

static double find_chance(size_t dim, const struct chance *chance,
                          const double x[], double gradient[])
{
    double sum = -INFINITY;
    for (size_t i = 0; i < chance->n; i++) {
        double other[HT_MAX_PARAMETERS] = {0};
        const double next = model_chance(chance, i, x, other);
        sum = join(dim, sum, next, other, gradient);
    }
    return sum - log((double)chance->n);
}

double acquisition_value(const struct acquisition *acquisition,
                         const double x[], double gradient[])
{
    const size_t dim = acquisition->guide->rows->encoding->dim;
    double chances = 0, by_chance[HT_MAX_PARAMETERS] = {0};
    for (size_t c = 0; c < dim; c++)
        gradient[c] = 0;
    const double gain = find_gain(acquisition, x, gradient);
    for (size_t i = 0; i < acquisition->n_chances; i++) {
        double slopes[HT_MAX_PARAMETERS] = {0};
        chances += find_chance(dim, &acquisition->chances[i], x, slopes);
        for (size_t c = 0; c < dim; c++)
            by_chance[c] += slopes[c];
    }
    const bool lacks = chances < log(acquisition->least_chance);
    for (size_t c = 0; c < dim; c++)
        gradient[c] += (lacks ? 1 + caution : 1) * by_chance[c];
    return with_chance(acquisition, gain, chances) +
           spacing_log(&acquisition->spacing, x, gradient);
}
