#include <math.h>
#include <stdlib.h>

#include "algorithms/algorithm.h"
#include "algorithms/design.h"
#include "algorithms/hyper.h"
#include "algorithms/rng.h"
#include "proto/limits.h"
#include "tests/check.h"
#include "tests/lib/searching.h"
#include "tests/lib/taken_set.h"

static const char *const names[] = {"a", "b", "c", "d"};

/* ---- a study played through ---- */

enum { MOST = 168 };

struct study {
    const struct space *space;
    uint64_t seed;
    void *state;
    size_t n, n_pending;
    struct value points[MOST][HT_MAX_PARAMETERS];
    bool feasible[MOST];
    double objective[MOST];
    const struct value *pending[MOST];
    struct taken taken;
};

static bool same_point(const struct space *space, const struct value a[],
                       const struct value b[])
{
    for (size_t i = 0; i < space->n; i++)
        if (!value_equal(&space->params[i], a[i], b[i]))
            return false;
    return true;
}

static bool study_has(void *context, const struct value point[])
{
    const struct study *study = context;
    for (size_t k = 0; k < study->n; k++)
        if (same_point(study->space, study->points[k], point))
            return true;
    for (size_t k = 0; k < study->n_pending; k++)
        if (same_point(study->space, study->pending[k], point))
            return true;
    return false;
}

static void study_open(struct study *study, const struct space *space,
                       uint64_t seed)
{
    study->space = space;
    study->seed = seed;
    study->n = study->n_pending = 0;
    CHECK(search_new(&bayesian_search, space, seed, &study->state, NULL) ==
          HT_OK);
    study->taken = (struct taken){study_has, study, 0};
}

static enum ht_status study_ask(struct study *study, uint64_t ordinal,
                                struct value point[])
{
    const struct suggest_request request = {.ordinal = ordinal,
                                            .taken = &study->taken,
                                            .n_pending = study->n_pending,
                                            .pending = study->pending};
    study->taken.n = study->n + study->n_pending;
    return search_ask(&bayesian_search, study->state, &request, point, NULL);
}

static void study_tell(struct study *study, const struct value point[],
                       bool feasible, double objective)
{
    struct value *kept = study->points[study->n];
    memcpy(kept, point, study->space->n * sizeof *kept);
    study->feasible[study->n] = feasible;
    study->objective[study->n++] = objective;
    CHECK(search_tell(&bayesian_search, study->state, kept, feasible,
                      objective) == HT_OK);
}

static void study_close(struct study *study)
{
    bayesian_search.free(study->state);
}

/* ---- spaces and functions ---- */

static const struct value on[] = {{.whole = 1}, {.whole = 2}};
static struct condition when_on = {.parent = 2, .n = 2, .values = on};
static struct param mixed_params[] = {
    {.name = "rate",
     .type = PARAM_DOUBLE,
     .scale = SCALE_LOG,
     .min = 1e-6,
     .max = 1},
    {.name = "units",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 12,
     .int_step = 1},
    {.name = "opt", .type = PARAM_CATEGORICAL, .n_values = 3, .labels = names},
    {.name = "momentum", .type = PARAM_DOUBLE, .max = 1, .when = &when_on},
};
static const struct space mixed = {.n = 4, .params = mixed_params};

/* At most 1, at rate 1e-3, 5 units, "c" and momentum 0.9. */
static double mixed_value(const struct value point[])
{
    const double rate = (log10(point[0].real) + 3) / 3;
    const double units = ((double)point[1].whole - 5) / 6;
    const double momentum = point[3].absent ? 0.6 : point[3].real - 0.9;
    return 1 - rate * rate - units * units - momentum * momentum -
           0.2 * (point[2].whole != 2);
}

static struct study study, other;

/* ---- what it finds ---- */

static void a_mixed_conditional_optimum_is_found(void)
{
    double best[3];
    for (uint64_t seed = 0; seed < 3; seed++) {
        study_open(&study, &mixed, seed);
        best[seed] = -INFINITY;
        for (uint64_t k = 0; k < 40; k++) {
            struct value point[4];
            CHECK(study_ask(&study, k, point) == HT_OK);
            const double value = mixed_value(point);
            best[seed] = fmax(best[seed], value);
            study_tell(&study, point, true, value);
        }
        CHECK(best[seed] > 0.99);
        study_close(&study);
    }
}

