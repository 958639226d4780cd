#include "hypertune/cli/transfer/optuna_space.h"

#include <math.h>
#include <string.h>

#include "proto/doc/json.h"

enum { GRID_MOST = 1000 }; /* values that a parameter with steps may have */

/* ---- reading ---- */

static const struct {
    const char *name;
    bool whole, log, choices;
    const char *step; /* the member that holds it */
} kinds[] = {
    {"FloatDistribution", false, false, false, "step"},
    {"UniformDistribution", false, false, false, NULL},
    {"LogUniformDistribution", false, true, false, NULL},
    {"DiscreteUniformDistribution", false, false, false, "q"},
    {"IntDistribution", true, false, false, "step"},
    {"IntUniformDistribution", true, false, false, "step"},
    {"IntLogUniformDistribution", true, true, false, "step"},
    {"CategoricalDistribution", false, false, true, NULL},
};

static enum ht_status read_axis(const struct node *root,
                                struct optuna_axis *axis, struct ht_error *err)
{
    const char *name = node_get_string(root, "name", "");
    const struct node *attributes = node_find(root, "attributes");
    size_t i = 0;
    while (i < sizeof kinds / sizeof *kinds && strcmp(kinds[i].name, name) != 0)
        i++;
    if (i == sizeof kinds / sizeof *kinds)
        return ht_fail(err, HT_INVALID, "has an unknown distribution \"%.60s\"",
                       name);
    axis->whole = kinds[i].whole;
    axis->log = kinds[i].log || node_get_bool(attributes, "log", false);
    axis->low = node_get_double(attributes, "low", NAN);
    axis->high = node_get_double(attributes, "high", NAN);
    axis->step =
        kinds[i].step ? node_get_double(attributes, kinds[i].step, 0) : 0;
    /* On a logarithmic scale Optuna's steps are always of one. */
    if (axis->whole && (axis->step <= 1 || axis->log))
        axis->step = 0;
    axis->choices = kinds[i].choices ? node_find(attributes, "choices") : NULL;
    const bool fine = kinds[i].choices
                          ? axis->choices != NULL && axis->choices->count > 0
                          : axis->low <= axis->high && axis->step >= 0;
    return fine ? HT_OK
                : ht_fail(err, HT_INVALID, "has no range and no choices");
}

static bool same_choices(const struct node *a, const struct node *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    struct text left = {0}, right = {0};
    json_print(json_of_node(a), &left);
    json_print(json_of_node(b), &right);
    const bool same = strcmp(left.data, right.data) == 0;
    text_free(&left);
    text_free(&right);
    return same;
}

const struct optuna_axis *optuna_space_find(const struct optuna_space *space,
                                            const char *name)
{
    for (size_t i = 0; i < space->n; i++)
        if (strcmp(space->axes[i].name, name) == 0)
            return &space->axes[i];
    return NULL;
}

static void widen(struct optuna_axis *known, const struct optuna_axis *other)
{
    /* Steps from another beginning do not meet the same values. */
    if (known->step != other->step || known->low != other->low)
        known->step = 0;
    known->log = known->log && other->log;
    known->low = fmin(known->low, other->low);
    known->high = fmax(known->high, other->high);
}

enum ht_status optuna_space_add(struct optuna_space *space, struct arena *arena,
                                const char *name, const char *json,
                                struct ht_error *err)
{
    struct diag diag;
    struct optuna_axis axis = {.name = name};
    diag_init(&diag, arena, name, json, strlen(json));
    const struct node *root =
        node_read_long_json(arena, json, strlen(json), &diag);
    const enum ht_status status = read_axis(root, &axis, err);
    if (status != HT_OK)
        return ht_wrap(err, status, "parameter %.100s", name);
    for (size_t i = 0; i < space->n; i++) {
        struct optuna_axis *known = &space->axes[i];
        if (strcmp(known->name, name) != 0)
            continue;
        if (known->whole != axis.whole ||
            !same_choices(known->choices, axis.choices))
            return ht_fail(err, HT_INVALID,
                           "parameter %.100s is of another kind in some "
                           "trials",
                           name);
        if (known->choices == NULL)
            widen(known, &axis);
        return HT_OK;
    }
    if (space->n == HT_MAX_PARAMETERS)
        return ht_fail(err, HT_INVALID, "there are over %d parameters",
                       HT_MAX_PARAMETERS);
    space->axes[space->n++] = axis;
    return HT_OK;
}

