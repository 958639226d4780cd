/* node_write.c - nodes as YAML. libyaml's emitter would quote in other places
 * and escape otherwise than quote_json(), so it is not used. */

#include <string.h>
#include <strings.h>

#include "proto/base/quote.h"
#include "proto/doc/node.h"

/* A plain YAML scalar only where no reader could take it for anything else
 * than text; a JSON string is valid YAML everywhere. */
static void write_text(const char *value, struct text *out)
{
    static const char *const special[] = {"true", "false", "null", "yes", "no",
                                          "on",   "off",   "y",    "n"};
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                "0123456789-./";
    bool bare = value[0] != '\0' && strspn(value, plain) == strlen(value) &&
                strchr("0123456789-.", value[0]) == NULL;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        bare = bare && strcasecmp(value, special[i]) != 0;
    if (bare)
        text_puts(out, value);
    else
        quote_json(out, value);
}

static void write_block(const struct node *node, int indent, struct text *out);

static void write_scalar(const struct node *node, struct text *out)
{
    switch (node->kind) {
    case NODE_NULL:
        text_puts(out, "null");
        return;
    case NODE_BOOL:
    case NODE_NUMBER:
        text_puts(out, node->text);
        return;
    case NODE_STRING:
        write_text(node->text, out);
        return;
    case NODE_LIST:
        text_puts(out, "[]");
        return;
    case NODE_MAP:
        text_puts(out, "{}");
        return;
    }
}

static void write_map(const struct node *map, int indent, struct text *out)
{
    bool first = true;
    for (const struct node *child = map->first; child; child = child->next) {
        text_printf(out, "%*s", first ? 0 : indent, "");
        first = false;
        write_text(child->key, out);
        text_puts(out, ":");
        if (child->first == NULL) {
            text_puts(out, " ");
            write_scalar(child, out);
            text_puts(out, "\n");
        } else {
            int deeper = indent + (child->kind == NODE_MAP ? 2 : 0);
            text_printf(out, "\n%*s", deeper, "");
            write_block(child, deeper, out);
        }
    }
}

static void write_list(const struct node *list, int indent, struct text *out)
{
    bool first = true;
    for (const struct node *item = list->first; item; item = item->next) {
        text_printf(out, "%*s- ", first ? 0 : indent, "");
        first = false;
        if (item->first == NULL) {
            write_scalar(item, out);
            text_puts(out, "\n");
        } else {
            write_block(item, indent + 2, out);
        }
    }
}

/* The cursor is at column `indent` already. */
static void write_block(const struct node *node, int indent, struct text *out)
{
    if (node->kind == NODE_MAP)
        write_map(node, indent, out);
    else
        write_list(node, indent, out);
}

void node_write_yaml(const struct node *node, struct text *out)
{
    if (node->first == NULL) {
        write_scalar(node, out);
        text_puts(out, "\n");
        return;
    }
    write_block(node, 0, out);
}
