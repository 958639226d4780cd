/* Random histories of random spaces: whatever trials came to, a suggestion is
 * a free, allowed point within its bounds, its reason has numbers, and the same
 * history gives the same suggestion again.
 *
 * HYPERTUNE_HISTORIES: how many, by default a hundred; the search's promise is
 * for 10,000. HYPERTUNE_SEED: the first one's number. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/base/algorithm.h"
#include "proto/base/arena.h"
#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "tests/check.h"
#include "tests/lib/draw.h"
#include "tests/lib/searching.h"

enum {
    HISTORIES = 100,
    MOST_RESULTS = 60,
    MOST_PENDING = 6,
    QUESTIONS = 2,
    LEVELS = 12 /* of a parameter with a list of values */
};

static uint64_t histories = HISTORIES, first_history = 0;

/* ---- spaces ---- */

static void draw_double(struct draw *draw, struct param *param)
{
    static const double ranges[][2] = {
        {0, 1},         {-5, 10},
        {1e-8, 1e2},    {1e300, 1.5e300},
        {-1e-300, 1e8}, {0.25, 0.25},
        {1, 1 + 1e-12}, {-DBL_MAX / 4, DBL_MAX / 4}};
    const double *range =
        ranges[draw_below(draw, sizeof ranges / sizeof *ranges)];
    param->type = PARAM_DOUBLE;
    param->min = range[0];
    param->max = range[1];
    if (range[0] > 0)
        param->scale = (enum param_scale)draw_below(draw, 3);
    if (range[1] <= 10 && draw_chance(draw, 0.2))
        param->step = (range[1] - range[0]) / 7;
}

static void draw_integer(struct draw *draw, struct param *param)
{
    static const int64_t ranges[][2] = {{1, 4},
                                        {0, 0},
                                        {-7, 1000},
                                        {1, INT64_C(1) << 40},
                                        {INT64_MIN / 2, INT64_MAX / 2},
                                        {1, INT64_MAX}};
    const int64_t *range =
        ranges[draw_below(draw, sizeof ranges / sizeof *ranges)];
    param->type = PARAM_INTEGER;
    param->int_min = range[0];
    param->int_max = range[1];
    param->int_step = range[1] == 1000 ? 19 : 1;
    if (range[0] > 0)
        param->scale = (enum param_scale)draw_below(draw, 3);
}

static void draw_list(struct draw *draw, struct param *param)
{
    static const char *const labels[LEVELS] = {"a", "b", "c", "d", "e", "f",
                                               "g", "h", "i", "j", "k", "l"};
    double *numbers = arena_alloc(draw->arena, LEVELS, sizeof *numbers);
    param->n_values = 1 + draw_below(draw, LEVELS);
    param->type = draw_chance(draw, 0.5) ? PARAM_DISCRETE : PARAM_CATEGORICAL;
    for (size_t j = 0; j < param->n_values; j++)
        numbers[j] = exp((double)j) + (j == 0 ? 0 : draw_unit(draw));
    param->numbers = numbers;
    param->labels = labels;
}

/* The last parameter may exist only with the first value of the first one. */
static void draw_condition(struct draw *draw, struct space *space)
{
    static const struct value zero = {0};
    if (space->n < 2 || space->params[0].type < PARAM_DISCRETE ||
        !draw_chance(draw, 0.5))
        return;
    struct condition *when = arena_alloc(draw->arena, 1, sizeof *when);
    *when = (struct condition){.parent = 0, .n = 1, .values = &zero};
    space->params[space->n - 1].when = when;
}

static struct space draw_space(struct draw *draw)
{
    static void (*const kinds[])(struct draw *, struct param *) = {
        draw_double, draw_integer, draw_list};
    struct space space = {.n = draw_chance(draw, 0.02) ? HT_MAX_PARAMETERS
                                                       : draw_below(draw, 7)};
    space.params = arena_alloc(draw->arena, space.n + 1, sizeof *space.params);
    for (size_t i = 0; i < space.n; i++) {
        space.params[i] = (struct param){
            .name = arena_printf(draw->arena, "p%zu", i), .int_step = 1};
        kinds[draw_below(draw, 3)](draw, &space.params[i]);
    }
    draw_condition(draw, &space);
    return space;
}

