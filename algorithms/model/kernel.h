/* kernel.h - the covariance of two points: Matern-5/2 with a length for each
 * coordinate and, for a share `a` of the signal, a sum over single coordinates.
 *
 * k = s2 ((1-a) (1 + s + s^2/3) exp(-s) + a/dim sum_c 1/(1 + w_c D_c / 2)),
 * s = sqrt(5 r2), r2 = sum_c w_c D_c. The sum is of what coordinates do by
 * themselves, and lets a result teach something of all points that share one
 * with it (Duvenaud, Nickisch, Rasmussen, "Additive Gaussian Processes",
 * 2011); rational quadratic, for it costs a division where an exponential
 * would cost twenty operations.
 * w_c = 1/length_c^2 and D_c is the squared distance of two coordinates:
 * (u-v)^2 of positions; 1 of different categories, being absent one of them;
 * (u-1/2)^2 + 1/4 of a position and an absent one, which is the distance of
 * (u, 0) from (1/2, 1/2), so the covariance stays positive definite. */
#ifndef HT_ALGORITHMS_MODEL_KERNEL_H
#define HT_ALGORITHMS_MODEL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/space/encoding.h"

/* Points of a model, a column for each coordinate. */
struct rows {
    const struct encoding *encoding; /* borrowed */
    size_t n, cap;
    double *columns; /* owned; coordinate c of row i at c * cap + i */
    bool *outside;   /* owned, by row: of a point that may not be suggested
                        today (history.h); set by the caller, false until then */
};

/* Room for `cap` points, owned by the caller until kernel_rows_free(). */
struct rows *kernel_rows_new(const struct encoding *encoding, size_t cap);
void kernel_rows_free(struct rows *rows); /* accepts NULL */
/* x[] holds the encoding's `dim` coordinates and is copied. The caller keeps n
 * below `cap`: nothing checks it. */
void kernel_rows_add(struct rows *rows, const double x[]);
/* Writes the `dim` coordinates of row i < n. */
void kernel_rows_get(const struct rows *rows, size_t i, double x[]);

/* The first `dim` weights count, one for each coordinate. */
struct kernel {
    double weight[HT_MAX_PARAMETERS]; /* 1/length^2 */
    double signal;                    /* s2, variance far from all data */
    double apart;                     /* a, from 0 to 1 */
};

/* The distance of two points, of `dim` coordinates each, in lengths. Different
 * categories, and being absent or not, are 1 apart. */
double kernel_distance(const struct kernel *kernel,
                       const struct encoding *encoding, const double a[],
                       const double b[]);

/* Covariances of x (`dim` coordinates) and the first n rows, written to k[n].
 * With `slope` not NULL also -2 dk/dr2 = (1-a) 5/3 s2 (1+s) exp(-s), which all
 * derivatives share, n of them. */
void kernel_row(const struct kernel *kernel, const struct rows *rows,
                const double x[], size_t n, double k[], double slope[]);

/* What derivatives are made from: covariances of x and the first n rows. */
struct kernel_slopes {
    const struct kernel *kernel;
    const struct rows *rows;
    const double *x;
    size_t n;
    const double *slope; /* of kernel_row() */
};

/* The n derivatives of the covariances by ln(length_c). */
void kernel_by_length(const struct kernel_slopes *slopes, size_t c,
                      double by_length[]);
/* By x_c, of a continuous coordinate that is present. */
void kernel_by_place(const struct kernel_slopes *slopes, size_t c,
                     double by_place[]);

#endif
