#include "algorithms/importance.h"

#include <math.h>

#include "algorithms/rng.h"
#include "tests/check.h"

static const char *const names[] = {"a", "b", "c"};
static const struct value second = {.whole = 1};
static struct condition when_second = {.parent = 2, .n = 1, .values = &second};
static struct param params[] = {
    {.name = "strong", .type = PARAM_DOUBLE, .max = 1},
    {.name = "weak", .type = PARAM_DOUBLE, .max = 1},
    {.name = "kind", .type = PARAM_CATEGORICAL, .n_values = 3, .labels = names},
    {.name = "child", .type = PARAM_DOUBLE, .max = 1, .when = &when_second},
    {.name = "idle", .type = PARAM_INTEGER, .int_max = 9, .int_step = 1},
};
static const struct space space = {.n = 5, .params = params};

/* The kind decides little, its child less. */
static double value_of(const struct value point[])
{
    const double child = point[3].absent ? 0 : 0.02 * point[3].real;
    return -4 * pow(point[0].real - 0.7, 2) -
           0.5 * pow(point[1].real - 0.2, 2) + 0.05 * (point[2].whole == 1) +
           child;
}

static void observe(struct history *history, uint64_t n)
{
    for (uint64_t k = 0; k < n; k++) {
        const struct rng_place place = {3, k, 0};
        struct value point[5];
        for (size_t i = 0; i < 5; i++)
            point[i] = param_from_unit(&params[i], rng_unit(&place, i));
        space_settle(&space, point);
        const double value = value_of(point);
        const struct observation seen = {
            .point = point, .feasible = k % 10 != 9, .values = &value};
        history_add(history, &seen);
    }
}

static void good_results_tell_what_matters(void)
{
    struct encoding encoding;
    struct history history;
    double share[5], sum = 0;
    encoding_init(&encoding, &space);
    history_init(&history, &encoding, 1);
    observe(&history, 300);
    CHECK(importance_of_good(&history, 0, share));
    for (size_t c = 0; c < 5; c++) {
        CHECK(share[c] >= 0);
        sum += share[c];
    }
    CHECK(fabs(sum - 1) < 1e-12);
    CHECK(share[0] > 0.4);
    CHECK(share[0] > share[1] && share[0] > share[2]);
    CHECK(share[1] > share[4]);
    CHECK(share[4] < 0.1);
    history_fini(&history);
    encoding_fini(&encoding);
}

static void few_results_rank_nothing(void)
{
    struct encoding encoding;
    struct history history;
    double share[5];
    encoding_init(&encoding, &space);
    history_init(&history, &encoding, 1);
    observe(&history, IMPORTANCE_LEAST); /* one of them failed */
    CHECK(!importance_of_good(&history, 0, share));
    history_fini(&history);
    encoding_fini(&encoding);
}

static void equal_results_share_nothing_out(void)
{
    struct encoding encoding;
    struct history history;
    double share[5];
    const double same = 1;
    encoding_init(&encoding, &space);
    history_init(&history, &encoding, 1);
    struct value point[5] = {{.real = 0.5}, {.real = 0.5}, {.absent = false}};
    space_settle(&space, point);
    const struct observation seen = {
        .point = point, .feasible = true, .values = &same};
    for (int k = 0; k < 20; k++)
        history_add(&history, &seen);
    CHECK(importance_of_good(&history, 0, share));
    for (size_t c = 0; c < 5; c++)
        CHECK(isfinite(share[c]) && share[c] >= 0 && share[c] <= 1);
    history_fini(&history);
    encoding_fini(&encoding);
}

/* Of f = 4 (u - 0.7)^2 + 0.5 (v - 0.2)^2 + ...: the variance of a square is
 * known, so are the shares. */
static void the_model_shares_out_its_variance(void)
{
    struct encoding encoding;
    struct history history;
    struct goal_hyper hyper;
    struct goal_model model;
    struct sobol shares[5];
    encoding_init(&encoding, &space);
    history_init(&history, &encoding, 1);
    observe(&history, 150);
    goal_hyper_init(&hyper, 0, NOISE_UNKNOWN);
    CHECK(goal_model_init(&model, &history, &hyper, 1, 0));
    importance_in_model(&encoding, &model, shares);
    double alone = 0;
    for (size_t c = 0; c < 5; c++) {
        CHECK(shares[c].alone >= 0 && shares[c].total <= 1);
        alone += shares[c].alone;
    }
    CHECK(alone < 1.1);
    CHECK(shares[0].alone > 0.6 && shares[0].total > 0.7);
    CHECK(shares[4].total < shares[0].total / 5);
    CHECK(shares[0].total > shares[1].total);
    goal_model_fini(&model);
    history_fini(&history);
    encoding_fini(&encoding);
}

int main(void)
{
    algorithms_init();
    RUN(good_results_tell_what_matters);
    RUN(few_results_rank_nothing);
    RUN(equal_results_share_nothing_out);
    RUN(the_model_shares_out_its_variance);
    return check_done();
}
