/* What results of an earlier study bring to a new one.
 *
 *     bench_transfer [SEEDS [PROBLEM [VARIANT]]]
 *
 * For each problem a study of 40 trials is played on a variant of it, then one
 * of 40 trials on the problem itself that starts from those results. Prints
 * the mean score of the best so far after 5, 10, 20 and 40 trials: 0 is the
 * median of random points, 100 the optimum. The variants:
 *
 *     none     no earlier study
 *     same     the same task
 *     shifted  its optimum elsewhere, by a tenth of every range, and its
 *              values on another scale
 *     partial  shifted, and without the last third of the parameters
 *     mirrored its optimum somewhere else, by far
 *     negated  what is good here is bad there */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/space/encoding.h"
#include "bench/problems.h"
#include "proto/base/limits.h"

enum { TRIALS = 40, FIRST_SEED = 700 };

enum variant { NONE, SAME, SHIFTED, PARTIAL, MIRRORED, NEGATED, VARIANTS };
static const char *const names[] = {"none",    "same",     "shifted",
                                    "partial", "mirrored", "negated"};
static const int stages[] = {5, 10, 20, 40};
enum { STAGES = sizeof stages / sizeof *stages };

static const char *const tasks[] = {"branin", "hartmann6", "levy4",
                                    "mlp",    "valley",    "ackley_mixed",
                                    "svm",    "boosting"};

/* ---- a task ---- */

struct task {
    struct problem *problem;
    struct encoding encoding;
    double median, best; /* of many random points; best: the optimum */
};

static double value_at(const struct problem *problem,
                       const struct value point[])
{
    double x[PROBLEM_MAX_DIM];
    for (size_t i = 0; i < problem->space.n; i++)
        x[i] = problem->space.params[i].type == PARAM_DOUBLE
                   ? point[i].real
                   : (double)point[i].whole;
    return problem->evaluate(x);
}

static size_t n_shared(const struct task *task, enum variant variant)
{
    const size_t n = task->problem->space.n;
    return variant == PARTIAL ? n - (n + 2) / 3 : n;
}

