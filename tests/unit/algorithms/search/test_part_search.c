/* Every method keeps to the part of a space that is asked for, and finds what
 * is good there. */
#include <math.h>
#include <stdlib.h>

#include "algorithms/base/algorithm.h"
#include "proto/base/arena.h"
#include "proto/base/limits.h"
#include "tests/check.h"
#include "tests/lib/searching.h"
#include "tests/lib/taken_set.h"

static struct arena *arena;

/* The part of the space where parameter i has the value. */
static struct subspace with(const struct space *space, size_t i,
                            struct value value)
{
    struct value given[HT_MAX_PARAMETERS];
    struct subspace part;
    size_t at;
    for (size_t k = 0; k < space->n; k++)
        given[k] = (struct value){.absent = true};
    given[i] = value;
    CHECK(subspace_make(arena, space, given, &part, &at, NULL) == HT_OK);
    return part;
}

/* ---- in the part ---- */

static const char *const names[] = {"a", "b", "c"};
static const struct value a_or_c[] = {{.whole = 0}, {.whole = 2}};
static struct condition when_a_or_c = {.parent = 2, .n = 2, .values = a_or_c};
static struct param mixed_params[] = {
    {.name = "x", .type = PARAM_DOUBLE, .max = 1},
    {.name = "n",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 6,
     .int_step = 1},
    {.name = "opt", .type = PARAM_CATEGORICAL, .n_values = 3, .labels = names},
    {.name = "y", .type = PARAM_DOUBLE, .max = 1, .when = &when_a_or_c},
};
static const struct space mixed = {.n = 4, .params = mixed_params};
enum { X, LEVEL, OPT, Y };

/* Steps that no process understands, so that others have their turn. */
static double mixed_value(const struct value point[])
{
    const double y = point[Y].absent ? 0.5 : point[Y].real;
    return floor(5 * sin(40 * point[X].real * y)) +
           (double)(point[LEVEL].whole * 5 % 7);
}

/* Asks 40 times, of each part in turn. */
static void keep_to(const struct algorithm *algorithm, size_t n,
                    const struct subspace parts[],
                    const struct constraint_set *constraints)
{
    void *state;
    CHECK(search_new(algorithm, &mixed, 3, &state, NULL) == HT_OK);
    for (uint64_t k = 0; k < 40; k++) {
        struct value point[HT_MAX_PARAMETERS], again[HT_MAX_PARAMETERS];
        const struct suggest_request request = {.ordinal = k,
                                                .taken = &taken_nothing,
                                                .constraints = constraints,
                                                .within = &parts[k % n]};
        CHECK(search_ask(algorithm, state, &request, point, NULL) == HT_OK);
        CHECK(search_ask(algorithm, state, &request, again, NULL) == HT_OK);
        CHECK(subspace_has(&parts[k % n], point));
        CHECK(constraint_set_holds(constraints, point));
        for (size_t i = 0; i < mixed.n; i++)
            CHECK(space_value_equal(&mixed_params[i], point[i], again[i]));
        CHECK(search_tell(algorithm, state, point, k % 9 != 4,
                          mixed_value(point)) == HT_OK);
    }
    algorithm->free(state);
}

static void suggestions_lie_in_the_part(void)
{
    const struct subspace parts[] = {
        with(&mixed, X, (struct value){.real = 1.0 / 3}),
        with(&mixed, LEVEL, (struct value){.whole = 5}),
        with(&mixed, OPT, (struct value){.whole = 1}),
        with(&mixed, Y, (struct value){.real = 0.1}),
        with(&mixed, X, (struct value){.real = 1}),
    };
    keep_to(&random_search, 5, parts, NULL);
    keep_to(&bayesian_search, 5, parts, NULL);
    for (size_t i = 0; i < 5; i++)
        keep_to(&bayesian_search, 1, &parts[i], NULL);
}

static void parts_and_constraints_hold_together(void)
{
    static const char *const text = "x + y <= 0.1 * n";
    const struct subspace parts[] = {
        with(&mixed, LEVEL, (struct value){.whole = 2}),
        with(&mixed, X, (struct value){.real = 0.25}),
        with(&mixed, Y, (struct value){.real = 0.125}),
    };
    struct constraint_set set;
    CHECK(constraint_set_parse(arena, &mixed, 1, &text, &set, NULL) == HT_OK);
    keep_to(&random_search, 3, parts, &set);
    keep_to(&bayesian_search, 3, parts, &set);
}

