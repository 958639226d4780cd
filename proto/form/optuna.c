#include "proto/form/optuna.h"

#include <stddef.h>
#include <string.h>

#include "proto/base/text.h"
#include "proto/doc/json.h"

struct distribution {
    struct place name, attributes;
    struct optuna_range range;
    struct place choices;
    bool log;
};

#define SAID(member) offsetof(struct distribution, member)

/* ---- as parameters ---- */

void optuna_put_range(const struct field_reader *reader, struct grown *space,
                      const char *name, struct place at,
                      const struct optuna_range *range)
{
    struct arena *arena = reader->arena;
    struct grown out = foreign_begin(arena, NODE_MAP, at.node);
    double low = 0, high = 0, step = 0;
    if (range->low.node == NULL || range->high.node == NULL) {
        field_missing(reader, at, range->low.node ? "high" : "low", NULL);
        return;
    }
    if (!foreign_number(reader, range->low, &low) ||
        !foreign_number(reader, range->high, &high))
        return;
    if (range->step.node != NULL && !foreign_number(reader, range->step, &step))
        return;
    if (low == high) { /* a constant */
        struct grown one = foreign_begin(arena, NODE_LIST, at.node);
        foreign_put(arena, &one, NULL, range->low.node);
        foreign_put(arena, &out, "values", one.node);
        foreign_put(arena, space, name, out.node);
        return;
    }
    foreign_put_text(arena, &out, "type", range->whole ? "integer" : "double",
                     at.node);
    foreign_move(arena, &out, "min", range->low);
    foreign_move(arena, &out, "max", range->high);
    /* On a logarithmic scale Optuna's steps are always of one. */
    if (step != 0 && !(range->whole && (step == 1 || range->log)))
        foreign_move(arena, &out, "step", range->step);
    if (range->log)
        foreign_put_text(arena, &out, "scale", "log", at.node);
    foreign_put(arena, space, name, out.node);
}

void optuna_put_choices(const struct field_reader *reader, struct grown *space,
                        const char *name, struct place choices)
{
    struct arena *arena = reader->arena;
    struct grown out, values;
    if (choices.node->kind != NODE_LIST) {
        field_wrong_kind(reader, choices, "a list of choices");
        return;
    }
    out = foreign_begin(arena, NODE_MAP, choices.node);
    values = foreign_begin(arena, NODE_LIST, choices.node);
    NODE_EACH (one, choices.node->first) {
        struct text text = {0};
        text_puts(&text, one->kind == NODE_STRING ? one->text : "");
        if (one->kind != NODE_STRING)
            json_print(json_of_node(one), &text);
        foreign_put_text(arena, &values, NULL, text_string(&text), one);
        text_free(&text);
    }
    foreign_put_text(arena, &out, "type", "categorical", choices.node);
    foreign_put(arena, &out, "values", values.node);
    foreign_put(arena, space, name, out.node);
}

/* ---- a file of distributions ---- */

static const struct field_choice kinds[] = {
    {"FloatDistribution", -1, 0},
    {"IntDistribution", -1, 1},
    {"CategoricalDistribution", -1, 2},
    {"UniformDistribution", -1, 0},
    {"LogUniformDistribution", -1, 0},
    {"DiscreteUniformDistribution", -1, 0},
    {"IntUniformDistribution", -1, 1},
    {"IntLogUniformDistribution", -1, 1},
    {NULL, 0, 0}};

static const struct field attribute_rows[] = {
    {"low", field_place, .offset = SAID(range.low)},
    {"high", field_place, .offset = SAID(range.high)},
    {"step", field_place, .offset = SAID(range.step)},
    {"q", field_place, .offset = SAID(range.step)},
    {"log", field_flag, .offset = SAID(log)},
    {"choices", field_place, .offset = SAID(choices)},
    {0}};
static const struct field distribution_rows[] = {
    {"name", field_place, .offset = SAID(name)},
    {"attributes", field_map, .rows = attribute_rows,
     .place = SAID(attributes)},
    {0}};

bool optuna_is_space(const struct node *root)
{
    bool found = false;
    NODE_EACH (one, node_items(root)) {
        const char *name = node_get_string(one, "name", "");
        if (strstr(name, "Distribution") == NULL ||
            node_find(one, "attributes") == NULL)
            return false;
        found = true;
    }
    return found;
}

static void read_distribution(const struct field_reader *reader,
                              struct grown *space, struct place at)
{
    const struct field row = {.name = "distribution", .choices = kinds};
    struct distribution said = {.log = false};
    const size_t before = reader->diag->errors;
    field_read_map(reader, at, distribution_rows, &said);
    if (reader->diag->errors > before)
        return;
    const struct field_choice *kind = field_choice(reader, said.name, &row);
    if (kind == NULL)
        return;
    if (kind->value < 2) {
        said.range.whole = kind->value == 1;
        said.range.log = said.log || strstr(kind->name, "Log") != NULL;
        optuna_put_range(reader, space, at.node->key, said.attributes,
                         &said.range);
    } else if (said.choices.node == NULL) {
        field_missing(reader, said.attributes, "choices", NULL);
    } else {
        optuna_put_choices(reader, space, at.node->key, said.choices);
    }
}

const struct node *optuna_parameters(const struct node *root, struct diag *diag)
{
    const struct field_reader reader = {
        .diag = diag, .arena = diag->arena, .null_is_absent = true};
    const struct place at = {root, ""};
    struct grown space = foreign_begin(diag->arena, NODE_MAP, root);
    for (const struct place *one = field_members(&reader, at); one->node; one++)
        read_distribution(&reader, &space, *one);
    return diag->errors > 0 ? NULL : space.node;
}
