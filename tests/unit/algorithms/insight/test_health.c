/* What is found of studies whose truth is known, and that nothing is found
 * where there is nothing. */
#include "algorithms/insight/health.h"

#include <math.h>
#include <string.h>

#include "algorithms/base/rng.h"
#include "algorithms/insight/importance.h"
#include "algorithms/model/goal_model.h"
#include "tests/check.h"

enum { MOST = 4 };

struct problem {
    struct space space;
    double (*value)(const struct value x[]);
    double noise;
    uint64_t n;
    uint64_t repeats; /* so many trials at the end repeat the third */
    bool drawn;       /* at random, not by the search */
    uint64_t at_end; /* so many of the first have the largest value of the first
                        parameter */
};

/* ---- a study of a problem ---- */

struct looked {
    struct encoding encoding;
    struct history history;
    struct health health;
};

static bool is_taken(void *context, const struct value point[])
{
    const struct history *history = context;
    const struct space *space = history->encoding->space;
    size_t k = 0;
    for (size_t i = 0; k < space->n && i < history->n; i++)
        for (k = 0; k < space->n; k++)
            if (!space_value_equal(&space->params[k], point[k],
                                   history_get(history, i).point[k]))
                break;
    return k == space->n;
}

static void ask(void *state, struct history *history, struct value point[])
{
    const struct taken taken = {is_taken, history, history->n};
    const struct suggest_request request = {.ordinal = history->n,
                                            .taken = &taken};
    struct reason reason;
    CHECK(bayesian_search.suggest(state, &request, point, &reason, NULL) ==
          HT_OK);
}

static void choose(const struct problem *problem, void *state,
                   struct history *history, struct value point[])
{
    const struct rng_place place = {11, history->n, 0};
    if (!problem->drawn)
        ask(state, history, point);
    for (size_t k = 0; problem->drawn && k < problem->space.n; k++)
        point[k] = space_param_from_unit(&problem->space.params[k],
                                         rng_unit(&place, k));
}

static void run_trials(const struct problem *problem, struct history *history)
{
    const struct setting setting = {
        .space = &problem->space, .seed = 5, .n_goals = 1};
    struct value point[MOST];
    void *state = NULL;
    CHECK(bayesian_search.new(&setting, &state, NULL) == HT_OK);
    for (uint64_t i = 0; i < problem->n; i++) {
        const struct rng_place place = {3, i, 0};
        if (i + problem->repeats < problem->n)
            choose(problem, state, history, point);
        else
            memcpy(point, history_get(history, 2).point,
                   problem->space.n * sizeof *point);
        if (i < problem->at_end)
            point[0].real = problem->space.params[0].max;
        const double value =
            problem->value(point) + problem->noise * rng_normal(&place, 0);
        const struct observation seen = {
            .point = point, .feasible = true, .values = &value};
        history_add(history, &seen);
        CHECK(bayesian_search.observe(state, &seen, NULL) == HT_OK);
    }
    bayesian_search.free(state);
}

static void find(struct looked *looked, bool alone)
{
    struct importance importances[MOST];
    struct goal_hyper hyper;
    struct goal_model model;
    goal_model_hyper_init(&hyper, 0, NOISE_UNKNOWN);
    const bool has_model =
        goal_model_init(&model, &looked->history, &hyper, 5, 0);
    const bool ranked =
        importance_find(&looked->history, 0, NOISE_UNKNOWN, 5, importances);
    const struct health_study study = {.history = &looked->history,
                                       .alone = alone,
                                       .model = has_model ? &model : NULL,
                                       .importances =
                                           ranked ? importances : NULL,
                                       .seed = 5};
    health_find(&study, &looked->health);
    goal_model_fini(&model);
}

static void look(const struct problem *problem, struct looked *looked)
{
    encoding_init(&looked->encoding, &problem->space);
    history_init(&looked->history, &looked->encoding, 1);
    run_trials(problem, &looked->history);
    find(looked, true);
}

static void end(struct looked *looked)
{
    history_fini(&looked->history);
    encoding_fini(&looked->encoding);
}

/* The finding number `nth` of a kind; NULL: there are fewer. */
static const struct health_finding *finding(const struct looked *looked,
                                            enum health_kind kind, size_t nth)
{
    for (size_t i = 0; i < looked->health.n; i++)
        if (looked->health.findings[i].kind == kind && nth-- == 0)
            return &looked->health.findings[i];
    return NULL;
}

/* ---- spaces ---- */

static const char *const labels[] = {"a", "b", "c"};
static const double sizes[] = {8, 16, 32, 64};
#define RATE                                                                   \
    {                                                                          \
        .name = "lr", .type = PARAM_DOUBLE, .scale = SCALE_LOG, .min = 1e-4,   \
        .max = 0.1                                                             \
    }
