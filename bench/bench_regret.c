/* How near a search comes to known optima: for each problem the median over
 * seeds of log10(best - optimum), and the time of a suggestion.
 *
 *     bench_regret [ALGORITHM [SEEDS [PROBLEM]]]
 *
 * Branin, Hartmann-6, Levy, Rosenbrock and Ackley as in Surjanovic and
 * Bingham's "Virtual Library of Simulation Experiments". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "algorithms/algorithm.h"
#include "proto/arena.h"
#include "proto/limits.h"

enum { MOST_TRIALS = 100, MOST_SEEDS = 100, FIRST_SEED = 200 };

struct problem {
    const char *name;
    double (*evaluate)(const double x[]); /* smaller is better */
    double optimum;
    int trials;
    struct space space;
};

/* ---- functions ---- */

static double square(double x)
{
    return x * x;
}

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

static const char *const labels[] = {"a", "b", "c", "d", "e"};
static struct param branin_params[] = {REAL(-5, 10), REAL(0, 15)};
static struct param unit_params[] = {REAL(0, 1), REAL(0, 1), REAL(0, 1),
                                     REAL(0, 1), REAL(0, 1), REAL(0, 1)};
static struct param levy_params[] = {REAL(-10, 10), REAL(-10, 10),
                                     REAL(-10, 10), REAL(-10, 10)};
static struct param rosenbrock_params[] = {REAL(-5, 10), REAL(-5, 10),
                                           REAL(-5, 10), REAL(-5, 10)};
static struct param mlp_params[] = {LOG(1e-5, 1), LOG(1e-7, 1e-1), REAL(0, 0.8),
                                    WHOLE(1, 64), WHOLE(1, 5),     OF(3),
                                    OF(3)};
static struct param ackley_params[] = {REAL(-1, 1),  REAL(-1, 1),  REAL(-1, 1),
                                       WHOLE(1, 17), WHOLE(1, 17), WHOLE(1, 17),
                                       OF(5),        OF(5)};

static const struct problem problems[] = {
    {"branin", branin, 0.39788735772973816, 30, {2, branin_params}},
    {"hartmann6", hartmann6, -3.32236801141551, 70, {6, unit_params}},
    {"levy4", levy4, 0, 60, {4, levy_params}},
    {"rosenbrock4", rosenbrock4, 0, 60, {4, rosenbrock_params}},
    {"mlp", mlp, 0.08, 60, {7, mlp_params}},
    {"ackley_mixed", ackley_mixed, 0, 80, {8, ackley_params}},
};
enum { N_PROBLEMS = sizeof problems / sizeof *problems };

/* ---- one study ---- */

struct tried {
    const struct space *space;
    int n;
    struct value points[MOST_TRIALS][8];
};

static bool is_tried(void *context, const struct value point[])
{
    const struct tried *tried = context;
    for (int k = 0; k < tried->n; k++) {
        bool same = true;
        for (size_t i = 0; i < tried->space->n; i++)
            same = same && value_equal(&tried->space->params[i], point[i],
                                       tried->points[k][i]);
        if (same)
            return true;
    }
    return false;
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static double evaluate(const struct problem *problem,
                       const struct value point[])
{
    double x[8];
    for (size_t i = 0; i < problem->space.n; i++)
        x[i] = problem->space.params[i].type == PARAM_DOUBLE
                   ? point[i].real
                   : (double)point[i].whole;
    return problem->evaluate(x);
}

/* The regret of one seed; adds what suggestions cost. */
static double run(const struct algorithm *algorithm,
                  const struct problem *problem, uint64_t seed, double *ms)
{
    static struct tried tried;
    struct ht_error err;
    void *state;
    double best = INFINITY;
    tried.n = 0;
    tried.space = &problem->space;
    if (algorithm->new (&problem->space, seed, &state, &err) != HT_OK)
        exit(1);
    for (int k = 0; k < problem->trials; k++) {
        const struct taken taken = {is_tried, &tried, (uint64_t)k};
        const struct suggest_request request = {.ordinal = (uint64_t)k,
                                                .taken = &taken,
                                                .max_trials =
                                                    (uint64_t)problem->trials};
        struct value *point = tried.points[k];
        const double start = now_ms();
        if (algorithm->suggest(state, &request, point, &err) != HT_OK) {
            fprintf(stderr, "bench_regret: %s\n", err.text);
            exit(1);
        }
        *ms += now_ms() - start;
        tried.n++;
        const double value = evaluate(problem, point);
        const struct observation seen = {point, true, -value};
        algorithm->observe(state, &seen, &err);
        best = fmin(best, value);
    }
    algorithm->free(state);
    return log10(fmax(best - problem->optimum, 1e-12));
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const struct algorithm *algorithm,
                    const struct problem *problem, int seeds)
{
    double regret[MOST_SEEDS], ms = 0, mean = 0;
    for (int i = 0; i < seeds; i++)
        regret[i] = run(algorithm, problem, (uint64_t)(FIRST_SEED + i), &ms);
    for (int i = 0; i < seeds; i++)
        mean += regret[i] / seeds;
    qsort(regret, (size_t)seeds, sizeof *regret, compare);
    printf("%s_median_log10_regret=%.2f\n", problem->name,
           (regret[(seeds - 1) / 2] + regret[seeds / 2]) / 2);
    printf("%s_mean_log10_regret=%.2f\n", problem->name, mean);
    printf("%s_suggest_ms=%.1f\n", problem->name,
           ms / (seeds * problem->trials));
    fflush(stdout);
}

int main(int argc, char *argv[])
{
    const char *name = argc > 1 ? argv[1] : "BAYESIAN_SEARCH";
    const struct algorithm *algorithm = algorithm_find(name);
    const int seeds = argc > 2 ? atoi(argv[2]) : 5;
    if (algorithm == NULL || seeds < 1 || seeds > MOST_SEEDS) {
        fputs("usage: bench_regret [ALGORITHM [SEEDS [PROBLEM]]]\n", stderr);
        return 2;
    }
    algorithms_init();
    for (size_t i = 0; i < N_PROBLEMS; i++)
        if (argc < 4 || strcmp(argv[3], problems[i].name) == 0)
            measure(algorithm, &problems[i], seeds);
    return 0;
}
