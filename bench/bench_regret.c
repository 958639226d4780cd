/* How near a search comes to the best values of known functions.
 *
 *     bench_regret [ALGORITHM [SEEDS [PROBLEM [TRIALS [PARALLEL]]]]]
 *
 * For each problem and after 20, 60 and 120 trials: the median over seeds of
 * log10(best - optimum), and the mean score, 0 being the median of random
 * points and 100 the optimum. The best is that of the true values, also where
 * results are noisy. Then the cost of a suggestion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "algorithms/algorithm.h"
#include "bench/problems.h"
#include "proto/limits.h"

enum {
    MOST_TRIALS = 200,
    MOST_SEEDS = 100,
    MOST_PARALLEL = 16,
    FIRST_SEED = 200
};

static const int stages[] = {20, 60, 120};
enum { STAGES = sizeof stages / sizeof *stages };

/* ---- one problem ---- */

static void numbers_of(const struct problem *problem,
                       const struct value point[], double x[])
{
    for (size_t i = 0; i < problem->space.n; i++)
        x[i] = problem->space.params[i].type == PARAM_DOUBLE
                   ? point[i].real
                   : (double)point[i].whole;
}

/* NaN where it fails. */
static double evaluate(const struct problem *problem,
                       const struct value point[])
{
    double x[PROBLEM_MAX_DIM];
    numbers_of(problem, point, x);
    return problem->fails != NULL && problem->fails(x) ? NAN
                                                       : problem->evaluate(x);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void draw(const struct problem *problem, const struct rng_place *place,
                 struct value point[])
{
    for (size_t i = 0; i < problem->space.n; i++)
        point[i] =
            param_from_unit(&problem->space.params[i], rng_unit(place, i));
}

/* The median of random points; unknown optima are looked for from the best of
 * them, one coordinate at a time. */
static double study_problem(struct problem *problem)
{
    enum { POINTS = 20000, STEPS = 40000 };
    static double values[POINTS];
    struct value best[PROBLEM_MAX_DIM], point[PROBLEM_MAX_DIM];
    struct rng_place place = {9, 0, 0};
    double least = INFINITY;
    size_t n = 0;
    for (; place.draw < POINTS; place.draw++) {
        draw(problem, &place, point);
        const double value = evaluate(problem, point);
        if (isnan(value))
            continue;
        values[n++] = value;
        if (value < least)
            memcpy(best, point, sizeof best);
        least = fmin(least, value);
    }
    for (; isnan(problem->optimum) && place.draw < POINTS + STEPS;
         place.draw++) {
        const size_t c =
            (size_t)(rng_unit(&place, 0) * (double)problem->space.n);
        memcpy(point, best, sizeof point);
        point[c] =
            param_from_unit(&problem->space.params[c], rng_unit(&place, 1));
        const double value = evaluate(problem, point);
        if (value < least) {
            least = value;
            memcpy(best, point, sizeof best);
        }
    }
    if (isnan(problem->optimum))
        problem->optimum = least;
    qsort(values, n, sizeof *values, compare);
    return values[n / 2];
}

/* ---- one study ---- */

struct tried {
    const struct space *space;
    int n;
    int told; /* the others' results are out */
    struct value points[MOST_TRIALS][PROBLEM_MAX_DIM];
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

static void suggest(const struct algorithm *algorithm, void *state,
                    struct tried *tried, int trials, double *ms)
{
    struct ht_error err;
    const struct value *pending[MOST_PARALLEL];
    for (int k = tried->told; k < tried->n; k++)
        pending[k - tried->told] = tried->points[k];
    const struct taken taken = {is_tried, tried, (uint64_t)tried->n};
    const struct suggest_request request = {
        .ordinal = (uint64_t)tried->n,
        .taken = &taken,
        .n_pending = (size_t)(tried->n - tried->told),
        .pending = pending,
        .max_trials = (uint64_t)trials};
    struct reason reason;
    const double start = now_ms();
    if (algorithm->suggest(state, &request, tried->points[tried->n], &reason,
                           &err) != HT_OK) {
        fprintf(stderr, "bench_regret: %s\n", err.text);
        exit(1);
    }
    *ms += now_ms() - start;
    tried->n++;
}

/* How a problem is measured. */
struct plan {
    const struct algorithm *algorithm;
    int seeds, trials, parallel;
};

/* Tells the oldest result that is out; returns whether it failed. */
static bool tell(const struct algorithm *algorithm, void *state,
                 const struct problem *problem, struct tried *tried,
                 uint64_t seed)
{
    const struct rng_place place = {seed, (uint64_t)tried->told, 1u << 30};
    const struct value *point = tried->points[tried->told++];
    const double value = evaluate(problem, point);
    const double noise = problem->noise * rng_normal(&place, 0);
    const double told = -value - noise;
    const struct observation seen = {
        .point = point, .feasible = !isnan(value), .values = &told};
    algorithm->observe(state, &seen, NULL);
    return !seen.feasible;
}

/* Writes the best value after each stage; adds what suggestions cost. Returns
 * how many trials failed. */
static int run(const struct plan *plan, const struct problem *problem,
               uint64_t seed, double best_at[], double *ms)
{
    static struct tried tried;
    void *state;
    double best = INFINITY;
    int failed = 0;
    tried.n = tried.told = 0;
    tried.space = &problem->space;
    const struct setting setting = {
        .space = &problem->space, .seed = seed, .n_goals = 1};
    if (plan->algorithm->new (&setting, &state, NULL) != HT_OK)
        exit(1);
    for (int stage = 0; tried.n < plan->trials;) {
        suggest(plan->algorithm, state, &tried, plan->trials, ms);
        best = fmin(best, evaluate(problem, tried.points[tried.n - 1]));
        if (tried.n - tried.told == plan->parallel)
            failed += tell(plan->algorithm, state, problem, &tried, seed);
        if (stage < STAGES && tried.n == stages[stage])
            best_at[stage++] = best;
    }
    plan->algorithm->free(state);
    return failed;
}

/* ---- the numbers ---- */

struct total {
    double score[STAGES], regret[STAGES], ms;
    int problems;
};

static double median(int n, double v[])
{
    qsort(v, (size_t)n, sizeof *v, compare);
    return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

static void report(const struct problem *problem, int stage, int seeds,
                   double worst, double best[][STAGES], struct total *total)
{
    double regret[MOST_SEEDS], score = 0;
    for (int i = 0; i < seeds; i++) {
        const double left = best[i][stage] - problem->optimum;
        regret[i] = log10(fmin(fmax(left, 1e-6), worst - problem->optimum));
        score += 100 * fmax(1 - left / (worst - problem->optimum), 0) / seeds;
    }
    const double middle = median(seeds, regret);
    printf("%s_at_%d_median_log10_regret=%.2f\n", problem->name, stages[stage],
           middle);
    printf("%s_at_%d_score=%.1f\n", problem->name, stages[stage], score);
    total->score[stage] += score;
    total->regret[stage] += middle;
}

static void measure(const struct plan *plan, struct problem *problem,
                    struct total *total)
{
    static double best[MOST_SEEDS][STAGES];
    const double worst = study_problem(problem);
    const int seeds = plan->seeds, trials = plan->trials;
    double ms = 0;
    int failed = 0;
    for (int i = 0; i < seeds; i++)
        failed += run(plan, problem, (uint64_t)(FIRST_SEED + i), best[i], &ms);
    for (int stage = 0; stage < STAGES && stages[stage] <= trials; stage++)
        report(problem, stage, seeds, worst, best, total);
    if (problem->fails != NULL)
        printf("%s_failed_percent=%.1f\n", problem->name,
               100.0 * failed / (seeds * trials));
    printf("%s_suggest_ms=%.1f\n", problem->name, ms / (seeds * trials));
    fflush(stdout);
    total->ms += ms / (seeds * trials);
    total->problems++;
}

static int number(int argc, char *argv[], int i, int fallback)
{
    return argc > i ? (int)strtol(argv[i], NULL, 10) : fallback;
}

int main(int argc, char *argv[])
{
    const char *name = argc > 1 ? argv[1] : "BAYESIAN_SEARCH";
    const struct plan plan = {.algorithm = algorithm_find(name),
                              .seeds = number(argc, argv, 2, 5),
                              .trials = number(argc, argv, 4, 60),
                              .parallel = number(argc, argv, 5, 1)};
    struct total total = {0};
    if (plan.algorithm == NULL || plan.seeds < 1 || plan.seeds > MOST_SEEDS ||
        plan.trials < 1 || plan.trials > MOST_TRIALS || plan.parallel < 1 ||
        plan.parallel > MOST_PARALLEL) {
        fputs("usage: bench_regret [ALGORITHM [SEEDS [PROBLEM [TRIALS "
              "[PARALLEL]]]]]\n",
              stderr);
        return 2;
    }
    algorithms_init();
    for (size_t i = 0; i < N_PROBLEMS; i++)
        if (argc < 4 || strcmp(argv[3], "all") == 0 ||
            strstr(problems[i].name, argv[3]) != NULL)
            measure(&plan, &problems[i], &total);
    for (int i = 0; i < STAGES && stages[i] <= plan.trials; i++) {
        printf("mean_at_%d_median_log10_regret=%.3f\n", stages[i],
               total.regret[i] / total.problems);
        printf("mean_at_%d_score=%.2f\n", stages[i],
               total.score[i] / total.problems);
    }
    printf("mean_suggest_ms=%.1f\n", total.ms / total.problems);
    return 0;
}