/* ---- as ours ---- */

/* How many values it has, 0: too many to be listed, or all of a range. */
static size_t grid_size(const struct optuna_axis *axis)
{
    if (axis->low == axis->high)
        return 1;
    if (axis->step <= 0)
        return 0;
    const double n = floor((axis->high - axis->low) / axis->step + 1e-8) + 1;
    return n <= GRID_MOST ? (size_t)n : 0;
}

static double grid_value(const struct optuna_axis *axis, double index)
{
    return axis->low + index * axis->step;
}

/* A choice as text; other values as JSON. */
static void choice_text(const struct node *choice, struct text *out)
{
    text_puts(out, choice->kind == NODE_STRING ? choice->text : "");
    if (choice->kind != NODE_STRING)
        json_print(json_of_node(choice), out);
}

static void add_choices(cJSON *spec, const struct node *choices)
{
    cJSON *values =
        json_add_array(json_add_object(spec, "categoricalValueSpec"), "values");
    NODE_EACH (one, choices->first) {
        struct text text = {0};
        choice_text(one, &text);
        json_push_string(values, text.data);
        text_free(&text);
    }
}

static void add_grid(cJSON *spec, const struct optuna_axis *axis, size_t n)
{
    cJSON *values =
        json_add_array(json_add_object(spec, "discreteValueSpec"), "values");
    for (size_t i = 0; i < n; i++)
        json_push_double(values, grid_value(axis, (double)i));
}

static void add_range(cJSON *spec, const struct optuna_axis *axis)
{
    cJSON *range = json_add_object(spec, axis->whole ? "integerValueSpec"
                                                     : "doubleValueSpec");
    if (axis->whole) {
        json_add_int_text(range, "minValue", (int64_t)axis->low);
        json_add_int_text(range, "maxValue", (int64_t)axis->high);
    } else {
        json_add_double(range, "minValue", axis->low);
        json_add_double(range, "maxValue", axis->high);
    }
    json_add_string(spec, "scaleType",
                    axis->log ? "UNIT_LOG_SCALE" : "UNIT_LINEAR_SCALE");
}

cJSON *optuna_space_axis_spec(const struct optuna_axis *axis, bool *dropped)
{
    cJSON *spec = cJSON_CreateObject();
    json_add_string(spec, "parameterId", axis->name);
    *dropped = false;
    if (axis->choices != NULL) {
        add_choices(spec, axis->choices);
        return spec;
    }
    const size_t n = grid_size(axis);
    *dropped = axis->step > 0 && n == 0;
    if (n > 0)
        add_grid(spec, axis, n);
    else
        add_range(spec, axis);
    return spec;
}

bool optuna_space_add_value(const struct optuna_axis *axis, double value,
                            cJSON *params)
{
    if (axis->choices == NULL) {
        if (axis->step > 0 && grid_size(axis) > 0)
            value = grid_value(axis, round((value - axis->low) / axis->step));
        json_add_double(params, axis->name, axis->whole ? round(value) : value);
        return true;
    }
    /* An index that Optuna stores as a real number. */
    if (!(value >= 0 && value < (double)axis->choices->count))
        return false;
    const struct node *choice = axis->choices->first;
    for (size_t i = (size_t)value; i > 0; i--)
        choice = choice->next;
    struct text text = {0};
    choice_text(choice, &text);
    json_add_string(params, axis->name, text.data);
    text_free(&text);
    return true;
}