/* A value measured again is one of the part, too. */
static void repeats_lie_in_the_part(void)
{
    const struct subspace part = with(&mixed, OPT, (struct value){.whole = 1});
    const struct setting setting = {
        .space = &mixed, .seed = 1, .n_goals = 1, .noise = NOISE_HIGH};
    size_t repeated = 0;
    void *state;
    CHECK(bayesian_search.new(&setting, &state, NULL) == HT_OK);
    for (uint64_t k = 0; k < 30; k++) {
        struct value point[HT_MAX_PARAMETERS];
        struct reason reason;
        const struct suggest_request request = {.ordinal = k,
                                                .taken = &taken_nothing,
                                                .within =
                                                    k % 2 == 1 ? &part : NULL,
                                                .may_repeat = true};
        CHECK(bayesian_search.suggest(state, &request, point, &reason, NULL) ==
              HT_OK);
        repeated += reason.kind == REASON_REPEATS ? 1 : 0;
        CHECK(subspace_has(request.within, point));
        /* Those of the part are never among the ten best. */
        CHECK(search_tell(&bayesian_search, state, point, true,
                          mixed_value(point) +
                              (point[OPT].whole == 1 ? 0 : 50)) == HT_OK);
    }
    CHECK(repeated >= 2);
    bayesian_search.free(state);
}

/* ---- the last point of it ---- */

static struct param small_params[] = {
    {.name = "n",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 4,
     .int_step = 1},
    {.name = "opt", .type = PARAM_CATEGORICAL, .n_values = 3, .labels = names},
};
static const struct space small = {.n = 2, .params = small_params};

static void a_part_ends_before_its_space(void)
{
    static const struct algorithm *const all[] = {&random_search, &grid_search,
                                                  &bayesian_search};
    const struct subspace part = with(&small, 1, (struct value){.whole = 2});
    for (size_t i = 0; i < 3; i++) {
        struct taken_set set;
        struct suggest_request request = {.taken = &set.taken, .within = &part};
        struct value point[2];
        struct ht_error err;
        void *state;
        taken_set_init(&set, &small);
        CHECK(search_new(all[i], &small, 1, &state, NULL) == HT_OK);
        for (; request.ordinal < 4; request.ordinal++) {
            CHECK(search_ask(all[i], state, &request, point, NULL) == HT_OK);
            CHECK(point[1].whole == 2 && taken_set_add(&set, point));
            CHECK(search_tell(all[i], state, point, true,
                              (double)point[0].whole) == HT_OK);
            if (all[i] == &grid_search)
                CHECK(point[0].whole == (int64_t)request.ordinal + 1);
        }
        CHECK(search_ask(all[i], state, &request, point, &err) == HT_EXHAUSTED);
        CHECK_TEXT(err.text, "all 4 points with the given values were tried");
        request.within = NULL;
        CHECK(search_ask(all[i], state, &request, point, NULL) == HT_OK);
        CHECK(point[1].whole != 2);
        all[i]->free(state);
        taken_set_fini(&set);
    }
}

/* ---- what is good there ---- */

static struct param cube_params[] = {
    {.name = "w", .type = PARAM_DOUBLE, .max = 1},
    {.name = "x", .type = PARAM_DOUBLE, .max = 1},
    {.name = "y", .type = PARAM_DOUBLE, .max = 1},
    {.name = "z", .type = PARAM_DOUBLE, .max = 1},
};
static const struct space cube = {.n = 4, .params = cube_params};
static const struct space three = {.n = 3, .params = cube_params + 1};
static const double fixed = 0.3;
enum { SEEDS = 7 };

/* At most 3.86278 in x, y and z (Hartmann's function of three), wherever w is;
 * it moves the best place. */
static double hartmann(double w, const struct value x[])
{
    static const double alpha[] = {1, 1.2, 3, 3.2};
    static const double width[4][3] = {
        {3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}};
    static const double centre[4][3] = {{0.3689, 0.117, 0.2673},
                                        {0.4699, 0.4387, 0.747},
                                        {0.1091, 0.8732, 0.5547},
                                        {0.03815, 0.5743, 0.8828}};
    double sum = 0;
    for (size_t i = 0; i < 4; i++) {
        double square = 0;
        for (size_t c = 0; c < 3; c++) {
            const double gap = x[c].real - 0.2 * (w - fixed) - centre[i][c];
            square += width[i][c] * gap * gap;
        }
        sum += alpha[i] * exp(-square);
    }
    return sum;
}

/* What 30 trials leave of the best value, in the part or without it. */
static double left_after(const struct space *space, uint64_t seed,
                         const struct subspace *part)
{
    double best = 0;
    void *state;
    CHECK(search_new(&bayesian_search, space, seed, &state, NULL) == HT_OK);
    for (uint64_t k = 0; k < 30; k++) {
        struct value point[HT_MAX_PARAMETERS];
        const struct suggest_request request = {
            .ordinal = k, .taken = &taken_nothing, .within = part};
        CHECK(search_ask(&bayesian_search, state, &request, point, NULL) ==
              HT_OK);
        const double value = part == NULL ? hartmann(fixed, point)
                                          : hartmann(point[0].real, point + 1);
        best = fmax(best, value);
        CHECK(search_tell(&bayesian_search, state, point, true, value) ==
              HT_OK);
    }
    bayesian_search.free(state);
    return 3.86278 - best;
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double left[SEEDS])
{
    qsort(left, SEEDS, sizeof *left, compare_numbers);
    return left[SEEDS / 2];
}

