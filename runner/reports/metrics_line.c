#include "runner/reports/metrics_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/node.h"
#include "runner/base/json.h"

enum { COLUMN_STEP = -1, COLUMN_OTHER = -2 };

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

/* Also nan, inf and their other spellings. */
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

static bool read_value(const struct node *node, double *value)
{
    return node != NULL &&
           (node->kind == NODE_NUMBER || node->kind == NODE_STRING) &&
           read_number(node->text, value);
}

static size_t read_cells(const struct metrics_header *header,
                         const struct strings *metrics,
                         const struct strings *cells,
                         struct report_metric found[], struct report *report)
{
    size_t n = 0;
    double value;
    for (size_t i = 0; i < header->n && i < cells->n; i++) {
        const int column = header->metric[i];
        if (column == COLUMN_OTHER || !read_number(cells->items[i], &value))
            continue;
        if (column == COLUMN_STEP)
            set_step(report, value);
        else if (n < metrics->n)
            found[n++] = (struct report_metric){metrics->items[column], value};
    }
    return n;
}

static size_t read_members(const struct node *map,
                           const struct strings *metrics,
                           struct report_metric found[], struct report *report)
{
    size_t n = 0;
    double value;
    for (size_t i = 0; i < metrics->n; i++) {
        if (read_value(node_find(map, metrics->items[i]), &value))
            found[n++] = (struct report_metric){metrics->items[i], value};
    }
    if (read_value(node_find(map, "step"), &value))
        set_step(report, value);
    return n;
}

bool metrics_line_read(struct arena *arena, const struct metrics_header *header,
                       const struct strings *metrics,
                       const struct metrics_line *line, struct report *report)
{
    struct report_metric *found =
        arena_alloc(arena, metrics->n + 1, sizeof *found);
    report->metrics = found;
    report->n_metrics =
        line->csv ? read_cells(header, metrics, &line->cells, found, report)
                  : read_members(line->map, metrics, found, report);
    return report->n_metrics > 0;
}

/* ---- the line ---- */

static bool is_csv(const char *text, size_t len)
{
    size_t i = 0;
    while (i < len && isspace((unsigned char)text[i]))
        i++;
    return i < len && text[i] != '{';
}

struct metrics_line metrics_line_parse(struct arena *arena, const char *text,
                                       size_t len)
{
    struct metrics_line line = {.csv = is_csv(text, len)};
    if (!line.csv && len <= HT_MAX_REPORT_LINE)
        line.map = json_read_map(arena, text, len);
    if (!line.csv)
        return line;
    const char **cells =
        arena_alloc(arena, METRICS_LINE_COLUMNS, sizeof *cells);
    size_t n = 0, at = 0;
    while (n < METRICS_LINE_COLUMNS &&
           next_cell(arena, text, len, &at, &cells[n]))
        n++;
    line.cells = (struct strings){.n = n, .items = cells};
    return line;
}

struct strings metrics_line_names(struct arena *arena,
                                  const struct metrics_line *line)
{
    if (line->csv)
        return line->cells;
    const char **names =
        arena_alloc(arena, METRICS_LINE_COLUMNS, sizeof *names);
    size_t n = 0;
    double value;
    const struct node *node = line->map != NULL ? line->map->first : NULL;
    for (; node != NULL && n < METRICS_LINE_COLUMNS; node = node->next) {
        if (read_value(node, &value))
            names[n++] = node->key;
    }
    return (struct strings){.n = n, .items = names};
}

bool metrics_line_read_header(struct metrics_header *header,
                              const struct strings *metrics,
                              const struct metrics_line *line, bool first)
{
    struct metrics_header read = {.n = line->cells.n};
    bool heading = first && line->csv;
    for (size_t i = 0; i < read.n; i++) {
        read.metric[i] = find_column(metrics, line->cells.items[i]);
        heading |= read.metric[i] >= 0;
    }
    if (heading)
        *header = read;
    return heading;
}
