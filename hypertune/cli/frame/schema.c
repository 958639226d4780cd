/* schema.c - `help spec`: the JSON schema of the native form. */

#include "hypertune/cli/frame/commands.h"

#include <string.h>

#include "proto/base/arena.h"
#include "proto/doc/diag.h"
#include "proto/doc/node.h"

/* The path is the repository's root, where make runs. */
__asm__(".section .rodata\n"
        ".global cli_schema_start\n"
        ".global cli_schema_end\n"
        "cli_schema_start:\n"
        ".incbin \"proto/native.schema.json\"\n"
        "cli_schema_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const char cli_schema_start[], cli_schema_end[];

static const char *const unions[] = {"oneOf", "anyOf"};

enum { NAME_COLUMN = 20, MAX_NESTING = 8, REF_BYTES = 128 };

struct printer {
    const struct node *root; /* where "#/..." references start */
    struct text *out;
};

/* Follows "#/$defs/name" references, a few of them at most. */
static const struct node *resolve(const struct printer *printer,
                                  const struct node *schema)
{
    for (int i = 0; i < MAX_NESTING; i++) {
        const char *ref = node_get_string(schema, "$ref", NULL);
        if (ref == NULL || strncmp(ref, "#/", 2) != 0)
            break;
        char path[REF_BYTES];
        char *rest = NULL;
        size_t len = strlen(ref + 2);
        if (len >= sizeof path)
            break;
        memcpy(path, ref + 2, len + 1);
        schema = printer->root;
        for (char *key = strtok_r(path, "/", &rest); key != NULL;
             key = strtok_r(NULL, "/", &rest))
            schema = node_find(schema, key);
    }
    return schema;
}

static void add_scalar(const struct node *value, struct text *out)
{
    text_puts(out, value->text != NULL        ? value->text
                   : value->kind == NODE_LIST ? "[]"
                                              : "{}");
}

static void add_choices(const struct node *list, struct text *out)
{
    NODE_EACH (item, list->first) {
        text_puts(out, item == list->first ? "" : "|");
        add_scalar(item, out);
    }
}

static void add_kind(const struct printer *printer, const struct node *schema,
                     struct text *out)
{
    const struct node *type = node_find(schema, "type");
    const struct node *choices = node_find(schema, "enum");
    const struct node *only = node_find(schema, "const");
    if (choices != NULL) {
        add_choices(choices, out);
    } else if (only != NULL) {
        add_scalar(only, out);
    } else if (type != NULL && type->kind == NODE_LIST) {
        add_choices(type, out);
    } else if (type != NULL) {
        add_scalar(type, out);
        const struct node *items = resolve(printer, node_find(schema, "items"));
        const char *of = node_get_string(items, "type", NULL);
        if (of != NULL)
            text_printf(out, " of %s", of);
    }
    for (size_t i = 0; i < 2 && type == NULL; i++) {
        const struct node *options = node_find(schema, unions[i]);
        const struct node *one = options != NULL ? options->first : NULL;
        for (; one != NULL; one = one->next) {
            text_puts(out, one == options->first ? "" : " or ");
            add_kind(printer, resolve(printer, one), out);
        }
    }
}

static void add_object(const struct printer *printer, const struct node *schema,
                       int depth);

static void add_member(const struct printer *printer, const char *name,
                       const struct node *schema, int depth)
{
    struct text about = {0};
    int indent = 2 * depth + 2;
    text_puts(&about, "(");
    add_kind(printer, schema, &about);
    text_puts(&about, ") ");
    text_puts(&about, node_get_string(schema, "description", ""));
    int pad = NAME_COLUMN - indent - (int)strlen(name);
    text_printf(printer->out, "%*s%s%*s", indent, "", name, pad > 1 ? pad : 1,
                "");
    text_wrap(printer->out, about.data, NAME_COLUMN);
    text_free(&about);
    add_object(printer, schema, depth + 1);
}

/* The members of an object, or of the object that a map's values are. */
static void add_object(const struct printer *printer, const struct node *schema,
                       int depth)
{
    if (depth >= MAX_NESTING)
        return;
    NODE_EACH (member, node_first(schema, "properties"))
        add_member(printer, member->key, resolve(printer, member), depth);
    const struct node *values = node_find(schema, "additionalProperties");
    if (values != NULL && values->kind == NODE_MAP)
        add_member(printer, "NAME", resolve(printer, values), depth);
    for (size_t i = 0; i < 2; i++) {
        const struct node *options = node_find(schema, unions[i]);
        NODE_EACH (one, node_items(options))
            add_object(printer, resolve(printer, one), depth);
    }
}

void cli_help_spec(struct text *out)
{
    const char *json = cli_schema_start;
    const size_t len = (size_t)(cli_schema_end - cli_schema_start);
    struct arena *arena = arena_new();
    struct diag diag;
    diag_init(&diag, arena, "schema", json, len);
    const struct node *root = node_read_json(arena, json, len, &diag);
    const struct printer printer = {.root = root, .out = out};
    text_puts(out, "A spec is YAML (or JSON) with these fields; \"hypertune "
                   "init\" writes one.\n\n");
    add_object(&printer, root, 0);
    arena_free(arena);
}
