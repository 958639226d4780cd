/* families.h - families of problems: each seed gives another one of its kind,
 * so that a mean over seeds says something of the kind.
 *
 * A problem has a space of its own and a function of the places of a point's
 * values on their scales, 0 to 1; a category has a random place. */
#ifndef HT_BENCH_FAMILIES_H
#define HT_BENCH_FAMILIES_H

#include <stdbool.h>

#include "bench/curves.h"
#include "bench/family_shapes.h"
#include "proto/space/space.h"

enum { FAMILY_LEVELS = 6, FAMILY_BRANCHES = 3, FAMILY_SEARCH = 20000 };

struct instance {
    const struct family *family;
    size_t dim;
    struct space space;
    struct param params[SHAPE_DIM];
    struct condition when[FAMILY_BRANCHES];
    double place[SHAPE_DIM][FAMILY_LEVELS]; /* of a category */
    double noise;                           /* deviation of one result */
    double optimum, middle;                 /* the median of random points */
    double spread;                          /* of random points */

    union {
        struct summits summits;
        struct funnel funnel;
        struct valley valley;
        struct losses losses;
        struct trees trees;
        struct draw draws[FAMILY_BRANCHES];
    } of;
};

struct family {
    const char *name;
    size_t least_dim, most_dim;
    void (*make)(struct instance *instance, struct dice *dice);
    double (*value)(const struct instance *instance, const double u[]);
    double noise; /* of the spread of random points */
};

/* ---- spaces ---- */

static const char *const family_labels[] = {"a", "b", "c", "d", "e", "f"};
static const struct value family_branch[FAMILY_BRANCHES] = {
    {.whole = 0}, {.whole = 1}, {.whole = 2}};

static void be_real(struct param *param)
{
    *param = (struct param){.name = "x", .type = PARAM_DOUBLE, .max = 1};
}

static void be_log(struct param *param)
{
    *param = (struct param){.name = "x",
                            .type = PARAM_DOUBLE,
                            .scale = SCALE_LOG,
                            .min = 1e-6,
                            .max = 1};
}

static void be_whole(struct param *param, struct dice *dice)
{
    *param = (struct param){.name = "x",
                            .type = PARAM_INTEGER,
                            .int_min = 1,
                            .int_max = (int64_t)roll_log(dice, 4, 200),
                            .int_step = 1};
}

static void be_category(struct instance *instance, size_t i, size_t levels,
                        struct dice *dice)
{
    instance->params[i] = (struct param){.name = "x",
                                         .type = PARAM_CATEGORICAL,
                                         .n_values = levels,
                                         .labels = family_labels};
    for (size_t k = 0; k < levels; k++)
        instance->place[i][k] = roll(dice);
}

static void all_real(struct instance *instance)
{
    for (size_t i = 0; i < instance->dim; i++)
        be_real(&instance->params[i]);
}

/* Kinds by turns, the first of them a logarithm, the second real. */
static void all_kinds(struct instance *instance, struct dice *dice)
{
    for (size_t i = 0; i < instance->dim; i++) {
        struct param *param = &instance->params[i];
        if (i % 4 == 0)
            be_log(param);
        else if (i % 4 == 1)
            be_real(param);
        else if (i % 4 == 2)
            be_whole(param, dice);
        else
            be_category(instance, i, roll_size(dice, 2, FAMILY_LEVELS), dice);
    }
}

/* Absent values have the middle. */
static double place_of(const struct instance *instance, size_t i,
                       struct value value)
{
    const struct param *param = &instance->params[i];
    if (value.absent)
        return 0.5;
    switch (param->type) {
    case PARAM_CATEGORICAL:
        return instance->place[i][value.whole];
    case PARAM_DISCRETE:
        return ((double)value.whole + 0.5) / (double)param->n_values;
    case PARAM_INTEGER: {
        const double low = (double)param->int_min,
                     high = (double)param->int_max, at = (double)value.whole;
        return param->scale == SCALE_LOG ? log(at / low) / log(high / low)
                                         : (at - low) / (high - low);
    }
    case PARAM_DOUBLE:
        break;
    }
    return param->scale == SCALE_LOG
               ? log(value.real / param->min) / log(param->max / param->min)
               : (value.real - param->min) / (param->max - param->min);
}

/* ---- families ---- */

static void make_summits(struct instance *instance, struct dice *dice)
{
    all_real(instance);
    summits_make(&instance->of.summits, instance->dim, dice);
    instance->optimum = -1;
}

static double value_summits(const struct instance *instance, const double u[])
{
    return summits_value(&instance->of.summits, instance->dim, u);
}

static void make_funnel(struct instance *instance, struct dice *dice)
{
    all_real(instance);
    funnel_make(&instance->of.funnel, instance->dim, dice);
    instance->optimum = 0;
}

