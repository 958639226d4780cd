#include "algorithms/model/prior.h"

#include <math.h>

static const double sqrt2 = 1.41421356237309504880;
static const double sqrt3 = 1.73205080756887729353;

/* 0.5 ((t - mean) / deviation)^2 */
static double normal_term(double t, double mean, double deviation,
                          double *slope)
{
    const double z = (t - mean) / deviation;
    *slope += z / deviation;
    return 0.5 * z * z;
}

static double long_add(size_t dim, const double theta[], double gradient[])
{
    const double mean = sqrt2 + 0.5 * log((double)dim);
    double sum = 0;
    for (size_t c = 0; c < dim; c++)
        sum += normal_term(theta[c], mean, sqrt3, &gradient[c]);
    return sum + normal_term(theta[dim], 0.5, 1.0, &gradient[dim]);
}

/* With q = 1/length^2: 0.1/q + 0.1 q, and Gamma(2, 1) of the signal
 * (optuna/_gp/prior.py). */
static double unit_add(size_t dim, const double theta[], double gradient[])
{
    double sum = 0;
    for (size_t c = 0; c < dim; c++) {
        const double l2 = exp(2 * theta[c]);
        sum += 0.1 * l2 + 0.1 / l2;
        gradient[c] += 0.2 * l2 - 0.2 / l2;
    }
    const double signal = exp(theta[dim]);
    gradient[dim] += signal - 1;
    return sum - theta[dim] + signal;
}

/* Gamma(1.1, 30), as Optuna has it. */
static double little_noise(double t, double *slope)
{
    const double noise = exp(t);
    *slope += 30 * noise - 0.1;
    return 30 * noise - 0.1 * t;
}

static double add_noise(enum prior prior, enum noise noise, double t,
                        double *slope)
{
    switch (noise) {
    case NOISE_LOW:
        return normal_term(t, -9.0, 1.5, slope);
    case NOISE_HIGH:
        return normal_term(t, -3.0, 1.0, slope);
    case NOISE_UNKNOWN:
        break;
    }
    return prior == PRIOR_LONG ? normal_term(t, -6.0, 2.0, slope)
                               : little_noise(t, slope);
}

double prior_add(enum prior prior, enum noise noise, size_t dim,
                 const double theta[], double gradient[])
{
    const double sum = prior == PRIOR_LONG ? long_add(dim, theta, gradient)
                                           : unit_add(dim, theta, gradient);
    return sum + add_noise(prior, noise, theta[dim + 1], &gradient[dim + 1]);
}

double prior_apart(enum prior prior)
{
    return prior == PRIOR_LONG ? 0 : 0.3;
}

void prior_bounds(size_t dim, double low[], double high[])
{
    for (size_t c = 0; c < dim; c++) {
        low[c] = log(0.025);
        high[c] = log(1000.0);
    }
    low[dim] = log(0.05);
    high[dim] = log(20.0);
    low[dim + 1] = log(1e-6);
    high[dim + 1] = 0;
}

static void long_start(size_t dim, size_t round, const double normal[],
                       double theta[])
{
    const double root = 0.5 * log((double)dim);
    for (size_t c = 0; c < dim; c++)
        theta[c] = round == 0 ? log(0.5) + 0.5 * root
                              : sqrt2 / 2 + root + 0.85 * normal[c];
    theta[dim] = round == 0 ? 0 : 0.5 * normal[dim];
    theta[dim + 1] = round == 0 ? log(1e-2) : log(1e-3) + 1.7 * normal[dim + 1];
}

static void unit_start(size_t dim, size_t round, const double normal[],
                       double theta[])
{
    for (size_t c = 0; c < dim; c++)
        theta[c] = round == 0 ? 0 : 0.7 * normal[c];
    theta[dim] = 0;
    theta[dim + 1] = round == 0 ? 0 : log(1e-3);
}

void prior_start(enum prior prior, size_t dim, size_t round,
                 const double normal[], double theta[])
{
    double low[HYPER_MAX], high[HYPER_MAX];
    if (prior == PRIOR_LONG)
        long_start(dim, round, normal, theta);
    else
        unit_start(dim, round, normal, theta);
    prior_bounds(dim, low, high);
    for (size_t i = 0; i < dim + 2; i++)
        theta[i] = fmin(fmax(theta[i], low[i]), high[i]);
}
