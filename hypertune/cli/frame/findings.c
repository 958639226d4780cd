#include "hypertune/cli/frame/findings.h"

#include <stdarg.h>
#include <string.h>

#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/table.h"

static const char *const level_names[] = {"ok", "note", "warn", "fail"};

void findings_add(struct findings *findings, enum finding_level level,
                  const char *subject, const char *repair, const char *format,
                  ...)
{
    struct arena *arena = findings->cli->arena;
    va_list args;
    va_start(args, format);
    /* Grown at each power of two, so that n tells the capacity. */
    if ((findings->n & (findings->n - 1)) == 0) {
        size_t room = findings->n == 0 ? 1 : 2 * findings->n;
        struct finding *items = arena_alloc(arena, room, sizeof *items);
        for (size_t i = 0; i < findings->n; i++)
            items[i] = findings->items[i];
        findings->items = items;
    }
    findings->items[findings->n++] = (struct finding){
        .level = level,
        .subject = subject,
        .text = arena_vprintf(arena, format, args),
        .repair = repair != NULL ? arena_strdup(arena, repair) : NULL};
    va_end(args);
}

bool findings_failed(const struct findings *findings)
{
    for (size_t i = 0; i < findings->n; i++) {
        if (findings->items[i].level == FINDING_FAIL)
            return true;
    }
    return false;
}

static const char *color_of(const struct cli *cli, enum finding_level level)
{
    static const char *const colors[] = {"\033[32m", "", "\033[33m",
                                         "\033[31m"};
    return cli->color ? colors[level] : "";
}

static void print_line(const struct cli *cli, const struct finding *finding,
                       struct text *out)
{
    const char *color = color_of(cli, finding->level);
    text_printf(out, "%s%-5s%s %-11s ", color, level_names[finding->level],
                color[0] != '\0' ? "\033[0m" : "", finding->subject);
    text_put_escaped(out, "", finding->text, "\n");
    if (finding->repair == NULL)
        return;
    text_printf(out, "%18s", "");
    text_put_escaped(out, "", finding->repair, "\n");
}

static struct node *text_node(struct arena *arena, const char *key,
                              const char *text)
{
    struct node *node = arena_alloc(arena, 1, sizeof *node);
    *node = (struct node){.kind = NODE_STRING, .key = key, .text = text};
    return node;
}

static const struct node *node_of(struct arena *arena,
                                  const struct finding *finding)
{
    struct node *map = arena_alloc(arena, 1, sizeof *map);
    struct node *level = text_node(arena, "level", level_names[finding->level]);
    struct node *subject = text_node(arena, "subject", finding->subject);
    struct node *text = text_node(arena, "text", finding->text);
    *map = (struct node){.kind = NODE_MAP, .first = level, .count = 3};
    level->next = subject;
    subject->next = text;
    if (finding->repair != NULL) {
        text->next = text_node(arena, "repair", finding->repair);
        map->count++;
    }
    return map;
}

static void print_csv(const struct findings *findings, struct text *out)
{
    static const char *const titles[] = {"level", "subject", "text", "repair"};
    struct table *table = table_new(findings->cli->arena);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(table, titles[i], ALIGN_LEFT);
    for (size_t i = 0; i < findings->n; i++) {
        const struct finding *finding = &findings->items[i];
        table_row(table);
        table_cell(table, level_names[finding->level]);
        table_cell(table, finding->subject);
        table_cell(table, finding->text);
        table_cell(table, finding->repair != NULL ? finding->repair : "");
    }
    table_csv(table, out);
}

int findings_print(const struct findings *findings)
{
    struct cli *cli = findings->cli;
    struct text out = {0};
    switch (cli->format) {
    case FORMAT_JSON:
    case FORMAT_JSONL:
    case FORMAT_YAML:
        for (size_t i = 0; i < findings->n; i++)
            cli_output_item(cli->format,
                            node_of(cli->arena, &findings->items[i]), i, &out);
        cli_output_end(cli->format, findings->n, &out);
        break;
    case FORMAT_CSV:
        print_csv(findings, &out);
        break;
    case FORMAT_TABLE:
    case FORMAT_WIDE:
    case FORMAT_NAME:
    case FORMAT_ARGS:
        for (size_t i = 0; i < findings->n; i++)
            print_line(cli, &findings->items[i], &out);
        break;
    }
    return cli_print(&out);
}
