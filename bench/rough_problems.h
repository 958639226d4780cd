/* rough_problems.h - functions without the smoothness that a Gaussian process
 * fits well: steps, plains, models with their own parameters, and a
 * roughness that differs from place to place. Those of the group "unseen" are
 * kept for the last measurement: nothing was chosen by them. */
#ifndef HT_BENCH_ROUGH_PROBLEMS_H
#define HT_BENCH_ROUGH_PROBLEMS_H

#include <math.h>

#include "algorithms/base/rng.h"
#include "proto/space/space.h"

/* ---- steps ---- */

/* Whole numbers that only count by the step they are on, pairs of them
 * together: a machine that rounds up to pages. */
static double pages(const double x[])
{
    const double a = floor(x[0] / 3), b = floor(x[1] / 8);
    const double c = floor(log2(x[2])), d = floor(x[3] / 2);
    return 0.1 * fabs(a - 3) + 0.05 * fabs(b - c) + 0.08 * fabs(c - 6) +
           0.06 * fabs(d - 1 - floor(a / 2)) + (x[4] > 5 ? 0.3 : 0) +
           0.02 * floor(fabs(x[4] - 2));
}

/* Seven boxes, each within the one before, off its middle; nothing but the
 * number of boxes entered counts. */
static double boxes(const double x[])
{
    static const double towards[] = {0.3, 0.8, 0.55, 0.15};
    double half = 0.5, value = 1;
    for (int k = 0; k < 7; k++) {
        half *= 0.78;
        for (int i = 0; i < 4; i++) {
            const double middle = fmin(fmax(towards[i], half), 1 - half);
            if (fabs(x[i] - middle) > half)
                return value;
        }
        value -= 1.0 / 7;
    }
    return value;
}

/* Accuracy of a random forest on 178 samples, by trees, depth, features, leaf
 * and criterion: a step for each sample, and luck that does not change. */
static double samples(const double x[])
{
    struct rng_place luck = {11, 0, 0};
    for (int i = 0; i < 5; i++)
        luck.ordinal = rng_bits(&luck, (uint64_t)llrint(1e3 * x[i]));
    const double error = 9 - 1.2 * log2(x[0] / 8) + 6 * exp(-0.8 * (x[1] - 1)) +
                         18 * (x[2] - 0.3) * (x[2] - 0.3) +
                         0.25 * (x[3] - 1) * (x[3] - 1) / (1 + 0.1 * x[3]) +
                         (x[4] > 0 ? 1 : 0) + 3 * (rng_unit(&luck, 0) - 0.5);
    return fmax(nearbyint(error), 0) / 178;
}

/* ---- models with their own parameters ---- */

/* One of three models; each has numbers that the others lack. */
static double choice(const double x[])
{
    switch ((int)x[0]) {
    case 0: {
        const double a = log10(x[1]) + 2, b = x[2] - 0.7;
        return 0.3 + 0.05 * a * a + 0.4 * b * b;
    }
    case 1: {
        const double a = floor(x[3] / 4) - 2, b = log10(x[4]) + 1;
        return 0.18 + 0.06 * fabs(a) + 0.05 * b * b * (1 + 0.4 * fabs(a));
    }
    default: {
        const double a = log10(x[5]) + 3.2, b = (x[6] - 6) / 4;
        const double c = x[7] - 0.2;
        return 0.1 + 0.25 * (1 - exp(-2 * a * a)) + 0.1 * b * b + 0.5 * c * c +
               0.1 * fabs(a) * fabs(b);
    }
    }
}

/* ---- here rough, there smooth ---- */

/* Waves that get shorter towards one corner; the best is among the longer. */
static double chirp(const double x[])
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const double u = i == 1 ? 1 - x[i] : x[i];
        const double far = u - 0.25 - 0.1 * i;
        sum += sin(40 * u * u * u * u) * (0.3 + 0.7 * u) + 2 * far * far;
    }
    return sum;
}

/* ---- for the last measurement ---- */

/* Decisions in a fixed order, each with a threshold that depends on those
 * before. */
static double cliffs(const double x[])
{
    const int solver = (int)x[4];
    double value = 0.9;
    if (log10(x[0]) > -1 - 0.5 * solver)
        return value;
    value -= x[1] < 0.35 + 0.1 * solver ? 0.2 : 0.05 * floor(4 * x[1]);
    value -= x[2] >= 12 ? 0.15 : 0.01 * floor(x[2] / 3);
    if (x[2] >= 12 && x[3] > 0.6)
        value -= 0.1 + 0.1 * floor(4 * (x[3] - 0.6) / 0.4) / 4;
    if (solver == 2 && log10(x[0]) > -4)
        value -= 0.25;
    return value;
}

/* An optimiser within a network within a choice of models. */
static double nested(const double x[])
{
    if ((int)x[0] == 0)
        return 0.35 + 0.2 * fabs(x[1] - 0.6);
    const double depth = floor(x[2] / 2);
    double value = 0.3 + 0.03 * fabs(depth - 3);
    if ((int)x[3] == 0) {
        const double rate = log10(x[4]) + 1, momentum = x[5] - 0.9;
        value += 0.06 * rate * rate - 0.1 + momentum * momentum;
    } else {
        const double rate = log10(x[6]) + 3 - 0.1 * depth;
        value += 0.12 * (1 - exp(-rate * rate)) - 0.2;
    }
    return value;
}

/* Flat, but for a ridge that is narrow at one end and broad at the other. */
static double ridge(const double x[])
{
    const double width = 0.03 + 0.4 * x[0];
    const double across = (x[1] - 0.3 - 0.4 * x[2]) / width,
                 along = x[0] - 0.35;
    return 1 - exp(-across * across) * (1 - 1.5 * along * along) -
           0.1 * floor(3 * x[3]) * (x[3] < 0.9 ? 1 : -1) / 3;
}

#endif
