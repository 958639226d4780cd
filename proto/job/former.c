/* former.c - what only trials made before a change of the study may have: of a
 * range all that it ever was, of a list the values that were taken off it. */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "proto/job/draft.h"

struct said {
    struct place min, max, values;
};

#define SAID(member) offsetof(struct said, member)

const struct field job_former_rows[] = {
    {"min", field_place, .offset = SAID(min)},
    {"max", field_place, .offset = SAID(max)},
    {"values", field_place, .offset = SAID(values)},
    {0}};

/* ---- ranges ---- */

static bool check_hull(const struct field_reader *reader,
                       const struct param_draft *draft, bool holds,
                       double lowest)
{
    if (!holds)
        field_error(reader, draft->former,
                    "must hold the range from min to max");
    else if (draft->param.scale != SCALE_LINEAR && !(lowest > 0))
        field_error(reader, draft->former,
                    "must be over 0 on a logarithmic scale");
    return holds && (draft->param.scale == SCALE_LINEAR || lowest > 0);
}

static bool read_range(const struct field_reader *reader,
                       struct param_draft *draft, const struct said *said)
{
    const struct field real = {.name = "bound"};
    const struct field whole = {
        .name = "bound", .min = INT64_MIN, .max = INT64_MAX};
    struct param *param = &draft->param;
    struct former *former = &param->former;
    const size_t before = reader->diag->errors;
    if (said->min.node == NULL || said->max.node == NULL) {
        field_error(reader, draft->former, "needs min and max");
        return false;
    }
    former->has_range = true;
    if (param->type == PARAM_INTEGER) {
        field_whole(reader, said->min, &whole, &former->int_min);
        field_whole(reader, said->max, &whole, &former->int_max);
    } else {
        field_real(reader, said->min, &real, &former->min);
        field_real(reader, said->max, &real, &former->max);
    }
    if (reader->diag->errors > before)
        return false;
    return param->type == PARAM_INTEGER
               ? check_hull(reader, draft,
                            former->int_min <= param->int_min &&
                                former->int_max >= param->int_max,
                            (double)former->int_min)
               : check_hull(reader, draft,
                            former->min <= param->min &&
                                former->max >= param->max,
                            former->min);
}

/* ---- lists ---- */

static int by_number(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Behind today's values; false where one is there already. */
static bool add_numbers(const struct field_reader *reader,
                        struct param_draft *draft, struct place values)
{
    static const struct field row = {.name = "value"};
    struct param *param = &draft->param;
    const size_t before = reader->diag->errors, first = param->n_values;
    double *numbers = arena_alloc(reader->arena, first + values.node->count + 1,
                                  sizeof *numbers);
    size_t n = first;
    for (size_t i = 0; i < first; i++)
        numbers[i] = param->numbers[i];
    for (const struct place *item = field_items(reader, values); item->node;
         item++) {
        field_real(reader, *item, &row, &numbers[n]);
        for (size_t i = 0; i < n && reader->diag->errors == before; i++)
            if (numbers[i] == numbers[n])
                field_error(reader, *item, "%s is listed twice",
                            item->node->text);
        n++;
    }
    if (reader->diag->errors > before)
        return false;
    qsort(numbers + first, n - first, sizeof *numbers, by_number);
    param->numbers = numbers;
    param->n_former = n - first;
    return check_hull(reader, draft, true, numbers[first]);
}

static bool add_labels(const struct field_reader *reader,
                       struct param_draft *draft, struct place values)
{
    struct param *param = &draft->param;
    const size_t before = reader->diag->errors, first = param->n_values;
    struct strings more;
    if (!field_read_texts(reader, values, HT_MAX_FORMER, true, &more))
        return false;
    const char **labels =
        arena_alloc(reader->arena, first + more.n + 1, sizeof *labels);
    const struct place *at = field_items(reader, values);
    for (size_t i = 0; i < first; i++)
        labels[i] = param->labels[i];
    for (size_t k = 0; k < more.n; k++) {
        labels[first + k] = more.items[k];
        for (size_t i = 0; i < first + k; i++)
            if (strcmp(labels[i], more.items[k]) == 0)
                field_error(reader, at[k], "\"%s\" is listed twice",
                            more.items[k]);
    }
    param->labels = labels;
    param->n_former = more.n;
    return reader->diag->errors == before;
}

static bool read_list(const struct field_reader *reader,
                      struct param_draft *draft, struct place values)
{
    if (values.node == NULL || values.node->kind != NODE_LIST ||
        values.node->count < 1 || values.node->count > HT_MAX_FORMER) {
        field_error(reader, values.node ? values : draft->former,
                    "needs a list of 1 to %d values", HT_MAX_FORMER);
        return false;
    }
    return draft->param.type == PARAM_DISCRETE
               ? add_numbers(reader, draft, values)
               : add_labels(reader, draft, values);
}

/* ---- the whole ---- */

bool job_former_read(const struct field_reader *reader,
                     struct param_draft *draft)
{
    const bool range =
        draft->param.type == PARAM_DOUBLE || draft->param.type == PARAM_INTEGER;
    const size_t before = reader->diag->errors;
    struct said said = {0};
    if (draft->former.node == NULL)
        return true;
    field_read_map(reader, draft->former, job_former_rows, &said);
    if (reader->diag->errors > before)
        return false;
    const struct place odd = !range ? said.min.node ? said.min : said.max
                             : said.values.node ? said.values
                                                : (struct place){0};
    if (odd.node) {
        field_key_error(reader, odd, "has no meaning for a %s parameter",
                        job_param_type_name(draft->param.type));
        return false;
    }
    return range ? read_range(reader, draft, &said)
                 : read_list(reader, draft, said.values);
}

void job_former_write(cJSON *object, const struct param *param)
{
    const struct former *former = &param->former;
    if (!space_param_has_former(param))
        return;
    cJSON *item = json_add_object(object, "former");
    if (param->n_former > 0) {
        cJSON *values = json_add_array(item, "values");
        for (size_t i = 0; i < param->n_former; i++)
            space_value_push_json(
                param, (struct value){.whole = (int64_t)(param->n_values + i)},
                values);
    } else if (param->type == PARAM_INTEGER) {
        json_add_int(item, "min", former->int_min);
        json_add_int(item, "max", former->int_max);
    } else {
        json_add_double(item, "min", former->min);
        json_add_double(item, "max", former->max);
    }
}
