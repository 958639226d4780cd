/* What is found of the health of a search's model on problems of families
 * (families.h), where the truth is known:
 *
 *     bench_health [FAMILY [FIRST [SEEDS [TRIALS]]]]
 *
 * prints a line for each finding at each tenth result from 20 on: family,
 * problem, results, kind, its number, and what is left of the way from random
 * points (1) to the optimum. Of a border the line ends with how much better,
 * as a share of that way, the best point becomes when the parameter is moved
 * inside: 0 is a false alarm. A last line for each run, "end", has what is
 * left after all trials. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/insight/health.h"
#include "algorithms/insight/importance.h"
#include "algorithms/model/goal_model.h"
#include "bench/families.h"

enum { MOST_TRIALS = 200, EVERY = 10, FIRST_LOOK = 20, CUTS = 200 };

struct study {
    const struct instance *instance;
    int n, best; /* the trial with the best result */
    double result;
    struct value points[MOST_TRIALS][SHAPE_DIM];
    struct encoding encoding;
    struct history history;
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

static double share_of(const struct instance *instance, double value)
{
    return (value - instance->optimum) / (instance->middle - instance->optimum);
}

static double left_of(const struct study *study)
{
    return share_of(
        study->instance,
        instance_value(study->instance, study->points[study->best]));
}

/* The best point becomes so much better with the parameter elsewhere, not at
 * an end. */
static double better_inside(const struct study *study, size_t param)
{
    const struct instance *instance = study->instance;
    struct value point[SHAPE_DIM];
    double least = INFINITY;
    memcpy(point, study->points[study->best], sizeof point);
    for (int i = 0; i < CUTS; i++) {
        const double u = 0.03 + 0.94 * i / (CUTS - 1);
        point[param] = space_param_from_unit(&instance->params[param], u);
        least = fmin(least, instance_value(instance, point));
    }
    return left_of(study) - share_of(instance, least);
}

static const char *const kinds[] = {[HEALTH_QUALITY] = "quality",
                                    [HEALTH_BORDER] = "border",
                                    [HEALTH_LITTLE_TO_GAIN] = "little",
                                    [HEALTH_NOISE] = "noise"};

static void look(const struct study *study, uint64_t problem)
{
    struct importance importances[HT_MAX_PARAMETERS];
    struct goal_hyper hyper;
    struct goal_model model;
    struct health health;
    goal_model_hyper_init(&hyper, 0, NOISE_UNKNOWN);
    const bool has_model =
        goal_model_init(&model, &study->history, &hyper, 1, 0);
    const bool ranked =
        importance_find(&study->history, 0, NOISE_UNKNOWN, 1, importances);
    const struct health_study asked = {.history = &study->history,
                                       .alone = true,
                                       .model = has_model ? &model : NULL,
                                       .importances =
                                           ranked ? importances : NULL,
                                       .seed = 1};
    health_find(&asked, &health);
    for (size_t i = 0; i < health.n; i++) {
        const struct health_finding *found = &health.findings[i];
        printf("%s %llu %d %s %.4g %.4f", study->instance->family->name,
               (unsigned long long)problem, study->n, kinds[found->kind],
               found->value, left_of(study));
        if (found->kind == HEALTH_BORDER)
            printf(" %.4f", better_inside(study, found->param));
        printf("\n");
    }
    goal_model_fini(&model);
}

static void run(const struct instance *instance, uint64_t problem, int trials)
{
    static struct study study;
    void *state;
    const struct setting setting = {
        .space = &instance->space, .seed = 1, .n_goals = 1};
    study.instance = instance;
    study.n = 0;
    study.result = INFINITY;
    encoding_init(&study.encoding, &instance->space);
    history_init(&study.history, &study.encoding, 1);
    if (bayesian_search.new(&setting, &state, NULL) != HT_OK)
        exit(1);
    for (int i = 0; i < trials; i++) {
        const struct taken taken = {is_tried, &study, (uint64_t)i};
        const struct suggest_request request = {
            .ordinal = (uint64_t)i, .taken = &taken, .max_trials = 200};
        const struct rng_place place = {problem, (uint64_t)i, 1u << 30};
        struct reason reason;
        if (bayesian_search.suggest(state, &request, study.points[i], &reason,
                                    NULL) != HT_OK)
            break;
        study.n++;
        const double score = -instance_value(instance, study.points[i]) +
                             instance->noise * rng_normal(&place, 0);
        const struct observation seen = {
            .point = study.points[i], .feasible = true, .values = &score};
        if (-score < study.result)
            study.best = i;
        study.result = fmin(study.result, -score);
        history_add(&study.history, &seen);
        bayesian_search.observe(state, &seen, NULL);
        if (study.n >= FIRST_LOOK && study.n % EVERY == 0)
            look(&study, problem);
    }
    printf("%s %llu %d end 0 %.4f\n", instance->family->name,
           (unsigned long long)problem, study.n, left_of(&study));
    fflush(stdout);
    bayesian_search.free(state);
    history_fini(&study.history);
    encoding_fini(&study.encoding);
}

/* So that no end of a range is a natural one. */
static void move_from_zero(struct instance *instance)
{
    for (size_t i = 0; i < instance->dim; i++) {
        struct param *param = &instance->params[i];
        if (param->type == PARAM_DOUBLE && param->scale == SCALE_LINEAR)
            param->max += 1 - param->min;
        if (param->type == PARAM_DOUBLE && param->scale == SCALE_LINEAR)
            param->min = 1;
    }
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
              seeds = number(argc, argv, 3, 5),
              trials = number(argc, argv, 4, 100);
    if (first < 0 || seeds < 1 || trials < FIRST_LOOK || trials > MOST_TRIALS) {
        fputs("usage: bench_health [FAMILY [FIRST [SEEDS [TRIALS]]]]\n",
              stderr);
        return 2;
    }
    algorithm_init();
    for (size_t i = 0; i < N_FAMILIES; i++)
        for (int k = first; k < first + seeds; k++) {
            if (*only != '\0' && strcmp(families[i].name, only) != 0)
                continue;
            instance_make(&instance, &families[i], (uint64_t)k);
            move_from_zero(&instance);
            run(&instance, (uint64_t)k, trials);
        }
    return 0;
}
