/* markup.h - foreign text within HTML and SVG. */
#ifndef HT_HYPERTUNE_CLI_REPORT_MARKUP_H
#define HT_HYPERTUNE_CLI_REPORT_MARKUP_H

#include <stddef.h>

#include "proto/base/text.h"

/* Appends the text so that it is text there and in an attribute's quotes; what
 * steers a terminal or reorders the line is shown as \xNN. */
void markup_text(struct text *out, const char *foreign);
/* The same of at most so many characters, with an ellipsis when it was cut. */
void markup_cut(struct text *out, const char *foreign, size_t most);
/* The same of several lines, whose ends stay. */
void markup_lines(struct text *out, const char *foreign);
/* Appends `before` and `after`, which are markup, around foreign text. */
void markup_put(struct text *out, const char *before, const char *foreign,
                const char *after);

#endif
