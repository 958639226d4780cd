/* param.c - the types and scales of parameters, and the checks of one
 * parameter. */

#include "proto/job/draft.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"

const struct field_choice job_param_types[] = {
    {"double", -1, PARAM_DOUBLE},     {"integer", -1, PARAM_INTEGER},
    {"discrete", -1, PARAM_DISCRETE}, {"categorical", -1, PARAM_CATEGORICAL},
    {"float", -1, PARAM_DOUBLE},      {"real", -1, PARAM_DOUBLE},
    {"int", -1, PARAM_INTEGER},       {NULL, 0, 0}};

static const struct field_choice param_scales[] = {
    {"linear", -1, SCALE_LINEAR},
    {"log", -1, SCALE_LOG},
    {"reverse_log", -1, SCALE_REVERSE_LOG},
    {NULL, 0, 0}};

const struct field_choice job_param_google_scales[] = {
    {"UNIT_LINEAR_SCALE", 1, SCALE_LINEAR},
    {"UNIT_LOG_SCALE", 2, SCALE_LOG},
    {"UNIT_REVERSE_LOG_SCALE", 3, SCALE_REVERSE_LOG},
    {"SCALE_TYPE_UNSPECIFIED", 0, SCALE_LINEAR},
    {NULL, 0, 0}};

const char *job_param_type_name(enum param_type type)
{
    return field_choice_name(job_param_types, (int)type);
}

const char *job_param_scale_name(enum param_scale scale)
{
    return field_choice_name(param_scales, (int)scale);
}

/* ---- ranges ---- */

/* The bound at `at`, or 0 where Google leaves it out. */
static bool has_bound(const struct field_reader *reader,
                      const struct param_draft *draft, struct place at,
                      const char *name)
{
    if (at.node || draft->google)
        return true;
    field_key_error(reader, (struct place){draft->at.node, at.path},
                    "is missing: a %s parameter needs min and max",
                    job_param_type_name(draft->param.type));
    diag_hint(reader->diag, "add \"%s: NUMBER\"", name);
    return false;
}

/* Reads both bounds by the row's function. */
static bool read_bounds(const struct field_reader *reader,
                        const struct param_draft *draft,
                        const struct field *row, void *min, void *max)
{
    size_t before = reader->diag->errors;
    if (has_bound(reader, draft, draft->min, "min") && draft->min.node)
        row->read(reader, draft->min, row, min);
    if (has_bound(reader, draft, draft->max, "max") && draft->max.node)
        row->read(reader, draft->max, row, max);
    return reader->diag->errors == before;
}

static const char *said(struct place at)
{
    return at.node && at.node->text ? at.node->text : "0";
}

/* The place to show for a fault of a bound that may have been left out. */
static struct place shown(struct place at, const struct param_draft *draft)
{
    if (at.node == NULL)
        at.node = draft->at.node;
    return at;
}

static bool check_order(const struct field_reader *reader,
                        const struct param_draft *draft, int order)
{
    if (order < 0 ||
        (order == 0 && (draft->google || draft->former.node != NULL)))
        return true;
    field_error(reader, shown(draft->min, draft), "is %s but max is %s",
                said(draft->min), said(draft->max));
    if (order == 0)
        diag_hint(reader->diag, "for a constant write just the value");
    else
        diag_hint(reader->diag, "must be smaller than max");
    return false;
}

static bool check_scale(const struct field_reader *reader,
                        const struct param_draft *draft, double lowest)
{
    if (draft->param.scale == SCALE_LINEAR || lowest > 0)
        return true;
    field_error(reader, shown(draft->min, draft),
                "must be over 0 on a logarithmic scale, is %s",
                said(draft->min));
    diag_hint(reader->diag, "raise min, or use a linear scale");
    return false;
}

static bool check_real_step(const struct field_reader *reader,
                            struct param_draft *draft)
{
    static const struct field row = {.name = "step"};
    struct param *param = &draft->param;
    size_t before = reader->diag->errors;
    if (draft->step.node == NULL)
        return true;
    field_real(reader, draft->step, &row, &param->step);
    if (reader->diag->errors > before)
        return false;
    if (!(param->step > 0)) {
        field_error(reader, draft->step, "must be over 0, is %s",
                    draft->step.node->text);
        return false;
    }
    if (param->step > param->max - param->min) {
        field_error(reader, draft->step, "%s is larger than the range",
                    draft->step.node->text);
        diag_hint(reader->diag, "max - min is %.15g", param->max - param->min);
        return false;
    }
    /* Below this, neighbouring levels are the same double. */
    if (param->step < 1e-12 * fmax(fabs(param->min), fabs(param->max))) {
        field_error(reader, draft->step, "%s is too small for the range",
                    draft->step.node->text);
        diag_hint(reader->diag, "leave it out for a continuous parameter");
        return false;
    }
    return true;
}

