/* wandb_params.c - the parameters of a W&B sweep. */

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "proto/base/text.h"
#include "proto/doc/json.h"
#include "proto/form/wandb.h"

struct wandb_param {
    struct place at;
    const char *name;
    struct place value, values, distribution, min, max, q, nested;
};

#define PARAM(member) offsetof(struct wandb_param, member)

static const struct field param_rows[] = {
    {"value", field_place, .offset = PARAM(value)},
    {"values", field_place, .offset = PARAM(values)},
    {"distribution", field_place, .offset = PARAM(distribution)},
    {"min", field_place, .offset = PARAM(min)},
    {"max", field_place, .offset = PARAM(max)},
    {"q", field_place, .offset = PARAM(q)},
    {"parameters", field_place, .offset = PARAM(nested)},
    {.name = "probabilities", .read = foreign_no_effect},
    {.name = "mu", .read = field_skip}, /* of what is refused */
    {.name = "sigma", .read = field_skip},
    {.name = "a", .read = field_skip},
    {.name = "b", .read = field_skip},
    {0}};

/* ---- distributions ---- */

enum shape_kind { SHAPE_VALUE, SHAPE_VALUES, SHAPE_RANGE, SHAPE_ENDLESS };

struct shape {
    const char *name;
    enum shape_kind kind;
    bool whole, log;
    bool exponents; /* the bounds are natural logarithms */
    bool inverse;   /* and those of 1/x */
    bool steps;     /* of q */
};

static const struct shape shapes[] = {
    {"constant", .kind = SHAPE_VALUE},
    {"categorical", .kind = SHAPE_VALUES},
    {"categorical_w_probabilities", .kind = SHAPE_VALUES},
    {"int_uniform", .kind = SHAPE_RANGE, .whole = true},
    {"uniform", .kind = SHAPE_RANGE},
    {"q_uniform", .kind = SHAPE_RANGE, .steps = true},
    {"log_uniform", .kind = SHAPE_RANGE, .log = true, .exponents = true},
    {"log_uniform_values", .kind = SHAPE_RANGE, .log = true},
    {"q_log_uniform", .kind = SHAPE_RANGE, .log = true, .exponents = true,
     .steps = true},
    {"q_log_uniform_values", .kind = SHAPE_RANGE, .log = true, .steps = true},
    {"inv_log_uniform", .kind = SHAPE_RANGE, .log = true, .exponents = true,
     .inverse = true},
    {"inv_log_uniform_values", .kind = SHAPE_RANGE, .log = true},
    {"normal", .kind = SHAPE_ENDLESS},
    {"q_normal", .kind = SHAPE_ENDLESS},
    {"log_normal", .kind = SHAPE_ENDLESS},
    {"q_log_normal", .kind = SHAPE_ENDLESS},
    {"beta", .kind = SHAPE_ENDLESS},
    {"q_beta", .kind = SHAPE_ENDLESS},
};

enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static const struct shape *shape_called(const struct wandb *wandb,
                                        struct place at)
{
    struct field_choice names[N_SHAPES + 1] = {{NULL, 0, 0}};
    for (size_t i = 0; i < N_SHAPES; i++)
        names[i] = (struct field_choice){shapes[i].name, -1, (int)i};
    const struct field row = {.name = "distribution", .choices = names};
    const struct field_choice *choice = field_choice(&wandb->reader, at, &row);
    return choice != NULL ? &shapes[choice->value] : NULL;
}

static bool is_whole(struct place at)
{
    int64_t whole;
    return at.node->kind == NODE_NUMBER && node_int64(at.node, &whole) &&
           strpbrk(at.node->text, ".eE") == NULL;
}

/* As W&B infers it where none is named. */
static const struct shape *shape_of(const struct wandb *wandb,
                                    const struct wandb_param *param)
{
    static const struct shape value = {"constant", .kind = SHAPE_VALUE},
                              values = {"categorical", .kind = SHAPE_VALUES},
                              range = {"uniform", .kind = SHAPE_RANGE},
                              whole = {"int_uniform", .kind = SHAPE_RANGE,
                                       .whole = true};
    if (param->distribution.node != NULL)
        return shape_called(wandb, param->distribution);
    if (param->values.node != NULL)
        return &values;
    if (param->value.node != NULL)
        return &value;
    if (param->min.node != NULL && param->max.node != NULL)
        return is_whole(param->min) && is_whole(param->max) ? &whole : &range;
    field_key_error(&wandb->reader, param->at,
                    "has neither value, nor values, nor min and max");
    return NULL;
}

/* ---- values ---- */

