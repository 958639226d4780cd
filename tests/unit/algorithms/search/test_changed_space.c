/* Random studies whose space changes again and again: whatever earlier trials
 * had, a suggestion lies in today's space and constraints, and its reason has
 * numbers. */
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
    CHANGES = 200,
    PARAMS = 4,
    FEW = 4, /* results between two changes */
    MANY = 24,
    MOST_TRIALS = 3 * MANY,
    QUESTIONS = 2
};

/* ---- spaces ---- */

static const double listed[] = {0.5, 1, 2, 4, 8, 16, 32, 64};
static const char *const words[] = {"a", "b", "c", "d", "e", "f"};
static const struct value first_word = {.whole = 0};
static const struct condition when_first = {
    .parent = PARAMS - 1, .n = 1, .values = &first_word};

/* A range anywhere, at times a single value; or one that overlaps an old one.
 */
static void draw_range(struct draw *draw, const struct param *old,
                       struct param *param)
{
    const double lowest = param->scale == SCALE_LINEAR ? -50 : 1e-3;
    const bool whole = param->type == PARAM_INTEGER;
    double low = lowest + 90 * draw_unit(draw),
           wide = 0.01 + 10 * draw_unit(draw);
    if (old != NULL && draw_below(draw, 4) > 0) {
        low = whole ? (double)old->int_min : old->min;
        wide = whole ? (double)old->int_max - low : old->max - low;
        low = fmax(low + (draw_unit(draw) - 0.4) * wide, lowest);
        wide *= 0.5 + draw_unit(draw);
    } else if (draw_below(draw, 6) == 0) {
        wide = 0;
    }
    param->min = low;
    param->max = low + wide;
    param->step = wide > 0 && draw_below(draw, 4) == 0 ? wide / 7 : 0;
    param->int_min = (int64_t)ceil(low);
    param->int_max = param->int_min + (int64_t)wide * 3 / 2;
    param->int_step = wide > 5 ? 2 : 1;
}

static void draw_values(struct draw *draw, struct param *param)
{
    const size_t from = param->type == PARAM_DISCRETE ? draw_below(draw, 4)
                                                      : draw_below(draw, 2);
    param->numbers = listed + from;
    param->labels = words; /* the first stays: a condition asks for it */
    param->n_values = 1 + draw_below(draw, 4);
}

static struct space draw_space(struct draw *draw, const struct space *before)
{
    static const char *const names[PARAMS] = {"p0", "p1", "p2", "kind"};
    struct space space = {.n = PARAMS};
    space.params = arena_alloc(draw->arena, PARAMS, sizeof *space.params);
    for (size_t i = 0; i < PARAMS; i++) {
        struct param *param = &space.params[i];
        *param = (struct param){.name = names[i], .type = PARAM_CATEGORICAL};
        if (before != NULL) {
            param->type = before->params[i].type;
            param->scale = before->params[i].scale;
        } else if (i + 1 < PARAMS) {
            param->type = (enum param_type)draw_below(draw, 3);
            param->scale = (enum param_scale)draw_below(draw, 3);
        }
        if (param->type >= PARAM_DISCRETE)
            draw_values(draw, param);
        else
            draw_range(draw, before ? &before->params[i] : NULL, param);
    }
    space.params[1].when = (struct condition *)(uintptr_t)&when_first;
    return space;
}

/* ---- a study ---- */

struct study {
    struct draw draw;
    struct space space;
    struct constraint_set constraints;
    size_t n;
    const char *trials[MOST_TRIALS]; /* as the database holds them */
    struct value points[MOST_TRIALS][PARAMS];
    double values[MOST_TRIALS];
};

static const char *text_of(struct study *study, const struct value point[])
{
    struct text text = {0};
    space_point_text(&study->space, point, &text);
    return text_take(&text, study->draw.arena);
}

static bool is_taken(void *context, const struct value point[])
{
    struct study *study = context;
    const char *text = text_of(study, point);
    for (size_t i = 0; i < study->n; i++)
        if (strcmp(study->trials[i], text) == 0)
            return true;
    return false;
}

static uint64_t count_taken(const struct study *study)
{
    uint64_t n = 0;
    for (size_t i = 0; i < study->n; i++) {
        size_t j = 0;
        while (j < i && strcmp(study->trials[i], study->trials[j]) != 0)
            j++;
        n += j == i && space_has(&study->space, study->points[i]);
    }
    return n;
}