/* What the variant's study measures at a point; larger is better. */
static double variant_value(const struct task *task, enum variant variant,
                            const struct value point[])
{
    struct value moved[PROBLEM_MAX_DIM];
    double x[HT_MAX_PARAMETERS];
    const double plain = -value_at(task->problem, point);
    if (variant == NEGATED)
        return -plain;
    if (variant == NONE || variant == SAME)
        return plain;
    encoding_encode(&task->encoding, point, x);
    for (size_t c = 0; c < task->encoding.dim; c++) {
        const struct coordinate *at = &task->encoding.at[c];
        const double by = c % 2 == 0 ? 0.1 : -0.1;
        if (at->param >= n_shared(task, variant))
            x[c] = at->usual;
        else if (at->kind == COORDINATE_CATEGORY)
            continue;
        else if (variant == MIRRORED)
            x[c] = 1 - x[c];
        else
            x[c] = fmin(fmax(x[c] + by, 0), 1);
    }
    memcpy(moved, point, task->problem->space.n * sizeof *moved);
    encoding_decode(&task->encoding, x, moved);
    return 100 - 3 * value_at(task->problem, moved);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void task_init(struct task *task, struct problem *problem)
{
    enum { POINTS = 20001 };
    static double values[POINTS];
    struct value point[PROBLEM_MAX_DIM];
    *task = (struct task){.problem = problem};
    encoding_init(&task->encoding, &problem->space);
    for (uint64_t k = 0; k < POINTS; k++) {
        const struct rng_place place = {9, 0, k};
        for (size_t i = 0; i < problem->space.n; i++)
            point[i] = space_param_from_unit(&problem->space.params[i],
                                             rng_unit(&place, i));
        values[k] = value_at(problem, point);
    }
    qsort(values, POINTS, sizeof *values, compare);
    task->median = values[POINTS / 2];
    task->best = isnan(problem->optimum) ? values[0] : problem->optimum;
}

/* ---- a study ---- */

struct played {
    const struct space *space;
    size_t n;
    struct value points[TRIALS][PROBLEM_MAX_DIM];
    double values[TRIALS];
};

static bool is_taken(void *context, const struct value point[])
{
    const struct played *played = context;
    for (size_t k = 0; k < played->n; k++) {
        bool same = true;
        for (size_t i = 0; i < played->space->n; i++)
            same = same && space_value_equal(&played->space->params[i],
                                             point[i], played->points[k][i]);
        if (same)
            return true;
    }
    return false;
}

static void play(const struct task *task, enum variant variant,
                 const struct setting *setting, struct played *played)
{
    void *state;
    struct ht_error err;
    struct reason reason;
    played->space = setting->space;
    played->n = 0;
    if (bayesian_search.new(setting, &state, &err) != HT_OK)
        exit(1);
    while (played->n < TRIALS) {
        struct value *point = played->points[played->n];
        const struct taken taken = {is_taken, played, played->n};
        const struct suggest_request request = {
            .ordinal = played->n, .taken = &taken, .max_trials = TRIALS};
        if (bayesian_search.suggest(state, &request, point, &reason, &err) !=
            HT_OK) {
            fprintf(stderr, "bench_transfer: %s\n", err.text);
            exit(1);
        }
        double *value = &played->values[played->n++];
        *value = variant_value(task, variant, point);
        const struct observation seen = {
            .point = point, .feasible = true, .values = value};
        bayesian_search.observe(state, &seen, &err);
    }
    bayesian_search.free(state);
}

/* Adds the scores after each stage. */
static void add_scores(const struct task *task, const struct played *played,
                       double scores[])
{
    double best = -INFINITY;
    for (int k = 0, stage = 0; k < TRIALS; k++) {
        best = fmax(best, played->values[k]);
        if (stage < STAGES && k + 1 == stages[stage])
            scores[stage++] +=
                100 *
                fmax((task->median + best) / (task->median - task->best), 0);
    }
}

static void transfer(const struct task *task, enum variant variant,
                     uint64_t seed, double scores[])
{
    static struct played before, after;
    struct observation results[TRIALS];
    bool shared[PROBLEM_MAX_DIM];
    struct setting setting = {
        .space = &task->problem->space, .seed = seed + 5000, .n_goals = 1};
    for (size_t i = 0; i < setting.space->n; i++)
        shared[i] = i < n_shared(task, variant);
    const struct prior_study prior = {shared, TRIALS, results};
    if (variant != NONE) {
        play(task, variant, &setting, &before);
        for (size_t k = 0; k < TRIALS; k++)
            results[k] = (struct observation){.point = before.points[k],
                                              .feasible = true,
                                              .values = &before.values[k]};
        setting.n_priors = 1;
        setting.priors = &prior;
    }
    setting.seed = seed;
    play(task, NONE, &setting, &after);
    add_scores(task, &after, scores);
}

/* ---- the numbers ---- */

struct plan {
    int seeds;
    const char *problem, *variant; /* parts of names */
};

static void measure(const struct plan *plan, struct problem *problem,
                    double totals[][STAGES])
{
    struct task task;
    task_init(&task, problem);
    for (int v = 0; v < VARIANTS; v++) {
        double scores[STAGES] = {0};
        if (strstr(names[v], plan->variant) == NULL)
            continue;
        for (int s = 0; s < plan->seeds; s++)
            transfer(&task, (enum variant)v, (uint64_t)(FIRST_SEED + s),
                     scores);
        for (int k = 0; k < STAGES; k++) {
            printf("%s_%s_at_%d_score=%.1f\n", problem->name, names[v],
                   stages[k], scores[k] / plan->seeds);
            totals[v][k] += scores[k] / plan->seeds;
        }
        fflush(stdout);
    }
    encoding_fini(&task.encoding);
}

static bool is_wanted(const struct plan *plan, const char *problem)
{
    for (size_t t = 0; t < sizeof tasks / sizeof *tasks; t++)
        if (strcmp(problem, tasks[t]) == 0)
            return strstr(problem, plan->problem) != NULL;
    return false;
}

int main(int argc, char *argv[])
{
    const struct plan plan = {.seeds =
                                  argc > 1 ? (int)strtol(argv[1], NULL, 10) : 5,
                              .problem = argc > 2 ? argv[2] : "",
                              .variant = argc > 3 ? argv[3] : ""};
    double totals[VARIANTS][STAGES] = {{0}};
    int measured = 0;
    algorithm_init();
    for (size_t p = 0; p < N_PROBLEMS; p++)
        if (is_wanted(&plan, problems[p].name)) {
            measure(&plan, &problems[p], totals);
            measured++;
        }
    for (int v = 0; v < VARIANTS; v++)
        for (int k = 0; k < STAGES; k++)
            if (strstr(names[v], plan.variant) != NULL)
                printf("mean_%s_at_%d_score=%.2f\n", names[v], stages[k],
                       totals[v][k] / measured);
    return 0;
}
