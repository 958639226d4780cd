#include "hypertune/cli/frame/table.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "hypertune/cli/frame/csv.h"

enum { MAX_COLUMNS = 128, LEAST_WIDTH = 4, READABLE_WIDTH = 10, GAP = 2 };

struct cell {
    const char *raw, *safe; /* as given; with control bytes escaped */
};

struct row {
    struct cell *cells; /* one for each column */
    size_t n;
    struct row *next;
};

struct table {
    struct arena *arena;
    size_t n_rows;
    const char *spare;    /* titles, NULL: none */
    const char *optional; /* a title, NULL: none */
    enum table_align aligns[MAX_COLUMNS];
    struct row titles; /* the first line, a cell for each column */
    struct row *last;
};

struct table *table_new(struct arena *arena)
{
    struct table *table = arena_alloc(arena, 1, sizeof *table);
    table->arena = arena;
    table->titles.cells =
        arena_alloc(arena, MAX_COLUMNS, sizeof *table->titles.cells);
    table->last = &table->titles;
    return table;
}

static struct cell make_cell(struct arena *arena, const char *content)
{
    struct text safe = {0};
    text_escape(&safe, content);
    struct cell cell = {.raw = arena_strdup(arena, content)};
    cell.safe = safe.data == NULL || strcmp(safe.data, content) == 0
                    ? cell.raw
                    : arena_strdup(arena, safe.data);
    text_free(&safe);
    return cell;
}

void table_column(struct table *table, const char *title,
                  enum table_align align)
{
    struct row *titles = &table->titles;
    if (titles->n == MAX_COLUMNS)
        return;
    table->aligns[titles->n] = align;
    titles->cells[titles->n++] = make_cell(table->arena, title);
}

void table_columns(struct table *table, const char *titles)
{
    for (bool more = true; more;) {
        const bool right = *titles == '>', tail = *titles == '<';
        titles += right || tail;
        const size_t len = strcspn(titles, ",");
        table_column(table, arena_strndup(table->arena, titles, len),
                     right  ? ALIGN_RIGHT
                     : tail ? ALIGN_TAIL
                            : ALIGN_LEFT);
        more = titles[len] == ',';
        titles += len + more;
    }
}

void table_spare(struct table *table, const char *titles)
{
    table->spare = titles;
}

void table_optional(struct table *table, const char *title)
{
    table->optional = title;
}

void table_row(struct table *table)
{
    struct row *row = arena_alloc(table->arena, 1, sizeof *row);
    row->cells = arena_alloc(table->arena, table->titles.n, sizeof *row->cells);
    table->last->next = row;
    table->last = row;
    table->n_rows++;
}

void table_cell(struct table *table, const char *text)
{
    struct row *row = table->last;
    if (row->n < table->titles.n)
        row->cells[row->n++] = make_cell(table->arena, text);
}

void table_cell_text(struct table *table, struct text *text,
                     const char *nothing)
{
    table_cell(table, text->len > 0 ? text->data : nothing);
    text_free(text);
}

void table_cells(struct table *table, const char *text, ...)
{
    va_list args;
    va_start(args, text);
    for (; text != NULL; text = va_arg(args, const char *))
        table_cell(table, text);
    va_end(args);
}

void table_cell_printf(struct table *table, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    table_cell(table, arena_vprintf(table->arena, format, args));
    va_end(args);
}

size_t table_rows(const struct table *table)
{
    return table->n_rows;
}

/* The character behind the one at `text`, and the columns that a terminal
 * gives to it: two for most of East Asia, none for an accent put onto the
 * letter before. */
static const char *step(const char *text, size_t *columns)
{
    mbstate_t state = {0};
    wchar_t wide;
    size_t len = mbrtowc(&wide, text, MB_LEN_MAX, &state);
    *columns = 1;
    if (len != (size_t)-1 && len != (size_t)-2) {
        int width = wcwidth(wide);
        *columns = width >= 0 ? (size_t)width : 1;
        return text + len;
    }
    /* Not of this locale: one column for each character of UTF-8. */
    for (text++; ((unsigned char)*text & 0xC0u) == 0x80u; text++)
        continue;
    return text;
}

size_t table_width(const char *text)
{
    size_t width = 0, columns;
    while (*text != '\0') {
        text = step(text, &columns);
        width += columns;
    }
    return width;
}

void table_cut(struct text *out, const char *text, size_t width)
{
    if (table_width(text) <= width) {
        text_puts(out, text);
        return;
    }
    size_t kept = 0, columns;
    const char *end = text;
    for (;;) {
        const char *next = step(end, &columns);
        if (kept + columns >= width)
            break;
        kept += columns;
        end = next;
    }
    text_append(out, text, (size_t)(end - text));
    text_puts(out, "~");
}

