/* Loops over columns of plain arrays, each without a branch or a call, so that
 * compilers make vector code of them (VECTOR). No operation is reordered by
 * that: the numbers are the same on every machine. */

#include "algorithms/model/kernel.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"

/* A function behind VECTOR is made twice where the build asks for it, for any
 * x86-64 and for those with AVX2, with all that it calls inside, and the loader
 * takes the one that fits. AVX2 alone fuses no multiplication with an addition,
 * so every operation rounds as in the other: the numbers are the same. Clang
 * has the one attribute only without the other. */
#if defined(HT_VECTOR) && defined(__x86_64__) && !defined(__clang__)
#define VECTOR __attribute__((flatten, target_clones("avx2", "default")))
#else
#define VECTOR
#endif

enum { BLOCK = 256 }; /* rows at a time: what stays in the first cache */

/* ---- rows ---- */

struct rows *kernel_rows_new(const struct encoding *encoding, size_t cap)
{
    struct rows *rows = ht_xcalloc(1, sizeof *rows);
    *rows = (struct rows){.encoding = encoding, .cap = cap};
    rows->columns = ht_xcalloc(encoding->dim * cap + 1, sizeof *rows->columns);
    rows->outside = ht_xcalloc(cap + 1, sizeof *rows->outside);
    return rows;
}

void kernel_rows_free(struct rows *rows)
{
    if (rows == NULL)
        return;
    free(rows->columns);
    free(rows->outside);
    free(rows);
}

void kernel_rows_add(struct rows *rows, const double x[])
{
    for (size_t c = 0; c < rows->encoding->dim; c++)
        rows->columns[c * rows->cap + rows->n] = x[c];
    rows->outside[rows->n] = false;
    rows->n++;
}

void kernel_rows_get(const struct rows *rows, size_t i, double x[])
{
    for (size_t c = 0; c < rows->encoding->dim; c++)
        x[c] = rows->columns[c * rows->cap + i];
}

/* ---- distances ---- */

