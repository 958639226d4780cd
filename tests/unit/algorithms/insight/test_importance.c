/* Importances of problems whose truth is known: the Shapley effects of the
 * function itself, found from many of its values. */
#include "algorithms/insight/importance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/base/rng.h"
#include "tests/check.h"

enum { MOST = 12, WALKS = 8000 };

struct problem {
    struct space space;
    double (*value)(const struct param params[], const struct value point[]);
    double noise;
    void (*leave_out)(struct value point[]); /* of an open space */
    bool (*allows)(const struct value point[]);
    double failures; /* the share of trials without a result */
    double poor;     /* the value of the 4th trial and the last, unless 0 */
};

/* ---- points ---- */

/* From 0 to 1 on its scale. */
static double unit(const struct param *param, struct value value)
{
    if (param->type == PARAM_INTEGER)
        return ((double)(value.whole - param->int_min) + 0.5) /
               (double)(param->int_max - param->int_min + 1);
    if (param->scale == SCALE_LOG)
        return log(value.real / param->min) / log(param->max / param->min);
    return (value.real - param->min) / (param->max - param->min);
}

static void settle(const struct problem *problem, struct value point[])
{
    if (problem->leave_out != NULL)
        problem->leave_out(point);
    else
        space_settle(&problem->space, point);
}

static void draw(const struct problem *problem, uint64_t seed, uint64_t i,
                 struct value point[])
{
    for (uint64_t at = 0;; at++) {
        const struct rng_place place = {seed, i, at};
        for (size_t k = 0; k < problem->space.n; k++)
            point[k] = space_param_from_unit(&problem->space.params[k],
                                             rng_unit(&place, k));
        if (problem->allows == NULL || problem->allows(point))
            return;
    }
}

static double value_at(const struct problem *problem,
                       const struct value point[])
{
    struct value settled[MOST];
    memcpy(settled, point, problem->space.n * sizeof *settled);
    settle(problem, settled);
    return problem->value(problem->space.params, settled);
}

/* ---- what is true ---- */

static void shuffle(uint64_t walk, size_t n, size_t order[])
{
    const struct rng_place place = {7, walk, 0};
    for (size_t k = 0; k < n; k++)
        order[k] = k;
    for (size_t left = n; left > 1; left--) {
        const size_t k = (size_t)(rng_unit(&place, left) * (double)left);
        const size_t kept = order[left - 1];
        order[left - 1] = order[k];
        order[k] = kept;
    }
}

static void find_truth(const struct problem *problem, double truth[])
{
    const size_t n = problem->space.n;
    struct value at[MOST], to[MOST];
    size_t order[MOST];
    double all = 0;
    memset(truth, 0, n * sizeof *truth);
    for (uint64_t w = 0; w < WALKS; w++) {
        draw(problem, 101, w, at);
        draw(problem, 202, w, to);
        shuffle(w, n, order);
        const double first = value_at(problem, at);
        double last = first;
        for (size_t i = 0; i < n; i++) {
            at[order[i]] = to[order[i]];
            const double next = value_at(problem, at);
            truth[order[i]] += pow(next - first, 2) - pow(last - first, 2);
            last = next;
        }
        all += pow(last - first, 2);
    }
    for (size_t k = 0; k < n; k++)
        truth[k] = all > 0 ? truth[k] / all : 0;
}

/* ---- what results say ---- */

static bool is_taken(void *context, const struct value point[])
{
    (void)context;
    (void)point;
    return false;
}

static void ask(void *state, uint64_t ordinal, struct value point[])
{
    static const struct taken taken = {.has = is_taken};
    const struct suggest_request request = {.ordinal = ordinal,
                                            .taken = &taken};
    struct reason reason;
    CHECK(bayesian_search.suggest(state, &request, point, &reason, NULL) ==
          HT_OK);
}

