/* One algorithm on problems of families (families.h):
 *
 *     bench_families [FAMILY [FIRST [SEEDS [TRIALS [PARALLEL [ALGORITHM]]]]]]
 *
 * ("list": the families' names) prints a line for each run: family, problem,
 * seed of the algorithm, then the score after a third, two thirds and all of
 * the trials, log10 of what is left at the end and the milliseconds of a
 * suggestion. A score is 0 at the median of random points and 100 at the
 * optimum, of the true value at the point with the best result. search_ab.py
 * compares two builds by these lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "algorithms/base/algorithm.h"
#include "bench/families.h"

enum { MOST_TRIALS = 400, MOST_PARALLEL = 64, STAGES = 3, ALGORITHM_SEEDS = 2 };

struct plan {
    const struct algorithm *algorithm;
    int trials, parallel;
};

struct study {
    const struct instance *instance;
    uint64_t seed;
    int n, observed;     /* the results of the others are pending */
    double best, result; /* the true value where the best result was */
    struct value points[MOST_TRIALS][SHAPE_DIM];
};

static bool is_tried(void *context, const struct value point[])
{
    const struct study *study = context;
    const struct space *space = &study->instance->space;
    for (int k = 0; k < study->n; k++) {
        size_t i = 0;
        while (i < space->n && space_value_equal(&space->params[i], point[i],
                                                 study->points[k][i]))
            i++;
        if (i == space->n)
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

/* False when the space has no other point. */
static bool suggest(const struct plan *plan, void *state, struct study *study,
                    double *ms)
{
    const struct value *pending[MOST_PARALLEL];
    for (int k = study->observed; k < study->n; k++)
        pending[k - study->observed] = study->points[k];
    const struct taken taken = {is_tried, study, (uint64_t)study->n};
    const struct suggest_request request = {
        .ordinal = (uint64_t)study->n,
        .taken = &taken,
        .n_pending = (size_t)(study->n - study->observed),
        .pending = pending,
        .max_trials = (uint64_t)plan->trials};
    struct ht_error err;
    struct reason reason;
    const double start = now_ms();
    const enum ht_status status = plan->algorithm->suggest(
        state, &request, study->points[study->n], &reason, &err);
    *ms += now_ms() - start;
    if (status == HT_OK) {
        study->n++;
        return true;
    }
    if (status == HT_EXHAUSTED)
        return false;
    fprintf(stderr, "bench_families: %s\n", err.text);
    exit(1);
}

static void observe(const struct plan *plan, void *state, struct study *study)
{
    const struct instance *instance = study->instance;
    const struct rng_place place = {study->seed, (uint64_t)study->observed,
                                    1u << 30};
    const struct value *point = study->points[study->observed++];
    const double truth = instance_value(instance, point);
    const double result = truth + instance->noise * rng_normal(&place, 0);
    const double score = -result;
    const struct observation seen = {
        .point = point, .feasible = true, .values = &score};
    if (result < study->result) {
        study->result = result;
        study->best = truth;
    }
    plan->algorithm->observe(state, &seen, NULL);
}

/* What is left of the way from random points (1) to the optimum. */
static double left_of(const struct study *study)
{
    const struct instance *instance = study->instance;
    return fmin(fmax((study->best - instance->optimum) /
                         (instance->middle - instance->optimum),
                     0),
                1);
}

static void run(const struct plan *plan, const struct instance *instance,
                uint64_t problem, uint64_t seed)
{
    static struct study study;
    double left[STAGES] = {1, 1, 1}, ms = 0;
    void *state;
    const struct setting setting = {
        .space = &instance->space, .seed = seed, .n_goals = 1};
    study.instance = instance;
    study.seed = seed + 1000 * problem;
    study.n = study.observed = 0;
    study.best = instance->middle;
    study.result = INFINITY;
    if (plan->algorithm->new (&setting, &state, NULL) != HT_OK)
        exit(1);
    while (study.observed < plan->trials) {
        const bool more =
            study.n < plan->trials && study.n - study.observed < plan->parallel;
        if (more && suggest(plan, state, &study, &ms))
            continue;
        if (study.observed == study.n)
            break;
        observe(plan, state, &study);
        const int stage = (3 * study.observed - 1) / plan->trials;
        for (int k = stage; k < STAGES; k++)
            left[k] = left_of(&study);
    }
    plan->algorithm->free(state);
    printf("%s %llu %llu %.3f %.3f %.3f %.4f %.3f\n", instance->family->name,
           (unsigned long long)problem, (unsigned long long)seed,
           100 * (1 - left[0]), 100 * (1 - left[1]), 100 * (1 - left[2]),
           log10(fmax(left[2], 1e-4)), ms / study.n);
}

static int number(int argc, char *argv[], int i, int fallback)
{
    return argc > i ? (int)strtol(argv[i], NULL, 10) : fallback;
}

int main(int argc, char *argv[])
{
    static struct instance instance;
    const char *only = argc > 1 && strcmp(argv[1], "all") != 0 ? argv[1] : "";
    const int first = number(argc, argv, 2, 0),
              seeds = number(argc, argv, 3, 5);
    const struct plan plan = {
        .algorithm = algorithm_find(argc > 6 ? argv[6] : "BAYESIAN_SEARCH"),
        .trials = number(argc, argv, 4, 60),
        .parallel = number(argc, argv, 5, 1)};
    if (plan.algorithm == NULL || first < 0 || seeds < 1 ||
        plan.trials < STAGES || plan.trials > MOST_TRIALS ||
        plan.parallel < 1 || plan.parallel > MOST_PARALLEL) {
        fputs("usage: bench_families [FAMILY [FIRST [SEEDS [TRIALS [PARALLEL "
              "[ALGORITHM]]]]]]\n",
              stderr);
        return 2;
    }
    if (strcmp(only, "list") == 0) {
        for (size_t i = 0; i < N_FAMILIES; i++)
            puts(families[i].name);
        return 0;
    }
    algorithm_init();
    for (size_t i = 0; i < N_FAMILIES; i++)
        for (int k = first; k < first + seeds; k++) {
            if (*only != '\0' && strcmp(families[i].name, only) != 0)
                continue;
            instance_make(&instance, &families[i], (uint64_t)k);
            instance_survey(&instance);
            for (uint64_t seed = 1; seed <= ALGORITHM_SEEDS; seed++)
                run(&plan, &instance, (uint64_t)k, seed);
            fflush(stdout);
        }
    return 0;
}