#define REAL(low, high)                                                        \
    {                                                                          \
        .name = "x", .type = PARAM_DOUBLE, .min = (low), .max = (high)         \
    }
#define WHOLE(low, high, by)                                                   \
    {                                                                          \
        .name = "n", .type = PARAM_INTEGER, .int_min = (low),                  \
        .int_max = (high), .int_step = (by)                                    \
    }
#define SPACE(of)                                                              \
    {                                                                          \
        .n = sizeof(of) / sizeof *(of), .params = (of)                         \
    }

static struct param rate_and_real[] = {RATE, REAL(0, 1)};
static struct param real_and_whole[] = {REAL(-2, 2), WHOLE(8, 40, 8)};
static struct param listed[] = {
    {.name = "size", .type = PARAM_DISCRETE, .n_values = 4, .numbers = sizes},
    REAL(-1, 1)};
static struct param with_kind[] = {REAL(-1, 1),
                                   {.name = "opt",
                                    .type = PARAM_CATEGORICAL,
                                    .n_values = 3,
                                    .labels = labels}};

static double rises_with_rate(const struct value x[])
{
    return log10(x[0].real) - 2 * pow(x[1].real - 0.4, 2);
}

static double rises_against_rate(const struct value x[])
{
    return -log10(x[0].real) - 2 * pow(x[1].real - 0.4, 2);
}

static double best_inside(const struct value x[])
{
    return -pow(log10(x[0].real) + 2.5, 2) - 2 * pow(x[1].real - 0.4, 2);
}

static double best_at_both(const struct value x[])
{
    return -x[0].real + 0.2 * (double)x[1].whole / 8;
}

static double best_at_largest(const struct value x[])
{
    return (double)x[0].whole - pow(x[1].real - 0.3, 2);
}

static double best_at_kind(const struct value x[])
{
    return (double)x[1].whole - pow(x[0].real - 0.3, 2);
}

/* Of a share: 1 is its natural end. */
static double best_at_one(const struct value x[])
{
    return 3 * x[1].real - pow(log10(x[0].real) + 2.5, 2);
}

/* Nothing is won above 0.01. */
static double flat_above(const struct value x[])
{
    return fmin(log10(x[0].real), -2);
}

static double chance(const struct value x[])
{
    (void)x;
    return 0;
}

/* ---- ends of ranges ---- */

static void check_border(const struct problem *problem, size_t param,
                         bool upper, double value, double beyond)
{
    struct looked looked;
    look(problem, &looked);
    const struct health_finding *found = finding(&looked, HEALTH_BORDER, 0);
    CHECK(found != NULL && found->param == param && found->upper == upper);
    CHECK(found != NULL && found->value == value && found->n == 5);
    CHECK(found != NULL &&
          fabs(found->beyond - beyond) <= 1e-12 * fabs(beyond));
    CHECK(finding(&looked, HEALTH_BORDER, 1) == NULL);
    end(&looked);
}

static void check_no_border(const struct problem *problem)
{
    struct looked looked;
    look(problem, &looked);
    CHECK(finding(&looked, HEALTH_BORDER, 0) == NULL);
    end(&looked);
}

static void a_rate_is_best_at_an_end(void)
{
    const struct problem upper = {
        .space = SPACE(rate_and_real), .value = rises_with_rate, .n = 30};
    const struct problem lower = {
        .space = SPACE(rate_and_real), .value = rises_against_rate, .n = 30};
    check_border(&upper, 0, true, 0.1, 1);
    check_border(&lower, 0, false, 1e-4, 1e-5);
}

static void linear_ranges_widen_by_half_and_by_whole_steps(void)
{
    const struct problem problem = {
        .space = SPACE(real_and_whole), .value = best_at_both, .n = 40};
    struct looked looked;
    look(&problem, &looked);
    const struct health_finding *real = finding(&looked, HEALTH_BORDER, 0);
    const struct health_finding *whole = finding(&looked, HEALTH_BORDER, 1);
    CHECK(real != NULL && real->param == 0 && !real->upper);
    CHECK(real != NULL && real->value == -2 && real->beyond == -4);
    CHECK(whole != NULL && whole->param == 1 && whole->upper);
    CHECK(whole != NULL && whole->value == 40 && whole->beyond == 56);
    end(&looked);
}

static void a_list_gets_one_more_value(void)
{
    const struct problem problem = {
        .space = SPACE(listed), .value = best_at_largest, .n = 30};
    check_border(&problem, 0, true, 64, 128);
}

static void what_is_best_inside_has_no_border(void)
{
    const struct problem inside = {
        .space = SPACE(rate_and_real), .value = best_inside, .n = 40};
    const struct problem kinds = {
        .space = SPACE(with_kind), .value = best_at_kind, .n = 30};
    const struct problem natural = {
        .space = SPACE(rate_and_real), .value = best_at_one, .n = 40};
    const struct problem few = {
        .space = SPACE(rate_and_real), .value = rises_with_rate, .n = 29};
    check_no_border(&inside);
    check_no_border(&kinds);
    check_no_border(&natural);
    check_no_border(&few);
}

