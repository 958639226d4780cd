/* problem_functions.h - the functions of problems.h, one value of each point;
 * smaller is better. */
#ifndef HT_BENCH_PROBLEM_FUNCTIONS_H
#define HT_BENCH_PROBLEM_FUNCTIONS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "algorithms/base/rng.h"

static inline double squared(double x)
{
    return x * x;
}

/* ---- classic ---- */

static double branin(const double x[])
{
    return squared(x[1] - 5.1 / (4 * M_PI * M_PI) * x[0] * x[0] +
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
            inner += a[i][j] * squared(x[j] - p[i][j]);
        sum -= alpha[i] * exp(-inner);
    }
    return sum;
}

static double levy4(const double x[])
{
    double w[4], sum;
    for (int i = 0; i < 4; i++)
        w[i] = 1 + (x[i] - 1) / 4;
    sum = squared(sin(M_PI * w[0]));
    for (int i = 0; i < 3; i++)
        sum += squared(w[i] - 1) * (1 + 10 * squared(sin(M_PI * w[i] + 1)));
    return sum + squared(w[3] - 1) * (1 + squared(sin(2 * M_PI * w[3])));
}

static double rosenbrock4(const double x[])
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += 100 * squared(x[i + 1] - x[i] * x[i]) + squared(x[i] - 1);
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
        squares += squared(u) / 5;
        waves += cos(2 * M_PI * u) / 5;
    }
    return 20 - 20 * exp(-0.2 * sqrt(squares)) + M_E - exp(waves);
}

/* Levy's, off the middle, in six dimensions. */
static double levy6(const double x[])
{
    double w[6], sum;
    for (int i = 0; i < 6; i++)
        w[i] = 1 + (x[i] - 2.2 + 0.9 * i) / 4;
    sum = squared(sin(M_PI * w[0]));
    for (int i = 0; i < 5; i++)
        sum += squared(w[i] - 1) * (1 + 10 * squared(sin(M_PI * w[i] + 1)));
    return sum + squared(w[5] - 1) * (1 + squared(sin(2 * M_PI * w[5])));
}

/* Rastrigin's, its waves across the axes: mirrored at the plane of `normal`. */
static double rastrigin3_turned(const double x[])
{
    static const double normal[] = {0.36, 0.48, 0.8};
    static const double middle[] = {1.3, -2.1, 0.6};
    double along = 0, sum = 30;
    for (int i = 0; i < 3; i++)
        along += normal[i] * (x[i] - middle[i]);
    for (int i = 0; i < 3; i++) {
        const double u = x[i] - middle[i] - 2 * along * normal[i];
        sum += u * u - 10 * cos(2 * M_PI * u);
    }
    return sum;
}

/* ---- tuning ---- */

/* Error of a support vector machine by cost and width of its kernel: chance
 * on two sides, between them a slanted valley. */
static double svm(const double x[])
{
    const double cost = log10(x[0]), width = log10(x[1]);
    const double learns = 1 / (1 + exp(-2.2 * (cost + 0.8 * width + 2.4)));
    const double by_heart = 1 / (1 + exp(-3 * (width + 0.7)));
    return 0.4 - 0.37 * learns * (1 - by_heart) +
           0.004 * squared(cost + 0.5 * width - 0.9);
}

/* Loss of a boosted forest by rate, trees, depth, share of rows, penalty and
 * leaf size. Rates suit numbers of trees, both suit depths. As measured by
 * cross-validation: no two settings agree to the last per cent. */
static double boosting(const double x[])
{
    struct rng_place ripple = {5, 0, 0};
    for (int i = 0; i < 6; i++)
        ripple.ordinal = rng_bits(&ripple, (uint64_t)llrint(1e6 * x[i]));
    const double steps = log10(x[0] * x[1]) - 1.3 + 0.09 * (x[2] - 4);
    const double depth = (x[2] - 5) / 3, leaf = (log2(x[5]) - 2.5) / 3;
    return 0.2 + 0.12 * (1 - exp(-0.8 * squared(steps))) +
           0.05 * (1 - exp(-squared(depth))) + 0.05 * squared(x[3] - 0.65) +
           0.003 * squared(log10(x[4]) + 1.5) + 0.015 * squared(leaf) +
           0.03 * x[0] * depth * depth + 0.0015 * rng_normal(&ripple, 0);
}

