/* table.h - rows of cells as an aligned table or as CSV. */
#ifndef HT_HYPERTUNE_CLI_FRAME_TABLE_H
#define HT_HYPERTUNE_CLI_FRAME_TABLE_H

#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"

enum table_align {
    ALIGN_LEFT,
    ALIGN_RIGHT,
    ALIGN_TAIL /* to the left, cut at the head */
};

struct table; /* in its arena */

/* Everything of the table is in the arena, and all texts are copied into it. */
struct table *table_new(struct arena *arena);
/* Columns are declared before the first row. `title` is foreign text too. */
void table_column(struct table *table, const char *title,
                  enum table_align align);
/* The same for titles apart by commas: ">" before one aligns it to the right,
 * "<" cuts it at its head. */
void table_columns(struct table *table, const char *titles);
/* Titles by blanks (a literal): columns that a narrow terminal does without, in
 * the order in which they are left out. */
void table_spare(struct table *table, const char *titles);
/* A title (a literal): a column that is printed only where a row has something
 * in it. CSV has it always. */
void table_optional(struct table *table, const char *title);
/* Starts a row; its cells follow in the order of the columns, missing ones are
 * empty and surplus ones are dropped. */
void table_row(struct table *table);
void table_cell(struct table *table, const char *text);
/* The same for a text, which is released; `nothing` for an empty one. */
void table_cell_text(struct table *table, struct text *text,
                     const char *nothing);
/* Several, ended by NULL. */
__attribute__((sentinel)) void table_cells(struct table *table,
                                           const char *text, ...);
__attribute__((format(printf, 2, 3))) void
table_cell_printf(struct table *table, const char *format, ...);
/* Without the line of titles. */
size_t table_rows(const struct table *table);

/* Appends the table with two blanks between columns, foreign control bytes
 * escaped. When `width` is not 0 spare columns are left out until each other
 * has 10 columns or all that it wants; then the widest cells are cut (with "~")
 * until a line fits, but never below 4 columns each. */
void table_print(const struct table *table, size_t width, struct text *out);
/* Appends the records of csv.h (ended by a bare newline), titles first;
 * nothing is cut. */
void table_csv(const struct table *table, struct text *out);

/* Columns that UTF-8 text takes on a terminal; one for each character outside
 * the locale. */
size_t table_width(const char *text);
/* Appends at most `width` columns of text, ending in "~" when it was cut. */
void table_cut(struct text *out, const char *text, size_t width);

#endif
