/* normal.h - logarithms of chances and gains under the normal distribution.
 *
 * Chances and expected gains underflow where a search still needs slopes
 * (Ament et al., "Unexpected Improvements to Expected Improvement", 2023), so
 * both are handled as logarithms, exact to rounding everywhere. */
#ifndef HT_ALGORITHMS_BASE_NORMAL_H
#define HT_ALGORITHMS_BASE_NORMAL_H

/* ln(phi(z) + z Phi(z)) of the standard normal density and distribution, and
 * its slope. */
double normal_log_h(double z, double *slope);

/* ln Phi(z) of the standard normal distribution, and its slope. */
double normal_log_cdf(double z, double *slope);

/* ln E[max(f - bound, 0)] of a normal f, and its slopes. */
double normal_log_excess(double mean, double variance, double bound,
                         double *by_mean, double *by_variance);

#endif