/* The same for the last columns of text, after "~". */
static void cut_head(struct text *out, const char *text, size_t width)
{
    size_t left = table_width(text), columns;
    if (left > width)
        text_puts(out, "~");
    for (const size_t most = left > width ? width - 1 : width; left > most;
         left -= columns)
        text = step(text, &columns);
    text_puts(out, text);
}

static struct cell cell_of(const struct row *row, size_t column)
{
    static const struct cell empty = {.raw = "", .safe = ""};
    return column < row->n ? row->cells[column] : empty;
}

static void measure(const struct table *table, size_t widths[])
{
    for (const struct row *row = &table->titles; row; row = row->next)
        for (size_t c = 0; c < row->n; c++) {
            const size_t width = table_width(row->cells[c].safe);
            if (width > widths[c])
                widths[c] = width;
        }
}

/* Columns of a line when no cell is given more than `most`. A width of 0 is
 * that of a column that was left out. */
static size_t line_width(size_t n, const size_t widths[], size_t most)
{
    size_t total = 0;
    for (size_t c = 0; c < n; c++)
        if (widths[c] > 0)
            total += (widths[c] < most ? widths[c] : most) + GAP;
    return total > 0 ? total - GAP : 0;
}

static void leave_out(const struct table *table, size_t widths[], size_t width)
{
    for (const char *title = table->spare;
         title != NULL && *title != '\0' &&
         line_width(table->titles.n, widths, READABLE_WIDTH) > width;) {
        const size_t len = strcspn(title, " ");
        for (size_t c = 0; c < table->titles.n; c++) {
            const char *own = table->titles.cells[c].raw;
            if (strncmp(own, title, len) == 0 && own[len] == '\0')
                widths[c] = 0;
        }
        title += len + (title[len] == ' ');
    }
}

static bool is_empty(const struct table *table, size_t column)
{
    for (const struct row *row = table->titles.next; row; row = row->next)
        if (cell_of(row, column).raw[0] != '\0')
            return false;
    return true;
}

static void leave_out_optional(const struct table *table, size_t widths[])
{
    for (size_t c = 0; table->optional != NULL && c < table->titles.n; c++)
        if (strcmp(table->titles.cells[c].raw, table->optional) == 0 &&
            is_empty(table, c))
            widths[c] = 0;
}

static void shrink(size_t n, size_t widths[], size_t width)
{
    while (line_width(n, widths, SIZE_MAX) > width) {
        size_t widest = 0;
        for (size_t c = 0; c < n; c++)
            if (widths[c] > widths[widest])
                widest = c;
        if (widths[widest] <= LEAST_WIDTH)
            return;
        widths[widest]--;
    }
}

static void print_cell(const struct table *table, size_t column,
                       struct cell cell, const size_t widths[],
                       struct text *out)
{
    struct text cut = {0};
    if (widths[column] == 0)
        return;
    if (table->aligns[column] == ALIGN_TAIL)
        cut_head(&cut, cell.safe, widths[column]);
    else
        table_cut(&cut, cell.safe, widths[column]);
    const char *shown = text_string(&cut);
    int pad = (int)(widths[column] - table_width(shown));
    bool last = column + 1 == table->titles.n;
    if (table->aligns[column] == ALIGN_RIGHT)
        text_printf(out, "%*s%s", pad, "", shown);
    else
        text_printf(out, "%s%*s", shown, last ? 0 : pad, "");
    if (!last)
        text_puts(out, "  ");
    text_free(&cut);
}

static void trim(struct text *out)
{
    while (out->len > 0 && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
}

void table_print(const struct table *table, size_t width, struct text *out)
{
    size_t widths[MAX_COLUMNS] = {0};
    measure(table, widths);
    leave_out_optional(table, widths);
    if (width > 0) {
        leave_out(table, widths, width);
        shrink(table->titles.n, widths, width);
    }
    for (const struct row *row = &table->titles; row; row = row->next) {
        for (size_t c = 0; c < table->titles.n; c++)
            print_cell(table, c, cell_of(row, c), widths, out);
        trim(out);
        text_puts(out, "\n");
    }
}

void table_csv(const struct table *table, struct text *out)
{
    for (const struct row *row = &table->titles; row; row = row->next) {
        for (size_t c = 0; c < table->titles.n; c++) {
            text_puts(out, c > 0 ? "," : "");
            csv_field(cell_of(row, c).raw, out);
        }
        text_puts(out, "\n");
    }
}