/* `searched` points are those of the search itself, others are drawn. */
static void run_trials(const struct problem *problem, bool searched, uint64_t n,
                       struct history *history)
{
    const struct setting setting = {
        .space = &problem->space, .seed = 5, .n_goals = 1};
    struct value point[MOST];
    void *state = NULL;
    if (searched)
        CHECK(bayesian_search.new(&setting, &state, NULL) == HT_OK);
    for (uint64_t i = 0; i < n; i++) {
        const struct rng_place place = {3, i, 0};
        if (searched)
            ask(state, i, point);
        else
            draw(problem, 11, i, point);
        settle(problem, point);
        const double own = problem->value(problem->space.params, point) +
                           problem->noise * rng_normal(&place, 0);
        const bool is_poor = problem->poor < 0 && (i == 3 || i == n - 1);
        const double value = is_poor ? problem->poor * (double)i : own;
        const struct observation seen = {.point = point,
                                         .feasible = rng_unit(&place, 9) >=
                                                     problem->failures,
                                         .values = &value};
        history_add(history, &seen);
        if (searched)
            CHECK(bayesian_search.observe(state, &seen, NULL) == HT_OK);
    }
    if (searched)
        bayesian_search.free(state);
}

/* One share within `tolerance` of the truth; none where there is none. */
static void check_share(const char *name, const struct importance *found,
                        double truth, double tolerance)
{
    const double off = fabs(found->share - truth);
    if (off > tolerance)
        printf("# %s: found %.3f, is %.3f\n", name, found->share, truth);
    CHECK(off <= tolerance);
    if (found->certain)
        CHECK(truth > 0 && found->alone <= found->share &&
              found->share <= found->total);
    else
        CHECK(found->share == 0);
    CHECK(found->total <= 1 && found->good >= 0);
}

static void check_shares(const struct problem *problem, bool searched,
                         uint64_t n, double tolerance)
{
    struct encoding encoding;
    struct history history;
    struct importance found[MOST];
    double truth[MOST], sum = 0;
    find_truth(problem, truth);
    encoding_init(&encoding, &problem->space);
    history_init(&history, &encoding, 1);
    run_trials(problem, searched, n, &history);
    CHECK(importance_find(&history, 0, NOISE_UNKNOWN, 1, found));
    for (size_t c = 0; c < encoding.dim; c++) {
        const size_t i = encoding.at[c].param;
        check_share(problem->space.params[i].name, &found[c], truth[i],
                    tolerance);
        sum += found[c].share;
    }
    CHECK(sum < 1 + 1e-9);
    history_fini(&history);
    encoding_fini(&encoding);
}

/* ---- problems ---- */

#define REAL(called)                                                           \
    {                                                                          \
        .name = (called), .type = PARAM_DOUBLE, .max = 1                       \
    }
#define LOG(called)                                                            \
    {                                                                          \
        .name = (called), .type = PARAM_DOUBLE, .min = 1e-5, .max = 1,         \
        .scale = SCALE_LOG                                                     \
    }
#define WHOLE(called, low, high)                                               \
    {                                                                          \
        .name = (called), .type = PARAM_INTEGER, .int_min = (low),             \
        .int_max = (high), .int_step = 1                                       \
    }
#define KIND(called)                                                           \
    {                                                                          \
        .name = (called), .type = PARAM_CATEGORICAL, .n_values = 3,            \
        .labels = labels                                                       \
    }

static const char *const labels[] = {"a", "b", "c"};

static struct param mixed[] = {REAL("x"),     LOG("lr"),    WHOLE("n", 1, 8),
                               KIND("opt"),   REAL("idle"), KIND("idle_kind"),
                               LOG("idle_lr")};

static double sum_of(const struct param p[], const struct value x[])
{
    return -4 * pow(unit(&p[0], x[0]) - 0.6, 2) -
           2 * fabs(unit(&p[1], x[1]) - 0.4) - 0.8 * unit(&p[2], x[2]) +
           0.3 * (x[3].whole == 1);
}

static struct param crossed[] = {REAL("a"), REAL("b"), REAL("c"), REAL("idle")};

static double product_of(const struct param p[], const struct value x[])
{
    return 4 * (unit(&p[0], x[0]) - 0.5) * (unit(&p[1], x[1]) - 0.5) +
           0.5 * unit(&p[2], x[2]);
}

