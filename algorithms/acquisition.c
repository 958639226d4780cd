#include "algorithms/acquisition.h"

#include <math.h>
#include <stdlib.h>

#include "proto/arena.h"

static const double log_root_2pi = 0.91893853320467274178;

/* exp(x^2) erfc(x) for x >= 0; the continued fraction of Laplace where the
 * product would lose digits. */
static double scaled_erfc(double x)
{
    if (x < 5)
        return exp(x * x) * erfc(x);
    double tail = x;
    for (int i = 60; i > 0; i--)
        tail = x + 0.5 * i / tail;
    return 1 / (sqrt(M_PI) * tail);
}

/* With R = Phi/phi: h = phi (1 + z R). Far out 1 + z R cancels, and its
 * asymptotic series takes over. */
double acquisition_log_h(double z, double *slope)
{
    if (z > -1) {
        const double below = 0.5 * erfc(-z * M_SQRT1_2);
        const double h = exp(-0.5 * z * z - log_root_2pi) + z * below;
        *slope = below / h;
        return log(h);
    }
    if (z > -1e6) {
        const double ratio = sqrt(M_PI_2) * scaled_erfc(-z * M_SQRT1_2);
        const double i = 1 / (z * z);
        const double q =
            z > -50 ? 1 + z * ratio : i * (1 - i * (3 - i * (15 - i * 105)));
        *slope = ratio / q;
        return -0.5 * z * z - log_root_2pi + log(q);
    }
    *slope = -z;
    return -0.5 * z * z - log_root_2pi - 2 * log(-z);
}

double acquisition_log_ei(double mean, double variance, double incumbent,
                          double *by_mean, double *by_variance)
{
    double slope;
    const double s = sqrt(variance), z = (mean - incumbent) / s;
    const double value = log(s) + acquisition_log_h(z, &slope);
    *by_mean = slope / s;
    *by_variance = (1 - slope * z) / (2 * variance);
    return value;
}

double acquisition_log_cdf(double z, double *slope)
{
    const double value =
        z > -5 ? log(0.5 * erfc(-z * M_SQRT1_2))
               : log(0.5 * scaled_erfc(-z * M_SQRT1_2)) - 0.5 * z * z;
    *slope = exp(-0.5 * z * z - log_root_2pi - value);
    return value;
}

/* ln of the chance that a value with noise is above 0, and its slopes. */
static double log_feasible(const struct gp *gp, double mean, double variance,
                           double *by_mean, double *by_variance)
{
    double slope;
    const double all = variance + gp->noise, z = mean / sqrt(all);
    const double value = acquisition_log_cdf(z, &slope);
    *by_mean = slope / sqrt(all);
    *by_variance = -0.5 * slope * z / all;
    return value;
}

/* ln(e^a + e^b) */
static double log_sum(double a, double b)
{
    return a > b ? a + log1p(exp(b - a)) : b + log1p(exp(a - b));
}

void acquisition_values(const struct acquisition *acquisition, size_t m,
                        const double x[], double values[])
{
    double *mean = ht_xcalloc(2 * m + 1, sizeof *mean), *variance = mean + m;
    double by_mean, by_variance;
    for (size_t k = 0; k < acquisition->n; k++) {
        gp_predict(acquisition->models[k], m, x, mean, variance);
        for (size_t j = 0; j < m; j++) {
            const double value = acquisition_log_ei(mean[j], variance[j],
                                                    acquisition->incumbents[k],
                                                    &by_mean, &by_variance);
            values[j] = k == 0 ? value : log_sum(values[j], value);
        }
    }
    for (size_t j = 0; j < m; j++)
        values[j] -= log((double)acquisition->n);
    const struct gp *feasibility = acquisition->feasibility;
    if (feasibility != NULL)
        gp_predict(feasibility, m, x, mean, variance);
    for (size_t j = 0; feasibility != NULL && j < m; j++)
        values[j] += log_feasible(feasibility, mean[j], variance[j], &by_mean,
                                  &by_variance);
    free(mean);
}

static double model_value(const struct acquisition *acquisition, size_t k,
                          const double x[], double gradient[])
{
    const struct gp *gp = acquisition->models[k];
    struct gp_slopes slopes;
    double mean, variance, by_mean, by_variance;
    gp_predict_slopes(gp, x, &mean, &variance, &slopes);
    const double value = acquisition_log_ei(
        mean, variance, acquisition->incumbents[k], &by_mean, &by_variance);
    for (size_t c = 0; c < gp->rows->encoding->dim; c++)
        gradient[c] =
            by_mean * slopes.mean[c] + by_variance * slopes.variance[c];
    return value;
}

/* ln of the chance of a result; adds its gradient. */
static double add_feasibility(const struct gp *gp, const double x[],
                              double gradient[])
{
    struct gp_slopes slopes;
    double mean, variance, by_mean, by_variance;
    gp_predict_slopes(gp, x, &mean, &variance, &slopes);
    const double value =
        log_feasible(gp, mean, variance, &by_mean, &by_variance);
    for (size_t c = 0; c < gp->rows->encoding->dim; c++)
        gradient[c] +=
            by_mean * slopes.mean[c] + by_variance * slopes.variance[c];
    return value;
}

double acquisition_value(const struct acquisition *acquisition,
                         const double x[], double gradient[])
{
    const size_t dim = acquisition->models[0]->rows->encoding->dim;
    double value = model_value(acquisition, 0, x, gradient);
    for (size_t k = 1; k < acquisition->n; k++) {
        double other[HT_MAX_PARAMETERS] = {0};
        const double next = model_value(acquisition, k, x, other);
        const double sum = log_sum(value, next);
        const double share = exp(next - sum);
        for (size_t c = 0; c < dim; c++)
            gradient[c] += share * (other[c] - gradient[c]);
        value = sum;
    }
    if (acquisition->feasibility != NULL)
        value += add_feasibility(acquisition->feasibility, x, gradient);
    return value - log((double)acquisition->n);
}