/* What a parameter's values are in Python and in JSON. */
enum values_kind { VALUES_PLAIN, VALUES_TEXTS, VALUES_FLAGS, VALUES_MIXED };

static enum values_kind kind_of(const struct node *value)
{
    return value->kind == NODE_STRING ? VALUES_TEXTS
           : value->kind == NODE_BOOL ? VALUES_FLAGS
                                      : VALUES_PLAIN;
}

static void put_quoted(const char *text, struct text *out)
{
    text_puts(out, "'");
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            text_puts(out, "\\");
        text_append(out, text, 1);
    }
    text_puts(out, "'");
}

/* The value as Python's str() has it; `inside` a list or a map, repr(). */
static void put_python(const struct node *node, bool inside, struct text *out)
{
    const char *sep = "";
    switch (node->kind) {
    case NODE_NULL:
        text_puts(out, "None");
        return;
    case NODE_BOOL:
        text_puts(out, node->text[0] == 't' ? "True" : "False");
        return;
    case NODE_STRING:
        if (inside)
            put_quoted(node->text, out);
        else
            text_puts(out, node->text);
        return;
    case NODE_NUMBER:
        text_puts(out, node->text);
        return;
    case NODE_LIST:
    case NODE_MAP:
        break;
    }
    text_puts(out, node->kind == NODE_LIST ? "[" : "{");
    NODE_EACH (one, node->first) {
        text_puts(out, sep);
        if (one->key != NULL) {
            put_quoted(one->key, out);
            text_puts(out, ": ");
        }
        put_python(one, true, out);
        sep = ", ";
    }
    text_puts(out, node->kind == NODE_LIST ? "]" : "}");
}

static void put_value(const struct wandb *wandb, struct grown *list,
                      const struct node *node)
{
    struct text text = {0};
    text_puts(&text, "");
    if (wandb->json && node->kind != NODE_STRING)
        json_print(json_of_node(node), &text);
    else
        put_python(node, false, &text);
    foreign_put_text(wandb->reader.arena, list, NULL, text_string(&text), node);
    text_free(&text);
}

/* Numbers stay numbers, so that the search knows their order. */
static enum values_kind put_values(const struct wandb *wandb,
                                   struct grown *param, struct place at)
{
    struct arena *arena = wandb->reader.arena;
    const struct node *first = node_items(at.node);
    bool numbers = true;
    if (at.node->kind != NODE_LIST || first == NULL) {
        field_error(&wandb->reader, at, "must be a list of values");
        return VALUES_PLAIN;
    }
    enum values_kind kind = kind_of(first);
    NODE_EACH (one, first) {
        numbers &= one->kind == NODE_NUMBER;
        if (kind_of(one) != kind)
            kind = VALUES_MIXED;
    }
    if (numbers) {
        foreign_put(arena, param, "values", at.node);
        return kind;
    }
    struct grown list = foreign_begin(arena, NODE_LIST, at.node);
    NODE_EACH (one, first)
        put_value(wandb, &list, one);
    foreign_put(arena, param, "values", list.node);
    return kind;
}

static enum values_kind put_constant(const struct wandb *wandb,
                                     struct grown *param, struct place at)
{
    struct grown list = foreign_begin(wandb->reader.arena, NODE_LIST, at.node);
    put_value(wandb, &list, at.node);
    foreign_put_text(wandb->reader.arena, param, "type", "categorical",
                     at.node);
    foreign_put(wandb->reader.arena, param, "values", list.node);
    return kind_of(at.node);
}

static void missing(const struct wandb *wandb, const struct wandb_param *param,
                    const char *key, const struct shape *shape)
{
    field_missing(
        &wandb->reader, param->at, key,
        arena_printf(wandb->reader.arena, "%s needs it", shape->name));
}

/* ---- ranges ---- */

static bool read_bounds(const struct wandb *wandb,
                        const struct wandb_param *param,
                        const struct shape *shape, double bounds[2])
{
    const struct field_reader *reader = &wandb->reader;
    if (param->min.node == NULL)
        missing(wandb, param, "min", shape);
    if (param->max.node == NULL)
        missing(wandb, param, "max", shape);
    if (param->min.node == NULL || param->max.node == NULL ||
        !foreign_number(reader, param->min, &bounds[0]) ||
        !foreign_number(reader, param->max, &bounds[1]))
        return false;
    if (!shape->exponents)
        return true;
    const double min = bounds[0], max = bounds[1];
    bounds[0] = exp(shape->inverse ? -max : min);
    bounds[1] = exp(shape->inverse ? -min : max);
    if (isfinite(bounds[1]) && bounds[0] > 0)
        return true;
    field_error(reader, param->max,
                "%s takes natural logarithms as bounds: exp(%g) is out of "
                "range",
                shape->name, max);
    diag_hint(reader->diag, "log_uniform_values takes the bounds themselves");
    return false;
}