static void a_failing_region_is_left_alone(void)
{
    /* Everything above 1/2 fails, and the best is just below. */
    struct param param = {.name = "x", .type = PARAM_DOUBLE, .max = 1};
    const struct space line = {.n = 1, .params = &param};
    study_open(&study, &line, 5);
    size_t failed = 0;
    double best = 0;
    for (uint64_t k = 0; k < 40; k++) {
        struct value point[1];
        CHECK(study_ask(&study, k, point) == HT_OK);
        const bool feasible = point[0].real < 0.5;
        failed += !feasible;
        best = feasible ? fmax(best, point[0].real) : best;
        study_tell(&study, point, feasible, feasible ? point[0].real : NAN);
    }
    CHECK(best > 0.48);
    CHECK(failed < 15);
    study_close(&study);
}

/* A crash by chance beside the optimum does not write its surroundings off. */
static void a_single_failure_does_not_hide_an_optimum(void)
{
    struct param params[] = {{.name = "x", .type = PARAM_DOUBLE, .max = 1},
                             {.name = "y", .type = PARAM_DOUBLE, .max = 1}};
    const struct space plane = {.n = 2, .params = params};
    study_open(&study, &plane, 3);
    double best = -1;
    bool crashed = false;
    for (uint64_t k = 0; k < 60; k++) {
        struct value point[2];
        CHECK(study_ask(&study, k, point) == HT_OK);
        const double x = point[0].real - 0.7, y = point[1].real - 0.3;
        const double value = -x * x - y * y;
        const bool crashes = !crashed && value > -0.01;
        crashed = crashed || crashes;
        best = crashes ? best : fmax(best, value);
        study_tell(&study, point, !crashes, crashes ? NAN : value);
    }
    CHECK(crashed);
    CHECK(best > -1e-3);
    study_close(&study);
}

static void small_spaces_are_walked_best_first_and_to_the_end(void)
{
    struct param params[] = {
        {.name = "k",
         .type = PARAM_INTEGER,
         .int_min = 1,
         .int_max = 12,
         .int_step = 1},
        {.name = "c",
         .type = PARAM_CATEGORICAL,
         .n_values = 4,
         .labels = names},
    };
    const struct space space = {.n = 2, .params = params};
    struct taken_set set;
    struct value point[2];
    taken_set_init(&set, &space);
    study_open(&study, &space, 3);
    uint64_t found = 48;
    for (uint64_t k = 0; k < 48; k++) {
        const struct suggest_request request = {.ordinal = k,
                                                .taken = &set.taken};
        CHECK(search_ask(&bayesian_search, study.state, &request, point,
                         NULL) == HT_OK);
        CHECK(taken_set_add(&set, point));
        const double value =
            -fabs((double)point[0].whole - 9) - (double)(point[1].whole != 2);
        found = value == 0 ? k : found;
        study_tell(&study, point, true, value);
    }
    CHECK(found < 20);
    const struct suggest_request request = {.ordinal = 48, .taken = &set.taken};
    struct ht_error err;
    CHECK(search_ask(&bayesian_search, study.state, &request, point, &err) ==
          HT_EXHAUSTED);
    CHECK_TEXT(err.text, "all 48 points of the search space were tried");
    study_close(&study);
    taken_set_fini(&set);
}

/* ---- where it begins ---- */

static void the_first_point_is_the_default_else_the_middle(void)
{
    struct param params[] = {
        {.name = "a", .type = PARAM_DOUBLE, .max = 4},
        {.name = "b",
         .type = PARAM_DOUBLE,
         .max = 4,
         .has_default = true,
         .fallback = {.real = 1}},
    };
    const struct space space = {.n = 2, .params = params};
    struct value point[2];
    study_open(&study, &space, 1);
    CHECK(study_ask(&study, 0, point) == HT_OK);
    CHECK(point[0].real == 2 && point[1].real == 1);
    study_close(&study);
}

