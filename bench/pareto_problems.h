/* pareto_problems.h - functions of several values, all to be small, that a
 * search for trade-offs is measured on.
 *
 * ZDT1 and ZDT2 as Zitzler, Deb and Thiele have them (2000), DTLZ2 as Deb,
 * Thiele, Laumanns and Zitzler (2002), Branin beside Currin as Belakaria,
 * Deshwal and Doppa (2019); the shape of a network's training is made for this
 * purpose. */
#ifndef HT_BENCH_PARETO_PROBLEMS_H
#define HT_BENCH_PARETO_PROBLEMS_H

#include <math.h>
#include <stddef.h>

#include "proto/space/space.h"

enum { PARETO_MAX_DIM = 8, PARETO_MAX_GOALS = 4 };

struct pareto_problem {
    const char *name;
    size_t n_goals;
    void (*evaluate)(const double x[], double values[]);
    struct space space;
    /* What counts: from the ideal to the worst corner. */
    double ideal[PARETO_MAX_GOALS], worst[PARETO_MAX_GOALS];
    double volume; /* of the true front, as a share of that; NaN: looked for */
};

static inline double pareto_mean_from(const double x[], size_t from, size_t n)
{
    double sum = 0;
    for (size_t i = from; i < n; i++)
        sum += x[i] / (double)(n - from);
    return sum;
}

static void zdt1(const double x[], double values[])
{
    const double g = 1 + 9 * pareto_mean_from(x, 1, 6);
    values[0] = x[0];
    values[1] = g * (1 - sqrt(x[0] / g));
}

static void zdt2(const double x[], double values[])
{
    const double g = 1 + 9 * pareto_mean_from(x, 1, 6);
    values[0] = x[0];
    values[1] = g * (1 - x[0] / g * (x[0] / g));
}

static void branin_currin(const double x[], double values[])
{
    const double a = 15 * x[0] - 5, b = 15 * x[1];
    const double bend = b - 5.1 / (4 * M_PI * M_PI) * a * a + 5 / M_PI * a - 6;
    values[0] = bend * bend + 10 * (1 - 1 / (8 * M_PI)) * cos(a) + 10;
    const double share = x[1] < 1e-9 ? 1 : 1 - exp(-0.5 / x[1]);
    values[1] =
        share *
        (2300 * x[0] * x[0] * x[0] + 1900 * x[0] * x[0] + 2092 * x[0] + 60) /
        (100 * x[0] * x[0] * x[0] + 500 * x[0] * x[0] + 4 * x[0] + 20);
}

/* Angles by the first coordinates, the way out by the others. */
static void dtlz2(size_t m, size_t n, const double x[], double values[])
{
    double g = 0;
    for (size_t i = m - 1; i < n; i++)
        g += (x[i] - 0.5) * (x[i] - 0.5);
    for (size_t k = 0; k < m; k++) {
        values[k] = 1 + g;
        for (size_t i = 0; i + k + 1 < m; i++)
            values[k] *= cos(x[i] * M_PI_2);
        if (k > 0)
            values[k] *= sin(x[m - 1 - k] * M_PI_2);
    }
}

static void dtlz2_three(const double x[], double values[])
{
    dtlz2(3, 6, x, values);
}

static void dtlz2_four(const double x[], double values[])
{
    dtlz2(4, 7, x, values);
}

/* Error and latency of a network by rate, dropout, layers, units, batch and
 * kind of activation: more units err less and last longer, and each size has
 * its own rate. */
static void network(const double x[], double values[])
{
    const double size = x[2] * log2(x[3]);
    const double rate = log10(x[0]) + 2.5 + 0.04 * size;
    const double kinds[] = {0.02, 0, 0.05};
    const double gap = x[1] - 0.1 - 0.01 * size;
    values[0] = 0.05 + 0.5 * exp(-size / 8) + 0.08 * rate * rate +
                0.6 * gap * gap + kinds[(int)x[5]] + 0.02 * fabs(x[4] - 5);
    values[1] =
        1 + x[2] * x[3] * x[3] / 65536 / (1 + x[4] / 4) + (x[5] == 2 ? 0 : 0.3);
}

/* The same with what must not be over 1: its memory. */
static void network_memory(const double x[], double values[])
{
    network(x, values);
    values[1] = x[2] * x[3] * exp2(x[4]) / 12000 + (x[5] == 0 ? 0.1 : 0);
}

#define PARETO_UNIT(text)                                                      \
    {                                                                          \
        .name = (text), .type = PARAM_DOUBLE, .max = 1                         \
    }
static struct param pareto_cube[] = {
    PARETO_UNIT("x0"), PARETO_UNIT("x1"), PARETO_UNIT("x2"), PARETO_UNIT("x3"),
    PARETO_UNIT("x4"), PARETO_UNIT("x5"), PARETO_UNIT("x6")};
static const char *const pareto_kinds[] = {"relu", "gelu", "tanh"};
static struct param pareto_network[] = {
    {.name = "rate",
     .type = PARAM_DOUBLE,
     .min = 1e-5,
     .max = 1,
     .scale = SCALE_LOG},
    {.name = "dropout", .type = PARAM_DOUBLE, .max = 0.6},
    {.name = "layers",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 6,
     .int_step = 1},
    {.name = "units",
     .type = PARAM_INTEGER,
     .int_min = 16,
     .int_max = 512,
     .int_step = 1,
     .scale = SCALE_LOG},
    {.name = "batch",
     .type = PARAM_INTEGER,
     .int_min = 3,
     .int_max = 9,
     .int_step = 1},
    {.name = "kind",
     .type = PARAM_CATEGORICAL,
     .n_values = 3,
     .labels = pareto_kinds}};

static struct pareto_problem pareto_problems[] = {
    {"zdt1", 2, zdt1, {.n = 6, .params = pareto_cube}, {0, 0}, {1, 6}, NAN},
    {"zdt2", 2, zdt2, {.n = 6, .params = pareto_cube}, {0, 0}, {1, 6}, NAN},
    {"branin_currin",
     2,
     branin_currin,
     {.n = 2, .params = pareto_cube},
     {0, 0},
     {40, 14},
     NAN},
    {"network",
     2,
     network,
     {.n = 6, .params = pareto_network},
     {0, 1},
     {0.8, 8},
     NAN},
    {"dtlz2_three",
     3,
     dtlz2_three,
     {.n = 6, .params = pareto_cube},
     {0, 0, 0},
     {1.2, 1.2, 1.2},
     1 - M_PI / 6 / (1.2 * 1.2 * 1.2)},
    {"dtlz2_four",
     4,
     dtlz2_four,
     {.n = 7, .params = pareto_cube},
     {0, 0, 0, 0},
     {1.2, 1.2, 1.2, 1.2},
     1 - M_PI *M_PI / 32 / (1.2 * 1.2 * 1.2 * 1.2)},
};
enum { N_PARETO_PROBLEMS = sizeof pareto_problems / sizeof *pareto_problems };

#endif