/* Those of its steps that are within the bounds. */
static bool put_steps(const struct wandb *wandb,
                      const struct wandb_param *param, struct grown *out,
                      double bounds[2])
{
    struct arena *arena = wandb->reader.arena;
    double q = 1;
    if (param->q.node != NULL && !foreign_number(&wandb->reader, param->q, &q))
        return false;
    const double first = ceil(bounds[0] / q - 1e-9),
                 last = floor(bounds[1] / q + 1e-9);
    const bool whole = q == floor(q);
    if (!(q > 0) || !(first < last)) {
        field_error(&wandb->reader, param->q.node ? param->q : param->at,
                    "there are no two steps of %g between min and max", q);
        return false;
    }
    foreign_put_text(arena, out, "type", whole ? "integer" : "double",
                     param->at.node);
    foreign_put_number(arena, out, "min", first * q, param->min.node);
    foreign_put_number(arena, out, "max", last * q, param->max.node);
    if (q != 1)
        foreign_put_number(arena, out, "step", q, param->q.node);
    return true;
}

static void put_range(const struct wandb *wandb,
                      const struct wandb_param *param,
                      const struct shape *shape, struct grown *out)
{
    struct arena *arena = wandb->reader.arena;
    double bounds[2];
    if (!read_bounds(wandb, param, shape, bounds))
        return;
    if (shape->steps) {
        if (!put_steps(wandb, param, out, bounds))
            return;
    } else {
        foreign_put_text(arena, out, "type",
                         shape->whole ? "integer" : "double", param->at.node);
        if (shape->exponents) {
            foreign_put_number(arena, out, "min", bounds[0], param->min.node);
            foreign_put_number(arena, out, "max", bounds[1], param->max.node);
        } else {
            foreign_move(arena, out, "min", param->min);
            foreign_move(arena, out, "max", param->max);
        }
    }
    if (shape->log)
        foreign_put_text(arena, out, "scale", "log", param->at.node);
}

/* ---- one parameter ---- */

static void refuse_endless(const struct wandb *wandb,
                           const struct wandb_param *param)
{
    field_error(&wandb->reader, param->distribution,
                "%s has no bounds, and a search here needs them",
                param->distribution.node->text);
    diag_hint(wandb->reader.diag,
              "write uniform or log_uniform_values with min and max");
}

static enum values_kind put_leaf(struct wandb *wandb,
                                 const struct wandb_param *param)
{
    struct arena *arena = wandb->reader.arena;
    const struct shape *shape = shape_of(wandb, param);
    enum values_kind kind = VALUES_PLAIN;
    struct grown out = foreign_begin(arena, NODE_MAP, param->at.node);
    if (shape == NULL)
        return kind;
    const struct place list =
        shape->kind == SHAPE_VALUE ? param->value : param->values;
    if (shape->kind == SHAPE_ENDLESS)
        refuse_endless(wandb, param);
    else if (shape->kind == SHAPE_RANGE)
        put_range(wandb, param, shape, &out);
    else if (list.node == NULL)
        missing(wandb, param, shape->kind == SHAPE_VALUE ? "value" : "values",
                shape);
    else if (shape->kind == SHAPE_VALUE)
        kind = put_constant(wandb, &out, list);
    else
        kind = put_values(wandb, &out, list);
    foreign_put(arena, &wandb->space, param->name, out.node);
    return kind;
}

/* ---- the words that stand for it ---- */

/* A text within quotes keeps its meaning only without quotes of its own. */
static bool check_quotes(const struct wandb *wandb,
                         const struct wandb_param *param)
{
    const struct node *one =
        param->values.node ? node_items(param->values.node) : param->value.node;
    for (; one != NULL; one = param->values.node ? one->next : NULL) {
        const char *text = node_string(one);
        if (text == NULL || strpbrk(text, "'\"\\\n") == NULL)
            continue;
        field_error(&wandb->reader, (struct place){one, param->at.path},
                    "a text with quotes or backslashes cannot be passed "
                    "within %s",
                    wandb->json ? "JSON" : "a map");
        return false;
    }
    return true;
}

