/* How much of what can be traded off a search finds, and how safely.
 *
 *     bench_pareto [SEEDS [PROBLEM [TRIALS]]]
 *
 * For each problem the model and random draws beside it: the mean over seeds
 * of the volume that the results after 30 and 60 trials dominate, as a share
 * of the true front's. Then a study with a bound: the share of its trials that
 * are outside and the best one inside, without the bound, with it, and with 9
 * of 10 trials asked to be inside. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/base/rng.h"
#include "algorithms/model/hypervolume.h"
#include "algorithms/model/pareto.h"
#include "bench/pareto_problems.h"

enum { MOST_TRIALS = 200, FIRST_SEED = 300, STAGES = 2 };
static const int stages[STAGES] = {30, 60};

static void numbers_of(const struct space *space, const struct value point[],
                       double x[])
{
    for (size_t i = 0; i < space->n; i++)
        x[i] = space->params[i].type == PARAM_DOUBLE ? point[i].real
                                                     : (double)point[i].whole;
}

/* Larger is better, the worst corner at 0 and the ideal at 1. */
static void score(const struct pareto_problem *problem,
                  const struct value point[], double scores[])
{
    double x[PARETO_MAX_DIM], values[PARETO_MAX_GOALS];
    numbers_of(&problem->space, point, x);
    problem->evaluate(x, values);
    for (size_t k = 0; k < problem->n_goals; k++)
        scores[k] = (problem->worst[k] - values[k]) /
                    (problem->worst[k] - problem->ideal[k]);
}

static double volume_of(const struct pareto *front)
{
    static const double corner[PARETO_MAX_GOALS];
    return hypervolume(front, corner);
}

/* ---- the true front ---- */

/* Random points, then one coordinate at a time away from the best ones. */
static double find_volume(const struct pareto_problem *problem)
{
    enum { POINTS = 20000, STEPS = 200000 };
    const struct space *space = &problem->space;
    struct value(*points)[PARETO_MAX_DIM] =
        calloc(POINTS + STEPS, sizeof *points);
    struct pareto front;
    struct rng_place place = {17, 0, 0};
    if (points == NULL)
        exit(1);
    pareto_init(&front, problem->n_goals);
    for (; place.draw < POINTS + STEPS; place.draw++) {
        struct value *point = points[place.draw];
        double scores[PARETO_MAX_GOALS];
        for (size_t i = 0; i < space->n; i++)
            point[i] =
                space_param_from_unit(&space->params[i], rng_unit(&place, i));
        if (place.draw >= POINTS) {
            const size_t from =
                (size_t)(rng_unit(&place, 90) * (double)front.n);
            const size_t keep =
                (size_t)(rng_unit(&place, 91) * (double)space->n);
            const struct value moved = point[keep];
            memcpy(point, points[front.ids[from]], sizeof *points);
            point[keep] = moved;
        }
        score(problem, point, scores);
        if (!pareto_has(&front, scores))
            pareto_add(&front, scores, (int64_t)place.draw);
    }
    const double volume = volume_of(&front);
    pareto_fini(&front);
    free(points);
    return volume;
}

/* ---- a study ---- */

struct study {
    const struct algorithm *algorithm;
    const struct pareto_problem *problem;
    struct setting setting;
    void *state;
    int n;
    struct value points[MOST_TRIALS][PARETO_MAX_DIM];
    double ms;
};

