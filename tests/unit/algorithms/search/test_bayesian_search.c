#include <math.h>
#include <stdlib.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/base/rng.h"
#include "algorithms/model/hyper.h"
#include "algorithms/space/candidates.h"
#include "tests/check.h"
#include "tests/lib/played_study.h"
#include "tests/lib/searching.h"
#include "tests/lib/taken_set.h"

static const char *const names[] = {"a", "b", "c", "d"};

static struct study study, other;

/* ---- what it finds ---- */

static void a_mixed_conditional_optimum_is_found(void)
{
    double best[3];
    for (uint64_t seed = 0; seed < 3; seed++) {
        study_open(&study, &mixed_space, seed);
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
    CHECK(candidates_design_size(&flat, 0) == 5);
    CHECK(candidates_design_size(&flat, 16) == 4);
    CHECK(candidates_design_size(&few, 0) == 8);
    CHECK(candidates_design_size(&many, 0) == 10);
    CHECK(candidates_design_size(&many, 40) == 10);
    CHECK(candidates_design_size(&many, 20) == 5);
    CHECK(candidates_design_size(&many, 2) == 3);
}

static void pending_trials_count_as_created(void)
{
    /* With ten out and two back, a model speaks: another result moves it. */
    struct value first[4], second[4];
    for (int turn = 0; turn < 2; turn++) {
        study_open(&study, &mixed_space, 2);
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
    CHECK(!same_point(&mixed_space, first, second));
}

/* The least distance between points of a batch of 8 after 12 results; `power`
 * 1: a cone, 2: a bowl. */
static double batch_gap(double power)
{
    struct param params[] = {{.name = "a", .type = PARAM_DOUBLE, .max = 1},
                             {.name = "b", .type = PARAM_DOUBLE, .max = 1}};
    const struct space space = {.n = 2, .params = params};
    double least = 1;
    study_open(&study, &space, 9);
    for (uint64_t k = 0; k < 12; k++) {
        struct value point[2];
        CHECK(study_ask(&study, k, point) == HT_OK);
        study_tell(
            &study, point, true,
            -pow(hypot(point[0].real - 0.3, point[1].real - 0.7), power));
    }
    for (uint64_t k = 12; k < 20; k++) {
        struct value *point = other.points[k];
        CHECK(study_ask(&study, k, point) == HT_OK);
        for (size_t i = 0; i < study.n_pending; i++)
            least =
                fmin(least, hypot(point[0].real - study.pending[i][0].real,
                                  point[1].real - study.pending[i][1].real));
        study.pending[study.n_pending++] = point;
    }
    study_close(&study);
    return least;
}

static void suggestions_keep_away_from_what_is_pending(void)
{
    CHECK(batch_gap(1) > 1e-3);
    CHECK(batch_gap(2) > 1e-3);
}

/* ---- the same answers ---- */

static void being_asked_in_between_changes_nothing(void)
{
    study_open(&study, &mixed_space, 4);
    for (uint64_t k = 0; k < 130; k++) {
        struct value point[4], again[4];
        const struct rng_place place = {7, k, 0};
        if (k < 30 || k % 10 == 3) {
            CHECK(study_ask(&study, k, point) == HT_OK);
        } else {
            for (size_t i = 0; i < 4; i++)
                point[i] = space_param_from_unit(&mixed_space.params[i],
                                                 rng_unit(&place, i));
            space_settle(&mixed_space, point);
        }
        if (k == 19 || k == 29 || k == 73 || k == 123) {
            study_open(&other, &mixed_space, 4);
            for (size_t i = 0; i < study.n; i++)
                study_tell(&other, study.points[i], study.feasible[i],
                           study.objective[i]);
            CHECK(study_ask(&other, k, again) == HT_OK);
            CHECK(same_point(&mixed_space, point, again));
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
    study_open(&study, &mixed_space, 4);
    for (uint64_t k = 0; k < N; k++) {
        const struct rng_place place = {7, k, 0};
        struct value point[4], again[4];
        for (size_t i = 0; i < 4; i++)
            point[i] = space_param_from_unit(&mixed_space.params[i],
                                             rng_unit(&place, i));
        space_settle(&mixed_space, point);
        if (k > HYPER_AT_ONCE && k % 3 == 0) {
            struct value asked[4];
            CHECK(study_ask(&study, k, asked) == HT_OK);
            study_open(&other, &mixed_space, 4);
            for (size_t i = 0; i < study.n; i++)
                study_tell(&other, study.points[i], study.feasible[i],
                           study.objective[i]);
            CHECK(study_ask(&other, k, again) == HT_OK);
            CHECK(same_point(&mixed_space, asked, again));
            study_close(&other);
        }
        study_tell(&study, point, true, mixed_value(point));
    }
    study_close(&study);
}

static void another_seed_gives_another_search(void)
{
    int equal = 0;
    study_open(&study, &mixed_space, 1);
    study_open(&other, &mixed_space, 2);
    for (uint64_t k = 0; k < 12; k++) {
        struct value a[4], b[4];
        CHECK(study_ask(&study, k, a) == HT_OK);
        CHECK(study_ask(&other, k, b) == HT_OK);
        equal += same_point(&mixed_space, a, b);
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

int main(void)
{
    algorithm_init();
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
    return check_done();
}