/* Of two continuous parameters; those that no point satisfies are refused. */
static struct constraint_set draw_constraints(struct draw *draw,
                                              const struct space *space)
{
    static const char *const texts[] = {"p0 < p1", "p0 + p1 <= 1",
                                        "not (p0 > 0.5 and p1 > 0.5)"};
    const char *text = texts[draw_below(draw, sizeof texts / sizeof *texts)];
    struct constraint_set set = {0};
    if (space->n < 2 || !draw_chance(draw, 0.2) ||
        constraint_set_parse(draw->arena, space, 1, &text, &set, NULL) != HT_OK)
        set.n = 0;
    return set;
}

static const struct value *draw_point(struct draw *draw,
                                      const struct space *space)
{
    struct value *point = arena_alloc(draw->arena, space->n + 1, sizeof *point);
    const bool edge = draw_chance(draw, 0.1);
    for (size_t i = 0; i < space->n; i++)
        point[i] = space_param_from_unit(
            &space->params[i],
            edge ? (draw_chance(draw, 0.5) ? 0 : nextafter(1, 0))
                 : draw_unit(draw));
    space_settle(space, point);
    return point;
}

/* ---- results ---- */

enum taste { PLAIN, TIED, CONSTANT, HUGE_SPREAD, TINY_SPREAD, BROKEN, TASTES };

static double draw_result(struct draw *draw, enum taste taste)
{
    static const double broken[] = {NAN,     INFINITY, -INFINITY, 1e300, -1e300,
                                    DBL_MAX, -DBL_MAX, DBL_MIN,   0};
    switch (taste) {
    case PLAIN:
        return 10 * draw_unit(draw) - 5;
    case TIED:
        return (double)draw_below(draw, 3);
    case CONSTANT:
        return 0.1;
    case HUGE_SPREAD:
        return ldexp(draw_unit(draw) - 0.5, (int)draw_below(draw, 1900) - 900);
    case TINY_SPREAD:
        return 1 + 1e-15 * draw_unit(draw);
    case BROKEN:
    case TASTES:
        break;
    }
    return draw_chance(draw, 0.5)
               ? broken[draw_below(draw, sizeof broken / sizeof *broken)]
               : draw_unit(draw);
}

/* ---- a history ---- */

struct history {
    struct space space;
    struct constraint_set constraints;
    struct setting setting;
    size_t n, n_taken, n_pending;
    struct observation results[MOST_RESULTS];
    const struct value *taken[MOST_RESULTS + MOST_PENDING + QUESTIONS];
    const struct value *pending[MOST_PENDING];
    uint64_t max_trials;
    const struct subspace *within; /* asked for now */
};

static void draw_results(struct draw *draw, struct history *history)
{
    enum taste tastes[SETTING_METRICS];
    const double fails = draw_chance(draw, 0.3) ? draw_unit(draw) : 0;
    const double repeats = draw_chance(draw, 0.2) ? 0.5 : 0;
    for (size_t k = 0; k < history->setting.n_goals; k++)
        tastes[k] = (enum taste)draw_below(draw, TASTES);
    history->n = draw_below(draw, 4) == 0 ? draw_below(draw, 4)
                                          : draw_below(draw, MOST_RESULTS + 1);
    for (size_t i = 0; i < history->n; i++) {
        double *values =
            arena_alloc(draw->arena, SETTING_METRICS, sizeof *values);
        const struct value *point = i > 0 && draw_chance(draw, repeats)
                                        ? history->taken[draw_below(draw, i)]
                                        : draw_point(draw, &history->space);
        for (size_t k = 0; k < history->setting.n_goals; k++)
            values[k] = draw_result(draw, tastes[k]);
        history->taken[i] = point;
        history->results[i] = (struct observation){
            .point = point,
            .feasible = !draw_chance(draw, fails),
            .values = values,
            .variance = draw_chance(draw, 0.1) ? draw_unit(draw) : 0};
    }
}