/* Of equal results those at the end came first: the model does not rise there.
 */
static void what_is_flat_has_no_border(void)
{
    const struct problem problem = {.space = SPACE(rate_and_real),
                                    .value = flat_above,
                                    .n = 60,
                                    .drawn = true,
                                    .at_end = 20};
    check_no_border(&problem);
}

/* ---- how good the model is ---- */

static void a_smooth_function_is_learnt_well(void)
{
    const struct problem problem = {.space = SPACE(rate_and_real),
                                    .value = best_inside,
                                    .n = 20,
                                    .drawn = true};
    struct looked looked;
    look(&problem, &looked);
    const struct health_finding *found = finding(&looked, HEALTH_QUALITY, 0);
    CHECK(found != NULL && found->grade == HEALTH_GOOD && found->value > 0.8);
    CHECK(found != NULL && found->n == 20);
    end(&looked);
}

static void chance_is_learnt_poorly_and_has_no_border(void)
{
    const struct problem problem = {
        .space = SPACE(rate_and_real), .value = chance, .noise = 1, .n = 60};
    struct looked looked;
    look(&problem, &looked);
    const struct health_finding *found = finding(&looked, HEALTH_QUALITY, 0);
    CHECK(found != NULL && found->grade == HEALTH_POOR);
    CHECK(found != NULL && found->value >= 0 && found->value < 0.4);
    CHECK(finding(&looked, HEALTH_BORDER, 0) == NULL);
    end(&looked);
}

static void few_results_say_nothing(void)
{
    const struct problem problem = {.space = SPACE(rate_and_real),
                                    .value = best_inside,
                                    .n = HEALTH_LEAST - 1};
    struct looked looked;
    look(&problem, &looked);
    CHECK(looked.health.n == 0);
    end(&looked);
}

/* ---- what is left to gain ---- */

static void a_search_that_is_done_has_little_to_gain(void)
{
    struct problem problem = {
        .space = SPACE(rate_and_real), .value = best_inside, .n = 60};
    struct looked looked;
    look(&problem, &looked);
    const struct health_finding *found =
        finding(&looked, HEALTH_LITTLE_TO_GAIN, 0);
    CHECK(found != NULL && found->value >= 0 && found->value < 0.01);
    find(&looked, false); /* one goal of several */
    CHECK(finding(&looked, HEALTH_LITTLE_TO_GAIN, 0) == NULL);
    end(&looked);
    problem.n = 30; /* it may look done, but few results are no evidence */
    look(&problem, &looked);
    CHECK(finding(&looked, HEALTH_LITTLE_TO_GAIN, 0) == NULL);
    end(&looked);
}

static void drawn_points_leave_much_to_gain(void)
{
    const struct problem problem = {.space = SPACE(rate_and_real),
                                    .value = rises_with_rate,
                                    .n = 40,
                                    .drawn = true};
    struct looked looked;
    look(&problem, &looked);
    CHECK(finding(&looked, HEALTH_LITTLE_TO_GAIN, 0) == NULL);
    end(&looked);
}

/* ---- chance ---- */

static void repeats_show_how_much_is_chance(void)
{
    struct problem problem = {.space = SPACE(rate_and_real),
                              .value = best_inside,
                              .noise = 0.5,
                              .n = 40,
                              .repeats = 20,
                              .drawn = true};
    struct looked looked;
    look(&problem, &looked);
    const struct health_finding *found = finding(&looked, HEALTH_NOISE, 0);
    CHECK(found != NULL && found->n == 20);
    CHECK(found != NULL && found->value > 0.3 && found->value < 0.8);
    end(&looked);
    problem.noise = 0; /* equal results of a point are no noise */
    look(&problem, &looked);
    CHECK(finding(&looked, HEALTH_NOISE, 0) == NULL);
    end(&looked);
    problem.noise = 0.5;
    problem.repeats = 4; /* too few to say how much */
    look(&problem, &looked);
    CHECK(finding(&looked, HEALTH_NOISE, 0) == NULL);
    end(&looked);
}

int main(void)
{
    algorithm_init();
    RUN(a_rate_is_best_at_an_end);
    RUN(linear_ranges_widen_by_half_and_by_whole_steps);
    RUN(a_list_gets_one_more_value);
    RUN(what_is_best_inside_has_no_border);
    RUN(what_is_flat_has_no_border);
    RUN(a_smooth_function_is_learnt_well);
    RUN(chance_is_learnt_poorly_and_has_no_border);
    RUN(few_results_say_nothing);
    RUN(a_search_that_is_done_has_little_to_gain);
    RUN(drawn_points_leave_much_to_gain);
    RUN(repeats_show_how_much_is_chance);
    return check_done();
}
