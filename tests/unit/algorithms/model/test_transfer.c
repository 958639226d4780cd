/* Models on top of earlier studies, and a search that starts from them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/base/rng.h"
#include "algorithms/model/goal_model.h"
#include "algorithms/model/gp.h"
#include "algorithms/model/transfer.h"
#include "tests/check.h"
#include "tests/lib/oracles.h"

/* ---- a space, tasks in it ---- */

static const char *const names[] = {"a", "b", "c"};
static struct param params[] = {
    {.name = "x", .type = PARAM_DOUBLE, .max = 1},
    {.name = "y", .type = PARAM_DOUBLE, .max = 1},
    {.name = "c", .type = PARAM_CATEGORICAL, .n_values = 3, .labels = names},
};
static const struct space space = {.n = 3, .params = params};
static const bool all_shared[] = {true, true, true};
static const bool only_x[] = {true, false, false};

/* At most 1, at x 0.8, y 0.3 and "b". */
static double task(const struct value point[])
{
    const double x = point[0].real - 0.8, y = point[1].real - 0.3;
    return 1 - 3 * x * x - y * y - 0.3 * (point[2].whole != 1);
}

static double same(double value)
{
    return value;
}

/* What helps here harms there. */
static double negated(double value)
{
    return -value;
}

/* Another scale; its best place is the same. */
static double scaled(double value)
{
    return 50 * value - 1000;
}

enum { EARLIER = 24 };
struct earlier {
    struct value points[EARLIER][3];
    double values[EARLIER];
    struct observation results[EARLIER];
    struct prior_study study;
};

static void earlier_fill(struct earlier *earlier, const bool shared[],
                         double (*told)(double))
{
    for (size_t i = 0; i < EARLIER; i++) {
        const struct rng_place place = {5, i, 0};
        for (size_t k = 0; k < 3; k++)
            earlier->points[i][k] =
                space_param_from_unit(&params[k], rng_unit(&place, k));
        earlier->values[i] = told(task(earlier->points[i]));
        earlier->results[i] =
            (struct observation){.point = earlier->points[i],
                                 .feasible = true,
                                 .values = &earlier->values[i]};
    }
    earlier->study = (struct prior_study){shared, EARLIER, earlier->results};
}

static size_t best_of(const struct earlier *earlier)
{
    size_t best = 0;
    for (size_t i = 1; i < EARLIER; i++)
        if (earlier->values[i] > earlier->values[best])
            best = i;
    return best;
}

static struct setting setting_of(size_t n, const struct prior_study priors[])
{
    return (struct setting){.space = &space,
                            .seed = 3,
                            .n_goals = 1,
                            .n_priors = n,
                            .priors = priors};
}

/* ---- two models, one on the other ---- */

struct stack {
    struct encoding encoding;
    struct gp *lower, *upper;
    struct gp_base base;
};

static void fill_model(struct gp *gp, size_t n, uint64_t seed, double slope)
{
    static const double theta[] = {-1, -0.7, 0.2, 0.1, -5};
    for (size_t i = 0; i < n; i++) {
        const struct rng_place place = {seed, i, 0};
        const double x[] = {rng_unit(&place, 0), rng_unit(&place, 1),
                            floor(3 * rng_unit(&place, 2))};
        const double seen[] = {
            x[0], gp->base == NULL ? COORDINATE_ABSENT : x[1], x[2]};
        gp_add(gp, seen, sin(5 * x[0]) + slope * x[1] - x[2] / 3, 0);
    }
    CHECK(gp_condition(gp, theta));
}

static void stack_init(struct stack *stack)
{
    static const bool shared[] = {true, false, true};
    *stack = (struct stack){0};
    encoding_init(&stack->encoding, &space);
    stack->lower = gp_new(&stack->encoding, 12, false);
    fill_model(stack->lower, 12, 1, 0);
    stack->base = (struct gp_base){stack->lower, shared};
    stack->upper = gp_new(&stack->encoding, 6, false);
    stack->upper->base = &stack->base;
    fill_model(stack->upper, 6, 2, 1);
}

