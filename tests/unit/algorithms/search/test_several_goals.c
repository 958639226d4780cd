#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/model/hypervolume.h"
#include "algorithms/model/pareto.h"
#include "tests/check.h"

static struct param params[] = {
    {.name = "x", .type = PARAM_DOUBLE, .max = 1},
    {.name = "y", .type = PARAM_DOUBLE, .max = 1},
    {.name = "z", .type = PARAM_DOUBLE, .max = 1},
};
static const struct space space = {.n = 3, .params = params};

static bool is_taken(void *context, const struct value point[])
{
    (void)context;
    (void)point;
    return false;
}

static const struct taken nothing = {is_taken, NULL, 0};

/* What can be had of the first costs the others; y and z only cost. */
static void trade(size_t m, const struct value point[], double values[])
{
    const double x = point[0].real, y = point[1].real, z = point[2].real;
    const double lost = 2 * (fabs(y - 0.7) + fabs(z - 0.2));
    const double all[] = {x - lost, 1 - x * x - lost, 1 - fabs(x - 0.5) - lost,
                          0.5 + y / 9 - lost};
    memcpy(values, all, m * sizeof *values);
}

struct attempt {
    const struct algorithm *algorithm;
    void *state;
    size_t m;
    uint64_t n;
    struct reason reason;
};

static void begin(struct attempt *run, const struct algorithm *algorithm,
                  const struct setting *setting)
{
    *run = (struct attempt){.algorithm = algorithm, .m = setting->n_goals};
    CHECK(algorithm->new (setting, &run->state, NULL) == HT_OK);
}

static void ask(struct attempt *run, struct value point[])
{
    const struct suggest_request request = {.ordinal = run->n++,
                                            .taken = &nothing};
    CHECK(run->algorithm->suggest(run->state, &request, point, &run->reason,
                                  NULL) == HT_OK);
}

static void tell(struct attempt *run, const struct value point[],
                 const double values[])
{
    const struct observation seen = {
        .point = point, .feasible = true, .values = values};
    CHECK(run->algorithm->observe(run->state, &seen, NULL) == HT_OK);
}

static double volume_after(const struct algorithm *algorithm, size_t m,
                           int trials)
{
    static const double reference[4] = {0, 0, 0, 0};
    const struct setting setting = {.space = &space, .seed = 5, .n_goals = m};
    struct attempt run;
    struct pareto front;
    begin(&run, algorithm, &setting);
    pareto_init(&front, m);
    for (int i = 0; i < trials; i++) {
        struct value point[3];
        double values[4];
        ask(&run, point);
        trade(m, point, values);
        tell(&run, point, values);
        pareto_add(&front, values, i);
    }
    const double volume = hypervolume(&front, reference);
    algorithm->free(run.state);
    pareto_fini(&front);
    return volume;
}

static void a_front_is_found_sooner_than_at_random(void)
{
    const double volume = volume_after(&bayesian_search, 2, 24);
    CHECK(volume > 0.3);
    CHECK(volume > 2 * volume_after(&random_search, 2, 24));
}

static void more_objectives_are_searched_as_well(void)
{
    CHECK(volume_after(&bayesian_search, 3, 30) >
          2 * volume_after(&random_search, 3, 30));
    CHECK(volume_after(&bayesian_search, 4, 30) >
          2 * volume_after(&random_search, 4, 30));
}

static void every_goal_is_foretold(void)
{
    struct setting setting = {.space = &space, .seed = 1, .n_goals = 3};
    setting.goals[2] = (struct goal){.safety = true, .threshold = 0.6};
    struct attempt run;
    struct value point[3];
    begin(&run, &bayesian_search, &setting);
    for (int i = 0; i < 15; i++) {
        double values[3];
        ask(&run, point);
        trade(3, point, values);
        tell(&run, point, values);
    }
    ask(&run, point);
    double values[3];
    trade(3, point, values);
    CHECK(run.reason.n_predicted == 3);
    for (size_t k = 0; k < 3; k++) {
        const struct quantiles *at = &run.reason.predicted[k];
        CHECK(at->low <= at->median && at->median <= at->high);
        CHECK(fabs(at->median - values[k]) < 0.5);
    }
    bayesian_search.free(run.state);
}

/* The more of the first the better, and too much of it is unsafe. */
static int unsafe_of(const struct setting *setting, int trials, double *best)
{
    struct attempt run;
    int unsafe = 0;
    begin(&run, &bayesian_search, setting);
    *best = -INFINITY;
    for (int i = 0; i < trials; i++) {
        struct value point[3];
        ask(&run, point);
        const double values[] = {point[0].real + point[1].real / 2,
                                 0.6 - point[0].real * point[0].real};
        tell(&run, point, values);
        unsafe += values[1] < 0 ? 1 : 0;
        *best = values[1] < 0 ? *best : fmax(*best, values[0]);
    }
    bayesian_search.free(run.state);
    return unsafe;
}

