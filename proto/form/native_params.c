/* native_params.c - the parameters of the native form. */

#include <stddef.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/number.h"
#include "proto/form/native.h"

/* ---- parameters ---- */

struct native_param {
    struct param_draft param;
    struct place type, when;
};

#define PARAM(member) offsetof(struct native_param, member)

const struct field native_parameter_rows[] = {
    {"type", field_place, .offset = PARAM(type)},
    {"min", field_place, .offset = PARAM(param.min)},
    {"max", field_place, .offset = PARAM(param.max)},
    {"step", field_place, .offset = PARAM(param.step)},
    {"scale", field_place, .offset = PARAM(param.scale)},
    {"values", field_place, .offset = PARAM(param.values)},
    {"default", field_place, .offset = PARAM(param.fallback)},
    {"former", field_place, .offset = PARAM(param.former)},
    {"when", field_place, .offset = PARAM(when)},
    {0}};

/* A list of numbers only is discrete; any text or bool makes it names. */
static enum param_type list_type(const struct node *list)
{
    for (const struct node *node = list->first; node; node = node->next)
        if (node->kind != NODE_NUMBER)
            return PARAM_CATEGORICAL;
    return PARAM_DISCRETE;
}

static bool read_type(const struct field_reader *reader,
                      struct native_param *said)
{
    static const struct field row = {.name = "type",
                                     .choices = job_param_types};
    size_t before = reader->diag->errors;
    if (said->type.node) {
        field_choose(reader, said->type, &row, &said->param.param.type);
        return reader->diag->errors == before;
    }
    if (said->param.values.node && said->param.values.node->kind == NODE_LIST) {
        said->param.param.type = list_type(said->param.values.node);
        return true;
    }
    field_key_error(reader, said->param.at, "has no type");
    diag_hint(reader->diag, "add type: double or type: integer");
    return false;
}

static void add_conditions(const struct field_reader *reader,
                           struct job_draft *draft, struct place at)
{
    if (at.node->kind != NODE_MAP || at.node->count == 0) {
        field_wrong_kind(reader, at, "a map such as {optimizer: sgd}");
        return;
    }
    if (at.node->count > HT_MAX_PARAMETERS) {
        field_error(reader, at, "has %zu conditions, at most %d are allowed",
                    at.node->count, HT_MAX_PARAMETERS);
        return;
    }
    for (const struct place *item = field_members(reader, at); item->node;
         item++) {
        const struct condition_draft condition = {.child = draft->job.space.n,
                                                  .parent = -1,
                                                  .name = item->node->key,
                                                  .at = *item,
                                                  .values = *item};
        job_draft_add_condition(reader, draft, &condition);
    }
}

/* {type: double, min: 0, max: 1} */
static bool read_long_form(const struct field_reader *reader,
                           struct job_draft *draft, struct native_param *said)
{
    struct param_draft *param = &said->param;
    struct place at = param->at;
    size_t before = reader->diag->errors;
    param->min = field_member(reader, at, "min");
    param->max = field_member(reader, at, "max");
    param->values = field_member(reader, at, "values");
    field_read_map(reader, at, native_parameter_rows, said);
    if (reader->diag->errors > before || !read_type(reader, said))
        return false;
    if (said->when.node)
        add_conditions(reader, draft, said->when);
    return job_param_finish(reader, param);
}

/* The short forms of the command line's --param mean nothing in a spec: there
 * "0.1..1" is a constant, which a person seldom wants. */
static void warn_of_range(const struct field_reader *reader, struct place at)
{
    const char *text = node_string(at.node);
    const char *dots = text ? strstr(text, "..") : NULL;
    if (dots == NULL)
        return;
    const char *colon = memchr(text, ':', (size_t)(dots - text));
    const char *from = colon ? colon + 1 : text;
    const char *left =
        arena_strndup(reader->arena, from, (size_t)(dots - from));
    const char *right =
        arena_strndup(reader->arena, dots + 2, strcspn(dots + 2, ":"));
    if (!number_is_json(left) || !number_is_json(right))
        return;
    field_warning(reader, at, "is a constant, the text \"%s\"", text);
    diag_hint(reader->diag, "a range is {type: double, min: %s, max: %s}", left,
              right);
}

/* A scalar is a list of one, which has to be made for it. */
static bool read_constant(const struct field_reader *reader,
                          struct param_draft *param)
{
    warn_of_range(reader, param->at);
    struct node *list = arena_alloc(reader->arena, 1, sizeof *list);
    struct node *item = arena_alloc(reader->arena, 1, sizeof *item);
    *item = *param->at.node;
    item->next = NULL;
    *list = *param->at.node;
    list->kind = NODE_LIST;
    list->text = NULL;
    list->first = item;
    list->count = 1;
    param->values = (struct place){list, param->at.path};
    param->param.type = PARAM_CATEGORICAL;
    return job_param_finish(reader, param);
}

static bool read_form(const struct field_reader *reader,
                      struct job_draft *draft, struct native_param *said)
{
    struct param_draft *param = &said->param;
    switch (param->at.node->kind) {
    case NODE_MAP:
        return read_long_form(reader, draft, said);
    case NODE_LIST:
        param->values = param->at;
        param->param.type = list_type(param->at.node);
        return job_param_finish(reader, param);
    case NODE_BOOL:
    case NODE_NUMBER:
    case NODE_STRING:
        return read_constant(reader, param);
    case NODE_NULL:
        break;
    }
    return field_wrong_kind(reader, param->at,
                            "a map, a list of values or one value");
}

static bool check_name(const struct field_reader *reader, struct place at)
{
    struct node key = {.line = at.node->key_line,
                       .column = at.node->key_column};
    struct place place = {&key, at.path};
    if (!field_is_name(reader, place, at.node->key))
        return false;
    if (at.node->key[0] != '-')
        return true;
    field_error(reader, place, "a parameter's name must not begin with -");
    return false;
}

void native_parameters(const struct field_reader *reader, struct place at,
                       const struct field *field, void *into)
{
    (void)field;
    struct job_draft *draft = &((struct native_draft *)into)->draft;
    draft->parameters = at;
    if (at.node->kind != NODE_MAP) {
        field_wrong_kind(reader, at, "a map of parameters");
        return;
    }
    if (at.node->count == 0 || at.node->count > HT_MAX_PARAMETERS) {
        field_error(reader, at, "needs 1 to %d parameters, has %zu",
                    HT_MAX_PARAMETERS, at.node->count);
        return;
    }
    for (const struct place *item = field_members(reader, at); item->node;
         item++) {
        struct native_param said = {
            .param = {.at = *item, .param.name = item->node->key}};
        if (check_name(reader, said.param.at) &&
            read_form(reader, draft, &said))
            job_draft_add(reader, draft, &said.param);
    }
}
