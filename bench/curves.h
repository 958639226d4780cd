/* curves.h - recorded learning curves: data/digits_curves.csv, made by
 * record_curves.py. */
#ifndef HT_BENCH_CURVES_H
#define HT_BENCH_CURVES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/stop/early_stop.h"
#include "proto/base/arena.h"

enum { CURVE_PARAMETERS = 6, CURVE_EPOCHS = 81, CURVE_LINE = 4096 };

struct recorded {
    struct value point[CURVE_PARAMETERS];
    double seconds; /* of an epoch */
    size_t n;
    double values[CURVE_EPOCHS];
    struct stop_point points[CURVE_EPOCHS]; /* of those values */
};

struct records {
    size_t n;
    struct recorded *items;
};

/* ---- the space that they were drawn from ---- */

static const double batch_sizes[] = {8, 16, 32, 64, 128};
static const char *const activations[] = {"relu", "tanh", "sigmoid"};
static struct param curve_params[CURVE_PARAMETERS] = {
    {.name = "learning_rate",
     .type = PARAM_DOUBLE,
     .scale = SCALE_LOG,
     .min = 1e-4,
     .max = 1},
    {.name = "hidden_units",
     .type = PARAM_INTEGER,
     .scale = SCALE_LOG,
     .int_min = 16,
     .int_max = 256,
     .int_step = 1},
    {.name = "momentum", .type = PARAM_DOUBLE, .min = 0, .max = 0.99},
    {.name = "weight_decay",
     .type = PARAM_DOUBLE,
     .scale = SCALE_LOG,
     .min = 1e-7,
     .max = 1e-2},
    {.name = "batch_size",
     .type = PARAM_DISCRETE,
     .n_values = 5,
     .numbers = batch_sizes},
    {.name = "activation",
     .type = PARAM_CATEGORICAL,
     .n_values = 3,
     .labels = activations},
};
static const struct space curve_space = {.n = CURVE_PARAMETERS,
                                         .params = curve_params};

/* ---- reading ---- */

static void curve_fail(const char *why)
{
    fprintf(stderr, "curves: %s\n", why);
    exit(EXIT_FAILURE);
}

static struct value curve_value(const struct param *param, const char *text)
{
    const double number = strtod(text, NULL);
    if (param->type == PARAM_DOUBLE)
        return (struct value){.real = number};
    if (param->type == PARAM_INTEGER)
        return (struct value){.whole = (int64_t)number};
    for (size_t i = 0; i < param->n_values; i++)
        if (param->type == PARAM_DISCRETE ? param->numbers[i] == number
                                          : strcmp(param->labels[i], text) == 0)
            return (struct value){.whole = (int64_t)i};
    curve_fail("a value is not one of its parameter's");
    return (struct value){0};
}

static void curve_read(char *line, struct recorded *curve)
{
    char *rest;
    const char *field = strtok_r(line, ",\n", &rest);
    *curve = (struct recorded){0};
    for (size_t i = 0; field != NULL && i < CURVE_PARAMETERS; i++) {
        curve->point[i] = curve_value(&curve_params[i], field);
        field = strtok_r(NULL, ",\n", &rest);
    }
    const double seconds = field == NULL ? 0 : strtod(field, NULL);
    while (field != NULL && curve->n < CURVE_EPOCHS &&
           (field = strtok_r(NULL, ",\n", &rest)) != NULL)
        curve->values[curve->n++] = strtod(field, NULL);
    if (curve->n == 0)
        curve_fail("a line has no curve");
    curve->seconds = seconds / (double)curve->n;
}

/* The caller owns the items. */
static struct records curves_read(const char *path)
{
    struct records records = {0};
    char line[CURVE_LINE];
    FILE *file = fopen(path, "re");
    if (file == NULL || fgets(line, sizeof line, file) == NULL)
        curve_fail("the file cannot be read");
    while (fgets(line, sizeof line, file) != NULL) {
        records.items =
            ht_xrealloc(records.items, records.n + 1, sizeof *records.items);
        curve_read(line, &records.items[records.n++]);
    }
    fclose(file);
    for (size_t i = 0; i < records.n; i++)
        for (size_t j = 0; j < records.items[i].n; j++)
            records.items[i].points[j] =
                (struct stop_point){(double)j + 1, &records.items[i].values[j]};
    return records;
}

#endif