static void stack_fini(struct stack *stack)
{
    gp_free(stack->upper);
    gp_free(stack->lower);
    encoding_fini(&stack->encoding);
}

static void the_weight_of_a_model_is_the_reference(void)
{
    cJSON *all;
    const cJSON *each, *cases = oracle("transfer_alpha", &all);
    cJSON_ArrayForEach(each, cases)
    {
        const double share =
            gp_base_share((size_t)oracle_number(each, "n_top"),
                          (size_t)oracle_number(each, "n_base"),
                          (size_t)oracle_number(each, "n_hyper"));
        CHECK(oracle_near(share, oracle_number(each, "alpha"), 1e-12));
    }
    cJSON_Delete(all);
}

/* The upper model alone, of the same residuals, beside the lower. */
static void means_add_up_and_deviations_are_averaged(void)
{
    struct stack stack;
    stack_init(&stack);
    const double x[] = {0.37, 0.81, 1}, known[] = {0.37, COORDINATE_ABSENT, 1};
    double mean, variance, top, top_variance, below, below_variance;
    gp_predict(stack.upper, 1, x, &mean, &variance);
    CHECK(oracle_near(gp_mean(stack.upper, x), mean, 1e-12));
    stack.upper->base = NULL; /* what is left are the residuals' */
    gp_predict(stack.upper, 1, x, &top, &top_variance);
    gp_predict(stack.lower, 1, known, &below, &below_variance);
    const double share = gp_base_share(6, 12, 5);
    CHECK(oracle_near(mean, top + below, 1e-12));
    CHECK(oracle_near(variance,
                      pow(top_variance, share) * pow(below_variance, 1 - share),
                      1e-12));
    stack_fini(&stack);
}

static void slopes_of_a_stack_are_differences(void)
{
    static const double h = 1e-6;
    struct stack stack;
    struct gp_slopes slopes;
    double mean, variance, high, low, high_variance, low_variance;
    stack_init(&stack);
    const double x[] = {0.37, 0.81, 1};
    gp_predict_slopes(stack.upper, x, &mean, &variance, &slopes);
    CHECK(oracle_near(gp_mean(stack.upper, x), mean, 1e-12));
    for (size_t c = 0; c < 2; c++) {
        double up[3], down[3];
        memcpy(up, x, sizeof x);
        memcpy(down, x, sizeof x);
        up[c] += h;
        down[c] -= h;
        gp_predict(stack.upper, 1, up, &high, &high_variance);
        gp_predict(stack.upper, 1, down, &low, &low_variance);
        CHECK(oracle_near(slopes.mean[c], (high - low) / (2 * h), 1e-6));
        CHECK(oracle_near(slopes.variance[c],
                          (high_variance - low_variance) / (2 * h), 1e-6));
    }
    stack_fini(&stack);
}

/* The likelihood is that of what the base leaves. */
static void a_base_that_says_it_all_leaves_nothing(void)
{
    struct stack stack;
    stack_init(&stack);
    struct gp *exact = gp_new(&stack.encoding, 12, false);
    exact->base = &stack.base;
    double x[3];
    static const double theta[] = {-1, -0.7, 0.2, 0.1, -5};
    for (size_t i = 0; i < 12; i++) {
        kernel_rows_get(stack.lower->rows, i, x);
        x[1] = 0.5;
        gp_add(exact, x, gp_base_mean(&stack.base, x), 0);
    }
    CHECK(gp_condition(exact, theta));
    CHECK(fabs(exact->mean) < 1e-12);
    for (size_t i = 0; i < 12; i++)
        CHECK(fabs(exact->weights[i]) < 1e-9);
    gp_free(exact);
    stack_fini(&stack);
}

/* ---- the stack of studies ---- */