static void a_design_is_a_quarter_of_a_small_study_at_most(void)
{
    const struct encoding flat = {.dim = 64, .flat = true};
    const struct encoding few = {.dim = 7}, many = {.dim = 64};
    CHECK(design_size(&flat, 0) == 5);
    CHECK(design_size(&flat, 16) == 4);
    CHECK(design_size(&few, 0) == 8);
    CHECK(design_size(&many, 0) == 10);
    CHECK(design_size(&many, 40) == 10);
    CHECK(design_size(&many, 20) == 5);
    CHECK(design_size(&many, 2) == 3);
}

static void pending_trials_count_as_created(void)
{
    /* With ten out and two back, a model speaks: another result moves it. */
    struct value first[4], second[4];
    for (int turn = 0; turn < 2; turn++) {
        study_open(&study, &mixed, 2);
        for (uint64_t k = 0; k < 12; k++) {
            struct value point[4];
            CHECK(study_ask(&study, k, point) == HT_OK);
            memcpy(other.points[k], point, sizeof point);
            if (k < 2)
                study_tell(&study, point, true, k == 0 ? 1 : turn);
            else
                study.pending[study.n_pending++] = other.points[k];
        }
        CHECK(study_ask(&study, 12, turn == 0 ? first : second) == HT_OK);
        study_close(&study);
    }
    CHECK(!same_point(&mixed, first, second));
}

static void suggestions_keep_away_from_what_is_pending(void)
{
    struct param params[] = {{.name = "a", .type = PARAM_DOUBLE, .max = 1},
                             {.name = "b", .type = PARAM_DOUBLE, .max = 1}};
    const struct space space = {.n = 2, .params = params};
    study_open(&study, &space, 9);
    for (uint64_t k = 0; k < 12; k++) {
        struct value point[2];
        CHECK(study_ask(&study, k, point) == HT_OK);
        study_tell(&study, point, true,
                   -hypot(point[0].real - 0.3, point[1].real - 0.7));
    }
    for (uint64_t k = 12; k < 18; k++) {
        struct value *point = other.points[k];
        CHECK(study_ask(&study, k, point) == HT_OK);
        for (size_t i = 0; i < study.n_pending; i++)
            CHECK(hypot(point[0].real - study.pending[i][0].real,
                        point[1].real - study.pending[i][1].real) > 1e-3);
        study.pending[study.n_pending++] = point;
    }
    study_close(&study);
}

/* ---- the same answers ---- */

static void being_asked_in_between_changes_nothing(void)
{
    study_open(&study, &mixed, 4);
    for (uint64_t k = 0; k < 130; k++) {
        struct value point[4], again[4];
        const struct rng_place place = {7, k, 0};
        if (k < 30 || k % 10 == 3) {
            CHECK(study_ask(&study, k, point) == HT_OK);
        } else {
            for (size_t i = 0; i < 4; i++)
                point[i] =
                    param_from_unit(&mixed_params[i], rng_unit(&place, i));
            space_settle(&mixed, point);
        }
        if (k == 19 || k == 29 || k == 73 || k == 123) {
            study_open(&other, &mixed, 4);
            for (size_t i = 0; i < study.n; i++)
                study_tell(&other, study.points[i], study.feasible[i],
                           study.objective[i]);
            CHECK(study_ask(&other, k, again) == HT_OK);
            CHECK(same_point(&mixed, point, again));
            CHECK(point[3].absent ||
                  memcmp(&point[0].real, &again[0].real, sizeof(double)) == 0);
            study_close(&other);
        }
        study_tell(&study, point, k % 11 != 0, mixed_value(point));
    }
    study_close(&study);
}

/* The fits of an anchor come one with each result, to every state. */
static void a_long_study_is_the_same_when_it_is_read_anew(void)
{
    enum { N = 167 };
    study_open(&study, &mixed, 4);
    for (uint64_t k = 0; k < N; k++) {
        const struct rng_place place = {7, k, 0};
        struct value point[4], again[4];
        for (size_t i = 0; i < 4; i++)
            point[i] = param_from_unit(&mixed_params[i], rng_unit(&place, i));
        space_settle(&mixed, point);
        if (k > HYPER_AT_ONCE && k % 3 == 0) {
            struct value asked[4];
            CHECK(study_ask(&study, k, asked) == HT_OK);
            study_open(&other, &mixed, 4);
            for (size_t i = 0; i < study.n; i++)
                study_tell(&other, study.points[i], study.feasible[i],
                           study.objective[i]);
            CHECK(study_ask(&other, k, again) == HT_OK);
            CHECK(same_point(&mixed, asked, again));
            study_close(&other);
        }
        study_tell(&study, point, true, mixed_value(point));
    }
    study_close(&study);
}