static bool below_a_line(const struct value x[])
{
    return x[0].real + x[1].real <= 1.4;
}

static const struct value first = {.whole = 0}, second = {.whole = 1};
static struct condition when_a = {.parent = 0, .n = 1, .values = &first};
static struct condition when_b = {.parent = 0, .n = 1, .values = &second};
static struct param branches[] = {
    KIND("kind"),
    {.name = "strong", .type = PARAM_DOUBLE, .max = 1, .when = &when_a},
    {.name = "unused", .type = PARAM_DOUBLE, .max = 1, .when = &when_a},
    {.name = "other", .type = PARAM_DOUBLE, .max = 1, .when = &when_b},
    REAL("x"),
    REAL("idle")};

static double one_strong_branch(const struct param p[], const struct value x[])
{
    const double always = -pow(unit(&p[4], x[4]) - 0.3, 2);
    if (x[0].whole == 0)
        return always + 0.5 - 4 * pow(unit(&p[1], x[1]) - 0.7, 2);
    return always + (x[0].whole == 1);
}

static double only_the_parent(const struct param p[], const struct value x[])
{
    const double of_kind[] = {1, 0.3, 0};
    return -pow(unit(&p[4], x[4]) - 0.3, 2) + of_kind[x[0].whole];
}

/* As a program that asks for the units of each layer defines it. */
static struct param layered[] = {WHOLE("layers", 1, 4), WHOLE("u0", 4, 64),
                                 WHOLE("u1", 4, 64),    WHOLE("u2", 4, 64),
                                 WHOLE("u3", 4, 64),    LOG("lr"),
                                 REAL("drop")};

static void leave_layers_out(struct value point[])
{
    for (int64_t i = 0; i < 4; i++)
        point[1 + i].absent = i >= point[0].whole;
}

static double of_layers(const struct param p[], const struct value x[])
{
    return -fabs((double)x[0].whole - 3) - 8 * pow(unit(&p[5], x[5]) - 0.6, 2) -
           2 * pow(unit(&p[6], x[6]) - 0.3, 2);
}

static double nothing(const struct param p[], const struct value x[])
{
    (void)p;
    (void)x;
    return 0;
}

#define SPACE(of)                                                              \
    {                                                                          \
        .n = sizeof(of) / sizeof *(of), .params = (of)                         \
    }

static const struct problem additive = {.space = SPACE(mixed), .value = sum_of};
static const struct problem noisy = {
    .space = SPACE(mixed), .value = sum_of, .noise = 0.3};
static const struct problem failing = {
    .space = SPACE(mixed), .value = sum_of, .failures = 0.3};
static const struct problem diverging = {
    .space = SPACE(mixed), .value = sum_of, .poor = -1e6};
static const struct problem diverging_branches = {
    .space = SPACE(branches), .value = one_strong_branch, .poor = -40};
static const struct problem interacting = {
    .space = SPACE(crossed), .value = product_of, .noise = 0.02};
static const struct problem bounded = {
    .space = SPACE(crossed), .value = product_of, .allows = below_a_line};
static const struct problem strong = {
    .space = SPACE(branches), .value = one_strong_branch, .noise = 0.02};
static const struct problem idle = {
    .space = SPACE(branches), .value = only_the_parent, .noise = 0.02};
static const struct problem open_space = {
    .space = {.n = 7, .params = layered, .open = true},
    .value = of_layers,
    .noise = 0.02,
    .leave_out = leave_layers_out};
static const struct problem chance = {
    .space = SPACE(mixed), .value = nothing, .noise = 1};

/* ---- tests ---- */

static void drawn_results_tell_the_truth(void)
{
    check_shares(&additive, false, 60, 0.12);
    check_shares(&additive, false, 200, 0.1);
    check_shares(&interacting, false, 20, 0.12);
    check_shares(&interacting, false, 60, 0.08);
    check_shares(&noisy, false, 200, 0.12);
}

static void failures_and_bounds_change_nothing(void)
{
    check_shares(&failing, false, 100, 0.12);
    check_shares(&bounded, false, 80, 0.1);
}

