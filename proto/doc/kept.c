/* kept.c - keeps the members of a document that have no effect, so that they
 * are shown as they were sent. */

#include "proto/doc/field.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"

enum { MAX_LEVELS = 16 };

void kept_init(struct kept_list *list)
{
    list->first = NULL;
    list->last = &list->first;
}

static void add_json(struct kept_list *list, struct arena *arena,
                     struct place at, const char *json)
{
    struct kept *kept = arena_alloc(arena, 1, sizeof *kept);
    *kept = (struct kept){.path = at.path, .json = json};
    *list->last = kept;
    list->last = &kept->next;
}

void kept_silently(const struct field_reader *reader, struct place at)
{
    add_json(reader->kept, reader->arena, at,
             json_text(reader->arena, json_of_node(at.node)));
}

static void warn(const struct field_reader *reader, struct place at)
{
    field_warning(reader, at, "is kept but has no effect here");
}

/* Protobuf's default of its kind: what a client sends for a member that was not
 * set. */
static bool is_default(const struct node *node)
{
    double number;
    switch (node->kind) {
    case NODE_NULL:
        return true;
    case NODE_BOOL:
        return strcmp(node->text, "false") == 0;
    case NODE_NUMBER:
        return node_double(node, &number) && number == 0;
    case NODE_STRING:
        return node->text[0] == '\0';
    case NODE_LIST:
    case NODE_MAP:
        return node->count == 0;
    }
    return false;
}

void kept_value(const struct field_reader *reader, struct place at,
                const struct field *field, void *into)
{
    union {
        int64_t whole;
        double real;
        bool flag;
        const char *text;
        struct strings texts;
    } read;
    size_t before = reader->diag->errors;
    (void)into;
    field->check(reader, at, field, &read);
    if (reader->diag->errors > before)
        return;
    kept_silently(reader, at);
    if (!is_default(at.node))
        warn(reader, at);
}

void kept_text(const struct field_reader *reader, struct place at,
               const struct field *field, void *into)
{
    struct field row = *field;
    row.check = field_text;
    kept_value(reader, at, &row, into);
}

/* Google's clients must never get the number of an enumeration back. */
void kept_add_name(struct kept_list *list, struct arena *arena, struct place at,
                   const struct field_choice *choice)
{
    add_json(list, arena, at, arena_printf(arena, "\"%s\"", choice->name));
}

void kept_name(const struct field_reader *reader, struct place at,
               const struct field_choice *choice)
{
    kept_add_name(reader->kept, reader->arena, at, choice);
}

void kept_choice(const struct field_reader *reader, struct place at,
                 const struct field *field, void *into)
{
    (void)into;
    const struct field_choice *choice = field_choice(reader, at, field);
    if (choice == NULL)
        return;
    kept_name(reader, at, choice);
    if (choice->number != 0)
        warn(reader, at);
}

const struct field kept_encryption_rows[] = {
    {.name = "kmsKeyName", .read = kept_text}, {0}};

void kept_map(const struct field_reader *reader, struct place at,
              const struct field *field, void *into)
{
    (void)into;
    field_read_map(reader, at, field->rows, NULL);
    if (at.node->kind != NODE_MAP || at.node->count > 0)
        return;
    kept_silently(reader, at);
    warn(reader, at);
}

/* ---- writing ---- */

/* Moves over an index of at most two digits in brackets; NULL: it is none. */
static const char *skip_index(const char *c)
{
    size_t digits = strspn(c + 1, "0123456789");
    return digits >= 1 && digits <= 2 && c[1 + digits] == ']' ? c + digits + 2
                                                              : NULL;
}

bool kept_is_path(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    for (size_t levels = 1; text && levels <= MAX_LEVELS; levels++) {
        size_t len = strspn(text, allowed);
        if (len == 0 || len > HT_MAX_NAME)
            return false;
        text += len;
        if (*text == '\0')
            return true;
        if (*text == '[')
            text = skip_index(text);
        if (text && *text++ != '.')
            return false;
    }
    return false;
}

static cJSON *find_member(cJSON *object, const char *name, bool list)
{
    cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (item)
        return item;
    return list ? json_add_array(object, name) : json_add_object(object, name);
}

static cJSON *item_at(cJSON *list, size_t index)
{
    while ((size_t)cJSON_GetArraySize(list) <= index)
        json_push_object(list);
    return cJSON_GetArrayItem(list, (int)index);
}

void kept_put(cJSON *root, const struct kept *kept)
{
    const char *c = kept->path;
    for (;;) {
        char name[HT_MAX_NAME + 1];
        size_t len = strcspn(c, ".[");
        size_t taken = len < sizeof name ? len : sizeof name - 1;
        memcpy(name, c, taken);
        name[taken] = '\0';
        c += len;
        if (*c == '\0') {
            cJSON_DeleteItemFromObjectCaseSensitive(root, name);
            cJSON_AddItemToObject(root, name, cJSON_CreateRaw(kept->json));
            return;
        }
        bool list = *c == '[';
        root = find_member(root, name, list);
        if (list) {
            char *end;
            root = item_at(root, strtoul(c + 1, &end, 10));
            c = end + 1;
        }
        c++; /* the dot */
    }
}
