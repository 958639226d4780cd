#include "hypertune/cli/frame/findings.h"

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
    if (finding->repair == NULL)
        return;
    text_printf(out, "%18s", "");
    text_print_safe(out, "%s\n", finding->repair);
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
    struct table *table = table_new(cli->arena);
    struct text out = {0};
    switch (cli->format) {
    case FORMAT_JSON:
    case FORMAT_JSONL:
    case FORMAT_YAML:
        for (size_t i = 0; i < findings->n; i++)
            cli_output_object(cli->format, object_of(&findings->items[i]), i,
                              &out);
        cli_output_end(cli->format, findings->n, &out);
        break;
    case FORMAT_CSV:
        table_columns(table, "level,subject,text,repair");
        for (size_t i = 0; i < findings->n; i++) {
            cJSON *object = object_of(&findings->items[i]);
            cli_output_row(table, object, "level subject text repair");
            cJSON_Delete(object);
        }
        table_csv(table, &out);
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