/* As where a loss overflows: beside it all other results look alike. */
static void results_far_off_hide_no_parameter(void)
{
    check_shares(&diverging, false, 60, 0.12);
    check_shares(&diverging, false, 200, 0.1);
    check_shares(&diverging_branches, false, 160, 0.1);
}

static void a_child_has_what_it_does_and_no_more(void)
{
    check_shares(&strong, false, 60, 0.1);
    check_shares(&strong, false, 200, 0.1);
    check_shares(&idle, false, 20, 0.1);
    check_shares(&idle, false, 60, 0.06);
}

static void an_open_space_gives_presence_to_what_decides_it(void)
{
    check_shares(&open_space, false, 20, 0.25);
    check_shares(&open_space, false, 60, 0.1);
    check_shares(&open_space, false, 200, 0.08);
}

/* A search looks where it is good, and learns little of the rest. */
static void results_of_a_search_tell_it_too(void)
{
    check_shares(&additive, true, 60, 0.35);
    check_shares(&interacting, true, 20, 0.15);
    check_shares(&idle, true, 20, 0.2);
    check_shares(&idle, true, 60, 0.2);
    check_shares(&idle, true, 200, 0.25);
    check_shares(&strong, true, 60, 0.25);
}

static void chance_has_no_importance(void)
{
    check_shares(&chance, true, 20, 0);
    check_shares(&chance, true, 60, 0);
    check_shares(&chance, true, 200, 0);
    check_shares(&chance, false, 60, 0);
    check_shares(&chance, false, 200, 0);
}

static void few_results_rank_nothing(void)
{
    struct encoding encoding;
    struct history history;
    struct importance found[MOST];
    const struct problem most_fail = {
        .space = SPACE(mixed), .value = sum_of, .failures = 0.5};
    encoding_init(&encoding, &most_fail.space);
    history_init(&history, &encoding, 1);
    run_trials(&most_fail, false, IMPORTANCE_LEAST + 2, &history);
    CHECK(!importance_find(&history, 0, NOISE_UNKNOWN, 1, found));
    history_fini(&history);
    encoding_fini(&encoding);
}

static void equal_results_share_nothing_out(void)
{
    const struct problem flat = {.space = SPACE(mixed), .value = nothing};
    check_shares(&flat, false, 20, 0);
}

static void each_metric_has_its_own(void)
{
    struct encoding encoding;
    struct history history;
    struct importance of_first[MOST], of_second[MOST];
    const struct space space = SPACE(crossed);
    const struct problem problem = {.space = SPACE(crossed),
                                    .value = product_of};
    struct value point[MOST];
    encoding_init(&encoding, &space);
    history_init(&history, &encoding, 2);
    for (uint64_t i = 0; i < 40; i++) {
        draw(&problem, 11, i, point);
        const double values[] = {point[0].real,
                                 i % 3 == 0 ? NAN : -point[2].real};
        const struct observation seen = {
            .point = point, .feasible = true, .values = values};
        history_add(&history, &seen);
    }
    CHECK(importance_find(&history, 0, NOISE_UNKNOWN, 1, of_first));
    CHECK(importance_find(&history, 1, NOISE_UNKNOWN, 1, of_second));
    CHECK(of_first[0].share > 0.98 && of_second[0].share == 0);
    CHECK(of_second[2].share > 0.98 && of_first[2].share == 0);
    history_fini(&history);
    encoding_fini(&encoding);
}

int main(void)
{
    algorithm_init();
    RUN(drawn_results_tell_the_truth);
    RUN(failures_and_bounds_change_nothing);
    RUN(results_far_off_hide_no_parameter);
    RUN(a_child_has_what_it_does_and_no_more);
    RUN(an_open_space_gives_presence_to_what_decides_it);
    RUN(results_of_a_search_tell_it_too);
    RUN(chance_has_no_importance);
    RUN(few_results_rank_nothing);
    RUN(equal_results_share_nothing_out);
    RUN(each_metric_has_its_own);
    return check_done();
}
