/* How near a search comes to the best values of known functions.
 *
 *     bench_regret [ALGORITHM [SEEDS [PROBLEM [TRIALS [PARALLEL [SAID]]]]]]
 *
 * For each problem and after 20, 60 and 120 trials: the mean score over seeds,
 * 0 being the median of random points and 100 the optimum, and the mean of
 * log10(1 - score / 100), in which the last ten thousandth no longer counts.
 * The best is that of the true values, also where results are noisy. Then the
 * same of each group of problems and of all, and the cost of a suggestion. With
 * SAID other than 0 the search learns which problems are noisy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "algorithms/base/algorithm.h"
#include "bench/problems.h"
#include "proto/base/limits.h"

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

static double evaluate_at(const struct problem *problem, const double u[])
{
    struct value point[PROBLEM_MAX_DIM];
    for (size_t i = 0; i < problem->space.n; i++)
        point[i] = space_param_from_unit(&problem->space.params[i], u[i]);
    return evaluate(problem, point);
}

/* Lowers `least`, the value at `best`: one coordinate anywhere, then steps of
 * one or of all that get smaller. */
static double descend(const struct problem *problem, double least,
                      double best[])
{
    enum { STEPS = 60000 };
    struct rng_place place = {9, 1, 0};
    double u[PROBLEM_MAX_DIM];
    for (; place.draw < STEPS; place.draw++) {
        const double share = (double)place.draw / STEPS;
        const double step = share < 0.3 ? 2 : pow(10, -4 * share);
        const bool all = share > 0.3 && place.draw % 2 == 0;
        const size_t only =
            (size_t)(rng_unit(&place, 0) * (double)problem->space.n);
        for (size_t i = 0; i < problem->space.n; i++) {
            const double by = step * (rng_unit(&place, i + 1) - 0.5);
            u[i] = best[i] + (all || i == only ? by : 0);
            u[i] = fmin(fmax(u[i], 0), 1 - 1e-9);
        }
        const double value = evaluate_at(problem, u);
        if (!(value < least))
            continue;
        least = value;
        memcpy(best, u, sizeof u);
    }
    return least;
}

/* The median of random points; an unknown optimum is looked for from the best
 * of them. */
static double study_problem(struct problem *problem)
{
    enum { POINTS = 20000 };
    static double values[POINTS];
    double u[PROBLEM_MAX_DIM], best[PROBLEM_MAX_DIM] = {0}, least = INFINITY;
    struct rng_place place = {9, 0, 0};
    size_t n = 0;
    for (; place.draw < POINTS; place.draw++) {
        for (size_t i = 0; i < problem->space.n; i++)
            u[i] = rng_unit(&place, i);
        const double value = evaluate_at(problem, u);
        if (isnan(value))
            continue;
        values[n++] = value;
        if (value < least)
            memcpy(best, u, sizeof u);
        least = fmin(least, value);
    }
    if (isnan(problem->optimum))
        problem->optimum = descend(problem, least, best);
    qsort(values, n, sizeof *values, compare);
    return values[n / 2];
}

/* ---- one study ---- */

struct tried {
    const struct space *space;
    int n;
    int observed; /* the results of the others are pending */
    struct value points[MOST_TRIALS][PROBLEM_MAX_DIM];
};

