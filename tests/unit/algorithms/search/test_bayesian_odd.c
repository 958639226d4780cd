/* The Bayesian search in odd spaces and with odd results. */
#include <math.h>
#include <stdlib.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/base/rng.h"
#include "tests/check.h"
#include "tests/lib/played_study.h"
#include "tests/lib/searching.h"
#include "tests/lib/taken_set.h"

static struct study study;

/* ---- random studies ---- */

static struct param random_param(const struct rng_place *place, uint64_t at)
{
    static const double list[] = {-3, 0, 0.5, 2, 1e6};
    static const char *const labels[] = {"a", "b", "c", "d"};
    const double u = rng_unit(place, at);
    const uint64_t kind = rng_bits(place, at + 1) % 9;
    struct param param = {.name = "x", .type = PARAM_DOUBLE, .max = 1};
    if (kind == 1)
        param.max = 0; /* a constant */
    if (kind == 2 || kind == 3) {
        param.scale = kind == 2 ? SCALE_LOG : SCALE_REVERSE_LOG;
        param.min = 1e-9;
        param.max = 1e3;
    }
    if (kind == 4)
        param.step = 0.05;
    if (kind >= 5)
        param.type = kind == 7   ? PARAM_DISCRETE
                     : kind == 8 ? PARAM_CATEGORICAL
                                 : PARAM_INTEGER;
    param.int_step = 1;
    param.int_min = kind == 6 ? INT64_MIN : 1;
    param.int_max = kind == 6 ? INT64_MAX : 1 + (int64_t)(u * 40);
    param.n_values = kind == 8 ? 4 : 5;
    param.numbers = list;
    param.labels = labels;
    return param;
}

/* Two to five parameters, the later ones perhaps on conditions. */
static struct space random_space(const struct rng_place *place,
                                 struct param params[],
                                 struct condition conditions[],
                                 struct value values[])
{
    const struct space space = {.n = 2 + rng_bits(place, 0) % 4,
                                .params = params};
    for (size_t i = 0; i < space.n; i++) {
        params[i] = random_param(place, 10 + 2 * i);
        const uint64_t levels = space_param_levels(&params[0]);
        if (i == 0 || levels == 0 || levels > 50 ||
            rng_unit(place, 30 + i) < 0.6)
            continue;
        values[i] =
            space_param_level(&params[0], rng_bits(place, 40 + i) % levels);
        conditions[i] = (struct condition){.n = 1, .values = &values[i]};
        params[i].when = &conditions[i];
    }
    return space;
}

static double random_objective(const struct rng_place *place, uint64_t k)
{
    static const double odd[] = {1e300,    -1e300,    0,      1,
                                 1.79e308, -1.79e308, 1e-300, NAN};
    const double u = rng_unit(place, 1000 + k);
    if (rng_unit(place, 1) < 0.2)
        return 7; /* every one the same */
    return u < 0.2 ? odd[rng_bits(place, 2000 + k) % 8] : u;
}

static bool is_valid(const struct space *space, const struct value point[])
{
    bool valid = true;
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        valid = valid && point[i].absent == !space_active(space, point, i);
        if (point[i].absent)
            continue;
        if (param->type == PARAM_DOUBLE)
            valid = valid && point[i].real >= param->min &&
                    point[i].real <= param->max;
        else if (param->type == PARAM_INTEGER)
            valid = valid && point[i].whole >= param->int_min &&
                    point[i].whole <= param->int_max;
        else
            valid = valid && point[i].whole >= 0 &&
                    (size_t)point[i].whole < param->n_values;
    }
    return valid;
}

enum { MOST_TRIALS = 16 };

static void play_random_study(uint64_t seed)
{
    struct param params[5];
    struct condition conditions[5];
    struct value values[5], point[5], out[MOST_TRIALS][5];
    const struct rng_place place = {seed, 0, 0};
    const struct space space = random_space(&place, params, conditions, values);
    const uint64_t trials = 5 + rng_bits(&place, 2) % (MOST_TRIALS - 4);
    study_open(&study, &space, seed);
    for (uint64_t k = 0; k < trials; k++) {
        const enum ht_status status = study_ask(&study, k, point);
        CHECK(status == HT_OK || status == HT_EXHAUSTED);
        if (status != HT_OK)
            break;
        CHECK(is_valid(&space, point));
        CHECK(!study_has(&study, point));
        const double value = random_objective(&place, k);
        if (rng_unit(&place, 3000 + k) < 0.15) {
            memcpy(out[k], point, sizeof point);
            study.pending[study.n_pending++] = out[k];
        } else {
            study_tell(&study, point, isfinite(value), value);
        }
    }
    study_close(&study);
}