static void the_best_of_each_study_comes_first(void)
{
    static struct earlier one, two;
    earlier_fill(&one, all_shared, same);
    earlier_fill(&two, only_x, negated);
    const struct prior_study priors[] = {one.study, two.study};
    const struct setting setting = setting_of(2, priors);
    struct encoding encoding;
    double x[3];
    encoding_init(&encoding, &space);
    struct transfer *transfer = transfer_new(&setting, &encoding);
    CHECK(transfer_seeds(transfer) == 2);
    CHECK(transfer_results(transfer) == 2 * EARLIER);
    transfer_seed(transfer, 0, x);
    CHECK(x[0] == one.points[best_of(&one)][0].real);
    CHECK(x[1] == one.points[best_of(&one)][1].real);
    CHECK((int64_t)x[2] == one.points[best_of(&one)][2].whole);
    transfer_seed(transfer, 1, x);
    CHECK(x[0] == two.points[best_of(&two)][0].real);
    CHECK(x[1] == encoding.at[1].usual && x[2] == encoding.at[2].usual);
    transfer_free(transfer);
    encoding_fini(&encoding);
}

static void a_study_without_results_gives_nothing(void)
{
    static struct earlier failed;
    earlier_fill(&failed, all_shared, same);
    for (size_t i = 0; i < EARLIER; i++)
        failed.results[i].feasible = false;
    const struct prior_study priors[] = {failed.study, {all_shared, 0, NULL}};
    const struct setting setting = setting_of(2, priors);
    struct encoding encoding;
    struct history history;
    encoding_init(&encoding, &space);
    struct transfer *transfer = transfer_new(&setting, &encoding);
    history_init(&history, &encoding, 1);
    transfer_support(transfer, &history);
    CHECK(transfer_seeds(transfer) == 0 && transfer_results(transfer) == 0);
    CHECK(history.bases[0] == NULL);
    history_fini(&history);
    transfer_free(transfer);
    encoding_fini(&encoding);
}

/* Whether the model of so many new results has the earlier study as its base.
 */
static bool has_base(const bool shared[], double (*told)(double), size_t n)
{
    static struct earlier earlier;
    earlier_fill(&earlier, shared, told);
    const struct setting setting = setting_of(1, &earlier.study);
    struct encoding encoding;
    struct history history;
    struct goal_hyper hyper;
    struct goal_model model;
    encoding_init(&encoding, &space);
    struct transfer *transfer = transfer_new(&setting, &encoding);
    history_init(&history, &encoding, 1);
    transfer_support(transfer, &history);
    for (size_t i = 0; i < n; i++) {
        const struct rng_place place = {77, i, 0};
        struct value point[3];
        for (size_t k = 0; k < 3; k++)
            point[k] = space_param_from_unit(&params[k], rng_unit(&place, k));
        const double value = task(point);
        history_add(&history, &(struct observation){.point = point,
                                                    .feasible = true,
                                                    .values = &value});
    }
    goal_model_hyper_init(&hyper, 0, NOISE_UNKNOWN);
    CHECK(goal_model_init(&model, &history, &hyper, 3, 0));
    const bool found = goal_model_has_base(&model);
    CHECK(model.n == 2 && model.models[1]->base == NULL);
    goal_model_fini(&model);
    history_fini(&history);
    transfer_free(transfer);
    encoding_fini(&encoding);
    return found;
}

static void a_study_that_agrees_is_stood_on_and_another_is_not(void)
{
    CHECK(has_base(all_shared, same, 1));
    CHECK(has_base(all_shared, same, 10));
    CHECK(has_base(all_shared, scaled, 10));
    CHECK(has_base(only_x, same, 10));
    CHECK(has_base(all_shared, negated, 1));
    CHECK(!has_base(all_shared, negated, 10));
}

/* ---- the search ---- */

struct played {
    size_t n;
    struct value points[40][3];
    enum reason_kind kinds[40];
};

static bool is_taken(void *context, const struct value point[])
{
    const struct played *played = context;
    for (size_t k = 0; k < played->n; k++)
        if (space_value_equal(&params[0], point[0], played->points[k][0]) &&
            space_value_equal(&params[1], point[1], played->points[k][1]) &&
            space_value_equal(&params[2], point[2], played->points[k][2]))
            return true;
    return false;
}

