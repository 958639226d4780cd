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

#include "bench/problem_functions.h"
#include "bench/rough_problems.h"
#include "proto/space/space.h"

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
#define REAL_WHEN(low, high, which)                                            \
    {                                                                          \
        .name = "x", .type = PARAM_DOUBLE, .min = (low), .max = (high),        \
        .when = (which)                                                        \
    }
#define LOG_WHEN(low, high, which)                                             \
    {                                                                          \
        .name = "x", .type = PARAM_DOUBLE, .scale = SCALE_LOG, .min = (low),   \
        .max = (high), .when = (which)                                         \
    }
#define WHOLE_WHEN(low, high, which)                                           \
    {                                                                          \
        .name = "x", .type = PARAM_INTEGER, .int_min = (low),                  \
        .int_max = (high), .int_step = 1, .when = (which)                      \
    }
#define OF_WHEN(n, which)                                                      \
    {                                                                          \
        .name = "x", .type = PARAM_CATEGORICAL, .n_values = (n),               \
        .labels = labels, .when = (which)                                      \
    }
#define UNIT REAL(0, 1)
#define FIVE REAL(-5, 5)

static const char *const labels[] = {"a", "b", "c", "d", "e"};
static struct param branin_params[] = {REAL(-5, 10), REAL(0, 15)};
static struct param unit_params[] = {UNIT, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT,
                                     UNIT, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT,
                                     UNIT, UNIT, UNIT, UNIT, UNIT, UNIT};