static void add_trials(struct study *study, size_t n)
{
    for (; n > 0 && study->n < MOST_TRIALS; n--) {
        struct value *point = study->points[study->n];
        double sum = 0;
        for (size_t i = 0; i < PARAMS; i++)
            point[i] = space_param_from_unit(&study->space.params[i],
                                             draw_unit(&study->draw));
        space_settle(&study->space, point);
        for (size_t i = 0; i < PARAMS; i++)
            sum += point[i].absent
                       ? 0
                       : sin(point[i].real) + (double)(point[i].whole % 7);
        study->values[study->n] = sum;
        study->trials[study->n] = text_of(study, point);
        study->n++;
    }
}

/* At times a bound that leaves the upper half of a parameter. */
static void draw_constraint(struct study *study)
{
    const struct param *param = &study->space.params[0];
    const double middle =
        param->type == PARAM_DOUBLE    ? (param->min + param->max) / 2
        : param->type == PARAM_INTEGER ? (double)param->int_max
                                       : param->numbers[param->n_values - 1];
    const char **texts = arena_alloc(study->draw.arena, 1, sizeof *texts);
    texts[0] = arena_printf(study->draw.arena, "p0 >= %.17g", middle);
    study->constraints = (struct constraint_set){0};
    if (draw_below(&study->draw, 3) == 0 &&
        constraint_set_parse(study->draw.arena, &study->space, 1, texts,
                             &study->constraints, NULL) != HT_OK)
        abort();
}

static bool change(struct study *study)
{
    struct space next = draw_space(&study->draw, &study->space);
    if (space_change(study->draw.arena, &study->space, &next, NULL) != HT_OK)
        return false;
    study->space = next;
    for (size_t i = 0; i < study->n; i++) {
        if (space_point_parse(&study->space, study->trials[i], study->points[i],
                              NULL) != HT_OK ||
            strcmp(text_of(study, study->points[i]), study->trials[i]) != 0)
            return false;
    }
    draw_constraint(study);
    return true;
}

/* ---- what is asked ---- */

/* By the rules of a space that has no past. */
static bool is_of_today(struct study *study, const struct value point[])
{
    struct param params[PARAMS];
    struct value again[PARAMS];
    const struct space today = {.n = PARAMS, .params = params};
    for (size_t i = 0; i < PARAMS; i++) {
        params[i] = study->space.params[i];
        params[i].former.has_range = false;
        params[i].n_former = 0;
    }
    return space_point_parse(&today, text_of(study, point), again, NULL) ==
               HT_OK &&
           constraint_set_holds(&study->constraints, point);
}

static bool has_numbers(const struct reason *reason)
{
    for (size_t k = 0; k < reason->n_predicted; k++)
        if (!(reason->predicted[k].low <= reason->predicted[k].median &&
              reason->predicted[k].median <= reason->predicted[k].high))
            return false;
    return !reason->has_nearest || isfinite(reason->distance);
}

/* The last trials are pending. */
static enum ht_status ask(struct study *study,
                          const struct algorithm *algorithm, void *state,
                          struct value point[], struct reason *reason)
{
    const struct value *pending[QUESTIONS];
    const struct taken taken = {is_taken, study, count_taken(study)};
    for (size_t i = 0; i < QUESTIONS; i++)
        pending[i] = study->points[study->n - QUESTIONS + i];
    const struct suggest_request request = {
        .ordinal = study->n + draw_below(&study->draw, 4),
        .taken = &taken,
        .constraints = study->constraints.n > 0 ? &study->constraints : NULL,
        .n_pending = QUESTIONS,
        .pending = pending,
        .may_repeat = true};
    return algorithm->suggest(state, &request, point, reason, NULL);
}

static const char *find_fault(struct study *study,
                              const struct algorithm *algorithm)
{
    void *state = NULL;
    const char *fault = NULL;
    if (search_new(algorithm, &study->space, 7, &state, NULL) != HT_OK)
        return NULL; /* a grid of a continuous space */
    for (size_t i = 0; i + QUESTIONS < study->n; i++)
        search_tell(algorithm, state, study->points[i], i % 7 != 3,
                    study->values[i]);
    for (size_t i = 0; i < QUESTIONS && fault == NULL; i++) {
        struct value point[PARAMS];
        struct reason reason;
        const enum ht_status status =
            ask(study, algorithm, state, point, &reason);
        if (status == HT_EXHAUSTED)
            continue;
        if (status != HT_OK)
            fault = "no suggestion";
        else if (!is_of_today(study, point))
            fault = "a point outside of today's space";
        else if (reason.kind != REASON_REPEATS && is_taken(study, point))
            fault = "a point that was tried";
        else if (!has_numbers(&reason))
            fault = "a reason without numbers";
    }
    algorithm->free(state);
    return fault;
}