static void put_reference(const struct wandb *wandb,
                          const struct wandb_param *param,
                          enum values_kind kind, struct wandb_word *word,
                          bool nested)
{
    struct arena *arena = wandb->reader.arena;
    const char *plain = arena_printf(arena, "${%s}", param->name);
    const bool quoted = kind == VALUES_TEXTS;
    word->value = nested && quoted ? arena_printf(arena, "'%s'", plain) : plain;
    word->json = quoted ? arena_printf(arena, "\"%s\"", plain) : plain;
    if (!nested && !wandb->json)
        return;
    if (kind == VALUES_MIXED)
        field_error(&wandb->reader, param->at,
                    "texts beside other values cannot be passed within %s",
                    wandb->json ? "JSON" : "a map");
    else if (quoted)
        check_quotes(wandb, param);
}

/* The agent passes a true flag as "--name" and leaves out a false one: a
 * parameter that only true ones have. */
static void put_flag(struct wandb *wandb, const struct wandb_param *param,
                     struct wandb_word *word)
{
    struct arena *arena = wandb->reader.arena;
    const struct node *at = param->at.node;
    struct grown out = foreign_begin(arena, NODE_MAP, at);
    struct grown values = foreign_begin(arena, NODE_LIST, at);
    struct grown when = foreign_begin(arena, NODE_MAP, at);
    const char *name = arena_printf(arena, "%s.flag", param->name);
    bool any = false;
    const struct node *list = param->values.node;
    NODE_EACH (one, list ? node_items(list) : param->value.node)
        any |= one->kind == NODE_BOOL && one->text[0] == 't';
    word->flag = arena_printf(arena, "${%s}", name);
    if (!any) {
        word->flag = ""; /* never true */
        return;
    }
    foreign_put_text(arena, &values, NULL,
                     arena_printf(arena, "--%s", param->name), at);
    foreign_put_text(arena, &when, param->name, "True", at);
    foreign_put(arena, &out, "values", values.node);
    foreign_put(arena, &out, "when", when.node);
    foreign_put(arena, &wandb->space, name, out.node);
}

/* ---- all of them ---- */

static void read_param(struct wandb *wandb, struct place at, const char *name,
                       bool nested, struct wandb_word *word);

/* A map of parameters is passed as one argument, a map of Python. */
static void read_nested(struct wandb *wandb, struct place at, const char *name,
                        struct wandb_word *word)
{
    struct arena *arena = wandb->reader.arena;
    struct text python = {0}, json = {0};
    const char *sep = "";
    if (at.node->kind != NODE_MAP || at.node->count == 0) {
        field_wrong_kind(&wandb->reader, at, "a map of parameters");
        return;
    }
    for (const struct place *one = field_members(&wandb->reader, at); one->node;
         one++) {
        struct wandb_word inner = {.value = "", .json = ""};
        read_param(wandb, *one,
                   arena_printf(arena, "%s.%s", name, one->node->key), true,
                   &inner);
        text_printf(&python, "%s'%s': %s", sep, one->node->key, inner.value);
        text_printf(&json, "%s\"%s\": %s", sep, one->node->key, inner.json);
        sep = ", ";
    }
    word->value = arena_printf(arena, "{%s}", text_string(&python));
    word->json = arena_printf(arena, "{%s}", text_string(&json));
    text_free(&python);
    text_free(&json);
}

static void read_param(struct wandb *wandb, struct place at, const char *name,
                       bool nested, struct wandb_word *word)
{
    struct wandb_param param = {.at = at, .name = name};
    const size_t before = wandb->reader.diag->errors;
    if (at.node->kind != NODE_MAP) {
        field_wrong_kind(&wandb->reader, at, "a map such as {value: 1}");
        return;
    }
    field_read_map(&wandb->reader, at, param_rows, &param);
    if (wandb->reader.diag->errors > before)
        return;
    if (param.nested.node != NULL) {
        read_nested(wandb, param.nested, name, word);
        return;
    }
    const enum values_kind kind = put_leaf(wandb, &param);
    put_reference(wandb, &param, kind, word, nested);
    if (kind == VALUES_FLAGS && wandb->no_flags && !nested)
        put_flag(wandb, &param, word);
}

void wandb_read_parameters(struct wandb *wandb)
{
    const struct place at = wandb->parameters;
    if (at.node->kind != NODE_MAP || at.node->count == 0 ||
        at.node->count > HT_MAX_PARAMETERS) {
        field_error(&wandb->reader, at, "must be a map of 1 to %d parameters",
                    HT_MAX_PARAMETERS);
        return;
    }
    wandb->space = foreign_begin(wandb->reader.arena, NODE_MAP, at.node);
    for (const struct place *one = field_members(&wandb->reader, at); one->node;
         one++) {
        struct wandb_word *word = &wandb->words[wandb->n_words++];
        *word = (struct wandb_word){.name = one->node->key};
        read_param(wandb, *one, one->node->key, false, word);
    }
}