static struct param ten_params[] = {REAL(-10, 10), REAL(-10, 10),
                                    REAL(-10, 10), REAL(-10, 10),
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

static struct param svm_params[] = {LOG(1e-3, 1e4), LOG(1e-6, 10)};
static struct param boosting_params[] = {LOG(1e-3, 1),  WHOLE(20, 500),
                                         WHOLE(1, 12),  REAL(0.3, 1),
                                         LOG(1e-6, 10), WHOLE(1, 50)};
static struct param elastic_params[] = {LOG(1e-5, 100), UNIT, LOG(1e-6, 0.1)};
static struct param arms_params[] = {OF(4), WHOLE(1, 16), UNIT, UNIT, UNIT};

static struct param pages_params[] = {WHOLE(1, 24), WHOLE(1, 128),
                                      WHOLE(1, 512), WHOLE(1, 16), WHOLE(1, 8)};
static struct param samples_params[] = {WHOLE(8, 256), WHOLE(1, 20), UNIT,
                                        WHOLE(1, 20), OF(2)};
static const struct value choice_names[] = {
    {.whole = 0}, {.whole = 1}, {.whole = 2}};
static struct condition choice_is[] = {{0, 1, &choice_names[0], NULL},
                                       {0, 1, &choice_names[1], NULL},
                                       {0, 1, &choice_names[2], NULL}};
static struct param choice_params[] = {OF(3),
                                       LOG_WHEN(1e-4, 100, &choice_is[0]),
                                       REAL_WHEN(0, 1, &choice_is[0]),
                                       WHOLE_WHEN(1, 32, &choice_is[1]),
                                       LOG_WHEN(1e-4, 10, &choice_is[1]),
                                       LOG_WHEN(1e-6, 1, &choice_is[2]),
                                       WHOLE_WHEN(1, 12, &choice_is[2]),
                                       REAL_WHEN(0, 0.8, &choice_is[2])};
static struct param cliffs_params[] = {LOG(1e-6, 1), UNIT, WHOLE(1, 24), UNIT,
                                       OF(3)};
static struct condition nested_is[] = {{0, 1, &choice_names[0], NULL},
                                       {0, 1, &choice_names[1], NULL},
                                       {3, 1, &choice_names[0], NULL},
                                       {3, 1, &choice_names[1], NULL}};
static struct param nested_params[] = {OF(2),
                                       REAL_WHEN(0, 1, &nested_is[0]),
                                       WHOLE_WHEN(1, 12, &nested_is[1]),
                                       OF_WHEN(2, &nested_is[1]),
                                       LOG_WHEN(1e-4, 10, &nested_is[2]),
                                       REAL_WHEN(0, 1, &nested_is[2]),
                                       LOG_WHEN(1e-6, 1, &nested_is[3])};

static struct problem problems[] = {
    {"branin",
     "classic",
     branin,
     NULL,
     0,
     {.n = 2, .params = branin_params},
     0.397887357729},
    {"hartmann6",
     "classic",
     hartmann6,
     NULL,
     0,
     {.n = 6, .params = unit_params},
     -3.322368011},
    {"levy4", "classic", levy4, NULL, 0, {.n = 4, .params = ten_params}, 0},
    {"rosenbrock4",
     "classic",
     rosenbrock4,
     NULL,
     0,
     {.n = 4, .params = rosenbrock_params},
     0},
    {"rastrigin4",
     "waves",
     rastrigin4,
     NULL,
     0,
     {.n = 4, .params = five_params},
     0},
    {"ackley5", "waves", ackley5, NULL, 0, {.n = 5, .params = ten_params}, 0},
    {"levy6", "waves", levy6, NULL, 0, {.n = 6, .params = ten_params}, 0},
    {"rastrigin3_turned",
     "waves",
     rastrigin3_turned,
     NULL,
     0,
     {.n = 3, .params = five_params},
     0},
    {"svm", "tuning", svm, NULL, 0, {.n = 2, .params = svm_params}, NAN},
    {"boosting",
     "tuning",
     boosting,
     NULL,
     0,
     {.n = 6, .params = boosting_params},
     NAN},
    {"elastic",
     "tuning",
     elastic,
     NULL,
     0,
     {.n = 3, .params = elastic_params},
     NAN},
    {"arms", "tuning", arms, NULL, 0, {.n = 5, .params = arms_params}, NAN},
    {"mlp", "tuning", mlp, NULL, 0, {.n = 7, .params = mlp_params}, 0.08},
    {"valley",
     "tuning",
     valley,
     NULL,
     0,
     {.n = 4, .params = valley_params},
     NAN},
    {"ackley_mixed",
     "tuning",
     ackley_mixed,
     NULL,
     0,
     {.n = 8, .params = ackley_params},
     0},
    {"forest", "steps", forest, NULL, 0, {.n = 6, .params = unit_params}, NAN},
    {"forest_mixed",
     "steps",
     forest_mixed,
     NULL,
     0,
     {.n = 6, .params = forest_params},
     NAN},
    {"pages", "steps", pages, NULL, 0, {.n = 5, .params = pages_params}, NAN},
    {"boxes", "steps", boxes, NULL, 0, {.n = 4, .params = unit_params}, 0},
    {"samples",
     "steps",
     samples,
     NULL,
     0,
     {.n = 5, .params = samples_params},
     NAN},
    {"choice",
     "conditional",
     choice,
     NULL,
     0,
     {.n = 8, .params = choice_params},
     NAN},
    {"chirp", "uneven", chirp, NULL, 0, {.n = 3, .params = unit_params}, NAN},
    {"mlp_noisy",
     "noisy",
     mlp,
     NULL,
     0.02,
     {.n = 7, .params = mlp_params},
     0.08},
    {"hartmann6_noisy",
     "noisy",
     hartmann6,
     NULL,
     0.2,
     {.n = 6, .params = unit_params},
     -3.322368011},
    {"tang4_noisy",
     "noisy",
     tang4,
     NULL,
     6,
     {.n = 4, .params = five_params},
     0},
    {"svm_noisy",
     "noisy",
     svm,
     NULL,
     0.02,
     {.n = 2, .params = svm_params},
     NAN},
    {"hartmann6_fails",
     "failing",
     hartmann6,
     hartmann_fails,
     0,
     {.n = 6, .params = unit_params},
     NAN},
    {"mlp_fails",
     "failing",
     mlp,
     mlp_fails,
     0,
     {.n = 7, .params = mlp_params},
     NAN},
    {"hartmann6_of_20",
     "many",
     hartmann6,
     NULL,
     0,
     {.n = 20, .params = unit_params},
     -3.322368011},
    {"few_of_20",
     "many",
     few_of_20,
     NULL,
     0,
     {.n = 20, .params = unit_params},
     NAN},
    {"tang20", "many", tang20, NULL, 0, {.n = 20, .params = five_params}, 0},
    {"cliffs",
     "unseen",
     cliffs,
     NULL,
     0,
     {.n = 5, .params = cliffs_params},
     NAN},
    {"nested",
     "unseen",
     nested,
     NULL,
     0,
     {.n = 7, .params = nested_params},
     NAN},
    {"ridge", "unseen", ridge, NULL, 0, {.n = 4, .params = unit_params}, NAN},
};
enum { N_PROBLEMS = sizeof problems / sizeof *problems };

#endif