double kernel_distance(const struct kernel *kernel,
                       const struct encoding *encoding, const double a[],
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

/* ---- distances ---- */

static double square(double x)
{
    return x * x;
}

/* What a coordinate's distance depends on. */
enum shape { SHAPE_CATEGORY, SHAPE_POSITION, SHAPE_PRESENT, SHAPE_ABSENT };

static enum shape shape_of(const struct coordinate *at, double u)
{
    if (at->kind == COORDINATE_CATEGORY)
        return SHAPE_CATEGORY;
    if (!at->conditional)
        return SHAPE_POSITION;
    return u == COORDINATE_ABSENT ? SHAPE_ABSENT : SHAPE_PRESENT;
}

/* Loops call it with a shape that is known to the compiler, which leaves one
 * branch of it. */
static inline double distance_of(enum shape shape, double u, double v)
{
    const double half = shape == SHAPE_ABSENT ? v - 0.5 : u - 0.5;
    switch (shape) {
    case SHAPE_CATEGORY:
        return u == v ? 0.0 : 1.0;
    case SHAPE_POSITION:
        return square(u - v);
    case SHAPE_PRESENT:
        return v == COORDINATE_ABSENT ? square(half) + 0.25 : square(u - v);
    case SHAPE_ABSENT:
        break;
    }
    return v == COORDINATE_ABSENT ? 0.0 : square(half) + 0.25;
}

static inline void distances_as(enum shape shape, const double v[], double u,
                                size_t n, double distance[])
{
    for (size_t i = 0; i < n; i++)
        distance[i] = distance_of(shape, u, v[i]);
}

static void column_distance(const struct coordinate *at, const double v[],
                            double u, size_t n, double distance[])
{
    switch (shape_of(at, u)) {
    case SHAPE_CATEGORY:
        distances_as(SHAPE_CATEGORY, v, u, n, distance);
        break;
    case SHAPE_POSITION:
        distances_as(SHAPE_POSITION, v, u, n, distance);
        break;
    case SHAPE_PRESENT:
        distances_as(SHAPE_PRESENT, v, u, n, distance);
        break;
    case SHAPE_ABSENT:
        distances_as(SHAPE_ABSENT, v, u, n, distance);
        break;
    }
}

static inline void add_distances_as(enum shape shape, const double v[],
                                    double u, double w, size_t n, double r2[])
{
    for (size_t i = 0; i < n; i++)
        r2[i] += w * distance_of(shape, u, v[i]);
}

/* Adds w D_c. */
static void column_add(const struct coordinate *at, const double v[], double u,
                       double w, size_t n, double r2[])
{
    switch (shape_of(at, u)) {
    case SHAPE_CATEGORY:
        add_distances_as(SHAPE_CATEGORY, v, u, w, n, r2);
        break;
    case SHAPE_POSITION:
        add_distances_as(SHAPE_POSITION, v, u, w, n, r2);
        break;
    case SHAPE_PRESENT:
        add_distances_as(SHAPE_PRESENT, v, u, w, n, r2);
        break;
    case SHAPE_ABSENT:
        add_distances_as(SHAPE_ABSENT, v, u, w, n, r2);
        break;
    }
}

/* ---- covariance ---- */

/* exp(-s) for s >= 0 within 3 units of the last place, in operations that
 * have vector forms everywhere: 2^k times the Taylor series on
 * [-ln2/2, ln2/2]; adding 1.5 * 2^52 rounds to whole numbers and leaves them
 * in the low bits. ln2 comes in two parts, the first short enough for exact
 * products (Cody and Waite, "Software Manual for the Elementary Functions",
 * 1980). Below exp(-700) the result stays there. */
static inline double exp_of_minus(double s)
{
    static const double round_bias = 0x1.8p52;
    static const double ln2_high = 0x1.62e42fee00000p-1;
    static const double ln2_low = 0x1.a39ef35793c76p-33;
    s = s < 700.0 ? s : 700.0;
    const double shifted = s * -1.44269504088896340736 + round_bias;
    const double k = shifted - round_bias;
    const double r = (-s - k * ln2_high) - k * ln2_low;
    double sum = 1.0 / 6227020800;
    sum = sum * r + 1.0 / 479001600;
    sum = sum * r + 1.0 / 39916800;
    sum = sum * r + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}

static void block_row(double signal, size_t n, const double r2[], double k[])
{
    for (size_t i = 0; i < n; i++) {
        const double s = sqrt(5 * r2[i]);
        k[i] = signal * (1 + s + s * s / 3) * exp_of_minus(s);
    }
}

static void block_row_slope(double signal, size_t n, const double r2[],
                            double k[], double slope[])
{
    for (size_t i = 0; i < n; i++) {
        const double s = sqrt(5 * r2[i]);
        const double e = signal * exp_of_minus(s);
        k[i] = (1 + s + s * s / 3) * e;
        slope[i] = (5.0 / 3) * (1 + s) * e;
    }
}

static void add_parts(double w, size_t n, const double distance[],
                      double parts[])
{
    for (size_t i = 0; i < n; i++)
        parts[i] += 1 / (1 + 0.5 * w * distance[i]);
}

struct sums {
    double r2[BLOCK];
    double parts[BLOCK]; /* only where they have a share */
};

static void block_sums(const struct kernel *kernel, const struct rows *rows,
                       const double x[], size_t from, size_t n,
                       struct sums *sums)
{
    double distance[BLOCK];
    memset(sums->r2, 0, n * sizeof *sums->r2);
    memset(sums->parts, 0, n * sizeof *sums->parts);
    for (size_t c = 0; c < rows->encoding->dim; c++) {
        const struct coordinate *at = &rows->encoding->at[c];
        const double *v = rows->columns + c * rows->cap + from;
        const double w = kernel->weight[c];
        column_add(at, v, x[c], w, n, sums->r2);
        if (kernel->apart == 0)
            continue;
        column_distance(at, v, x[c], n, distance);
        add_parts(w, n, distance, sums->parts);
    }
}

/* The variance of the sum's every part. */
static double part_signal(const struct kernel *kernel, const struct rows *rows)
{
    return kernel->signal * kernel->apart / (double)rows->encoding->dim;
}

VECTOR void kernel_row(const struct kernel *kernel, const struct rows *rows,
                       const double x[], size_t n, double k[], double slope[])
{
    const double whole = kernel->signal * (1 - kernel->apart);
    const double part = part_signal(kernel, rows);
    struct sums sums;
    for (size_t from = 0; from < n; from += BLOCK) {
        const size_t len = n - from < BLOCK ? n - from : BLOCK;
        block_sums(kernel, rows, x, from, len, &sums);
        if (slope == NULL)
            block_row(whole, len, sums.r2, k + from);
        else
            block_row_slope(whole, len, sums.r2, k + from, slope + from);
        for (size_t i = 0; part > 0 && i < len; i++)
            k[from + i] += part * sums.parts[i];
    }
}

/* ---- derivatives ---- */

/* With p = 1/(1 + w D/2) both parts have derivatives of one form: by ln(length)
 * (slope + part p^2) w D, by place -(slope + part p^2) w (u - v). This is
 * (slope + part p^2) w, and D. */
static void block_slope(const struct kernel_slopes *slopes, size_t c,
                        size_t from, size_t n, double distance[], double all[])
{
    const struct rows *rows = slopes->rows;
    const double part = part_signal(slopes->kernel, rows);
    const double w = slopes->kernel->weight[c];
    column_distance(&rows->encoding->at[c],
                    rows->columns + c * rows->cap + from, slopes->x[c], n,
                    distance);
    for (size_t i = 0; i < n; i++)
        all[i] = w * slopes->slope[from + i];
    for (size_t i = 0; part > 0 && i < n; i++) {
        const double p = 1 / (1 + 0.5 * w * distance[i]);
        all[i] += w * part * p * p;
    }
}

VECTOR void kernel_by_length(const struct kernel_slopes *slopes, size_t c,
                             double by_length[])
{
    double distance[BLOCK], all[BLOCK];
    for (size_t from = 0; from < slopes->n; from += BLOCK) {
        const size_t len = slopes->n - from < BLOCK ? slopes->n - from : BLOCK;
        block_slope(slopes, c, from, len, distance, all);
        for (size_t i = 0; i < len; i++)
            by_length[from + i] = all[i] * distance[i];
    }
}

VECTOR void kernel_by_place(const struct kernel_slopes *slopes, size_t c,
                            double by_place[])
{
    const double *column = slopes->rows->columns + c * slopes->rows->cap;
    const double u = slopes->x[c];
    double distance[BLOCK], all[BLOCK];
    for (size_t from = 0; from < slopes->n; from += BLOCK) {
        const size_t len = slopes->n - from < BLOCK ? slopes->n - from : BLOCK;
        const double *v = column + from;
        block_slope(slopes, c, from, len, distance, all);
        for (size_t i = 0; i < len; i++)
            by_place[from + i] =
                -all[i] * (u - (v[i] == COORDINATE_ABSENT ? 0.5 : v[i]));
    }
}