static size_t exhausted_too_early(struct study *study)
{
    struct value point[PARAMS];
    struct reason reason;
    void *state = NULL;
    const uint64_t size = space_size(&study->space);
    if (study->constraints.n > 0 ||
        search_new(&random_search, &study->space, 7, &state, NULL) != HT_OK)
        return 0;
    /* Where a parameter may be absent, several levels are one point. */
    const bool has_free = size == 0 || size > 8 * MOST_TRIALS;
    const enum ht_status status =
        ask(study, &random_search, state, point, &reason);
    random_search.free(state);
    return has_free && status != HT_OK;
}

static void no_suggestion_lies_outside(void)
{
    static const struct algorithm *const algorithms[] = {
        &bayesian_search, &random_search, &grid_search};
    size_t faults = 0, suggested = 0;
    for (uint64_t i = 0; i < CHANGES / 2; i++) {
        static struct study study;
        study =
            (struct study){.draw = {arena_new(), {.seed = 3, .ordinal = i}}};
        study.space = draw_space(&study.draw, NULL);
        for (int k = 0; k < 2; k++) {
            const char *fault = NULL;
            add_trials(&study, draw_below(&study.draw, 2) ? FEW : MANY);
            if (!change(&study))
                fault = "a change is refused, or loses a trial";
            for (size_t a = 0; a < 3 && fault == NULL; a++) {
                fault = find_fault(&study, algorithms[a]);
                suggested++;
            }
            if (fault == NULL && exhausted_too_early(&study) > 0)
                fault = "points are left, but none is found";
            if (fault != NULL)
                printf("# study %llu, change %d: %s\n", (unsigned long long)i,
                       k, fault);
            faults += fault != NULL;
        }
        arena_free(study.draw.arena);
    }
    CHECK(faults == 0);
    CHECK(suggested == 3 * CHANGES);
}

/* ---- what earlier results teach ---- */

/* Trials in [0, 1] with a peak at 0.7 seen from below 0.5, where the space
 * begins now. */
static struct reason ask_beside(bool with_earlier, size_t n_inside,
                                struct value *point)
{
    struct arena *arena = arena_new();
    struct param before = {
        .name = "x", .type = PARAM_DOUBLE, .max = 1, .int_step = 1};
    struct param after = before;
    after.min = 0.5;
    const struct space from = {.n = 1, .params = &before};
    struct space to = {.n = 1, .params = &after};
    struct reason reason;
    void *state = NULL;
    if (space_change(arena, &from, &to, NULL) != HT_OK ||
        search_new(&bayesian_search, &to, 5, &state, NULL) != HT_OK)
        abort();
    for (size_t i = 0; with_earlier && i < 12; i++) {
        const struct value x = {.real = 0.04 * (double)i};
        search_tell(&bayesian_search, state, &x, true,
                    10 - 40 * (x.real - 0.49) * (x.real - 0.49));
    }
    for (size_t i = 0; i < n_inside; i++) {
        const struct value x = {.real = 0.8 + 0.05 * (double)i};
        search_tell(&bayesian_search, state, &x, true,
                    10 - 40 * (x.real - 0.49) * (x.real - 0.49));
    }
    struct study none = {.space = to};
    const struct taken taken = {is_taken, &none, 0};
    const struct suggest_request request = {.ordinal = 16, .taken = &taken};
    none.draw.arena = arena;
    if (bayesian_search.suggest(state, &request, point, &reason, NULL) != HT_OK)
        abort();
    bayesian_search.free(state);
    arena_free(arena);
    return reason;
}

/* Earlier results rise towards the edge: the search goes there at once. */
static void earlier_results_move_the_model(void)
{
    struct value point, alone;
    const struct reason reason = ask_beside(true, 4, &point);
    CHECK(reason.kind == REASON_EXPLOITS || reason.kind == REASON_EXPLORES);
    CHECK(reason.n_predicted == 1 && point.real < 0.6);
    CHECK(fabs(reason.predicted[0].median - 10) < 1);
    CHECK(ask_beside(false, 4, &alone).kind == REASON_DESIGN);
}

static void a_model_of_earlier_results_alone_is_used(void)
{
    struct value point;
    const struct reason reason = ask_beside(true, 0, &point);
    CHECK(reason.n_predicted == 1 && isfinite(reason.acquisition));
    CHECK(point.real >= 0.5);
}

int main(void)
{
    json_init();
    algorithm_init();
    RUN(no_suggestion_lies_outside);
    RUN(earlier_results_move_the_model);
    RUN(a_model_of_earlier_results_alone_is_used);
    return check_done();
}