static void ask(void *state, struct played *played)
{
    struct reason reason;
    const struct taken taken = {is_taken, played, played->n};
    const struct suggest_request request = {.ordinal = played->n,
                                            .taken = &taken};
    CHECK(bayesian_search.suggest(state, &request, played->points[played->n],
                                  &reason, NULL) == HT_OK);
    played->kinds[played->n++] = reason.kind;
}

static void tell(void *state, const struct value point[])
{
    const double value = task(point);
    CHECK(bayesian_search.observe(state,
                                  &(struct observation){.point = point,
                                                        .feasible = true,
                                                        .values = &value},
                                  NULL) == HT_OK);
}

static void play(const struct setting *setting, size_t n, struct played *played)
{
    void *state;
    played->n = 0;
    CHECK(bayesian_search.new(setting, &state, NULL) == HT_OK);
    while (played->n < n) {
        ask(state, played);
        tell(state, played->points[played->n - 1]);
    }
    bayesian_search.free(state);
}

static double best_after(const struct played *played, size_t n)
{
    double best = -INFINITY;
    for (size_t k = 0; k < n; k++)
        best = fmax(best, task(played->points[k]));
    return best;
}

static void what_was_learnt_is_not_learnt_again(void)
{
    static struct earlier earlier;
    static struct played with, without;
    earlier_fill(&earlier, all_shared, scaled);
    const struct setting told = setting_of(1, &earlier.study);
    const struct setting untold = setting_of(0, NULL);
    play(&told, 5, &with);
    play(&untold, 5, &without);
    CHECK(with.kinds[0] == REASON_SEED && with.kinds[1] == REASON_DESIGN);
    CHECK(with.kinds[2] != REASON_DESIGN && with.kinds[2] != REASON_SEED);
    CHECK(without.kinds[4] == REASON_DESIGN);
    CHECK(best_after(&with, 5) > 0.99);
    CHECK(best_after(&with, 5) > best_after(&without, 5));
}

static void a_search_led_astray_begins_anew(void)
{
    static struct earlier earlier;
    static struct played played;
    earlier_fill(&earlier, all_shared, negated);
    const struct setting setting = setting_of(1, &earlier.study);
    size_t designed = 0;
    play(&setting, 25, &played);
    for (size_t k = 1; k < 25; k++)
        designed += played.kinds[k] == REASON_DESIGN;
    CHECK(designed >= 3);
    CHECK(best_after(&played, 25) > 0.99);
}

/* How many of twelve trials go well beyond the edge where they crash, as they
 * did earlier where that is known; the best values are at the edge. */
static size_t crashes_after(const bool shared[], bool known)
{
    static struct earlier earlier;
    static struct played played;
    size_t crashes = 0;
    void *state;
    earlier_fill(&earlier, shared, same);
    for (size_t i = 0; i < EARLIER; i++)
        earlier.results[i].feasible = !known || earlier.points[i][0].real < 0.5;
    const struct setting setting = setting_of(1, &earlier.study);
    CHECK(bayesian_search.new(&setting, &state, NULL) == HT_OK);
    for (played.n = 0; played.n < 12;) {
        ask(state, &played);
        const struct value *point = played.points[played.n - 1];
        const double value = task(point);
        const bool crashed = point[0].real >= 0.5;
        crashes += point[0].real >= 0.6;
        CHECK(bayesian_search.observe(
                  state,
                  &(struct observation){
                      .point = point, .feasible = !crashed, .values = &value},
                  NULL) == HT_OK);
    }
    bayesian_search.free(state);
    return crashes;
}

static void where_others_crashed_little_is_tried(void)
{
    CHECK(crashes_after(all_shared, false) > 2);
    CHECK(crashes_after(only_x, true) <= 1);
    CHECK(crashes_after(all_shared, true) <= 1);
}

