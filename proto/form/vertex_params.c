/* vertex_params.c - the parameters of the Vertex form. */

#include <stddef.h>

#include "proto/base/limits.h"
#include "proto/form/vertex.h"
#define PARAM(member) offsetof(struct google_param, member)

/* ---- one parameter ---- */

struct google_param {
    struct param_draft param;
    struct place children;
    int specs; /* value specs seen: exactly one is right */
};

static const struct field range_rows[] = {
    {.name = "minValue", .read = field_skip},
    {.name = "maxValue", .read = field_skip},
    {.name = "defaultValue", .read = field_skip},
    {0}};
static const struct field list_rows[] = {
    {.name = "values", .read = field_skip},
    {.name = "defaultValue", .read = field_skip},
    {0}};

static void read_value_spec(const struct field_reader *reader, struct place at,
                            const struct field *field, void *into)
{
    struct google_param *google = into;
    struct param_draft *param = &google->param;
    bool range = field->min == PARAM_DOUBLE || field->min == PARAM_INTEGER;
    google->specs++;
    field_read_map(reader, at, range ? range_rows : list_rows, into);
    param->param.type = (enum param_type)field->min;
    param->fallback = field_member(reader, at, "defaultValue");
    if (range) {
        param->min = field_member(reader, at, "minValue");
        param->max = field_member(reader, at, "maxValue");
    } else {
        param->values = field_member(reader, at, "values");
    }
}

/* The rows of value specs carry the type in `min`. */
static const struct field param_rows[] = {
    {"parameterId", field_name, .offset = PARAM(param.param.name)},
    {"doubleValueSpec", read_value_spec, .min = PARAM_DOUBLE},
    {"integerValueSpec", read_value_spec, .min = PARAM_INTEGER},
    {"discreteValueSpec", read_value_spec, .min = PARAM_DISCRETE},
    {"categoricalValueSpec", read_value_spec, .min = PARAM_CATEGORICAL},
    {"scaleType", field_place, .offset = PARAM(param.scale)},
    {"conditionalParameterSpecs", field_place, .offset = PARAM(children)},
    {0}};

static bool check_param(const struct field_reader *reader, struct place at,
                        const struct google_param *google)
{
    const char *name = google->param.param.name;
    if (name == NULL) {
        field_missing(reader, at, "parameterId", NULL);
    } else if (name[0] == '-') {
        field_error(reader, at, "the name %s must not begin with -", name);
    } else if (google->specs != 1) {
        field_error(reader, at, "parameter %s has %d value specs, needs one",
                    name, google->specs);
        diag_hint(reader->diag, "doubleValueSpec, integerValueSpec, "
                                "discreteValueSpec or categoricalValueSpec");
    } else {
        return true;
    }
    return false;
}

static struct condition_draft
read_extra_condition(const struct field_reader *reader, struct place at,
                     size_t child)
{
    static const struct field rows[] = {
        {"parent", field_text,
         .offset = offsetof(struct condition_draft, name)},
        {"values", field_place,
         .offset = offsetof(struct condition_draft, values)},
        {0}};
    struct condition_draft condition = {.child = child, .parent = -1, .at = at};
    field_read_map(reader, at, rows, &condition);
    return condition;
}

/* hypertune.parameters.NAME.when: a list of {parent, values}. */
static void read_extra_when(const struct field_reader *reader,
                            struct job_draft *draft, struct place at,
                            size_t child)
{
    if (at.node->kind != NODE_LIST || at.node->count > HT_MAX_PARAMETERS) {
        field_error(reader, at, "must be a list of at most %d conditions",
                    HT_MAX_PARAMETERS);
        return;
    }
    for (const struct place *item = field_items(reader, at); item->node;
         item++) {
        struct condition_draft condition =
            read_extra_condition(reader, *item, child);
        if (condition.name && condition.values.node)
            job_draft_add_condition(reader, draft, &condition);
        else
            field_error(reader, *item, "needs parent and values");
    }
}

