#include "hypertune/cli/host/findings.h"

#include <stdarg.h>
#include <string.h>

#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/table.h"
#include "proto/doc/json.h"

static const char *const level_names[] = {"ok", "note", "warn", "fail"};

void findings_add(struct findings *findings, enum finding_level level,
                  const char *subject, const char *repair, const char *format,
                  ...)
{
    struct arena *arena = findings->cli->arena;
    va_list args;
    va_start(args, format);
    findings->items = arena_grow(arena, findings->items, findings->n,
                                 sizeof *findings->items);
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
    text_print_safe(out, "%s\n", finding->text);
    for (const char *line = finding->repair; line != NULL && *line != '\0';) {
        const size_t len = strcspn(line, "\n");
        text_printf(out, "%18s", "");
        text_print_safe(out, "%s\n", arena_strndup(cli->arena, line, len));
        line += len + (line[len] == '\n');
    }
}

static cJSON *object_of(const struct finding *finding)
{
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "level", level_names[finding->level]);
    json_add_string(object, "subject", finding->subject);
    json_add_string(object, "text", finding->text);
    if (finding->repair != NULL)
        json_add_string(object, "repair", finding->repair);
    return object;
}

int findings_print(const struct findings *findings)
{
    struct cli *cli = findings->cli;
    const bool csv = cli->format == FORMAT_CSV;
    const bool objects = cli->format == FORMAT_JSON ||
                         cli->format == FORMAT_JSONL ||
                         cli->format == FORMAT_YAML;
    struct table *table = table_new(cli->arena);
    struct text out = {0};
    table_columns(table, "level,subject,text,repair");
    for (size_t i = 0; i < findings->n; i++) {
        const struct finding *finding = &findings->items[i];
        if (objects)
            cli_output_object(cli->format, object_of(finding), i, &out);
        else if (!csv)
            print_line(cli, finding, &out);
        table_row(table);
        table_cells(table, level_names[finding->level], finding->subject,
                    finding->text, finding->repair, NULL);
    }
    cli_output_end(cli->format, findings->n, &out);
    if (csv)
        table_csv(table, &out);
    return cli_print(&out);
}
