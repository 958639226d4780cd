#include <math.h>

#include "algorithms/base/rng.h"
#include "algorithms/model/acquisition.h"
#include "algorithms/search/portfolio.h"
#include "algorithms/space/candidates.h"
#include "tests/check.h"
#include "tests/lib/searching.h"
#include "tests/lib/taken_set.h"

static struct param params[] = {
    {.name = "x", .type = PARAM_DOUBLE, .max = 1},
    {.name = "k",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 40,
     .int_step = 1},
};
static const struct space space = {.n = 2, .params = params};

enum { N = 30, LATER = 60 };

static struct encoding encoding;
static struct history history;

static void tell(size_t i, double value)
{
    const struct value point[] = {
        {.real = fmod(0.5 + 0.7548776662 * (double)i, 1)},
        {.whole = 1 + (int64_t)(i * 17 % 40)}};
    const struct observation seen = {
        .point = point, .feasible = !isnan(value), .values = &value};
    history_add(&history, &seen);
}

static void open_history(void)
{
    encoding_init(&encoding, &space);
    history_init(&history, &encoding, 1);
}

static void close_history(void)
{
    history_fini(&history);
    encoding_fini(&encoding);
}

/* ---- standing still ---- */

static size_t stagnation(size_t n, const double values[])
{
    open_history();
    for (size_t i = 0; i < n; i++)
        tell(i, values[i]);
    const size_t found = portfolio_stagnation(&history);
    close_history();
    return found;
}

static void results_since_a_gain_are_counted(void)
{
    CHECK(stagnation(0, NULL) == 0);
    CHECK(stagnation(1, (double[]){5}) == 0);
    CHECK(stagnation(4, (double[]){1, 2, 3, 4}) == 0);
    CHECK(stagnation(4, (double[]){4, 3, 2, 1}) == 3);
    CHECK(stagnation(6, (double[]){1, 3, 0, 8, 5, 7}) == 2);
    CHECK(stagnation(4, (double[]){2, 2, 2, 2}) == 3);
}

/* The best is 10 better than the median, so 0.1 is the least gain. */
static void a_gain_too_small_to_matter_is_none(void)
{
    CHECK(stagnation(5, (double[]){0, 0, 0, 9.95, 10}) == 1);
    CHECK(stagnation(5, (double[]){0, 0, 0, 9.5, 10}) == 0);
    CHECK(stagnation(6, (double[]){0, 0, 0, 0, 9.93, 10}) == 1);
    CHECK(stagnation(7, (double[]){0, 0, 0, 0, 9.85, 9.93, 10}) == 0);
}

static void failures_are_results_without_a_gain(void)
{
    CHECK(stagnation(5, (double[]){1, 4, NAN, NAN, 2}) == 3);
    CHECK(stagnation(2, (double[]){NAN, NAN}) == 2);
}

/* ---- whose turn it is ---- */

/* Something without order, known by its number. */
static double noise(size_t i)
{
    const struct rng_place place = {8, i, 0};
    return rng_unit(&place, 0);
}

/* The families of four suggestions after n results without order, of which the
 * one at `best` is far above the others. */
static void families(size_t n, size_t best, enum family turn[4])
{
    struct goal_hyper hyper;
    struct goal_model model;
    open_history();
    for (size_t i = 0; i < n; i++)
        tell(i, i == best ? 2 : noise(i));
    goal_model_hyper_init(&hyper, 0, NOISE_UNKNOWN);
    CHECK(goal_model_init(&model, &history, &hyper, 1, 0));
    for (uint64_t i = 0; i < 4; i++)
        turn[i] = portfolio_family(&history, &model, 40 + i);
    goal_model_fini(&model);
    close_history();
}

static void others_take_turns_where_nothing_is_understood(void)
{
    enum family turn[4];
    families(N, 0, turn);
    CHECK(turn[0] == FAMILY_PROCESS && turn[2] == FAMILY_PROCESS);
    CHECK(turn[1] == FAMILY_FOREST && turn[3] == FAMILY_PARZEN);
    families(20, 0, turn);
    CHECK(turn[1] == FAMILY_FOREST && turn[3] == FAMILY_PARZEN);
}

static void a_process_that_still_gains_goes_on(void)
{
    enum family turn[4];
    families(N, N - 1, turn);
    for (int i = 0; i < 4; i++)
        CHECK(turn[i] == FAMILY_PROCESS);
}