/* Some of them the same as results, as replicates are. */
static void draw_pending(struct draw *draw, struct history *history)
{
    history->n_pending =
        draw_chance(draw, 0.5) ? draw_below(draw, MOST_PENDING + 1) : 0;
    for (size_t i = 0; i < history->n_pending; i++) {
        history->pending[i] = history->n > 0 && draw_chance(draw, 0.1)
                                  ? history->taken[draw_below(draw, history->n)]
                                  : draw_point(draw, &history->space);
        history->taken[history->n + i] = history->pending[i];
    }
    history->n_taken = history->n + history->n_pending;
}

static void draw_history(struct draw *draw, struct history *history)
{
    history->space = draw_space(draw);
    history->constraints = draw_constraints(draw, &history->space);
    history->setting = (struct setting){
        .space = &history->space,
        .seed = (uint64_t)draw_below(draw, 1 << 30),
        .n_goals = draw_chance(draw, 0.3) ? draw_below(draw, 4) : 1,
        .noise = (enum noise)draw_below(draw, 3)};
    for (size_t k = 1; k < history->setting.n_goals; k++)
        history->setting.goals[k] = (struct goal){
            .safety = draw_chance(draw, 0.3),
            .threshold = draw_unit(draw),
            .safe_share = draw_chance(draw, 0.5) ? draw_unit(draw) : 0};
    history->max_trials =
        draw_chance(draw, 0.5) ? 1 + draw_below(draw, 200) : 0;
    draw_results(draw, history);
    draw_pending(draw, history);
}

/* ---- what is asked ---- */

static bool has_taken(void *context, const struct value point[])
{
    const struct history *history = context;
    for (size_t i = 0; i < history->n_taken; i++)
        if (same_point(&history->space, point, history->taken[i]))
            return true;
    return false;
}

/* Distinct points that are taken. */
static uint64_t count_taken(const struct history *history)
{
    uint64_t n = 0;
    for (size_t i = 0; i < history->n_taken; i++) {
        size_t j = 0;
        while (j < i && !same_point(&history->space, history->taken[i],
                                    history->taken[j]))
            j++;
        n += j == i ? 1 : 0;
    }
    return n;
}

/* The part where some parameters have the values that they have in a point. */
static const struct subspace *draw_part(struct draw *draw,
                                        struct history *history)
{
    const struct space *space = &history->space;
    struct subspace *part = arena_alloc(draw->arena, 1, sizeof *part);
    struct value given[HT_MAX_PARAMETERS];
    const struct value *point = draw_point(draw, space);
    const double share = draw_unit(draw);
    size_t at;
    for (size_t i = 0; i < space->n; i++)
        given[i] = draw_chance(draw, share) ? point[i]
                                            : (struct value){.absent = true};
    if (subspace_make(draw->arena, space, given, part, &at, NULL) != HT_OK ||
        !subspace_has(part, point))
        abort();
    return part;
}

static enum ht_status suggest(struct history *history, void *state,
                              uint64_t ordinal, struct value point[],
                              struct reason *reason)
{
    const struct taken taken = {has_taken, history, count_taken(history)};
    const struct suggest_request request = {
        .ordinal = ordinal,
        .taken = &taken,
        .constraints =
            history->constraints.n > 0 ? &history->constraints : NULL,
        .within = history->within,
        .n_pending = history->n_pending,
        .pending = history->pending,
        .max_trials = history->max_trials};
    return algorithm_default()->suggest(state, &request, point, reason, NULL);
}

/* Its canonical text reads back, which checks bounds, steps and conditions. */
static bool is_valid(struct draw *draw, struct history *history,
                     const struct value point[])
{
    struct text text = {0};
    struct value *again =
        arena_alloc(draw->arena, history->space.n + 1, sizeof *again);
    space_point_text(&history->space, point, &text);
    const bool reads =
        space_point_parse(&history->space, text.data, again, NULL) == HT_OK &&
        same_point(&history->space, point, again);
    text_free(&text);
    return reads && !has_taken(history, point) &&
           subspace_has(history->within, point) &&
           constraint_set_holds(&history->constraints, point);
}

