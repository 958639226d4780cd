/* triangle.h - factors and solutions with lower triangular matrices.
 *
 * OpenBLAS does these in internal buffers, and Debian's build of it for one
 * thread hands them out without a lock: two threads at once would get numbers
 * that are a little wrong. So here one waits for the other. What needs no
 * buffer, such as cblas_ddot(), is called directly.
 *
 * Matrices are rows of `stride` numbers, of which the first n are used. */
#ifndef HT_ALGORITHMS_BASE_TRIANGLE_H
#define HT_ALGORITHMS_BASE_TRIANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* Row i begins at rows + i * stride and has i + 1 numbers that count. */
struct triangle {
    size_t n, stride;
    double *rows; /* borrowed */
};

/* Replaces a covariance, of which the lower half counts, by the L of L L^T;
 * false when it has none, and then the rows are spoilt. */
bool triangle_factor(const struct triangle *covariance);

/* Replaces L by the inverse of L L^T. */
bool triangle_invert_product(const struct triangle *l);

/* Replaces L by its inverse. */
void triangle_invert(const struct triangle *l);

/* Replaces v by L^-1 v. */
void triangle_solve(const struct triangle *l, double v[]);
/* Replaces v by L^-T v. */
void triangle_solve_transposed(const struct triangle *l, double v[]);

/* Replaces each of m rows of n numbers, one behind the other, by L^-1 of it. */
void triangle_solve_rows(const struct triangle *l, size_t m, double rows[]);

#endif