static void the_first_results_teach_the_process(void)
{
    enum family turn[4];
    families(19, 0, turn);
    for (int i = 0; i < 4; i++)
        CHECK(turn[i] == FAMILY_PROCESS);
}

/* Best at the first point. */
static double bowl(size_t i)
{
    const double x = fmod(0.5 + 0.7548776662 * (double)i, 1) - 0.5;
    const double k = (double)(i * 17 % 40) / 40;
    return -x * x - 0.3 * k * k;
}

static void a_process_that_understands_goes_on(void)
{
    struct goal_hyper hyper;
    struct goal_model model;
    open_history();
    for (size_t i = 0; i < N; i++)
        tell(i, bowl(i));
    CHECK(portfolio_stagnation(&history) >= N - 1);
    goal_model_hyper_init(&hyper, 0, NOISE_UNKNOWN);
    CHECK(goal_model_init(&model, &history, &hyper, 1, 0));
    for (uint64_t i = 0; i < 4; i++)
        CHECK(portfolio_family(&history, &model, 40 + i) == FAMILY_PROCESS);
    goal_model_fini(&model);
    close_history();
}

/* ---- what they find ---- */

struct scene {
    struct goal_hyper hyper;
    struct goal_model model;
    struct acquisition acquisition;
    struct candidates start;
    double fill[2];
};

/* Results of a step at x = 0.3: better below it, best for k below 10. */
static void set_scene(struct scene *scene)
{
    open_history();
    for (size_t i = 0; i < N; i++) {
        const double x = fmod(0.5 + 0.7548776662 * (double)i, 1);
        const double k = (double)(i * 17 % 40);
        tell(i, (x < 0.3 ? 1 : 0) + (k < 10 ? 0.5 : 0));
    }
    goal_model_hyper_init(&scene->hyper, 0, NOISE_UNKNOWN);
    CHECK(goal_model_init(&scene->model, &history, &scene->hyper, 1, 0));
    scene->acquisition = (struct acquisition){.guide = scene->model.models[0]};
    scene->fill[0] = scene->fill[1] = 0.5;
    scene->start = (struct candidates){
        .encoding = &encoding, .seed = 4, .fill = scene->fill};
}

static void end_scene(struct scene *scene)
{
    goal_model_fini(&scene->model);
    close_history();
}

static bool find(struct scene *scene, enum family family,
                 const struct suggest_request *request, struct value point[])
{
    const struct portfolio portfolio = {family, scene->model.models[0],
                                        &scene->acquisition, &scene->start,
                                        request};
    double promise;
    scene->start.ordinal = request->ordinal;
    return portfolio_point(&portfolio, point, &promise);
}

/* How many of ten points are on the best steps, one in nine of all. */
static int on_best_steps(struct scene *scene, enum family family)
{
    int good = 0;
    for (uint64_t i = 0; i < 10; i++) {
        struct value point[2];
        if (find(scene, family,
                 &(struct suggest_request){.ordinal = i,
                                           .taken = &taken_nothing},
                 point))
            good += point[0].real < 0.35 && point[1].whole <= 14;
    }
    return good;
}

static void both_families_go_to_the_better_steps(void)
{
    struct scene scene;
    set_scene(&scene);
    CHECK(on_best_steps(&scene, FAMILY_FOREST) >= 7);
    CHECK(on_best_steps(&scene, FAMILY_PARZEN) >= 7);
    end_scene(&scene);
}

static bool below(void *context, const struct value point[])
{
    return point[0].real < *(const double *)context;
}

static void taken_points_are_passed_over(void)
{
    double bound = 0.3;
    const struct taken some = {below, &bound, N};
    const struct suggest_request request = {.ordinal = 1, .taken = &some};
    struct value point[2];
    struct scene scene;
    set_scene(&scene);
    CHECK(find(&scene, FAMILY_FOREST, &request, point));
    CHECK(point[0].real >= bound);
    bound = 2;
    CHECK(!find(&scene, FAMILY_FOREST, &request, point));
    CHECK(!find(&scene, FAMILY_PARZEN, &request, point));
    end_scene(&scene);
}

/* How many of ten points with k = 5 are, though most of what is known is of
 * others. */