static double value_funnel(const struct instance *instance, const double u[])
{
    return funnel_value(&instance->of.funnel, instance->dim, u);
}

static void make_valley(struct instance *instance, struct dice *dice)
{
    all_real(instance);
    valley_make(&instance->of.valley, instance->dim, dice);
    instance->optimum = 0;
}

static double value_valley(const struct instance *instance, const double u[])
{
    return valley_value(&instance->of.valley, instance->dim, u);
}

static void make_losses(struct instance *instance, struct dice *dice)
{
    for (size_t i = 0; i < instance->dim; i++)
        if (i % 3 == 2)
            be_whole(&instance->params[i], dice);
        else
            be_log(&instance->params[i]);
    losses_make(&instance->of.losses, instance->dim, dice);
}

static double value_losses(const struct instance *instance, const double u[])
{
    return losses_value(&instance->of.losses, instance->dim, u);
}

/* Of some coordinates, or of all where there are few. */
static void draw_some(struct instance *instance, size_t most, double shortest,
                      struct dice *dice)
{
    size_t of[DRAW_DIM], n = 0;
    for (size_t i = 0; i < instance->dim && n < most; i++)
        if (roll(dice) * (double)(instance->dim - i) < (double)(most - n))
            of[n++] = i;
    draw_make(&instance->of.draws[0], n, of, shortest, dice);
}

static void make_draw(struct instance *instance, struct dice *dice)
{
    all_real(instance);
    draw_some(instance, DRAW_DIM, 0.2, dice);
}

static void make_many(struct instance *instance, struct dice *dice)
{
    all_real(instance);
    draw_some(instance, roll_size(dice, 4, 8), 0.5, dice);
}

static void make_mixed(struct instance *instance, struct dice *dice)
{
    all_kinds(instance, dice);
    draw_some(instance, DRAW_DIM, 0.2, dice);
}

static double value_draw(const struct instance *instance, const double u[])
{
    return draw_value(&instance->of.draws[0], u);
}

/* A choice of three, two parameters of each alone, and two of all. */
static void make_nested(struct instance *instance, struct dice *dice)
{
    all_kinds(instance, dice);
    be_category(instance, 0, FAMILY_BRANCHES, dice);
    for (size_t k = 0; k < FAMILY_BRANCHES; k++) {
        const size_t own = 3 + 2 * k, of[] = {1, 2, own, own + 1};
        instance->when[k] = (struct condition){0, 1, &family_branch[k], NULL};
        instance->params[own].when = &instance->when[k];
        instance->params[own + 1].when = &instance->when[k];
        draw_make(&instance->of.draws[k], 4, of, 0.3, dice);
    }
}

static double value_nested(const struct instance *instance, const double u[])
{
    size_t branch = 0;
    while (branch + 1 < FAMILY_BRANCHES && u[0] != instance->place[0][branch])
        branch++;
    return draw_value(&instance->of.draws[branch], u);
}

static void make_trees(struct instance *instance, struct dice *dice)
{
    all_kinds(instance, dice);
    trees_make(&instance->of.trees, instance->dim, dice);
}

/* Trees over the results of a network on handwritten digits (curves.h), each
 * of a random part of them. */
static void make_recorded(struct instance *instance, struct dice *dice)
{
    enum { ROWS = 240 };
    static struct records records;
    static double x[ROWS * CURVE_PARAMETERS], y[ROWS];
    struct trees *trees = &instance->of.trees;
    if (records.items == NULL)
        records = curves_read("bench/data/digits_curves.csv");
    memcpy(instance->params, curve_params, sizeof curve_params);
    for (size_t k = 0; k < 3; k++)
        instance->place[CURVE_PARAMETERS - 1][k] = ((double)k + 0.5) / 3;
    const size_t n = records.n < ROWS ? records.n : ROWS;
    for (size_t r = 0; r < n; r++) {
        const struct recorded *row = &records.items[r];
        for (size_t i = 0; i < CURVE_PARAMETERS; i++)
            x[r * CURVE_PARAMETERS + i] = place_of(instance, i, row->point[i]);
        y[r] = -row->values[row->n - 1];
    }
    const struct table table = {n, CURVE_PARAMETERS, x, y};
    for (trees->n = 0; trees->n < TREES; trees->n++) {
        size_t order[ROWS], used = 0, grown = 0;
        for (size_t r = 0; r < n; r++)
            if (roll(dice) < 0.7)
                order[used++] = r;
        tree_fit(trees->node[trees->n], &grown, &table, order, used, dice);
    }
}

static double value_trees(const struct instance *instance, const double u[])
{
    return trees_value(&instance->of.trees, u);
}