static void what_is_unsafe_is_avoided_and_its_edge_is_found(void)
{
    struct setting setting = {.space = &space, .seed = 3, .n_goals = 1};
    double best;
    const int heedless = unsafe_of(&setting, 30, &best);
    setting.n_goals = 2;
    setting.goals[1] = (struct goal){.safety = true};
    const int told = unsafe_of(&setting, 30, &best);
    CHECK(heedless >= 16);
    CHECK(told <= 12);
    CHECK(best > sqrt(0.6) + 0.5 - 0.03);
    setting.goals[1].safe_share = 0.95;
    const int careful = unsafe_of(&setting, 30, &best);
    CHECK(careful <= told && careful <= 5);
    CHECK(best > sqrt(0.6) + 0.5 - 0.1);
}

/* The best point that is safe lies on the edge, 0.15 / sqrt(1.25) away. */
static void a_plain_bound_is_known_exactly(void)
{
    struct setting setting = {.space = &space, .seed = 1, .n_goals = 2};
    setting.goals[1] = (struct goal){.safety = true, .threshold = -0.9};
    struct attempt run;
    double best = INFINITY;
    begin(&run, &bayesian_search, &setting);
    for (int i = 0; i < 30; i++) {
        struct value point[3];
        ask(&run, point);
        const double x = point[0].real, y = point[1].real;
        const double values[] = {-(x - 0.8) * (x - 0.8) - (y - 0.5) * (y - 0.5),
                                 -x - y / 2};
        tell(&run, point, values);
        best = values[1] >= -0.9 ? fmin(best, -values[0]) : best;
    }
    CHECK(best >= 0.018);
    CHECK(best < 0.0182);
    bayesian_search.free(run.state);
}

/* Nothing was safe: the chance to be so leads. */
static void a_safe_place_is_looked_for_first(void)
{
    struct setting setting = {.space = &space, .seed = 2, .n_goals = 2};
    setting.goals[1] = (struct goal){.safety = true, .threshold = 0.95};
    struct attempt run;
    int safe = 0;
    begin(&run, &bayesian_search, &setting);
    for (int i = 0; i < 25; i++) {
        struct value point[3];
        ask(&run, point);
        const double off = fabs(point[0].real - 0.9) +
                           fabs(point[1].real - 0.1) +
                           fabs(point[2].real - 0.9);
        const double values[] = {-point[0].real, 1 - off};
        tell(&run, point, values);
        safe += values[1] >= 0.95 ? 1 : 0;
    }
    CHECK(safe >= 2);
    bayesian_search.free(run.state);
}

static void pending_trials_keep_others_away(void)
{
    const struct setting setting = {.space = &space, .seed = 7, .n_goals = 2};
    struct attempt run;
    struct value points[4][3];
    const struct value *pending[4];
    begin(&run, &bayesian_search, &setting);
    for (int i = 0; i < 12; i++) {
        struct value point[3];
        double values[2];
        ask(&run, point);
        trade(2, point, values);
        tell(&run, point, values);
    }
    for (size_t i = 0; i < 4; i++) {
        const struct suggest_request request = {.ordinal = run.n++,
                                                .taken = &nothing,
                                                .n_pending = i,
                                                .pending = pending};
        CHECK(bayesian_search.suggest(run.state, &request, points[i],
                                      &run.reason, NULL) == HT_OK);
        pending[i] = points[i];
        for (size_t j = 0; j < i; j++) {
            double apart = 0;
            for (size_t c = 0; c < 3; c++)
                apart += fabs(points[i][c].real - points[j][c].real);
            CHECK(apart > 1e-3);
        }
    }
    bayesian_search.free(run.state);
}

static void ties_and_constants_are_no_trouble(void)
{
    struct setting setting = {.space = &space, .seed = 4, .n_goals = 3};
    setting.goals[2] = (struct goal){.safety = true, .threshold = 5};
    struct attempt run;
    begin(&run, &bayesian_search, &setting);
    for (int i = 0; i < 14; i++) {
        struct value point[3];
        const double values[] = {i % 2, 1e300 * (i % 3 - 1), 4};
        ask(&run, point);
        for (size_t c = 0; c < 3; c++)
            CHECK(point[c].real >= 0 && point[c].real <= 1);
        tell(&run, point, values);
    }
    bayesian_search.free(run.state);
}

int main(void)
{
    algorithm_init();
    RUN(a_front_is_found_sooner_than_at_random);
    RUN(more_objectives_are_searched_as_well);
    RUN(every_goal_is_foretold);
    RUN(what_is_unsafe_is_avoided_and_its_edge_is_found);
    RUN(a_plain_bound_is_known_exactly);
    RUN(a_safe_place_is_looked_for_first);
    RUN(pending_trials_keep_others_away);
    RUN(ties_and_constants_are_no_trouble);
    return check_done();
}
