#include "hypertune/cli/frame/output.h"

#include "proto/base/clock.h"
#include "proto/doc/diag.h"
#include "proto/doc/json.h"
#include "proto/doc/node.h"

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
        node_write_yaml(resource, out);
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

void cli_output_table(const struct cli *cli, const struct table *table,
                      struct text *out)
{
    if (cli->format == FORMAT_CSV)
        table_csv(table, out);
    else if (cli_is_table(cli) || table_rows(table) > 0)
        table_print(table, cli->format == FORMAT_WIDE ? 0 : cli->width, out);
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

/* YAML is written from a tree, which is read from the object's JSON. */
static void add_yaml(cJSON *object, struct text *out)
{
    struct arena *arena = arena_new();
    struct text json = {0};
    struct diag diag;
    json_print(object, &json);
    diag_init(&diag, arena, "object", NULL, 0);
    text_puts(out, "---\n");
    node_write_yaml(node_read_json(arena, json.data, json.len, &diag), out);
    text_free(&json);
    arena_free(arena);
}

void cli_output_object(enum cli_format format, cJSON *object, size_t index,
                       struct text *out)
{
    if (format == FORMAT_YAML) {
        add_yaml(object, out);
        return;
    }
    if (format == FORMAT_JSON)
        text_puts(out, index == 0 ? "[" : ",\n");
    json_print(object, out);
    text_puts(out, format == FORMAT_JSON ? "" : "\n");
}

void cli_output_end(enum cli_format format, size_t n, struct text *out)
{
    if (format == FORMAT_JSON)
        text_puts(out, n == 0 ? "[]\n" : "]\n");
}

const char *cli_output_nothing(const struct cli *cli)
{
    return cli->format == FORMAT_CSV ? "" : "-";
}

void cli_output_time_cell(int64_t wall_ms, struct table *table)
{
    char stamp[CLOCK_STAMP_BYTES];
    table_cell(table, wall_ms > 0 ? clock_stamp(stamp, wall_ms) : "");
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
    return text_take(&size, arena);
}
