#include "hypertune/cli_output.h"

#include <string.h>

#include "proto/clock.h"
#include "proto/json.h"

bool cli_output_resource(enum cli_format format, const struct node *resource,
                         struct text *out)
{
    switch (format) {
    case FORMAT_JSON:
        json_print_pretty(json_of_node(resource), out);
        text_puts(out, "\n");
        return true;
    case FORMAT_JSONL:
        json_print(json_of_node(resource), out);
        text_puts(out, "\n");
        return true;
    case FORMAT_YAML:
        cli_output_yaml(resource, out);
        return true;
    case FORMAT_TABLE:
    case FORMAT_WIDE:
    case FORMAT_CSV:
    case FORMAT_NAME:
    case FORMAT_ARGS:
        return false;
    }
    return false;
}

void cli_output_object(enum cli_format format, cJSON *object, size_t index,
                       struct text *out)
{
    if (format == FORMAT_JSON)
        text_puts(out, index == 0 ? "[" : ",\n");
    json_print(object, out);
    text_puts(out, format == FORMAT_JSON ? "" : "\n");
}

bool cli_output_item(enum cli_format format, const struct node *resource,
                     size_t index, struct text *out)
{
    if (format == FORMAT_JSON) {
        cli_output_object(format, json_of_node(resource), index, out);
        return true;
    }
    if (format == FORMAT_YAML)
        text_puts(out, "---\n");
    return cli_output_resource(format, resource, out);
}

void cli_output_end(enum cli_format format, size_t n, struct text *out)
{
    if (format == FORMAT_JSON)
        text_puts(out, n == 0 ? "[]\n" : "]\n");
}

/* A plain YAML scalar only where no reader could take it for anything else
 * than text; a JSON string is valid YAML everywhere. */
static void yaml_text(const char *value, struct text *out)
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
        json_quote(out, value);
}

static void yaml_block(const struct node *node, int indent, struct text *out);

static void yaml_scalar(const struct node *node, struct text *out)
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
        yaml_text(node->text, out);
        return;
    case NODE_LIST:
        text_puts(out, "[]");
        return;
    case NODE_MAP:
        text_puts(out, "{}");
        return;
    }
}

static void yaml_map(const struct node *map, int indent, struct text *out)
{
    bool first = true;
    for (const struct node *child = map->first; child; child = child->next) {
        text_printf(out, "%*s", first ? 0 : indent, "");
        first = false;
        yaml_text(child->key, out);
        text_puts(out, ":");
        if (child->first == NULL) {
            text_puts(out, " ");
            yaml_scalar(child, out);
            text_puts(out, "\n");
        } else {
            int deeper = indent + (child->kind == NODE_MAP ? 2 : 0);
            text_printf(out, "\n%*s", deeper, "");
            yaml_block(child, deeper, out);
        }
    }
}

static void yaml_list(const struct node *list, int indent, struct text *out)
{
    bool first = true;
    for (const struct node *item = list->first; item; item = item->next) {
        text_printf(out, "%*s- ", first ? 0 : indent, "");
        first = false;
        if (item->first == NULL) {
            yaml_scalar(item, out);
            text_puts(out, "\n");
        } else {
            yaml_block(item, indent + 2, out);
        }
    }
}

/* The cursor already stands at column `indent`. */
static void yaml_block(const struct node *node, int indent, struct text *out)
{
    if (node->kind == NODE_MAP)
        yaml_map(node, indent, out);
    else
        yaml_list(node, indent, out);
}

void cli_output_yaml(const struct node *node, struct text *out)
{
    if (node->first == NULL) {
        yaml_scalar(node, out);
        text_puts(out, "\n");
        return;
    }
    yaml_block(node, 0, out);
}

void cli_output_age(int64_t then_ms, int64_t now_ms, struct text *out)
{
    char span[CLOCK_DURATION_BYTES];
    if (then_ms <= 0) {
        text_puts(out, "-");
        return;
    }
    int64_t age = now_ms > then_ms ? now_ms - then_ms : 0;
    text_puts(out, clock_duration(span, age - age % 1000));
}

void cli_output_bytes(int64_t bytes, struct text *out)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    double amount = (double)bytes / 1024;
    size_t unit = 0;
    if (bytes < 1024) {
        text_printf(out, "%lld B", (long long)bytes);
        return;
    }
    for (; amount >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        amount /= 1024;
    text_printf(out, amount < 10 ? "%.1f %s" : "%.0f %s", amount, units[unit]);
}

const char *cli_output_size(struct arena *arena, int64_t bytes)
{
    struct text size = {0};
    cli_output_bytes(bytes, &size);
    const char *copy = arena_strdup(arena, size.data);
    text_free(&size);
    return copy;
}