/* How often the best place was found, not the second best, 0.77 below. */
static int count_found(const double left[SEEDS])
{
    int found = 0;
    for (size_t i = 0; i < SEEDS; i++)
        found += left[i] < 0.05 ? 1 : 0;
    return found;
}

static void a_part_is_searched_as_well_as_a_smaller_space(void)
{
    const struct subspace part = with(&cube, 0, (struct value){.real = fixed});
    double of_part[SEEDS], of_three[SEEDS];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        of_part[seed] = left_after(&cube, seed, &part);
        of_three[seed] = left_after(&three, seed, NULL);
    }
    const double median = median_of(of_part), other = median_of(of_three);
    printf("# left: %g of the part, %g of three parameters\n", median, other);
    CHECK(median < 2 * other + 1e-4);
    CHECK(count_found(of_part) + 1 >= count_found(of_three));
}

/* Elsewhere is more to find, and a way to it leads out of the part. */
static double sloped(const struct value point[])
{
    return hartmann(3 * point[0].real - 2 * fixed, point + 1) +
           5 * point[0].real;
}

static void slopes_are_followed_within_the_part(void)
{
    const struct subspace part = with(&cube, 0, (struct value){.real = fixed});
    double left[SEEDS];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double best = 0;
        void *state;
        CHECK(search_new(&bayesian_search, &cube, seed, &state, NULL) == HT_OK);
        for (uint64_t k = 0; k < 50; k++) {
            struct value point[HT_MAX_PARAMETERS];
            const struct suggest_request request = {
                .ordinal = k,
                .taken = &taken_nothing,
                .within = k % 2 == 0 ? NULL : &part};
            CHECK(search_ask(&bayesian_search, state, &request, point, NULL) ==
                  HT_OK);
            if (request.within != NULL)
                best = fmax(best, sloped(point));
            CHECK(search_tell(&bayesian_search, state, point, true,
                              sloped(point)) == HT_OK);
        }
        bayesian_search.free(state);
        left[seed] = 3.86278 + 5 * fixed - best;
    }
    const double median = median_of(left);
    printf("# left: %g among results of elsewhere\n", median);
    CHECK(median < 0.05);
}

/* ---- turns ---- */

static struct param turn_params[] = {
    {.name = "task", .type = PARAM_CATEGORICAL, .n_values = 2, .labels = names},
    {.name = "x", .type = PARAM_DOUBLE, .max = 1},
    {.name = "y", .type = PARAM_DOUBLE, .max = 1},
    {.name = "z", .type = PARAM_DOUBLE, .max = 1},
};
static const struct space turns = {.n = 4, .params = turn_params};

/* The second task is worse everywhere and best elsewhere. */
static double of_task(const struct value point[])
{
    return hartmann(point[0].whole == 0 ? fixed : fixed - 0.4, point + 1) -
           (point[0].whole == 0 ? 0 : 1);
}

static void both_of_two_contexts_improve(void)
{
    const struct subspace parts[] = {
        with(&turns, 0, (struct value){.whole = 0}),
        with(&turns, 0, (struct value){.whole = 1})};
    double left[2][SEEDS];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double best[2] = {-INFINITY, -INFINITY};
        void *state;
        CHECK(search_new(&bayesian_search, &turns, seed, &state, NULL) ==
              HT_OK);
        for (uint64_t k = 0; k < 60; k++) {
            struct value point[HT_MAX_PARAMETERS];
            const struct suggest_request request = {
                .ordinal = k, .taken = &taken_nothing, .within = &parts[k % 2]};
            CHECK(search_ask(&bayesian_search, state, &request, point, NULL) ==
                  HT_OK);
            best[k % 2] = fmax(best[k % 2], of_task(point));
            CHECK(search_tell(&bayesian_search, state, point, true,
                              of_task(point)) == HT_OK);
        }
        bayesian_search.free(state);
        left[0][seed] = 3.86278 - best[0];
        left[1][seed] = 3.86278 - 1 - best[1];
    }
    printf("# found: %d and %d of %d\n", count_found(left[0]),
           count_found(left[1]), SEEDS);
    CHECK(count_found(left[0]) >= SEEDS - 1);
    CHECK(count_found(left[1]) >= SEEDS - 1);
}

int main(void)
{
    arena = arena_new();
    algorithm_init();
    RUN(suggestions_lie_in_the_part);
    RUN(parts_and_constraints_hold_together);
    RUN(repeats_lie_in_the_part);
    RUN(a_part_ends_before_its_space);
    RUN(a_part_is_searched_as_well_as_a_smaller_space);
    RUN(slopes_are_followed_within_the_part);
    RUN(both_of_two_contexts_improve);
    arena_free(arena);
    return check_done();
}
