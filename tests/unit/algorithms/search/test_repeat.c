/* Points that are measured again, through the whole search. */
#include <string.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/base/rng.h"
#include "algorithms/search/repeat.h"
#include "tests/check.h"
#include "tests/lib/searching.h"

enum { TOLD = 29 };

static struct param params[] = {
    {.name = "x", .type = PARAM_DOUBLE, .min = -3, .max = 7.7},
    {.name = "n",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 9,
     .int_step = 1},
};
static const struct space plane = {.n = 2, .params = params};

static struct value told[TOLD][2];
static double told_values[TOLD];

static bool nothing_has(void *context, const struct value point[])
{
    (void)context;
    (void)point;
    return false;
}
static const struct taken nothing = {.has = nothing_has};

/* A search that has been told a bowl with its top at (2, 5) through noise of
 * that deviation; the best point of it is result 11. */
static void *told_search(enum noise said, double noise)
{
    const struct setting setting = {
        .space = &plane, .seed = 7, .n_goals = 1, .noise = said};
    void *state;
    CHECK(bayesian_search.new(&setting, &state, NULL) == HT_OK);
    for (uint64_t i = 0; i < TOLD; i++) {
        const struct rng_place place = {3, i, 0};
        told[i][0].real = i == 11 ? 2.1 : -3 + 10.7 * rng_unit(&place, 0);
        told[i][1].whole = i == 11 ? 5 : 1 + (int64_t)(4 * rng_unit(&place, 1));
        const double x = told[i][0].real - 2, n = (double)told[i][1].whole - 5;
        const double value =
            -x * x / 10 - n * n / 10 + noise * rng_normal(&place, 2);
        told_values[i] = value;
        CHECK(search_tell(&bayesian_search, state, told[i], true, value) ==
              HT_OK);
    }
    return state;
}

/* What a suggestion is; `again` is the result it repeats. */
static enum reason_kind ask(void *state, struct suggest_request *request,
                            struct value point[], size_t *again)
{
    struct reason reason;
    request->taken = &nothing;
    CHECK(bayesian_search.suggest(state, request, point, &reason, NULL) ==
          HT_OK);
    *again = reason.nearest;
    return reason.kind;
}

static bool is_told(const struct value point[], size_t i)
{
    return space_value_equal(&params[0], point[0], told[i][0]) &&
           space_value_equal(&params[1], point[1], told[i][1]);
}

static void the_best_is_measured_again_where_results_are_noisy(void)
{
    void *state = told_search(NOISE_HIGH, 0.03);
    struct value point[2];
    size_t again;
    struct suggest_request request = {.ordinal = TOLD, .may_repeat = true};
    CHECK(ask(state, &request, point, &again) == REASON_REPEATS);
    CHECK(again == 11);
    CHECK(is_told(point, 11));
    bayesian_search.free(state);
}

static void another_is_while_the_best_is_being_measured(void)
{
    void *state = told_search(NOISE_HIGH, 0.03);
    const struct value *pending[] = {told[11]};
    struct value point[2];
    size_t again;
    struct suggest_request request = {.ordinal = TOLD,
                                      .may_repeat = true,
                                      .n_pending = 1,
                                      .pending = pending};
    CHECK(ask(state, &request, point, &again) == REASON_REPEATS);
    CHECK(again != 11 && again < TOLD && is_told(point, again));
    bayesian_search.free(state);
}

static void nothing_is_repeated_unasked_or_out_of_turn(void)
{
    void *state = told_search(NOISE_HIGH, 0.03);
    struct value point[2];
    size_t again;
    struct suggest_request request = {.ordinal = TOLD};
    CHECK(ask(state, &request, point, &again) != REASON_REPEATS);
    request.may_repeat = true;
    for (uint64_t k = 1; k < REPEAT_EVERY; k++) {
        request.ordinal = TOLD + k;
        CHECK(ask(state, &request, point, &again) != REASON_REPEATS);
        CHECK(!is_told(point, again));
    }
    bayesian_search.free(state);
}

static void the_model_finds_that_there_is_noise(void)
{
    struct value point[2];
    size_t again;
    struct suggest_request request = {.ordinal = TOLD, .may_repeat = true};
    void *calm = told_search(NOISE_UNKNOWN, 0);
    CHECK(ask(calm, &request, point, &again) != REASON_REPEATS);
    bayesian_search.free(calm);
    void *noisy = told_search(NOISE_UNKNOWN, 3);
    CHECK(ask(noisy, &request, point, &again) == REASON_REPEATS);
    CHECK(is_told(point, again));
    bayesian_search.free(noisy);
}

static void what_came_out_the_same_twice_is_not_noisy(void)
{
    struct value point[2];
    size_t again;
    struct suggest_request request = {.ordinal = TOLD, .may_repeat = true};
    void *noisy = told_search(NOISE_UNKNOWN, 3);
    struct reason reason;
    request.taken = &nothing;
    CHECK(bayesian_search.suggest(noisy, &request, point, &reason, NULL) ==
          HT_OK);
    CHECK(reason.kind == REASON_REPEATS);
    CHECK(search_tell(&bayesian_search, noisy, point, true,
                      told_values[reason.nearest]) == HT_OK);
    request.ordinal = TOLD + REPEAT_EVERY;
    CHECK(ask(noisy, &request, point, &again) != REASON_REPEATS);
    bayesian_search.free(noisy);
}

int main(void)
{
    algorithm_init();
    RUN(the_best_is_measured_again_where_results_are_noisy);
    RUN(another_is_while_the_best_is_being_measured);
    RUN(nothing_is_repeated_unasked_or_out_of_turn);
    RUN(the_model_finds_that_there_is_noise);
    RUN(what_came_out_the_same_twice_is_not_noisy);
    return check_done();
}