static bool is_tried(void *context, const struct value point[])
{
    const struct study *study = context;
    const struct space *space = &study->problem->space;
    for (int k = 0; k < study->n; k++) {
        bool same = true;
        for (size_t i = 0; i < space->n; i++)
            same = same && space_value_equal(&space->params[i], point[i],
                                             study->points[k][i]);
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

static void begin(struct study *study, const struct algorithm *algorithm,
                  const struct pareto_problem *problem, uint64_t seed)
{
    *study = (struct study){.algorithm = algorithm,
                            .problem = problem,
                            .setting = {.space = &problem->space,
                                        .seed = seed,
                                        .n_goals = problem->n_goals}};
}

static void open_study(struct study *study)
{
    if (study->algorithm->new (&study->setting, &study->state, NULL) != HT_OK)
        exit(1);
}

/* One trial; `values` are what the search gets. */
static void step(struct study *study, int trials, double values[],
                 void evaluate(const struct study *study,
                               const struct value point[], double values[]))
{
    struct value *point = study->points[study->n];
    const struct taken taken = {is_tried, study, (uint64_t)study->n};
    const struct suggest_request request = {.ordinal = (uint64_t)study->n,
                                            .taken = &taken,
                                            .max_trials = (uint64_t)trials};
    struct reason reason;
    struct ht_error err;
    const double start = now_ms();
    if (study->algorithm->suggest(study->state, &request, point, &reason,
                                  &err) != HT_OK) {
        fprintf(stderr, "bench_pareto: %s\n", err.text);
        exit(1);
    }
    study->ms += now_ms() - start;
    study->n++;
    evaluate(study, point, values);
    const struct observation seen = {
        .point = point, .feasible = true, .values = values};
    study->algorithm->observe(study->state, &seen, NULL);
}

/* ---- trade-offs ---- */

static void all_scores(const struct study *study, const struct value point[],
                       double values[])
{
    score(study->problem, point, values);
}

static void run(struct study *study, int trials, double volumes[])
{
    struct pareto front;
    pareto_init(&front, study->problem->n_goals);
    open_study(study);
    for (int stage = 0; study->n < trials;) {
        double scores[SETTING_METRICS];
        step(study, trials, scores, all_scores);
        if (!pareto_has(&front, scores))
            pareto_add(&front, scores, study->n);
        if (stage < STAGES && study->n == stages[stage])
            volumes[stage++] += volume_of(&front);
    }
    study->algorithm->free(study->state);
    pareto_fini(&front);
}

static void measure(struct pareto_problem *problem, int seeds, int trials)
{
    static const struct {
        const char *name;
        const struct algorithm *algorithm;
    } rivals[] = {{"model", &bayesian_search}, {"random", &random_search}};
    static struct study study;
    if (isnan(problem->volume))
        problem->volume = find_volume(problem);
    for (size_t r = 0; r < sizeof rivals / sizeof *rivals; r++) {
        double volumes[STAGES] = {0}, ms = 0;
        for (int i = 0; i < seeds; i++) {
            begin(&study, rivals[r].algorithm, problem,
                  (uint64_t)(FIRST_SEED + i));
            run(&study, trials, volumes);
            ms += study.ms;
        }
        for (int k = 0; k < STAGES && stages[k] <= trials; k++)
            printf("%s_%s_at_%d_volume=%.3f\n", problem->name, rivals[r].name,
                   stages[k], volumes[k] / seeds / problem->volume);
        printf("%s_%s_suggest_ms=%.1f\n", problem->name, rivals[r].name,
               ms / (seeds * trials));
        fflush(stdout);
    }
}

/* ---- bounds ---- */

static struct pareto_problem bounded = {
    "network_memory", 2,  network_memory, {6, pareto_network}, {0, 0},
    {1, 1},           NAN};

static void negated(const struct study *study, const struct value point[],
                    double values[])
{
    double x[PARETO_MAX_DIM];
    numbers_of(&study->problem->space, point, x);
    study->problem->evaluate(x, values);
    values[0] = -values[0];
    values[1] = -values[1];
}

static void measure_bound(const char *name, bool is_given, double share,
                          int seeds, int trials)
{
    static struct study study;
    double outside = 0, best_inside = 0;
    for (int i = 0; i < seeds; i++) {
        double best = INFINITY;
        begin(&study, &bayesian_search, &bounded, (uint64_t)(FIRST_SEED + i));
        study.setting.n_goals = is_given ? 2 : 1;
        study.setting.goals[1] =
            (struct goal){.safety = true, .threshold = -1, .safe_share = share};
        open_study(&study);
        while (study.n < trials) {
            double values[SETTING_METRICS];
            step(&study, trials, values, negated);
            outside += values[1] < -1 ? 1 : 0;
            best = values[1] < -1 ? best : fmin(best, -values[0]);
        }
        best_inside += best / seeds;
        study.algorithm->free(study.state);
    }
    printf("%s_%s_outside_percent=%.1f\n", bounded.name, name,
           100 * outside / (seeds * trials));
    printf("%s_%s_best_inside=%.4f\n", bounded.name, name, best_inside);
    fflush(stdout);
}

static int number(int argc, char *argv[], int i, int fallback)
{
    return argc > i ? (int)strtol(argv[i], NULL, 10) : fallback;
}

int main(int argc, char *argv[])
{
    const int seeds = number(argc, argv, 1, 10);
    const int trials = number(argc, argv, 3, 60);
    const char *name = argc > 2 ? argv[2] : "all";
    const bool all = strcmp(name, "all") == 0;
    if (seeds < 1 || trials < 1 || trials > MOST_TRIALS) {
        fputs("usage: bench_pareto [SEEDS [PROBLEM [TRIALS]]]\n", stderr);
        return 2;
    }
    algorithm_init();
    for (size_t i = 0; i < N_PARETO_PROBLEMS; i++)
        if (all || strstr(pareto_problems[i].name, name) != NULL)
            measure(&pareto_problems[i], seeds, trials);
    if (all || strstr(bounded.name, name) != NULL) {
        measure_bound("unbounded", false, 0, seeds, trials);
        measure_bound("bounded", true, 0, seeds, trials);
        measure_bound("careful", true, 0.9, seeds, trials);
    }
    return 0;
}