/* Equal, huge, missing and single values, and points that are all one. */
static void odd_results_break_nothing(void)
{
    static struct earlier earlier;
    static struct played played;
    static const double values[] = {1e300, -1e300, 0, NAN, INFINITY, 1e-300};
    for (size_t kind = 0; kind < 5; kind++) {
        earlier_fill(&earlier, all_shared, same);
        for (size_t i = 0; i < EARLIER; i++) {
            if (kind == 0)
                earlier.values[i] = values[i % 6];
            if (kind == 1)
                earlier.values[i] = 7;
            if (kind == 2)
                memcpy(earlier.points[i], earlier.points[0],
                       sizeof earlier.points[0]);
        }
        earlier.study.n = kind == 3 ? 1 : kind == 4 ? 2 : EARLIER;
        const struct setting setting = setting_of(1, &earlier.study);
        play(&setting, 12, &played);
        for (size_t k = 0; k < 12; k++)
            CHECK(played.points[k][0].real >= 0 &&
                  played.points[k][0].real <= 1 &&
                  played.points[k][2].whole < 3);
        CHECK(best_after(&played, 12) > 0.9);
    }
}

/* A state built again at any time suggests what the living one does. */
static void a_state_built_again_suggests_the_same(void)
{
    static struct earlier one, two;
    static struct played played, again;
    earlier_fill(&one, all_shared, scaled);
    earlier_fill(&two, only_x, negated);
    const struct prior_study priors[] = {one.study, two.study};
    const struct setting setting = setting_of(2, priors);
    play(&setting, 14, &played);
    for (size_t from = 0; from < 14; from += 3) {
        void *state;
        CHECK(bayesian_search.new(&setting, &state, NULL) == HT_OK);
        for (size_t k = 0; k < from; k++)
            tell(state, played.points[k]);
        again = played;
        again.n = from;
        ask(state, &again);
        CHECK(memcmp(again.points[from], played.points[from],
                     sizeof again.points[from]) == 0);
        bayesian_search.free(state);
    }
}

/* One that took results back knows what a new one does, and no more. */
static void a_state_that_forgets_is_as_a_new_one(void)
{
    static struct earlier one, two;
    static struct played played, again;
    earlier_fill(&one, all_shared, scaled);
    earlier_fill(&two, only_x, negated);
    const struct prior_study priors[] = {one.study, two.study};
    const struct setting setting = setting_of(2, priors);
    void *state;
    play(&setting, 14, &played);
    CHECK(bayesian_search.new(&setting, &state, NULL) == HT_OK);
    for (size_t from = 0; from < 14; from += 3) {
        for (size_t k = from; k < 14; k++)
            tell(state, played.points[k]);
        again = played;
        again.n = 13;
        ask(state, &again); /* so it has models of them, too */
        bayesian_search.forget(state);
        for (size_t k = 0; k < from; k++)
            tell(state, played.points[k]);
        again.n = from;
        ask(state, &again);
        CHECK(again.kinds[from] == played.kinds[from]);
        CHECK(memcmp(again.points[from], played.points[from],
                     sizeof again.points[from]) == 0);
    }
    bayesian_search.free(state);
}

int main(void)
{
    algorithm_init();
    RUN(the_weight_of_a_model_is_the_reference);
    RUN(means_add_up_and_deviations_are_averaged);
    RUN(slopes_of_a_stack_are_differences);
    RUN(a_base_that_says_it_all_leaves_nothing);
    RUN(the_best_of_each_study_comes_first);
    RUN(a_study_without_results_gives_nothing);
    RUN(a_study_that_agrees_is_stood_on_and_another_is_not);
    RUN(what_was_learnt_is_not_learnt_again);
    RUN(a_search_led_astray_begins_anew);
    RUN(where_others_crashed_little_is_tried);
    RUN(odd_results_break_nothing);
    RUN(a_state_built_again_suggests_the_same);
    RUN(a_state_that_forgets_is_as_a_new_one);
    return check_done();
}