static bool is_tried(void *context, const struct value point[])
{
    const struct tried *tried = context;
    for (int k = 0; k < tried->n; k++) {
        bool same = true;
        for (size_t i = 0; i < tried->space->n; i++)
            same = same && space_value_equal(&tried->space->params[i], point[i],
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
    for (int k = tried->observed; k < tried->n; k++)
        pending[k - tried->observed] = tried->points[k];
    const struct taken taken = {is_tried, tried, (uint64_t)tried->n};
    const struct suggest_request request = {
        .ordinal = (uint64_t)tried->n,
        .taken = &taken,
        .n_pending = (size_t)(tried->n - tried->observed),
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
    bool says_noise;
};

/* Tells the oldest result that is out; returns whether it failed. */
static bool tell(const struct algorithm *algorithm, void *state,
                 const struct problem *problem, struct tried *tried,
                 uint64_t seed)
{
    const struct rng_place place = {seed, (uint64_t)tried->observed, 1u << 30};
    const struct value *point = tried->points[tried->observed++];
    const double value = evaluate(problem, point);
    const double noise = problem->noise * rng_normal(&place, 0);
    const double score = -value - noise;
    const struct observation seen = {
        .point = point, .feasible = !isnan(value), .values = &score};
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
    tried.n = tried.observed = 0;
    tried.space = &problem->space;
    const enum noise said = problem->noise > 0 ? NOISE_HIGH : NOISE_LOW;
    const struct setting setting = {.space = &problem->space,
                                    .seed = seed,
                                    .n_goals = 1,
                                    .noise = plan->says_noise ? said
                                                              : NOISE_UNKNOWN};
    if (plan->algorithm->new (&setting, &state, NULL) != HT_OK)
        exit(1);
    for (int stage = 0; tried.n < plan->trials;) {
        suggest(plan->algorithm, state, &tried, plan->trials, ms);
        best = fmin(best, evaluate(problem, tried.points[tried.n - 1]));
        if (tried.n - tried.observed == plan->parallel)
            failed += tell(plan->algorithm, state, problem, &tried, seed);
        if (stage < STAGES && tried.n == stages[stage])
            best_at[stage++] = best;
    }
    plan->algorithm->free(state);
    return failed;
}

/* ---- the numbers ---- */

/* Of several problems. */
struct total {
    double score[STAGES], left[STAGES], ms;
    int problems;
};

static void print(const char *name, const struct total *total, int trials)
{
    const double n = total->problems;
    for (int i = 0; i < STAGES && stages[i] <= trials; i++) {
        printf("%s_at_%d_score=%.1f\n", name, stages[i], total->score[i] / n);
        printf("%s_at_%d_log10_left=%.2f\n", name, stages[i],
               total->left[i] / n);
    }
    printf("%s_suggest_ms=%.1f\n", name, total->ms / n);
}

/* What is left of the way from random points (1) to the optimum. */
static double left_of(const struct problem *problem, double worst, double best)
{
    const double left = (best - problem->optimum) / (worst - problem->optimum);
    return fmin(fmax(left, 0), 1);
}

static void add(struct total *sum, const struct total *one)
{
    for (int i = 0; i < STAGES; i++) {
        sum->score[i] += one->score[i];
        sum->left[i] += one->left[i];
    }
    sum->ms += one->ms;
    sum->problems += one->problems;
}

static void measure(const struct plan *plan, struct problem *problem,
                    struct total *total)
{
    const double worst = study_problem(problem);
    const double runs = plan->seeds;
    struct total own = {.problems = 1};
    int failed = 0;
    for (int i = 0; i < plan->seeds; i++) {
        double best[STAGES];
        failed += run(plan, problem, (uint64_t)(FIRST_SEED + i), best, &own.ms);
        for (int k = 0; k < STAGES && stages[k] <= plan->trials; k++) {
            const double left = left_of(problem, worst, best[k]);
            own.score[k] += 100 * (1 - left) / runs;
            own.left[k] += log10(fmax(left, 1e-4)) / runs;
        }
    }
    own.ms /= runs * plan->trials;
    print(problem->name, &own, plan->trials);
    if (problem->fails != NULL)
        printf("%s_failed_percent=%.1f\n", problem->name,
               100.0 * failed / (runs * plan->trials));
    fflush(stdout);
    add(total, &own);
}

/* Each group of problems whose names have the text (NULL: any), and all. */
static void measure_all(const struct plan *plan, const char *text)
{
    bool done[N_PROBLEMS] = {false};
    struct total all = {0};
    for (size_t i = 0; i < N_PROBLEMS; i++) {
        struct total group = {0};
        char name[64];
        for (size_t j = i; j < N_PROBLEMS; j++) {
            if (done[j] || strcmp(problems[j].group, problems[i].group) != 0)
                continue;
            done[j] = true;
            if (text == NULL || strstr(problems[j].name, text) != NULL)
                measure(plan, &problems[j], &group);
        }
        snprintf(name, sizeof name, "group_%s", problems[i].group);
        if (group.problems > 0)
            print(name, &group, plan->trials);
        add(&all, &group);
    }
    if (all.problems > 0)
        print("mean", &all, plan->trials);
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
                              .parallel = number(argc, argv, 5, 1),
                              .says_noise = number(argc, argv, 6, 0) != 0};
    const char *text = argc > 3 && strcmp(argv[3], "all") != 0 ? argv[3] : NULL;
    if (plan.algorithm == NULL || plan.seeds < 1 || plan.seeds > MOST_SEEDS ||
        plan.trials < 1 || plan.trials > MOST_TRIALS || plan.parallel < 1 ||
        plan.parallel > MOST_PARALLEL) {
        fputs("usage: bench_regret [ALGORITHM [SEEDS [PROBLEM [TRIALS "
              "[PARALLEL [SAID]]]]]]\n",
              stderr);
        return 2;
    }
    algorithm_init();
    measure_all(&plan, text);
    return 0;
}