static void another_seed_gives_another_search(void)
{
    int equal = 0;
    study_open(&study, &mixed, 1);
    study_open(&other, &mixed, 2);
    for (uint64_t k = 0; k < 12; k++) {
        struct value a[4], b[4];
        CHECK(study_ask(&study, k, a) == HT_OK);
        CHECK(study_ask(&other, k, b) == HT_OK);
        equal += same_point(&mixed, a, b);
        study_tell(&study, a, true, mixed_value(a));
        study_tell(&other, b, true, mixed_value(b));
    }
    CHECK(equal == 1); /* the middle */
    study_close(&study);
    study_close(&other);
}

static void anchors_are_dense_first_and_then_five_percent_apart(void)
{
    CHECK(hyper_anchor(1) == 1 && hyper_anchor(20) == 20);
    CHECK(hyper_anchor(24) == 20 && hyper_anchor(25) == 25);
    CHECK(hyper_anchor(99) == 95 && hyper_anchor(100) == 100);
    for (size_t n = 100; n < 100000; n = n * 11 / 10) {
        const size_t anchor = hyper_anchor(n);
        CHECK(anchor <= n && hyper_anchor(anchor) == anchor);
        CHECK(n - anchor <= anchor / 20);
    }
}

/* ---- whatever comes ---- */

static struct param random_param(const struct rng_place *place, uint64_t at)
{
    static const double list[] = {-3, 0, 0.5, 2, 1e6};
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
    param.labels = names;
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
        const uint64_t levels = param_levels(&params[0]);
        if (i == 0 || levels == 0 || levels > 50 ||
            rng_unit(place, 30 + i) < 0.6)
            continue;
        values[i] = param_level(&params[0], rng_bits(place, 40 + i) % levels);
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

static void play_random_study(uint64_t seed)
{
    struct param params[5];
    struct condition conditions[5];
    struct value values[5], point[5];
    const struct rng_place place = {seed, 0, 0};
    const struct space space = random_space(&place, params, conditions, values);
    const uint64_t trials = 5 + rng_bits(&place, 2) % 12;
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
            memcpy(other.points[k], point, sizeof point);
            study.pending[study.n_pending++] = other.points[k];
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
    study_open(&study, &mixed, 8);
    struct value point[4];
    CHECK(study_ask(&study, 0, point) == HT_OK);
    for (uint64_t k = 0; k < 140; k++)
        study_tell(&study, point, true, (double)(k % 3));
    CHECK(study_ask(&study, 140, point) == HT_OK);
    CHECK(is_valid(&mixed, point) && !study_has(&study, point));
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
    algorithms_init();
    RUN(a_mixed_conditional_optimum_is_found);
    RUN(a_failing_region_is_left_alone);
    RUN(a_single_failure_does_not_hide_an_optimum);
    RUN(small_spaces_are_walked_best_first_and_to_the_end);
    RUN(the_first_point_is_the_default_else_the_middle);
    RUN(a_design_is_a_quarter_of_a_small_study_at_most);
    RUN(pending_trials_count_as_created);
    RUN(suggestions_keep_away_from_what_is_pending);
    RUN(being_asked_in_between_changes_nothing);
    RUN(a_long_study_is_the_same_when_it_is_read_anew);
    RUN(another_seed_gives_another_search);
    RUN(anchors_are_dense_first_and_then_five_percent_apart);
    RUN(no_space_and_no_results_break_it);
    RUN(a_space_without_parameters_has_one_point);
    RUN(sixty_four_parameters_are_searched);
    RUN(many_equal_points_are_no_trouble);
    RUN(a_long_history_stays_quick_and_keeps_its_best);
    return check_done();
}
