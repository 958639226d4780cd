#include "proto/doc/field.h"

#include <stdarg.h>
#include <string.h>

#include "proto/base/words.h"

/* ---- faults ---- */

__attribute__((format(printf, 2, 0))) static const char *
format_text(const struct field_reader *reader, const char *format, va_list args)
{
    return arena_vprintf(reader->arena, format, args);
}

void field_error(const struct field_reader *reader, struct place at,
                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_error(reader->diag, at.node ? at.node->line : 0,
               at.node ? at.node->column : 0, at.path, "%s",
               format_text(reader, format, args));
    va_end(args);
}

void field_warning(const struct field_reader *reader, struct place at,
                   const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_warning(reader->diag, at.node ? at.node->line : 0,
                 at.node ? at.node->column : 0, at.path, "%s",
                 format_text(reader, format, args));
    va_end(args);
}

void field_key_error(const struct field_reader *reader, struct place at,
                     const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool keyed = at.node->key_line > 0;
    diag_error(reader->diag, keyed ? at.node->key_line : at.node->line,
               keyed ? at.node->key_column : at.node->column, at.path, "%s",
               format_text(reader, format, args));
    va_end(args);
}

void field_missing(const struct field_reader *reader, struct place at,
                   const char *key, const char *why)
{
    const struct place member = {at.node, field_member(reader, at, key).path};
    if (why == NULL)
        field_error(reader, member, "is missing");
    else
        field_error(reader, member, "is missing: %s", why);
}

bool field_wrong_kind(const struct field_reader *reader, struct place at,
                      const char *wanted)
{
    const struct node *first = node_items(at.node);
    field_error(reader, at, "must be %s, not %s", wanted,
                node_kind_name(at.node->kind));
    if (at.node->kind == NODE_MAP && at.node->count == 1 &&
        first->kind == NODE_NULL)
        diag_hint(reader->diag, "write \"{%s}\", with quotes, if it is text",
                  first->key);
    else if (at.node->kind == NODE_LIST && strncmp(wanted, "a map", 5) == 0 &&
             first != NULL && first->kind == NODE_MAP)
        diag_hint(reader->diag, "write each as \"name: value\", without \"-\"");
    return false;
}

/* ---- places ---- */

static const char *join(const struct field_reader *reader, const char *path,
                        const char *key)
{
    if (path == NULL || path[0] == '\0')
        return arena_strdup(reader->arena, key);
    return arena_printf(reader->arena, "%s.%s", path, key);
}

struct place field_member(const struct field_reader *reader, struct place at,
                          const char *key)
{
    const struct node *node = node_find(at.node, key);
    if (node && node->kind == NODE_NULL && reader->null_is_absent)
        node = NULL;
    return (struct place){.node = node, .path = join(reader, at.path, key)};
}

struct place field_child(const struct field_reader *reader, struct place at,
                         const struct node *node)
{
    return (struct place){.node = node,
                          .path = join(reader, at.path, node->key)};
}

struct place field_item(const struct field_reader *reader, struct place at,
                        const struct node *node, size_t index)
{
    return (struct place){
        .node = node,
        .path = arena_printf(reader->arena, "%s[%zu]", at.path, index)};
}

const struct place *field_items(const struct field_reader *reader,
                                struct place at)
{
    const bool is_list = at.node->kind == NODE_LIST;
    const struct node *node = is_list ? at.node->first : NULL;
    struct place *items =
        arena_alloc(reader->arena, at.node->count + 2, sizeof *items);
    if (!is_list)
        items[0] = at;
    for (size_t n = 0; node; node = node->next, n++)
        items[n] = field_item(reader, at, node, n);
    return items;
}

const struct place *field_members(const struct field_reader *reader,
                                  struct place at)
{
    struct place *members =
        arena_alloc(reader->arena, at.node->count + 1, sizeof *members);
    size_t n = 0;
    for (const struct node *node = at.node->first; node; node = node->next)
        members[n++] = field_child(reader, at, node);
    return members;
}

/* ---- other words ---- */

/* Is `name`, up to a point in it, one of the names? */
static bool is_among(const char *name, const char *const names[])
{
    size_t len = strcspn(name, ".");
    for (; *names; names++)
        if (strlen(*names) == len && strncmp(*names, name, len) == 0)
            return true;
    return false;
}

static bool has_other(const struct field_synonym *synonym, const char *word)
{
    for (const char *const *other = synonym->others; *other; other++)
        if (words_are_alike(*other, word))
            return true;
    return false;
}

const char *field_meant(const struct field_reader *reader, const char *word,
                        const char *const names[])
{
    const struct field_synonym *synonym = reader->synonyms;
    for (; synonym && synonym->ours; synonym++) {
        if (!has_other(synonym, word) || !is_among(synonym->ours, names))
            continue;
        if (synonym->hint)
            return synonym->hint;
        return arena_printf(reader->arena, "did you mean \"%s\"?",
                            synonym->ours);
    }
    const char *near = words_nearest(word, names);
    return near ? arena_printf(reader->arena, "did you mean \"%s\"?", near)
                : NULL;
}

/* ---- maps ---- */

/* The row behind it, which may be the first of another table. */
static const struct field *next_row(const struct field *row)
{
    row++;
    return row->name == NULL && row->rows ? row->rows : row;
}

static void unknown_member(const struct field_reader *reader, struct place at,
                           const struct field fields[])
{
    const char **names = NULL;
    size_t n = 0;
    for (; fields->name; fields = next_row(fields)) {
        names = arena_grow(reader->arena, names, n, sizeof *names);
        names[n++] = fields->name;
    }
    names = arena_grow(reader->arena, names, n, sizeof *names);
    names[n] = NULL;
    field_key_error(reader, at, "unknown field \"%s\"", at.node->key);
    const char *colon = strchr(at.node->key, ':');
    const char *meant = field_meant(reader, at.node->key, names);
    if (colon != NULL && at.node->kind == NODE_NULL)
        diag_hint(reader->diag, "write \"%.*s: %s\", with a blank behind \":\"",
                  (int)(colon - at.node->key), at.node->key, colon + 1);
    else if (meant)
        diag_hint(reader->diag, "%s", meant);
}

static const struct field *find_row(const struct field fields[],
                                    const char *name)
{
    for (; fields->name; fields = next_row(fields))
        if (strcmp(fields->name, name) == 0)
            return fields;
    return NULL;
}

bool field_is_known(const struct field fields[], const char *name)
{
    return find_row(fields, name) != NULL;
}

static void read_member(const struct field_reader *reader, struct place at,
                        const struct field *field, void *into)
{
    const size_t before = reader->diag->errors;
    const char *text = node_string(at.node);
    if (field->may_be_empty && text && text[0] == '\0')
        return;
    if (field->place > 0)
        *(struct place *)(void *)((char *)into + field->place) = at;
    /* Rows that keep read into nothing. */
    field->read(reader, at, field,
                into != NULL ? (char *)into + field->offset : NULL);
    if (field->said > 0 && into != NULL && reader->diag->errors == before)
        *(bool *)((char *)into + field->said) = true;
}

void field_read_map(const struct field_reader *reader, struct place at,
                    const struct field fields[], void *into)
{
    if (at.node->kind != NODE_MAP) {
        field_wrong_kind(reader, at, "a map");
        return;
    }
    for (const struct place *item = field_members(reader, at); item->node;
         item++) {
        const struct field *row = find_row(fields, item->node->key);
        if (row == NULL)
            unknown_member(reader, *item, fields);
        else if (item->node->kind != NODE_NULL || !reader->null_is_absent)
            read_member(reader, *item, row, into);
    }
}
