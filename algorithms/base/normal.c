#include "algorithms/base/normal.h"

#include <math.h>

/* Own formulas, not GSL's: a study replayed gives the same bits. */
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
double normal_log_h(double z, double *slope)
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

double normal_log_cdf(double z, double *slope)
{
    const double value =
        z > -5 ? log(0.5 * erfc(-z * M_SQRT1_2))
               : log(0.5 * scaled_erfc(-z * M_SQRT1_2)) - 0.5 * z * z;
    *slope = exp(-0.5 * z * z - log_root_2pi - value);
    return value;
}

double normal_log_excess(double mean, double variance, double bound,
                         double *by_mean, double *by_variance)
{
    double slope;
    const double s = sqrt(variance), z = (mean - bound) / s;
    const double value = log(s) + normal_log_h(z, &slope);
    *by_mean = slope / s;
    *by_variance = (1 - slope * z) / (2 * variance);
    return value;
}