static int on_best_steps_at_five(struct scene *scene, enum family family)
{
    const struct value five = {.whole = 5};
    struct narrowing at[] = {{0}, {1, &five}};
    const struct subspace part = {&space, at};
    const struct encoding within = encoding_within(&encoding, &part);
    int good = 0;
    scene->start.encoding = &within;
    for (uint64_t i = 0; i < 10; i++) {
        const struct suggest_request request = {
            .ordinal = i, .taken = &taken_nothing, .within = &part};
        struct value point[2];
        CHECK(find(scene, family, &request, point));
        CHECK(point[1].whole == 5);
        good += point[0].real < 0.35;
    }
    scene->start.encoding = &encoding;
    return good;
}

static void points_are_of_the_part_that_is_asked_for(void)
{
    struct scene scene;
    set_scene(&scene);
    CHECK(on_best_steps_at_five(&scene, FAMILY_FOREST) >= 7);
    CHECK(on_best_steps_at_five(&scene, FAMILY_PARZEN) >= 7);
    end_scene(&scene);
}

/* How many of ten points are where nothing comes out. */
static int on_failing(struct scene *scene)
{
    int failing = 0;
    for (uint64_t i = 0; i < 10; i++) {
        struct value point[2];
        if (find(scene, FAMILY_FOREST,
                 &(struct suggest_request){.ordinal = i,
                                           .taken = &taken_nothing},
                 point))
            failing += point[1].whole <= 20;
    }
    return failing;
}

/* Results are better below 0.3, but none comes out for k up to 20. */
static void a_failing_region_is_left_alone(void)
{
    struct hyper hyper = {.target = {.aspect = ASPECT_FEASIBILITY},
                          .prior = PRIOR_UNIT};
    struct scene scene;
    set_scene(&scene);
    for (size_t i = N; i < LATER; i++)
        if (i * 17 % 40 < 20)
            tell(i, NAN);
    struct gp *feasibility = goal_model_target(&history, &hyper, 1);
    scene.acquisition.chances[0] =
        (struct chance){.n = 1, .models = {feasibility}};
    const int without = on_failing(&scene);
    scene.acquisition.n_chances = 1;
    const int with = on_failing(&scene);
    CHECK(without >= 6);
    CHECK(with < without);
    gp_free(feasibility);
    end_scene(&scene);
}

/* ---- in a search ---- */

/* What is promised of a suggestion; it has a prediction, whoever makes it. */
static double ask(void *state, uint64_t ordinal)
{
    const struct suggest_request request = {.ordinal = ordinal,
                                            .taken = &taken_nothing};
    struct value point[2];
    struct reason reason;
    CHECK(bayesian_search.suggest(state, &request, point, &reason, NULL) ==
          HT_OK);
    CHECK(reason.n_predicted == 1 && reason.has_nearest);
    CHECK(reason.predicted[0].low <= reason.predicted[0].high);
    return reason.acquisition;
}

/* A process' promise is the logarithm of an improvement, much less than 1;
 * that of good points' density over others' is above 0. */
static void a_search_that_stands_still_asks_them(void)
{
    void *state;
    CHECK(search_new(&bayesian_search, &space, 1, &state, NULL) == HT_OK);
    for (size_t i = 0; i < N; i++) {
        const struct value point[] = {
            {.real = fmod(0.5 + 0.7548776662 * (double)i, 1)},
            {.whole = 1 + (int64_t)(i * 17 % 40)}};
        CHECK(search_tell(&bayesian_search, state, point, true,
                          i == 0 ? 2 : noise(i)) == HT_OK);
    }
    for (uint64_t i = 0; i < 3; i++)
        CHECK(ask(state, 40 + i) < 0);
    CHECK(ask(state, 43) > 0);
    bayesian_search.free(state);
}

int main(void)
{
    algorithm_init();
    RUN(results_since_a_gain_are_counted);
    RUN(a_gain_too_small_to_matter_is_none);
    RUN(failures_are_results_without_a_gain);
    RUN(others_take_turns_where_nothing_is_understood);
    RUN(a_process_that_still_gains_goes_on);
    RUN(the_first_results_teach_the_process);
    RUN(a_process_that_understands_goes_on);
    RUN(both_families_go_to_the_better_steps);
    RUN(taken_points_are_passed_over);
    RUN(points_are_of_the_part_that_is_asked_for);
    RUN(a_failing_region_is_left_alone);
    RUN(a_search_that_stands_still_asks_them);
    return check_done();
}