/* What hypertune.parameters says of this parameter. */
static void read_extra(const struct field_reader *reader,
                       struct vertex_draft *vertex, struct param_draft *param)
{
    struct extra {
        struct place step, when, former;
    } extra = {0};
    static const struct field rows[] = {
        {"step", field_place, .offset = offsetof(struct extra, step)},
        {"when", field_place, .offset = offsetof(struct extra, when)},
        {"former", field_place, .offset = offsetof(struct extra, former)},
        {0}};
    if (vertex->extras.node == NULL)
        return;
    struct place at = field_member(reader, vertex->extras, param->param.name);
    if (at.node == NULL)
        return;
    field_read_map(reader, at, rows, &extra);
    param->step = extra.step;
    param->former = extra.former;
    if (extra.when.node)
        read_extra_when(reader, &vertex->draft, extra.when,
                        vertex->draft.job.space.n);
}

static void read_children(const struct field_reader *reader,
                          struct vertex_draft *vertex, struct place at);

/* Adds one parameter; the index of it, or -1 after a fault. */
static int read_param(const struct field_reader *reader,
                      struct vertex_draft *vertex, struct place at)
{
    struct google_param google = {.param = {.at = at, .google = true}};
    struct job_draft *draft = &vertex->draft;
    size_t before = reader->diag->errors;
    field_read_map(reader, at, param_rows, &google);
    if (reader->diag->errors > before || !check_param(reader, at, &google))
        return -1;
    if (draft->job.space.n == HT_MAX_PARAMETERS) {
        field_error(reader, at, "a study has at most %d parameters",
                    HT_MAX_PARAMETERS);
        return -1;
    }
    read_extra(reader, vertex, &google.param);
    if (!job_param_finish(reader, &google.param))
        return -1;
    job_draft_add(reader, draft, &google.param);
    int index = (int)draft->job.space.n - 1;
    if (google.children.node)
        read_children(reader, vertex, google.children);
    return index;
}

/* ---- children ---- */

#define CHILD(member) offsetof(struct child_draft, member)

struct child_draft {
    struct place spec, values, said;
    enum param_type type; /* of parents that the said list is for */
    size_t lists;         /* of values: exactly one is right */
};

static void read_parent_values(const struct field_reader *reader,
                               struct place at, const struct field *field,
                               void *into)
{
    static const struct field rows[] = {
        {"values", field_place, .offset = CHILD(values)}, {0}};
    struct child_draft *child = into;
    child->lists++;
    child->said = at;
    child->type = (enum param_type)field->min;
    field_read_map(reader, at, rows, child);
}

/* The rows of values carry the parent's type in `min`. */
static const struct field child_rows[] = {
    {"parameterSpec", field_place, .offset = CHILD(spec)},
    {"parentCategoricalValues", read_parent_values, .min = PARAM_CATEGORICAL},
    {"parentDiscreteValues", read_parent_values, .min = PARAM_DISCRETE},
    {"parentIntValues", read_parent_values, .min = PARAM_INTEGER},
    {0}};

const char *const vertex_parent_lists[] = {
    NULL, "parentIntValues", "parentDiscreteValues", "parentCategoricalValues"};

static bool check_child(const struct field_reader *reader, struct place at,
                        const struct param *parent,
                        const struct child_draft *child)
{
    if (child->spec.node == NULL) {
        field_missing(reader, at, "parameterSpec", NULL);
    } else if (parent->type == PARAM_DOUBLE) {
        field_error(reader, at, "parameter %s is continuous, it cannot decide",
                    parent->name);
    } else if (child->lists != 1) {
        field_error(reader, at,
                    "has %zu lists of the parent's values, needs "
                    "one",
                    child->lists);
        diag_hint(reader->diag, "add %s", vertex_parent_lists[parent->type]);
    } else if (child->type != parent->type) {
        field_key_error(reader, child->said, "parameter %s is %s", parent->name,
                        job_param_type_name(parent->type));
        diag_hint(reader->diag, "use %s", vertex_parent_lists[parent->type]);
    } else if (child->values.node == NULL) {
        field_missing(reader, child->said, "values", NULL);
    } else {
        return true;
    }
    return false;
}