/* Error of a penalised regression by penalty, share of its first kind and
 * tolerance: a plain, a kink and a slow rise. */
static double elastic(const double x[])
{
    const double penalty = log10(x[0]) + 1.2 + 0.8 * x[1];
    const double under = penalty > 0 ? squared(penalty) : 0.15 * -penalty;
    return 0.5 + 0.4 * (1 - exp(-under)) + 0.02 * squared(x[1] - 0.8) +
           0.03 / (1 + exp(-2 * (log10(x[2]) + 2)));
}

/* A choice of four models, each with its own surface. */
static double arms(const double x[])
{
    const double n = x[1], a = x[2], b = x[3], c = x[4];
    switch ((int)x[0]) {
    case 0:
        return 0.5 + 0.3 * sin(7 * a) * cos(5 * b) + 0.02 * n;
    case 1:
        return 0.3 + squared(a - 0.2) + 2 * squared(b - a) +
               0.01 * squared(n - 5);
    case 2:
        return 0.9 -
               0.8 * exp(-10 * (squared(a - 0.65) + squared(c - 0.3))) *
                   exp(-0.01 * squared(n - 12)) +
               0.2 * squared(b - 0.75);
    default:
        return 0.45 + 0.5 * fabs(c - 0.5) + 0.3 * squared(a - b) - 0.01 * n +
               0.002 * n * n * c;
    }
}

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
    return 0.08 + 0.1 * (1 - exp(-squared(rate))) + 0.01 * squared(decay) +
           0.3 * squared(x[2] - 0.05 * (width + 5)) + 0.01 * squared(width) +
           0.015 * squared(depth) + activation[(int)x[5]] +
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
                     (1 - 0.04 * squared(decay) - 0.03 * squared(x[2] - 5)) *
                     (1 - 0.5 * squared(x[3] - 0.15));
}

/* Ackley's function of three numbers, three of 17 levels, two of five
 * categories in their own order. */
static double ackley_mixed(const double x[])
{
    static const double place[] = {2, 0, 4, 1, 3};
    double squares = 0, waves = 0;
    for (int i = 0; i < 8; i++) {
        const double u = i < 3   ? x[i] - 0.3
                         : i < 6 ? (x[i] - 11) / 8
                                 : place[(int)x[i]] / 4;
        squares += squared(u) / 8;
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
    const double far = squared(u[0] - 0.2) + squared(u[1] - 0.7) +
                       0.5 * squared(u[2] - 0.4) + 0.1 * squared(u[3] - 0.9);
    const double near = squared(u[0] - 0.85) + squared(u[1] - 0.2);
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

static double tang4(const double x[])
{
    double sum = 4 * 39.16616570377142;
    for (int i = 0; i < 4; i++) {
        const double u = x[i] - 0.6 + 0.4 * i;
        sum += 0.5 * (squared(squared(u)) - 16 * squared(u) + 5 * u);
    }
    return sum;
}

/* A bowl of five that count and fifteen that hardly do, with an interaction
 * and a plain beyond. */
static double few_of_20(const double x[])
{
    double sum = 0, rest = 0;
    for (int i = 0; i < 5; i++)
        sum += (1 + i) * squared(x[4 * i] - 0.25 - 0.12 * i);
    for (int i = 0; i < 20; i++)
        rest += fabs(x[i] - 0.4);
    return 1 - exp(-0.9 * sum - 3 * squared(x[0] - x[8] + 0.24)) + 0.003 * rest;
}

static double tang20(const double x[])
{
    double sum = 20 * 39.16616570377142;
    for (int i = 0; i < 20; i++)
        sum += 0.5 * (squared(squared(x[i])) - 16 * squared(x[i]) + 5 * x[i]);
    return sum / 20;
}

#endif