static bool check_whole_step(const struct field_reader *reader,
                             struct param_draft *draft)
{
    static const struct field row = {
        .name = "step", .min = 1, .max = INT64_MAX};
    struct param *param = &draft->param;
    size_t before = reader->diag->errors;
    param->int_step = 1;
    if (draft->step.node == NULL)
        return true;
    field_whole(reader, draft->step, &row, &param->int_step);
    if (reader->diag->errors > before)
        return false;
    uint64_t span = (uint64_t)param->int_max - (uint64_t)param->int_min;
    if ((uint64_t)param->int_step <= span)
        return true;
    field_error(reader, draft->step, "%" PRId64 " is larger than the range",
                param->int_step);
    diag_hint(reader->diag, "max - min is %" PRIu64, span);
    return false;
}

static bool finish_real(const struct field_reader *reader,
                        struct param_draft *draft)
{
    static const struct field row = {.name = "bound", .read = field_real};
    struct param *param = &draft->param;
    if (!read_bounds(reader, draft, &row, &param->min, &param->max))
        return false;
    int order = param->min < param->max ? -1 : param->min > param->max;
    return check_order(reader, draft, order) &&
           check_scale(reader, draft, param->min) &&
           check_real_step(reader, draft);
}

static bool finish_whole(const struct field_reader *reader,
                         struct param_draft *draft)
{
    static const struct field row = {"bound", field_whole, .min = INT64_MIN,
                                     .max = INT64_MAX};
    struct param *param = &draft->param;
    if (!read_bounds(reader, draft, &row, &param->int_min, &param->int_max))
        return false;
    int order =
        param->int_min < param->int_max ? -1 : param->int_min > param->int_max;
    return check_order(reader, draft, order) &&
           check_scale(reader, draft, (double)param->int_min) &&
           check_whole_step(reader, draft);
}

/* ---- lists ---- */

static bool check_list(const struct field_reader *reader,
                       const struct param_draft *draft)
{
    struct place at = draft->values;
    if (at.node == NULL) {
        field_key_error(reader, (struct place){draft->at.node, at.path},
                        "is missing: a %s parameter needs values",
                        job_param_type_name(draft->param.type));
        return false;
    }
    if (at.node->kind != NODE_LIST)
        return field_wrong_kind(reader, at, "a list of values");
    if (at.node->count >= 1 && at.node->count <= HT_MAX_CATEGORIES)
        return true;
    field_error(reader, at, "needs 1 to %d values, has %zu", HT_MAX_CATEGORIES,
                at.node->count);
    return false;
}

/* A number of a list with where it stood, to sort and still complain well. */
struct listed {
    double number;
    struct place at;
    size_t index;
};

