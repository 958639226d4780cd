#include "algorithms/acquisition.h"

#include <math.h>
#include <stdbool.h>
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

/* Adds what model k promises to the sums so far, none for the first. */
static void add_promise(const struct acquisition *acquisition, size_t k,
                        size_t m, const double mean[], const double variance[],
                        double sums[])
{
    const size_t means = gp_means(acquisition->models[k]);
    double by_mean, by_variance;
    for (size_t s = 0; s < means; s++)
        for (size_t j = 0; j < m; j++) {
            const double value =
                acquisition_log_ei(mean[s * m + j], variance[j],
                                   acquisition->incumbents[k][s], &by_mean,
                                   &by_variance) -
                log((double)means);
            sums[j] = k == 0 && s == 0 ? value : log_sum(sums[j], value);
        }
}

static void add_feasibilities(const struct gp *gp, size_t m,
                              const double mean[], const double variance[],
                              double values[])
{
    double by_mean, by_variance;
    for (size_t j = 0; j < m; j++)
        values[j] +=
            log_feasible(gp, mean[j], variance[j], &by_mean, &by_variance);
}

void acquisition_values(const struct acquisition *acquisition, size_t m,
                        const double x[], double values[])
{
    double *variance = ht_xcalloc((GP_FANTASIES + 1) * m + 1, sizeof *variance);
    double *mean = variance + m;
    for (size_t k = 0; k < acquisition->n; k++) {
        gp_predict(acquisition->models[k], m, x, mean, variance);
        add_promise(acquisition, k, m, mean, variance, values);
    }
    for (size_t j = 0; j < m; j++)
        values[j] -= log((double)acquisition->n);
    if (acquisition->feasibility != NULL) {
        gp_predict(acquisition->feasibility, m, x, mean, variance);
        add_feasibilities(acquisition->feasibility, m, mean, variance, values);
    }
    free(variance);
}

/* The sum of promises so far and its gradient. */
struct promise {
    bool begun;
    double value, *gradient;
};

/* In the gradient of a logarithm of a sum each part counts by its share. */
static void promise_add(struct promise *promise, size_t dim, double value,
                        const double gradient[])
{
    const double sum = promise->begun ? log_sum(promise->value, value) : value;
    const double share = promise->begun ? exp(value - sum) : 1;
    for (size_t c = 0; c < dim; c++)
        promise->gradient[c] += share * (gradient[c] - promise->gradient[c]);
    promise->value = sum;
    promise->begun = true;
}

static void promise_add_model(struct promise *promise,
                              const struct acquisition *acquisition, size_t k,
                              const double x[])
{
    const struct gp *gp = acquisition->models[k];
    const size_t dim = gp->rows->encoding->dim, means = gp_means(gp);
    struct gp_slopes slopes;
    double mean[GP_FANTASIES], gradient[HT_MAX_PARAMETERS];
    double variance, by_mean, by_variance;
    gp_predict_slopes(gp, x, mean, &variance, &slopes);
    for (size_t s = 0; s < means; s++) {
        const double value =
            acquisition_log_ei(mean[s], variance, acquisition->incumbents[k][s],
                               &by_mean, &by_variance);
        for (size_t c = 0; c < dim; c++)
            gradient[c] =
                by_mean * slopes.mean[s][c] + by_variance * slopes.variance[c];
        promise_add(promise, dim, value - log((double)means), gradient);
    }
}

/* ln of the chance of a result; adds its gradient. */
static double add_feasibility(const struct gp *gp, const double x[],
                              double gradient[])
{
    struct gp_slopes slopes;
    double mean[GP_FANTASIES], variance, by_mean, by_variance;
    gp_predict_slopes(gp, x, mean, &variance, &slopes);
    const double value =
        log_feasible(gp, mean[0], variance, &by_mean, &by_variance);
    for (size_t c = 0; c < gp->rows->encoding->dim; c++)
        gradient[c] +=
            by_mean * slopes.mean[0][c] + by_variance * slopes.variance[c];
    return value;
}

double acquisition_value(const struct acquisition *acquisition,
                         const double x[], double gradient[])
{
    const size_t dim = acquisition->models[0]->rows->encoding->dim;
    struct promise promise = {.gradient = gradient};
    for (size_t c = 0; c < dim; c++)
        gradient[c] = 0;
    for (size_t k = 0; k < acquisition->n; k++)
        promise_add_model(&promise, acquisition, k, x);
    double value = promise.value - log((double)acquisition->n);
    if (acquisition->feasibility != NULL)
        value += add_feasibility(acquisition->feasibility, x, gradient);
    return value;
}