static const struct family families[] = {
    {"summits", 2, 5, make_summits, value_summits, 0},
    {"funnels", 2, 6, make_funnel, value_funnel, 0},
    {"valleys", 3, 8, make_valley, value_valley, 0},
    {"draws", 2, 8, make_draw, value_draw, 0},
    {"losses", 3, 7, make_losses, value_losses, 0},
    {"mixed", 4, 8, make_mixed, value_draw, 0},
    {"nested", 9, 9, make_nested, value_nested, 0},
    {"trees", 3, 7, make_trees, value_trees, 0},
    {"recorded", CURVE_PARAMETERS, CURVE_PARAMETERS, make_recorded, value_trees,
     0},
    {"noisy_draws", 2, 6, make_draw, value_draw, 0.3},
    {"noisy_losses", 3, 6, make_losses, value_losses, 0.1},
    {"many_draws", 20, 60, make_many, value_draw, 0},
    {"many_funnels", 10, 40, make_funnel, value_funnel, 0},
};
enum { N_FAMILIES = sizeof families / sizeof *families };

/* ---- an instance ---- */

/* The true value of a settled point; smaller is better. */
static double instance_value(const struct instance *instance,
                             const struct value point[])
{
    double u[SHAPE_DIM];
    for (size_t i = 0; i < instance->dim; i++)
        u[i] = place_of(instance, i, point[i]);
    return instance->family->value(instance, u);
}

static double instance_at(const struct instance *instance, const double u[])
{
    struct value point[SHAPE_DIM];
    for (size_t i = 0; i < instance->dim; i++)
        point[i] = space_param_from_unit(&instance->params[i], u[i]);
    space_settle(&instance->space, point);
    return instance_value(instance, point);
}

/* Lowers `least`, the value at `best`: one coordinate anywhere, then steps of
 * one or of all that get smaller. */
static double instance_descend(const struct instance *instance, double least,
                               double best[])
{
    enum { STEPS = 2 * FAMILY_SEARCH };
    struct rng_place place = {9, 1, 0};
    double u[SHAPE_DIM];
    for (; place.draw < STEPS; place.draw++) {
        const double share = (double)place.draw / STEPS;
        const double step = share < 0.3 ? 2 : pow(10, -4 * share);
        const bool all = share > 0.3 && place.draw % 2 == 0;
        const size_t only =
            (size_t)(rng_unit(&place, 0) * (double)instance->dim);
        for (size_t i = 0; i < instance->dim; i++) {
            const double by = step * (rng_unit(&place, i + 1) - 0.5);
            u[i] = best[i] + (all || i == only ? by : 0);
            u[i] = fmin(fmax(u[i], 0), 1 - 1e-9);
        }
        const double value = instance_at(instance, u);
        if (!(value < least))
            continue;
        least = value;
        memcpy(best, u, sizeof u);
    }
    return least;
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The middle, the spread and, where no formula says it, the optimum; the noise
 * of a result. */
static void instance_survey(struct instance *instance)
{
    static double values[FAMILY_SEARCH];
    double u[SHAPE_DIM], best[SHAPE_DIM] = {0}, least = INFINITY;
    struct rng_place place = {9, 0, 0};
    for (; place.draw < FAMILY_SEARCH; place.draw++) {
        for (size_t i = 0; i < instance->dim; i++)
            u[i] = rng_unit(&place, i);
        const double value = values[place.draw] = instance_at(instance, u);
        if (!(value < least))
            continue;
        memcpy(best, u, sizeof u);
        least = value;
    }
    if (isnan(instance->optimum))
        instance->optimum = instance_descend(instance, least, best);
    qsort(values, FAMILY_SEARCH, sizeof *values, compare_numbers);
    instance->middle = values[FAMILY_SEARCH / 2];
    instance->spread =
        (values[FAMILY_SEARCH * 21 / 25] - values[FAMILY_SEARCH * 4 / 25]) / 2;
    instance->noise = instance->family->noise * instance->spread;
}

/* Problem `seed` of a family, but what a survey finds. Its space is part of it,
 * so it must not move. */
static void instance_make(struct instance *instance,
                          const struct family *family, uint64_t seed)
{
    struct dice dice = {{seed, 0, 0}, 0};
    for (const char *c = family->name; *c != '\0'; c++)
        dice.place.ordinal = dice.place.ordinal * 31 + (uint64_t)*c;
    memset(instance, 0, sizeof *instance);
    instance->family = family;
    instance->optimum = NAN;
    instance->dim = roll_size(&dice, family->least_dim, family->most_dim);
    family->make(instance, &dice);
    instance->space =
        (struct space){.n = instance->dim, .params = instance->params};
}

#endif