static int by_number(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool read_numbers(const struct field_reader *reader,
                         struct param_draft *draft, struct listed listed[])
{
    static const struct field row = {.name = "value"};
    size_t before = reader->diag->errors, n = 0;
    for (const struct place *item = field_items(reader, draft->values);
         item->node; item++, n++) {
        listed[n] = (struct listed){.at = *item, .index = n};
        field_real(reader, *item, &row, &listed[n].number);
    }
    return reader->diag->errors == before;
}

static bool finish_discrete(const struct field_reader *reader,
                            struct param_draft *draft)
{
    if (!check_list(reader, draft))
        return false;
    size_t n = draft->values.node->count, before = reader->diag->errors;
    struct listed *listed = arena_alloc(reader->arena, n, sizeof *listed);
    if (!read_numbers(reader, draft, listed))
        return false;
    qsort(listed, n, sizeof *listed, by_number);
    double *numbers = arena_alloc(reader->arena, n, sizeof *numbers);
    for (size_t i = 0; i < n; i++) {
        numbers[i] = listed[i].number;
        if (i > 0 && numbers[i] == numbers[i - 1])
            field_error(reader, listed[i].at, "%s is listed twice",
                        listed[i].at.node->text);
    }
    draft->param.numbers = numbers;
    draft->param.n_values = n;
    draft->min = (struct place){listed[0].at.node, draft->values.path};
    return reader->diag->errors == before &&
           check_scale(reader, draft, numbers[0]);
}

static bool check_label(const struct field_reader *reader, struct place at)
{
    if (strlen(at.node->text) <= HT_MAX_LABEL)
        return true;
    field_error(reader, at, "a value has at most %d bytes", HT_MAX_LABEL);
    return false;
}

static bool finish_category(const struct field_reader *reader,
                            struct param_draft *draft)
{
    struct strings labels;
    if (!check_list(reader, draft) ||
        !field_read_texts(reader, draft->values, HT_MAX_CATEGORIES, true,
                          &labels))
        return false;
    size_t before = reader->diag->errors;
    const struct place *at = field_items(reader, draft->values);
    for (size_t i = 0; i < labels.n; i++) {
        size_t j = 0;
        while (j < i && strcmp(labels.items[j], labels.items[i]) != 0)
            j++;
        if (j < i)
            field_error(reader, at[i], "\"%s\" is listed twice",
                        labels.items[i]);
        else
            check_label(reader, at[i]);
    }
    draft->param.labels = labels.items;
    draft->param.n_values = labels.n;
    return reader->diag->errors == before;
}

/* ---- the whole ---- */

/* Google rounds the default of a discrete parameter to the nearest value. */
static bool read_nearest(const struct param_draft *draft, struct value *value)
{
    double x;
    const struct param *param = &draft->param;
    if (!draft->google || param->type != PARAM_DISCRETE ||
        !node_double(draft->fallback.node, &x))
        return false;
    value->whole = (int64_t)space_nearest(param, x);
    return true;
}

static bool read_default(const struct field_reader *reader,
                         struct param_draft *draft)
{
    struct param *param = &draft->param;
    struct ht_error err;
    if (draft->fallback.node == NULL)
        return true;
    if (!read_nearest(draft, &param->fallback) &&
        space_param_read(param, draft->fallback.node, &param->fallback, &err) !=
            HT_OK) {
        field_error(reader, draft->fallback, "%s", err.text);
        return false;
    }
    param->has_default = true;
    return true;
}

/* What the type has no use for was meant for another type: an error. */
static bool refuse(const struct field_reader *reader,
                   const struct param_draft *draft, struct place at)
{
    if (at.node == NULL)
        return true;
    field_key_error(reader, at, "has no meaning for a %s parameter",
                    job_param_type_name(draft->param.type));
    return false;
}

static bool check_fields(const struct field_reader *reader,
                         const struct param_draft *draft)
{
    bool good = true;
    if (draft->param.type == PARAM_DOUBLE || draft->param.type == PARAM_INTEGER)
        return refuse(reader, draft, draft->values);
    good &= refuse(reader, draft, draft->min);
    good &= refuse(reader, draft, draft->max);
    good &= refuse(reader, draft, draft->step);
    if (draft->param.type == PARAM_CATEGORICAL && !draft->google)
        good &= refuse(reader, draft, draft->scale);
    return good;
}

static bool finish_type(const struct field_reader *reader,
                        struct param_draft *draft)
{
    switch (draft->param.type) {
    case PARAM_DOUBLE:
        return finish_real(reader, draft);
    case PARAM_INTEGER:
        return finish_whole(reader, draft);
    case PARAM_DISCRETE:
        return finish_discrete(reader, draft);
    case PARAM_CATEGORICAL:
        return finish_category(reader, draft);
    }
    return false;
}

bool job_param_finish(const struct field_reader *reader,
                      struct param_draft *draft)
{
    const struct field row = {.name = "scale",
                              .choices = draft->google ? job_param_google_scales
                                                       : param_scales};
    size_t before = reader->diag->errors;
    if (draft->scale.node) {
        const struct field_choice *said =
            field_choice(reader, draft->scale, &row);
        draft->param.scale =
            said ? (enum param_scale)said->value : SCALE_LINEAR;
        draft->param.scale_said = draft->google && said && said->number > 0;
    }
    if (!check_fields(reader, draft) || reader->diag->errors > before)
        return false;
    return finish_type(reader, draft) && read_default(reader, draft) &&
           job_former_read(reader, draft);
}
