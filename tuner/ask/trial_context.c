#include "tuner/ask/trial_context.h"

#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "proto/space/part.h"
#include "tuner/ask/trial_body.h"

/* --- what clients send --- */

struct draft {
    const char *description;
    struct place parameters;
};

static const struct field context_fields[] = {
    {"description", field_text, .offset = offsetof(struct draft, description)},
    {"parameters", field_place, .offset = offsetof(struct draft, parameters)},
    {0}};

const char *trial_context_text(struct arena *arena, const struct space *space,
                               const struct value given[],
                               const struct trial_context_words *words)
{
    cJSON *object = cJSON_CreateObject();
    struct text point = {0};
    if (words->description != NULL && words->description[0] != '\0')
        json_add_string(object, "description", words->description);
    space_point_text(space, given, &point);
    if (strcmp(point.data, "{}") != 0)
        cJSON_AddItemToObject(object, "parameters",
                              cJSON_CreateRaw(point.data));
    text_free(&point);
    if (words->untried)
        json_add_bool(object, "untried", true);
    if (words->trial != 0)
        json_add_int_text(object, "trial", words->trial);
    if (words->search != NULL)
        cJSON_AddItemToObject(object, "search", cJSON_CreateRaw(words->search));
    return json_text(arena, object);
}

bool trial_context_read(const struct field_reader *reader, struct place at,
                        const struct constraint_set *constraints,
                        struct trial_context *context)
{
    const size_t errors = reader->diag->errors;
    const struct space *space = constraints->space;
    struct named_value named[HT_MAX_PARAMETERS];
    struct value given[HT_MAX_PARAMETERS];
    struct draft draft = {0};
    size_t n = 0;
    field_read_map(reader, at, context_fields, &draft);
    if (draft.description != NULL && strlen(draft.description) > HT_MAX_REASON)
        field_error(reader, field_member(reader, at, "description"),
                    "is over %d bytes", HT_MAX_REASON);
    if (draft.parameters.node != NULL)
        n = trial_body_parameters(reader, draft.parameters, space, named);
    if (!part_read(reader, space, n, named, given, &context->part) ||
        reader->diag->errors != errors ||
        !part_check(reader, draft.parameters, constraints, &context->part))
        return false;
    const struct trial_context_words words = {.description = draft.description};
    context->text = trial_context_text(reader->arena, space, given, &words);
    context->untried = false;
    return true;
}

/* --- its text --- */

static size_t list_members(const struct node *map,
                           struct named_value named[HT_MAX_PARAMETERS])
{
    size_t n = 0;
    const struct node *node = map == NULL ? NULL : map->first;
    for (; node != NULL && n < HT_MAX_PARAMETERS; node = node->next)
        named[n++] = (struct named_value){node->key, {node, node->key}};
    return n;
}

enum ht_status trial_context_parse(struct arena *arena,
                                   const struct space *space, const char *text,
                                   struct trial_context *context,
                                   struct ht_error *err)
{
    struct named_value named[HT_MAX_PARAMETERS];
    struct value given[HT_MAX_PARAMETERS];
    struct trial_context read = {.text = text};
    struct diag diag;
    diag_init(&diag, arena, "context", NULL, 0);
    const struct field_reader reader = {.diag = &diag, .arena = arena};
    const struct node *node =
        node_read_long_json(arena, text, strlen(text), &diag);
    const size_t n = list_members(node_find(node, "parameters"), named);
    for (size_t k = 0; k < n; k++)
        if (space_find(space, named[k].name) < 0)
            field_error(&reader, named[k].value, "is no parameter");
    if (diag.errors > 0 ||
        !part_read(&reader, space, n, named, given, &read.part))
        return ht_fail(err, HT_INVALID, "context: %.64s: %.128s",
                       diag.first->path, diag.first->text);
    (void)node_bool(node_find(node, "untried"), &read.untried);
    *context = read;
    return HT_OK;
}

bool trial_context_is(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}
