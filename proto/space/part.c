#include "proto/space/part.h"

#include <string.h>

#include "proto/base/limits.h"

/* Names are looked up one after the other: those of a single parameter first,
 * since their values tell which of several children another name means. */
struct assignment {
    const struct field_reader *reader;
    const struct space *space;
    size_t n;
    const struct named_value *named;
    int of[HT_MAX_PARAMETERS]; /* parameters; -1: not known */
    struct value *values;      /* by parameter; absent: none */
    struct subspace part;      /* of all values so far */
};

static size_t count_named(const struct space *space, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < space->n; i++)
        n += strcmp(space->params[i].name, name) == 0 ? 1 : 0;
    return n;
}

/* Whether parameter i may have the value beside those given so far. */
static bool may_have(struct assignment *assignment, size_t i,
                     struct value value)
{
    struct subspace part;
    size_t at;
    assignment->values[i] = value;
    const bool may =
        subspace_make(assignment->reader->arena, assignment->space,
                      assignment->values, &part, &at, NULL) == HT_OK;
    assignment->values[i] = (struct value){.absent = true};
    return may;
}

/* Of children that share the name the only one that may have the value; -1
 * after an error. */
static int find_child(struct assignment *assignment,
                      const struct named_value *named)
{
    const struct space *space = assignment->space;
    int found = -1;
    size_t possible = 0;
    struct ht_error why;
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        struct value value;
        if (strcmp(param->name, named->name) != 0 ||
            !may_have(assignment, i, space_param_from_unit(param, 0)))
            continue;
        possible++;
        if (space_param_read(param, named->value.node, &value, &why) != HT_OK)
            continue;
        if (found >= 0) {
            field_error(assignment->reader, named->value,
                        "may be of several parameters \"%.64s\": say the value "
                        "of their parent, too",
                        named->name);
            return -1;
        }
        found = (int)i;
    }
    if (found < 0 && possible == 1)
        field_error(assignment->reader, named->value, "%s", why.text);
    else if (found < 0)
        field_error(assignment->reader, named->value,
                    "no parameter \"%.64s\" can have it here", named->name);
    return found;
}

static void assign(struct assignment *assignment, size_t k, int i)
{
    const struct named_value *named = &assignment->named[k];
    struct ht_error why;
    struct value value;
    if (i < 0)
        return;
    if (space_param_read(&assignment->space->params[i], named->value.node,
                         &value, &why) != HT_OK) {
        field_error(assignment->reader, named->value, "%s", why.text);
        return;
    }
    assignment->values[i] = value;
    assignment->of[k] = i;
}

/* The part of all values; the first that does not go with the others is an
 * error. */
static void find_part(struct assignment *assignment)
{
    const struct field_reader *reader = assignment->reader;
    struct ht_error why;
    size_t at;
    if (subspace_make(reader->arena, assignment->space, assignment->values,
                      &assignment->part, &at, &why) == HT_OK)
        return;
    for (size_t k = 0; k < assignment->n; k++)
        if (assignment->of[k] == (int)at)
            field_error(reader, assignment->named[k].value, "%s", why.text);
}

bool part_read(const struct field_reader *reader, const struct space *space,
               size_t n, const struct named_value named[], struct value given[],
               struct subspace *part)
{
    struct assignment assignment = {.reader = reader,
                                    .space = space,
                                    .n = n,
                                    .named = named,
                                    .values = given};
    const size_t errors = reader->diag->errors;
    for (size_t i = 0; i < space->n; i++)
        given[i] = (struct value){.absent = true};
    for (size_t k = 0; k < n; k++) {
        assignment.of[k] = -1;
        if (count_named(space, named[k].name) == 1)
            assign(&assignment, k, space_find(space, named[k].name));
    }
    for (size_t k = 0; k < n; k++)
        if (count_named(space, named[k].name) > 1)
            assign(&assignment, k, find_child(&assignment, &named[k]));
    find_part(&assignment);
    *part = assignment.part;
    return reader->diag->errors == errors;
}

bool part_check(const struct field_reader *reader, struct place at,
                const struct constraint_set *constraints,
                const struct subspace *part)
{
    struct value point[HT_MAX_PARAMETERS];
    struct text broken = {0};
    (void)subspace_common(part, point);
    constraint_set_explain(constraints, point, &broken);
    const bool holds = broken.len == 0;
    if (!holds)
        field_error(reader, at, "constraint %s", broken.data);
    text_free(&broken);
    return holds;
}