static void no_space_and_no_results_break_it(void)
{
    for (uint64_t seed = 0; seed < 500; seed++)
        play_random_study(seed);
}

/* ---- spaces and histories at the edge ---- */

static void a_space_without_parameters_has_one_point(void)
{
    const struct space nothing = {.n = 0, .params = NULL};
    struct value point[1];
    study_open(&study, &nothing, 1);
    CHECK(study_ask(&study, 0, point) == HT_OK);
    study.n = 1; /* equal to any point without values */
    CHECK(study_ask(&study, 1, point) == HT_EXHAUSTED);
    study_close(&study);
}

static void sixty_four_parameters_are_searched(void)
{
    struct param params[HT_MAX_PARAMETERS + 1];
    for (size_t i = 0; i <= HT_MAX_PARAMETERS; i++)
        params[i] = (struct param){.name = "x", .type = PARAM_DOUBLE, .max = 1};
    struct space space = {.n = HT_MAX_PARAMETERS, .params = params};
    study_open(&study, &space, 6);
    double first = 0, last = 0;
    for (uint64_t k = 0; k < 25; k++) {
        struct value point[HT_MAX_PARAMETERS];
        CHECK(study_ask(&study, k, point) == HT_OK);
        double value = 0;
        for (size_t i = 0; i < 64; i++)
            value -= (point[i].real - 0.2) * (point[i].real - 0.2);
        study_tell(&study, point, true, value);
        first = k < 10 ? first + value / 10 : first;
        last = k >= 20 ? last + value / 5 : last;
    }
    CHECK(last > first + 1); /* random points would stay where they are */
    study_close(&study);
    space.n++;
    CHECK(search_new(&bayesian_search, &space, 1, &study.state, NULL) ==
          HT_INVALID);
}

static void many_equal_points_are_no_trouble(void)
{
    study_open(&study, &mixed_space, 8);
    struct value point[4];
    CHECK(study_ask(&study, 0, point) == HT_OK);
    for (uint64_t k = 0; k < 140; k++)
        study_tell(&study, point, true, (double)(k % 3));
    CHECK(study_ask(&study, 140, point) == HT_OK);
    CHECK(is_valid(&mixed_space, point) && !study_has(&study, point));
    study_close(&study);
}

/* A model sees at most so many results, the best and the newest. */
static void a_long_history_stays_quick_and_keeps_its_best(void)
{
    struct param params[] = {{.name = "a", .type = PARAM_DOUBLE, .max = 1},
                             {.name = "b", .type = PARAM_DOUBLE, .max = 1}};
    const struct space space = {.n = 2, .params = params};
    void *state;
    struct value point[2];
    CHECK(search_new(&bayesian_search, &space, 1, &state, NULL) == HT_OK);
    for (uint64_t k = 0; k < 3000; k++) {
        const struct rng_place place = {1, k, 0};
        point[0] = (struct value){.real = rng_unit(&place, 0)};
        point[1] = (struct value){.real = rng_unit(&place, 1)};
        CHECK(search_tell(&bayesian_search, state, point, true,
                          -hypot(point[0].real - 0.31, point[1].real - 0.72)) ==
              HT_OK);
    }
    const struct suggest_request request = {.ordinal = 3000,
                                            .taken = &taken_nothing};
    CHECK(search_ask(&bayesian_search, state, &request, point, NULL) == HT_OK);
    CHECK(hypot(point[0].real - 0.31, point[1].real - 0.72) < 0.05);
    bayesian_search.free(state);
}

int main(void)
{
    algorithm_init();
    RUN(no_space_and_no_results_break_it);
    RUN(a_space_without_parameters_has_one_point);
    RUN(sixty_four_parameters_are_searched);
    RUN(many_equal_points_are_no_trouble);
    RUN(a_long_history_stays_quick_and_keeps_its_best);
    return check_done();
}
