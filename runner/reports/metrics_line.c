#include "runner/reports/metrics_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "proto/doc/diag.h"
#include "proto/doc/node.h"

enum { COLUMN_STEP = -1, COLUMN_OTHER = -2 };

bool metrics_line_is_header(const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!isspace((unsigned char)line[i]))
            return line[i] != '{';
    }
    return false;
}

/* Copies the next cell without blanks around it and quotes; *at moves behind
 * its comma. False at the end of the line. */
static bool next_cell(struct arena *arena, const char *line, size_t len,
                      size_t *at, const char **cell)
{
    if (*at > len)
        return false;
    size_t end = *at;
    bool quoted = false;
    while (end < len && (quoted || line[end] != ',')) {
        quoted ^= line[end] == '"';
        end++;
    }
    size_t first = *at;
    size_t last = end;
    while (first < last && isspace((unsigned char)line[first]))
        first++;
    while (last > first && isspace((unsigned char)line[last - 1]))
        last--;
    if (last - first >= 2 && line[first] == '"' && line[last - 1] == '"') {
        first++;
        last--;
    }
    *cell = arena_strndup(arena, line + first, last - first);
    *at = end + 1;
    return true;
}

static int find_column(const struct strings *metrics, const char *name)
{
    for (size_t i = 0; i < metrics->n; i++) {
        if (strcmp(metrics->items[i], name) == 0)
            return (int)i;
    }
    return strcmp(name, "step") == 0 ? COLUMN_STEP : COLUMN_OTHER;
}

/* Also nan, inf and what other programs print for them. */
static bool read_number(const char *text, double *value)
{
    char *end;
    const double read = strtod(text, &end);
    if (end == text || *end != '\0')
        return false;
    *value = read;
    return true;
}

static void set_step(struct report *report, double value)
{
    if (value >= -9007199254740992.0 && value <= 9007199254740992.0) {
        report->has_step = true;
        report->step = (int64_t)value;
    }
}

static bool read_csv(struct arena *arena, const struct metrics_header *header,
                     const struct strings *metrics, const char *line,
                     size_t len, struct report *report)
{
    struct report_metric *found =
        arena_alloc(arena, metrics->n + 1, sizeof *found);
    const char *cell;
    size_t at = 0;
    size_t n = 0;
    for (size_t i = 0; i < header->n && next_cell(arena, line, len, &at, &cell);
         i++) {
        double value;
        const int column = header->metric[i];
        if (column == COLUMN_OTHER || !read_number(cell, &value))
            continue;
        if (column == COLUMN_STEP)
            set_step(report, value);
        else if (n < metrics->n)
            found[n++] = (struct report_metric){metrics->items[column], value};
    }
    report->metrics = found;
    report->n_metrics = n;
    return n > 0;
}

static bool read_value(const struct node *node, double *value)
{
    return (node->kind == NODE_NUMBER || node->kind == NODE_STRING) &&
           read_number(node->text, value);
}

static bool read_member(const struct node *map, const char *name, double *value)
{
    const struct node *node = node_find(map, name);
    return node != NULL && read_value(node, value);
}

static bool read_json(struct arena *arena, const struct strings *metrics,
                      const char *line, size_t len, struct report *report)
{
    struct diag diag;
    diag_init(&diag, arena, "line", line, len);
    const struct node *map = node_read_json(arena, line, len, &diag);
    if (map == NULL || map->kind != NODE_MAP)
        return false;
    struct report_metric *found =
        arena_alloc(arena, metrics->n + 1, sizeof *found);
    size_t n = 0;
    double value;
    for (size_t i = 0; i < metrics->n; i++) {
        if (read_member(map, metrics->items[i], &value))
            found[n++] = (struct report_metric){metrics->items[i], value};
    }
    if (read_member(map, "step", &value))
        set_step(report, value);
    report->metrics = found;
    report->n_metrics = n;
    return n > 0;
}

static size_t json_names(struct arena *arena, const char *line, size_t len,
                         const char *names[METRICS_LINE_COLUMNS])
{
    struct diag diag;
    diag_init(&diag, arena, "line", line, len);
    const struct node *map = node_read_json(arena, line, len, &diag);
    const struct node *node =
        map != NULL && map->kind == NODE_MAP ? map->first : NULL;
    size_t n = 0;
    double value;
    for (; node != NULL && n < METRICS_LINE_COLUMNS; node = node->next) {
        if (read_value(node, &value))
            names[n++] = node->key;
    }
    return n;
}

struct strings metrics_line_names(struct arena *arena, const char *line,
                                  size_t len)
{
    const char **names =
        arena_alloc(arena, METRICS_LINE_COLUMNS, sizeof *names);
    size_t n = 0, at = 0;
    if (!metrics_line_is_header(line, len))
        n = json_names(arena, line, len, names);
    else
        while (n < METRICS_LINE_COLUMNS &&
               next_cell(arena, line, len, &at, &names[n]))
            n++;
    return (struct strings){.n = n, .items = names};
}

void metrics_line_read_header(struct metrics_header *header,
                              const struct strings *metrics, const char *line,
                              size_t len)
{
    struct arena *arena = arena_new();
    const struct strings cells = metrics_line_names(arena, line, len);
    header->n = cells.n;
    for (size_t i = 0; i < cells.n; i++)
        header->metric[i] = find_column(metrics, cells.items[i]);
    arena_free(arena);
}

bool metrics_line_names_metric(struct arena *arena,
                               const struct strings *metrics, const char *line,
                               size_t len)
{
    const struct strings cells = metrics_line_names(arena, line, len);
    for (size_t i = 0; i < cells.n; i++) {
        if (find_column(metrics, cells.items[i]) >= 0)
            return true;
    }
    return false;
}

bool metrics_line_read(struct arena *arena, const struct metrics_header *header,
                       const struct strings *metrics, const char *line,
                       size_t len, struct report *report)
{
    if (header->n > 0 && metrics_line_is_header(line, len))
        return read_csv(arena, header, metrics, line, len, report);
    return read_json(arena, metrics, line, len, report);
}
