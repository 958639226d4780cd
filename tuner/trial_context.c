#include "tuner/trial_context.h"

#include <string.h>

#include "proto/json.h"
#include "proto/limits.h"
#include "tuner/trial_body.h"

/* --- which values are given --- */

/* Names are looked up one after the other: those of a single parameter first,
 * since their values tell which of several children another name means. */
struct giving {
    const struct field_reader *reader;
    const struct space *space;
    size_t n;
    const struct trial_parameter *said;
    int of[HT_MAX_PARAMETERS];              /* parameters; -1: not known */
    struct value values[HT_MAX_PARAMETERS]; /* by parameter; absent: none */
    struct subspace part;                   /* of all values so far */
};

static size_t count_named(const struct space *space, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < space->n; i++)
        n += strcmp(space->params[i].name, name) == 0 ? 1 : 0;
    return n;
}

/* Whether parameter i may have the value beside those given so far. */
static bool may_have(struct giving *giving, size_t i, struct value value)
{
    struct subspace part;
    size_t at;
    giving->values[i] = value;
    const bool may = subspace_make(giving->reader->arena, giving->space,
                                   giving->values, &part, &at, NULL) == HT_OK;
    giving->values[i] = (struct value){.absent = true};
    return may;
}

/* Of children that share the name the only one that may have the value; -1
 * after an error. */
static int find_child(struct giving *giving, const struct trial_parameter *said)
{
    const struct space *space = giving->space;
    int found = -1;
    for (size_t i = 0; i < space->n; i++) {
        struct value value;
        if (strcmp(space->params[i].name, said->name) != 0 ||
            param_read(&space->params[i], said->value.node, &value, NULL) !=
                HT_OK ||
            !may_have(giving, i, value))
            continue;
        if (found >= 0) {
            field_error(giving->reader, said->value,
                        "may be of several parameters \"%.64s\": say the value "
                        "of their parent, too",
                        said->name);
            return -1;
        }
        found = (int)i;
    }
    if (found < 0)
        field_error(giving->reader, said->value,
                    "no parameter \"%.64s\" can have it here", said->name);
    return found;
}

static void give(struct giving *giving, size_t k, int i)
{
    const struct trial_parameter *said = &giving->said[k];
    struct ht_error why;
    struct value value;
    if (i < 0)
        return;
    if (param_read(&giving->space->params[i], said->value.node, &value, &why) !=
        HT_OK) {
        field_error(giving->reader, said->value, "%s", why.text);
        return;
    }
    giving->values[i] = value;
    giving->of[k] = i;
}

/* The part of all values; the first that does not go with the others is an
 * error. */
static void find_part(struct giving *giving)
{
    const struct field_reader *reader = giving->reader;
    struct ht_error why;
    size_t at;
    if (subspace_make(reader->arena, giving->space, giving->values,
                      &giving->part, &at, &why) == HT_OK)
        return;
    for (size_t k = 0; k < giving->n; k++)
        if (giving->of[k] == (int)at)
            field_error(reader, giving->said[k].value, "%s", why.text);
}

static bool give_all(struct giving *giving)
{
    const struct space *space = giving->space;
    const size_t errors = giving->reader->diag->errors;
    for (size_t i = 0; i < space->n; i++)
        giving->values[i] = (struct value){.absent = true};
    for (size_t k = 0; k < giving->n; k++) {
        giving->of[k] = -1;
        if (count_named(space, giving->said[k].name) == 1)
            give(giving, k, space_find(space, giving->said[k].name));
    }
    for (size_t k = 0; k < giving->n; k++)
        if (count_named(space, giving->said[k].name) > 1)
            give(giving, k, find_child(giving, &giving->said[k]));
    find_part(giving);
    return giving->reader->diag->errors == errors;
}

/* --- what clients send --- */

struct draft {
    const char *description;
    struct place parameters;
};

static const struct field context_fields[] = {
    {.name = "description",
     .read = field_text,
     .offset = offsetof(struct draft, description)},
    {.name = "parameters",
     .read = field_place,
     .offset = offsetof(struct draft, parameters)},
    {0}};

/* What violates a constraint whatever the other values are. */
static void check_constraints(const struct field_reader *reader,
                              struct place at,
                              const struct constraint_set *constraints,
                              const struct subspace *part)
{
    struct value point[HT_MAX_PARAMETERS];
    for (size_t i = 0; i < part->space->n; i++)
        point[i] = part->at[i].n == 1 ? part->at[i].values[0]
                                      : (struct value){.absent = true};
    if (!constraint_set_holds(constraints, point))
        field_error(reader, at,
                    "no point with these values satisfies the constraints");
}

static const char *text_of(const struct giving *giving, const char *description)
{
    cJSON *object = cJSON_CreateObject();
    if (description != NULL && description[0] != '\0')
        json_add_string(object, "description", description);
    if (giving->n > 0) {
        struct text point = {0};
        point_text(giving->space, giving->values, &point);
        cJSON_AddItemToObject(object, "parameters",
                              cJSON_CreateRaw(point.data));
        text_free(&point);
    }
    return json_text(giving->reader->arena, object);
}

bool trial_context_read(const struct field_reader *reader, struct place at,
                        const struct constraint_set *constraints,
                        struct trial_context *context)
{
    const size_t errors = reader->diag->errors;
    struct trial_parameter said[HT_MAX_PARAMETERS];
    struct giving giving = {
        .reader = reader, .space = constraints->space, .said = said};
    struct draft draft = {0};
    field_read_map(reader, at, context_fields, &draft);
    if (draft.description != NULL && strlen(draft.description) > HT_MAX_REASON)
        field_error(reader, field_member(reader, at, "description"),
                    "is over %d bytes", HT_MAX_REASON);
    if (draft.parameters.node != NULL)
        giving.n =
            trial_body_parameters(reader, draft.parameters, giving.space, said);
    if (reader->diag->errors != errors || !give_all(&giving))
        return false;
    check_constraints(reader, draft.parameters, constraints, &giving.part);
    *context = (struct trial_context){text_of(&giving, draft.description),
                                      giving.part};
    return reader->diag->errors == errors;
}

/* --- its text --- */

static size_t list_members(const struct node *map,
                           struct trial_parameter said[HT_MAX_PARAMETERS])
{
    size_t n = 0;
    const struct node *node = map == NULL ? NULL : map->first;
    for (; node != NULL && n < HT_MAX_PARAMETERS; node = node->next)
        said[n++] = (struct trial_parameter){node->key, {node, node->key}};
    return n;
}

enum ht_status trial_context_parse(struct arena *arena,
                                   const struct space *space, const char *text,
                                   struct subspace *part, struct ht_error *err)
{
    struct trial_parameter said[HT_MAX_PARAMETERS];
    struct diag diag;
    diag_init(&diag, arena, "context", NULL, 0);
    const struct field_reader reader = {.diag = &diag, .arena = arena};
    const struct node *node =
        node_read_long_json(arena, text, strlen(text), &diag);
    struct giving giving = {.reader = &reader, .space = space, .said = said};
    giving.n = list_members(node_find(node, "parameters"), said);
    for (size_t k = 0; k < giving.n; k++)
        if (space_find(space, said[k].name) < 0)
            field_error(&reader, said[k].value, "is no parameter");
    if (diag.errors > 0 || !give_all(&giving))
        return ht_fail(err, HT_INVALID, "context: %.64s: %.128s",
                       diag.first->path, diag.first->text);
    *part = giving.part;
    return HT_OK;
}

bool trial_context_is(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}