/* A child becomes a parameter of the flat space with a condition. */
static void read_child(const struct field_reader *reader,
                       struct vertex_draft *vertex, struct place at,
                       size_t parent)
{
    struct child_draft child = {0};
    size_t before = reader->diag->errors;
    field_read_map(reader, at, child_rows, &child);
    if (reader->diag->errors > before ||
        !check_child(reader, at, &vertex->draft.job.space.params[parent],
                     &child))
        return;
    int index = read_param(reader, vertex, child.spec);
    if (index < 0)
        return;
    struct condition_draft condition = {.child = (size_t)index,
                                        .parent = (int)parent,
                                        .at = at,
                                        .values = child.values};
    job_draft_add_condition(reader, &vertex->draft, &condition);
}

/* The list of children of the parameter added last. */
static void read_children(const struct field_reader *reader,
                          struct vertex_draft *vertex, struct place at)
{
    const size_t parent = vertex->draft.job.space.n - 1;
    if (at.node->kind != NODE_LIST) {
        field_wrong_kind(reader, at, "a list");
        return;
    }
    for (const struct place *item = field_items(reader, at); item->node; item++)
        read_child(reader, vertex, *item, parent);
}

/* ---- all parameters ---- */

static void check_extras(const struct field_reader *reader,
                         const struct vertex_draft *vertex)
{
    struct place at = vertex->extras;
    if (at.node == NULL)
        return;
    if (at.node->kind != NODE_MAP) {
        field_wrong_kind(reader, at, "a map");
        return;
    }
    for (const struct place *item = field_members(reader, at); item->node;
         item++)
        if (space_find(&vertex->draft.job.space, item->node->key) < 0)
            field_key_error(reader, *item, "there is no parameter \"%s\"",
                            item->node->key);
}

/* The new place of each parameter by hypertune.parameterOrder, which names
 * every one of them once; false after a fault. */
static bool read_ranks(const struct field_reader *reader,
                       const struct vertex_draft *vertex, size_t rank[])
{
    const struct space *space = &vertex->draft.job.space;
    bool seen[HT_MAX_PARAMETERS] = {false};
    bool good = vertex->order.n == space->n;
    for (size_t i = 0; good && i < space->n; i++) {
        int index = space_find(space, vertex->order.items[i]);
        good = index >= 0 && !seen[index];
        if (good) {
            seen[index] = true;
            rank[index] = i;
        }
    }
    if (!good)
        field_error(reader, vertex->order_at,
                    "must name every parameter exactly once");
    return good;
}

/* Google nests children under their parents; we keep the order in which a
 * person declared them, as it is the order of arguments. */
static void apply_order(const struct field_reader *reader,
                        struct vertex_draft *vertex)
{
    struct job_draft *draft = &vertex->draft;
    struct space *space = &draft->job.space;
    size_t rank[HT_MAX_PARAMETERS];
    if (vertex->order.n == 0 || !read_ranks(reader, vertex, rank))
        return;
    struct param *params = arena_alloc(reader->arena, space->n, sizeof *params);
    struct param_draft *drafts =
        arena_alloc(reader->arena, space->n, sizeof *drafts);
    for (size_t i = 0; i < space->n; i++) {
        params[rank[i]] = space->params[i];
        drafts[rank[i]] = draft->params[i];
    }
    space->params = params;
    draft->params = drafts;
    for (struct condition_draft *c = draft->conditions; c; c = c->next) {
        c->child = rank[c->child];
        c->parent = c->parent < 0 ? -1 : (int)rank[c->parent];
    }
}

void vertex_read_parameters(const struct field_reader *reader,
                            struct vertex_draft *vertex)
{
    struct place at = vertex->draft.parameters;
    const size_t least = vertex->draft.job.space.open ? 0 : 1;
    if (at.node->kind != NODE_LIST || at.node->count < least) {
        field_error(reader, at, "must be a list of 1 to %d parameters",
                    HT_MAX_PARAMETERS);
        return;
    }
    size_t before = reader->diag->errors;
    for (const struct place *item = field_items(reader, at); item->node; item++)
        read_param(reader, vertex, *item);
    if (reader->diag->errors > before)
        return;
    check_extras(reader, vertex);
    apply_order(reader, vertex);
}
