/* problems.h - functions that a search is measured on, made for this purpose:
 * known shapes of tuning tasks, each with its smallest value.
 *
 * Branin, Hartmann-6, Levy, Rosenbrock, Rastrigin, Ackley and Styblinski-Tang
 * as in Surjanovic and Bingham's "Virtual Library of Simulation Experiments",
 * the centred ones moved away from the middle, where every search begins. */
#ifndef HT_BENCH_PROBLEMS_H
#define HT_BENCH_PROBLEMS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "algorithms/rng.h"
#include "proto/space.h"

struct problem {
    const char *name;
    const char *group;
    double (*evaluate)(const double x[]); /* smaller is better */
    bool (*fails)(const double x[]);      /* NULL: nowhere */
    double noise;                         /* deviation of one result */
    struct space space;
    double optimum; /* NaN: is searched for */
};

enum { PROBLEM_MAX_DIM = 20 };

static inline double square(double x)
{
    return x * x;
}

/* ---- classic ---- */

static double branin(const double x[])
{
    return square(x[1] - 5.1 / (4 * M_PI * M_PI) * x[0] * x[0] +
                  5 / M_PI * x[0] - 6) +
           10 * (1 - 1 / (8 * M_PI)) * cos(x[0]) + 10;
}

static double hartmann6(const double x[])
{
    static const double alpha[] = {1.0, 1.2, 3.0, 3.2};
    static const double a[4][6] = {{10, 3, 17, 3.5, 1.7, 8},
                                   {0.05, 10, 17, 0.1, 8, 14},
                                   {3, 3.5, 1.7, 10, 17, 8},
                                   {17, 8, 0.05, 10, 0.1, 14}};
    static const double p[4][6] = {
        {0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
        {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
        {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
        {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        double inner = 0;
        for (int j = 0; j < 6; j++)
            inner += a[i][j] * square(x[j] - p[i][j]);
        sum -= alpha[i] * exp(-inner);
    }
    return sum;
}

static double levy4(const double x[])
{
    double w[4], sum;
    for (int i = 0; i < 4; i++)
        w[i] = 1 + (x[i] - 1) / 4;
    sum = square(sin(M_PI * w[0]));
    for (int i = 0; i < 3; i++)
        sum += square(w[i] - 1) * (1 + 10 * square(sin(M_PI * w[i] + 1)));
    return sum + square(w[3] - 1) * (1 + square(sin(2 * M_PI * w[3])));
}

static double rosenbrock4(const double x[])
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += 100 * square(x[i + 1] - x[i] * x[i]) + square(x[i] - 1);
    return sum;
}

/* ---- many optima ---- */

static double rastrigin4(const double x[])
{
    double sum = 40;
    for (int i = 0; i < 4; i++) {
        const double u = x[i] - 0.7 + 0.4 * i;
        sum += u * u - 10 * cos(2 * M_PI * u);
    }
    return sum;
}

static double ackley5(const double x[])
{
    double squares = 0, waves = 0;
    for (int i = 0; i < 5; i++) {
        const double u = x[i] - 3.3 + 1.7 * i;
        squares += square(u) / 5;
        waves += cos(2 * M_PI * u) / 5;
    }
    return 20 - 20 * exp(-0.2 * sqrt(squares)) + M_E - exp(waves);
}

/* ---- tuning ---- */

/* Error of a network by rate, decay, dropout, width, depth, activation and
 * optimiser; 0.08 at best. Rates suit optimisers, dropout suits widths. */
static double mlp(const double x[])
{
    static const double activation[] = {0, 0.02, 0.06};
    static const double rate_of[] = {-3, -1.5, -2.5};
    const int optimiser = (int)x[6];
    const double rate = log10(x[0]) - rate_of[optimiser];
    const double decay = log10(x[1]) + 4;
    const double width = log2(x[3]) - 5, depth = x[4] - 3;
    return 0.08 + 0.1 * (1 - exp(-square(rate))) + 0.01 * square(decay) +
           0.3 * square(x[2] - 0.05 * (width + 5)) + 0.01 * square(width) +
           0.015 * square(depth) + activation[(int)x[5]] +
           (optimiser == 2 ? 0.015 : 0);
}

/* It diverges to chance beyond a rate that falls with depth, and learns
 * nothing below another: a valley between two plains. */
static double valley(const double x[])
{
    const double edge = -1 - 0.25 * x[2], rate = log10(x[0]);
    const double decay = log10(x[1]) + 5;
    if (rate > edge)
        return 0.9;
    const double learnt = 1 / (1 + exp(2.5 * (edge - 1.8 - rate)));
    return 0.9 - 0.75 * learnt *
                     (1 - 0.04 * square(decay) - 0.03 * square(x[2] - 5)) *
                     (1 - 0.5 * square(x[3] - 0.15));
}

/* Ackley's function of three numbers, three of 17 levels, two of five
 * categories in an order of their own. */
static double ackley_mixed(const double x[])
{
    static const double place[] = {2, 0, 4, 1, 3};
    double squares = 0, waves = 0;
    for (int i = 0; i < 8; i++) {
        const double u = i < 3   ? x[i] - 0.3
                         : i < 6 ? (x[i] - 11) / 8
                                 : place[(int)x[i]] / 4;
        squares += square(u) / 8;
        waves += cos(2 * M_PI * u) / 8;
    }
    return 20 - 20 * exp(-0.2 * sqrt(squares)) + M_E - exp(waves);
}

/* ---- steps, as a random forest has them ---- */

enum { TREES = 40, SPLITS = 63, LEAVES = 64, FOREST_DIM = 6 };

static struct tree {
    int at[SPLITS];
    double below[SPLITS], leaf[LEAVES];
} forest_trees[TREES];

/* What the trees have been grown on: a bowl that is long in some directions,
 * with a wall and a second, shallower bowl. */
static double forest_ground(const double u[])
{
    const double far = square(u[0] - 0.2) + square(u[1] - 0.7) +
                       0.5 * square(u[2] - 0.4) + 0.1 * square(u[3] - 0.9);
    const double near = square(u[0] - 0.85) + square(u[1] - 0.2);
    const double wall = u[4] > 0.8 && u[0] > 0.4 ? 0.4 : 0;
    return 0.5 - 0.4 * exp(-6 * far) - 0.25 * exp(-8 * near) + wall +
           0.05 * fabs(u[5] - 0.5);
}

/* Splits node `node` of the box [low, high] and everything below it. */
static void forest_grow(struct tree *tree, int node, double low[],
                        double high[], struct rng_place *place)
{
    place->draw++;
    if (node >= SPLITS) {
        double u[FOREST_DIM];
        for (unsigned c = 0; c < FOREST_DIM; c++)
            u[c] = low[c] + (high[c] - low[c]) * rng_unit(place, c);
        tree->leaf[node - SPLITS] =
            forest_ground(u) + 0.05 * rng_normal(place, 20);
        return;
    }
    const int at = (int)(FOREST_DIM * rng_unit(place, 0));
    const double cut =
        low[at] + (high[at] - low[at]) * (0.2 + 0.6 * rng_unit(place, 1));
    const double from = low[at], to = high[at];
    tree->at[node] = at;
    tree->below[node] = cut;
    high[at] = cut;
    forest_grow(tree, 2 * node + 1, low, high, place);
    high[at] = to;
    low[at] = cut;
    forest_grow(tree, 2 * node + 2, low, high, place);
    low[at] = from;
}

static double forest(const double x[])
{
    static bool grown;
    double sum = 0;
    for (unsigned t = 0; !grown && t < TREES; t++) {
        double low[FOREST_DIM] = {0}, high[FOREST_DIM] = {1, 1, 1, 1, 1, 1};
        struct rng_place place = {77, t, 0};
        forest_grow(&forest_trees[t], 0, low, high, &place);
    }
    grown = true;
    for (int t = 0; t < TREES; t++) {
        int node = 0;
        while (node < SPLITS)
            node = 2 * node + 1 +
                   (x[forest_trees[t].at[node]] >= forest_trees[t].below[node]);
        sum += forest_trees[t].leaf[node - SPLITS];
    }
    return sum / TREES;
}

/* The same where some are whole numbers and logarithms. */
static double forest_mixed(const double x[])
{
    const double u[] = {(log10(x[0]) + 5) / 5, x[1], (x[2] - 1) / 15,
                        log2(x[3]) / 10,       x[4], (x[5] + 0.5) / 4};
    return forest(u);
}

/* ---- failures ---- */

/* Out of memory: the more so, the larger two of the six are together. */
static bool hartmann_fails(const double x[])
{
    return x[4] + x[5] > 1.1;
}

/* Its smallest value lies just beside where it fails. */
static bool mlp_fails(const double x[])
{
    return log2(x[3]) * x[4] > 17 || (x[6] == 1 && x[0] > 0.1);
}

/* ---- many parameters ---- */

static double tang20(const double x[])
{
    double sum = 20 * 39.16616570377142;
    for (int i = 0; i < 20; i++)
        sum += 0.5 * (square(square(x[i])) - 16 * square(x[i]) + 5 * x[i]);
    return sum / 20;
}

/* ---- the list ---- */

#define REAL(low, high)                                                        \
    {                                                                          \
        .name = "x", .type = PARAM_DOUBLE, .min = (low), .max = (high)         \
    }
#define LOG(low, high)                                                         \
    {                                                                          \
        .name = "x", .type = PARAM_DOUBLE, .scale = SCALE_LOG, .min = (low),   \
        .max = (high)                                                          \
    }
#define WHOLE(low, high)                                                       \
    {                                                                          \
        .name = "x", .type = PARAM_INTEGER, .int_min = (low),                  \
        .int_max = (high), .int_step = 1                                       \
    }
#define OF(n)                                                                  \
    {                                                                          \
        .name = "x", .type = PARAM_CATEGORICAL, .n_values = (n),               \
        .labels = labels                                                       \
    }
#define UNIT REAL(0, 1)
#define FIVE REAL(-5, 5)

static const char *const labels[] = {"a", "b", "c", "d", "e"};
static struct param branin_params[] = {REAL(-5, 10), REAL(0, 15)};
static struct param unit_params[] = {UNIT, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT,
                                     UNIT, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT,
                                     UNIT, UNIT, UNIT, UNIT, UNIT, UNIT};
static struct param ten_params[] = {REAL(-10, 10), REAL(-10, 10), REAL(-10, 10),
                                    REAL(-10, 10), REAL(-10, 10)};
static struct param rosenbrock_params[] = {REAL(-5, 10), REAL(-5, 10),
                                           REAL(-5, 10), REAL(-5, 10)};
static struct param five_params[] = {FIVE, FIVE, FIVE, FIVE, FIVE, FIVE, FIVE,
                                     FIVE, FIVE, FIVE, FIVE, FIVE, FIVE, FIVE,
                                     FIVE, FIVE, FIVE, FIVE, FIVE, FIVE};
static struct param mlp_params[] = {LOG(1e-5, 1), LOG(1e-7, 1e-1), REAL(0, 0.8),
                                    WHOLE(1, 64), WHOLE(1, 5),     OF(3),
                                    OF(3)};
static struct param valley_params[] = {LOG(1e-6, 1), LOG(1e-8, 1e-1),
                                       WHOLE(1, 12), UNIT};
static struct param ackley_params[] = {REAL(-1, 1),  REAL(-1, 1),  REAL(-1, 1),
                                       WHOLE(1, 17), WHOLE(1, 17), WHOLE(1, 17),
                                       OF(5),        OF(5)};
static struct param forest_params[] = {LOG(1e-5, 1),   UNIT, WHOLE(1, 16),
                                       WHOLE(1, 1023), UNIT, OF(4)};

static struct problem problems[] = {
    {"branin", "classic", branin, NULL, 0, {2, branin_params}, 0.397887357729},
    {"hartmann6",
     "classic",
     hartmann6,
     NULL,
     0,
     {6, unit_params},
     -3.322368011},
    {"levy4", "classic", levy4, NULL, 0, {4, ten_params}, 0},
    {"rosenbrock4", "classic", rosenbrock4, NULL, 0, {4, rosenbrock_params}, 0},
    {"rastrigin4", "waves", rastrigin4, NULL, 0, {4, five_params}, 0},
    {"ackley5", "waves", ackley5, NULL, 0, {5, ten_params}, 0},
    {"mlp", "tuning", mlp, NULL, 0, {7, mlp_params}, 0.08},
    {"valley", "tuning", valley, NULL, 0, {4, valley_params}, NAN},
    {"ackley_mixed", "tuning", ackley_mixed, NULL, 0, {8, ackley_params}, 0},
    {"forest", "steps", forest, NULL, 0, {6, unit_params}, NAN},
    {"forest_mixed", "steps", forest_mixed, NULL, 0, {6, forest_params}, NAN},
    {"mlp_noisy", "noisy", mlp, NULL, 0.02, {7, mlp_params}, 0.08},
    {"hartmann6_noisy",
     "noisy",
     hartmann6,
     NULL,
     0.2,
     {6, unit_params},
     -3.322368011},
    {"hartmann6_fails",
     "failing",
     hartmann6,
     hartmann_fails,
     0,
     {6, unit_params},
     NAN},
    {"mlp_fails", "failing", mlp, mlp_fails, 0, {7, mlp_params}, NAN},
    {"hartmann6_of_20",
     "many",
     hartmann6,
     NULL,
     0,
     {20, unit_params},
     -3.322368011},
    {"tang20", "many", tang20, NULL, 0, {20, five_params}, 0},
};
enum { N_PROBLEMS = sizeof problems / sizeof *problems };

#endif
