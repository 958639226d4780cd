/* page.h - one picture for a terminal, made line by line.
 *
 * Text of a line must be safe to show: text_escape() foreign bytes, or use
 * page_padded(). */
#ifndef HT_HYPERTUNE_CLI_FRAME_PAGE_H
#define HT_HYPERTUNE_CLI_FRAME_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/text.h"

/* The caller sets the members up to `out`; the rest is zeroed. */
struct page {
    size_t width;     /* of the terminal; every line is narrower */
    size_t height;    /* lines that there is room for; more are dropped */
    bool color;       /* strong lines are bold */
    struct text *out; /* the picture; borrowed */
    struct text line; /* the one that is being made */
    size_t lines;     /* that are in the picture */
};

/* Frees the line, not the picture in `out`. */
void page_fini(struct page *page);

/* Ends the line, cut to the terminal's width. */
void page_end(struct page *page, bool strong);
/* Appends more to the line behind a gap, or as the next line when the terminal
 * is too narrow for both; `strong` is for the line that it ends then. */
void page_join(struct page *page, const char *more, size_t gap, bool strong);
/* Appends words to the line and ends it; the rest of a text that is too wide is
 * below with the same indent, in at most `lines` lines in all, the last cut. */
void page_wrap(struct page *page, const char *words, size_t lines);
/* Appends foreign text behind two blanks in exactly `width` columns. */
void page_padded(struct page *page, const char *foreign, size_t width);
/* Appends whole lines, each ended by a newline, the first one strong. */
void page_lines(struct page *page, const char *lines);

#endif
