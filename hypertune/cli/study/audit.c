/* audit.c - `audit`: who changed what on the server, and who was refused. */

#include <stdio.h>
#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/study/follow.h"
#include "proto/base/clock.h"

enum { LINES = 100, PAGE = 1000, POLL_MS = 1000 };

struct auditing {
    struct cli *cli;
    const char *after; /* RFC 3339, or NULL: no --since */
    int64_t since;     /* the newest id that was read; -1: none */
    int64_t printed, left;
};

/* --since as a moment: itself, or so long ago. */
static int read_since(struct auditing *auditing)
{
    struct cli *cli = auditing->cli;
    const char *text = cli->set.since;
    int64_t ms;
    char stamp[CLOCK_STAMP_BYTES];
    if (text == NULL)
        return CLI_DONE;
    if (!clock_read_stamp(text, &ms)) {
        if (!clock_read_duration(text, &ms))
            return cli_fail(cli, CLI_USAGE,
                            "--since: \"%.40s\" is neither a moment such as "
                            "2026-11-05T12:00:00Z nor a time such as 2h",
                            text);
        ms = clock_wall_ms() - ms;
    }
    auditing->after =
        arena_strdup(cli->lasting, clock_stamp(stamp, ms > 0 ? ms : 0));
    return CLI_DONE;
}

static const char *path_of(const struct auditing *auditing)
{
    struct cli *cli = auditing->cli;
    const int64_t most = auditing->left < PAGE ? auditing->left : PAGE;
    const char *path = arena_printf(
        cli->arena, "/hypertune/v1/audit?limit=%lld", (long long)most);
    if (auditing->since >= 0)
        path = arena_printf(cli->arena, "%s&since=%lld", path,
                            (long long)auditing->since);
    path = cli_query(cli, path, "after", auditing->after);
    path = cli_query(cli, path, "principal", cli->set.who);
    return cli_query(cli, path, "study", cli->set.of_study);
}

static const char *text_of(const struct node *line, const char *name)
{
    return node_get_string(line, name, "");
}

static void add_line(const struct node *line, struct table *table)
{
    const char *trial = text_of(line, "trial");
    const char *error = text_of(line, "error");
    table_row(table);
    table_cell(table, text_of(line, "time"));
    table_cell(table, text_of(line, "principal"));
    const char *certificate = text_of(line, "certificate");
    table_cell_printf(table, "%s%s%s", text_of(line, "address"),
                      certificate[0] != '\0' ? " " : "", certificate);
    table_cell_printf(table, "%lld", (long long)node_get_int(line, "code", 0));
    table_cell_printf(table, "%lld", (long long)node_get_int(line, "count", 1));
    table_cell(table, text_of(line, "action"));
    table_cell_printf(table, "%s%s%s", text_of(line, "study"),
                      trial[0] != '\0' ? "/" : "", trial);
    table_cell_printf(
        table, "%s%s%s", text_of(line, "detail"),
        text_of(line, "detail")[0] != '\0' && error[0] != '\0' ? ": " : "",
        error);
}

static struct table *new_table(const struct cli *cli)
{
    struct table *table = table_new(cli->arena);
    table_columns(table, "TIME,WHO,FROM,>CODE,>COUNT,ACTION,STUDY,DETAIL");
    table_spare(table, "COUNT FROM");
    return table;
}

/* With --follow each line is whole by itself: JSON has one a line. */
static enum cli_format format_of(const struct cli *cli)
{
    return cli->set.follow && cli->format == FORMAT_JSON ? FORMAT_JSONL
                                                         : cli->format;
}

static void without_titles(struct text *out, bool first)
{
    const char *end = first ? NULL : strchr(out->data, '\n');
    if (end == NULL)
        return;
    struct text rest = {0};
    text_puts(&rest, end + 1);
    text_free(out);
    *out = rest;
}

static int print_page(struct auditing *auditing, const struct node *lines)
{
    struct cli *cli = auditing->cli;
    struct text out = {0}, rows = {0};
    struct table *table = new_table(cli);
    const bool first = auditing->printed == 0;
    NODE_EACH (line, node_items(lines)) {
        if (!cli_output_item(format_of(cli), line, (size_t)auditing->printed++,
                             &out))
            add_line(line, table);
    }
    const bool titles = first && cli->format == FORMAT_CSV && !cli->set.follow;
    if (table_rows(table) > 0 || titles) {
        cli_output_table(cli, table, &rows);
        without_titles(&rows, first);
        text_append(&out, rows.data, rows.len);
        text_free(&rows);
    }
    return cli_print(&out);
}

/* *more: the server may have further lines now. */
static int read_page(struct auditing *auditing, bool *more)
{
    struct cli *cli = auditing->cli;
    const struct node *answer;
    struct ht_error err;
    const enum ht_status status =
        cli_get(cli, path_of(auditing), &answer, &err);
    *more = false;
    if (status != HT_OK)
        return cli_fail_error(cli, &err);
    const struct node *lines = node_find(answer, "lines");
    const int64_t n = lines != NULL ? (int64_t)lines->count : 0;
    const int code = print_page(auditing, lines);
    /* Those of the first page are the newest: nothing is behind them. */
    const bool full = auditing->since >= 0 && n > 0 &&
                      n == (auditing->left < PAGE ? auditing->left : PAGE);
    int64_t last = full ? 0 : node_get_int(answer, "last", 0);
    NODE_EACH (line, node_items(lines)) {
        const int64_t id = node_get_int(line, "id", 0);
        last = id > last ? id : last;
    }
    auditing->since = last > auditing->since ? last : auditing->since;
    auditing->left -= cli->set.follow ? 0 : n;
    *more = full && auditing->left > 0;
    return code;
}

static int read_all(struct auditing *auditing)
{
    bool more = true;
    int code = CLI_DONE;
    while (code == CLI_DONE && more)
        code = read_page(auditing, &more);
    return code;
}

static int follow(struct auditing *auditing)
{
    struct cli_follow following;
    cli_follow_open(&following, auditing->cli, "", 0);
    int code = CLI_DONE;
    while (code == CLI_DONE) {
        cli_follow_begin(&following);
        code = read_all(auditing);
        cli_follow_finish(&following, true);
        if (code == CLI_DONE)
            code = cli_follow_pause(&following, POLL_MS);
    }
    cli_follow_close(&following);
    return code;
}

int cli_audit(struct cli *cli)
{
    struct auditing auditing = {.cli = cli, .since = -1, .left = LINES};
    int code = read_since(&auditing);
    if (code == CLI_DONE)
        code = cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    if (cli->set.since != NULL) {
        auditing.since = 0;
        auditing.left = INT64_MAX;
    }
    if (cli->set.limit >= 0)
        auditing.left = cli->set.limit > 0 ? cli->set.limit : INT64_MAX;
    if (cli->set.limit == 0)
        auditing.since = 0;
    if (cli->set.follow)
        return follow(&auditing);
    code = read_all(&auditing);
    struct text end = {0};
    cli_output_end(cli->format, (size_t)auditing.printed, &end);
    return code == CLI_DONE && end.len > 0 ? cli_print(&end) : code;
}