static bool has_numbers(const struct history *history,
                        const struct reason *reason)
{
    if (reason->n_predicted > history->setting.n_goals ||
        isinf(reason->acquisition) > 0)
        return false;
    for (size_t k = 0; k < reason->n_predicted; k++) {
        const struct quantiles *predicted = &reason->predicted[k];
        if (!(predicted->low <= predicted->median &&
              predicted->median <= predicted->high))
            return false;
    }
    return !reason->has_nearest ||
           (reason->nearest < history->n && reason->distance >= 0);
}

/* With so many results that have an objective, there is a model. */
static bool has_model(const struct history *history,
                      const struct reason *reason)
{
    enum { ENOUGH = 12 };
    size_t told = 0;
    for (size_t i = 0; i < history->n; i++)
        told += history->results[i].feasible && history->setting.n_goals > 0 &&
                        isfinite(history->results[i].values[0])
                    ? 1
                    : 0;
    return told < ENOUGH || history->space.n == 0 ||
           reason->kind == REASON_EXPLOITS || reason->kind == REASON_EXPLORES;
}

static void *new_state(const struct history *history)
{
    const struct algorithm *algorithm = algorithm_default();
    void *state = NULL;
    if (algorithm->new (&history->setting, &state, NULL) != HT_OK)
        return NULL;
    for (size_t i = 0; i < history->n; i++)
        algorithm->observe(state, &history->results[i], NULL);
    return state;
}

/* The first thing that is wrong, NULL when nothing is. */
static const char *find_fault(struct draw *draw, struct history *history)
{
    struct value point[HT_MAX_PARAMETERS], again[HT_MAX_PARAMETERS];
    const char *fault = NULL;
    void *state = new_state(history), *other = new_state(history);
    if (state == NULL || other == NULL)
        return "no state";
    for (uint64_t i = 0; i < QUESTIONS && fault == NULL; i++) {
        struct reason reason, because;
        history->within =
            draw_chance(draw, 0.4) ? draw_part(draw, history) : NULL;
        const enum ht_status status =
            suggest(history, state, history->n + i, point, &reason);
        if (status == HT_EXHAUSTED && history->within != NULL)
            continue;
        if (status == HT_EXHAUSTED)
            break;
        if (status != HT_OK)
            fault = "no suggestion";
        else if (!is_valid(draw, history, point))
            fault = "an invalid point";
        else if (!has_numbers(history, &reason))
            fault = "a reason without numbers";
        else if (!has_model(history, &reason))
            fault = "no model";
        else if (suggest(history, other, history->n + i, again, &because) !=
                     HT_OK ||
                 !same_point(&history->space, point, again))
            fault = "another point the second time";
        struct value *kept =
            arena_alloc(draw->arena, history->space.n + 1, sizeof *kept);
        memcpy(kept, point, history->space.n * sizeof *kept);
        history->taken[history->n_taken++] = kept;
    }
    algorithm_default()->free(state);
    algorithm_default()->free(other);
    return fault;
}

static void no_history_breaks_the_search(void)
{
    static struct history history;
    size_t faults = 0;
    for (uint64_t i = first_history; i < first_history + histories; i++) {
        struct draw draw = {arena_new(), {.seed = 1, .ordinal = i}};
        history = (struct history){0};
        draw_history(&draw, &history);
        const char *fault = find_fault(&draw, &history);
        if (fault != NULL)
            printf("# history %llu: %s; %zu parameters, %zu results\n",
                   (unsigned long long)i, fault, history.space.n, history.n);
        faults += fault == NULL ? 0 : 1;
        arena_free(draw.arena);
    }
    CHECK(histories > 0 && faults == 0);
}

int main(void)
{
    json_init();
    algorithm_init();
    if (getenv("HYPERTUNE_HISTORIES") != NULL)
        histories = strtoull(getenv("HYPERTUNE_HISTORIES"), NULL, 10);
    if (getenv("HYPERTUNE_SEED") != NULL)
        first_history = strtoull(getenv("HYPERTUNE_SEED"), NULL, 10);
    RUN(no_history_breaks_the_search);
    return check_done();
}
