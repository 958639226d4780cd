/* bbob_instance.h - the random parts of the functions of bbob.h: the place and
 * the value of the optimum, rotations, peaks.
 *
 * Drawn by the law of the report that bbob.h names, but with our own numbers,
 * so an instance is none of COCO's. */
#ifndef HT_BENCH_BBOB_INSTANCE_H
#define HT_BENCH_BBOB_INSTANCE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "algorithms/base/rng.h"

enum { BBOB_FUNCTIONS = 24, BBOB_MAX_DIM = 40, BBOB_PEAKS = 101 };

/* All coordinates are searched from -BBOB_BOUND to BBOB_BOUND. */
#define BBOB_BOUND 5.0
#define BBOB_SCHWEFEL 4.2096874633 /* of f20: twice an optimum's coordinate */
#define BBOB_LUNACEK 2.5           /* of f24: the same, mu_0 */

struct bbob_peak {
    double at[BBOB_MAX_DIM]; /* turned by R */
    double weight;
    double narrow[BBOB_MAX_DIM]; /* the diagonal of C */
};

struct bbob {
    int function; /* 1 to 24 */
    size_t n;     /* coordinates */
    double optimum;
    double at[BBOB_MAX_DIM]; /* a point with that value */
    double r[BBOB_MAX_DIM][BBOB_MAX_DIM], q[BBOB_MAX_DIM][BBOB_MAX_DIM];
    size_t n_peaks;
    struct bbob_peak peaks[BBOB_PEAKS]; /* of f21 and f22; [0]: the optimum */
};

/* From 0 for the first coordinate to 1 for the last. */
static double bbob_share(const struct bbob *b, size_t i)
{
    return (double)i / (double)(b->n - 1);
}

static void bbob_turn(const struct bbob *b, const double matrix[][BBOB_MAX_DIM],
                      double z[])
{
    double from[BBOB_MAX_DIM];
    memcpy(from, z, b->n * sizeof *from);
    for (size_t i = 0; i < b->n; i++) {
        z[i] = 0;
        for (size_t j = 0; j < b->n; j++)
            z[i] += matrix[i][j] * from[j];
    }
}

/* What the Rosenbrock functions stretch coordinates by. */
static double bbob_rosenbrock_scale(const struct bbob *b)
{
    return fmax(1, sqrt((double)b->n) / 8);
}

/* What random numbers are drawn for; peaks and their scales follow. */
enum bbob_use { BBOB_PLACE, BBOB_R, BBOB_Q, BBOB_ORDER, BBOB_EACH };

static double bbob_uniform(const struct rng_place *place, size_t i, double half)
{
    return half * (2 * rng_unit(place, i) - 1);
}

/* The numbers 0 to n - 1 in a random order. */
static void bbob_shuffle(const struct rng_place *place, size_t n,
                         size_t order[])
{
    for (size_t i = 0; i < n; i++) {
        const size_t j = (size_t)(rng_unit(place, i) * (double)(i + 1));
        order[i] = i;
        order[i] = order[j];
        order[j] = i;
    }
}

/* A rotation: normal numbers, made orthogonal row by row. */
static void bbob_draw_rotation(const struct rng_place *place, size_t n,
                               double matrix[][BBOB_MAX_DIM])
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++)
            matrix[i][k] = rng_normal(place, i * n + k);
        for (size_t j = 0; j <= i; j++) {
            double dot = 0;
            for (size_t k = 0; k < n; k++)
                dot += matrix[i][k] * matrix[j][k];
            for (size_t k = 0; k < n; k++)
                matrix[i][k] = j < i ? matrix[i][k] - dot * matrix[j][k]
                                     : matrix[i][k] / sqrt(dot);
        }
    }
}

/* The peaks of f21 (101) and f22 (21); the first is the optimum. */
static void bbob_draw_peaks(struct bbob *b, struct rng_place place)
{
    const double half = b->function == 21 ? BBOB_BOUND : 0.98 * BBOB_BOUND;
    size_t conditions[BBOB_PEAKS], order[BBOB_MAX_DIM];
    b->n_peaks = b->function == 21 ? BBOB_PEAKS : 21;
    const double others = (double)b->n_peaks - 2;
    const struct bbob *drawn = b; /* its matrices are const */
    place.draw = BBOB_ORDER;
    bbob_shuffle(&place, b->n_peaks - 1, conditions);
    for (size_t k = 0; k < b->n_peaks; k++) {
        struct bbob_peak *peak = &b->peaks[k];
        const double first = b->function == 21 ? 0.5 : 1;
        const double condition =
            pow(1000, k == 0 ? first : (double)conditions[k - 1] / others);
        place.draw = BBOB_EACH + 2 * k;
        for (size_t i = 0; i < b->n; i++)
            peak->at[i] = bbob_uniform(&place, i, k == 0 ? 0.8 * half : half);
        if (k == 0)
            memcpy(b->at, peak->at, sizeof b->at);
        bbob_turn(drawn, drawn->r, peak->at);
        peak->weight = k == 0 ? 10 : 1.1 + 8 * (double)(k - 1) / others;
        place.draw++;
        bbob_shuffle(&place, b->n, order);
        for (size_t i = 0; i < b->n; i++)
            peak->narrow[i] = pow(condition, bbob_share(b, order[i]) - 0.5);
    }
}

/* Where the optimum of some functions must be. */
static void bbob_place_optimum(struct bbob *b)
{
    for (size_t i = 0; i < b->n; i++) {
        if (b->function == 4 && i % 2 == 0)
            b->at[i] = fabs(b->at[i]);
        else if (b->function == 5)
            b->at[i] = copysign(BBOB_BOUND, b->at[i]);
        else if (b->function == 8)
            b->at[i] *= 0.75;
        else if (b->function == 20)
            b->at[i] = copysign(BBOB_SCHWEFEL / 2, b->at[i]);
        else if (b->function == 24)
            b->at[i] = copysign(BBOB_LUNACEK / 2, b->at[i]);
        else if (b->function == 9 || b->function == 19) {
            b->at[i] = 0;
            for (size_t j = 0; j < b->n; j++)
                b->at[i] += b->r[j][i] / 2 / bbob_rosenbrock_scale(b);
        }
    }
}

/* Makes an instance of a function, 1 to 24, of n coordinates. */
static inline void bbob_init(struct bbob *b, int function, size_t n,
                             uint64_t seed)
{
    struct rng_place place = {seed, (uint64_t)function, BBOB_PLACE};
    memset(b, 0, sizeof *b);
    b->function = function;
    b->n = n;
    const double value =
        100 * rng_normal(&place, n) / rng_normal(&place, n + 1);
    b->optimum = fmin(fmax(round(100 * value) / 100, -1000), 1000);
    for (size_t i = 0; i < n; i++)
        b->at[i] = bbob_uniform(&place, i, 4);
    place.draw = BBOB_R;
    bbob_draw_rotation(&place, n, b->r);
    place.draw = BBOB_Q;
    bbob_draw_rotation(&place, n, b->q);
    bbob_place_optimum(b);
    if (function == 21 || function == 22)
        bbob_draw_peaks(b, place);
}

#endif
