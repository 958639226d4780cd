#include "proto/doc/diag.h"

#include <string.h>

#include "proto/base/utf8.h"

enum {
    MAX_ITEMS = 100,  /* kept; all are counted */
    MAX_EXCERPT = 100 /* code points of a source line */
};

void diag_init(struct diag *diag, struct arena *arena, const char *file,
               const char *source, size_t source_len)
{
    *diag = (struct diag){.arena = arena,
                          .file = file,
                          .source = source,
                          .source_len = source_len,
                          .last = &diag->first};
}

static bool is_full(const struct diag *diag)
{
    return diag->errors + diag->warnings > MAX_ITEMS;
}

__attribute__((format(printf, 3, 0))) static void
add(struct diag *diag, struct diag_item item, const char *format, va_list args)
{
    if (is_full(diag))
        return;
    struct diag_item *kept = arena_alloc(diag->arena, 1, sizeof *kept);
    *kept = item;
    kept->path = arena_strdup(diag->arena, item.path ? item.path : "");
    kept->text = arena_vprintf(diag->arena, format, args);
    *diag->last = kept;
    diag->last = &kept->next;
}

void diag_error(struct diag *diag, int line, int column, const char *path,
                const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag->errors++;
    add(diag,
        (struct diag_item){
            .kind = DIAG_ERROR, .line = line, .column = column, .path = path},
        format, args);
    va_end(args);
}

void diag_warning(struct diag *diag, int line, int column, const char *path,
                  const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag->warnings++;
    add(diag,
        (struct diag_item){
            .kind = DIAG_WARNING, .line = line, .column = column, .path = path},
        format, args);
    va_end(args);
}

void diag_hint(struct diag *diag, const char *format, ...)
{
    if (diag->first == NULL || is_full(diag))
        return;
    struct diag_item *item =
        (struct diag_item *)(void *)((char *)diag->last -
                                     offsetof(struct diag_item, next));
    va_list args;
    va_start(args, format);
    item->hint = arena_vprintf(diag->arena, format, args);
    va_end(args);
}

/* ---- printing ---- */

struct span {
    const char *first, *end;
};

/* A line of the source without its line end; empty when there is none. */
static struct span source_line(const struct diag *diag, int line)
{
    const char *p = diag->source, *end = p + diag->source_len;
    if (diag->source_len >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0)
        p += 3; /* a byte order mark takes no column */
    for (; line > 1 && p < end; line--) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        p = newline != NULL ? newline + 1 : end;
    }
    const char *newline = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    struct span span = {p, newline != NULL ? newline : end};
    if (span.end > span.first && span.end[-1] == '\r')
        span.end--;
    return span;
}

/* The next character, where a stray byte counts as one. */
static const char *step(const char *p, const char *end)
{
    for (p++; p < end && ((unsigned char)*p & 0xC0) == 0x80; p++)
        continue;
    return p;
}

static const char *skip(const char *p, const char *end, size_t n)
{
    for (; n > 0 && p < end; n--)
        p = step(p, end);
    return p;
}

/* Appends a part of a source line fit for a terminal; returns its columns. */
static size_t show(const struct diag *diag, struct text *out, struct span part)
{
    size_t len = (size_t)(part.end - part.first), before = out->len;
    char *copy = arena_strndup(diag->arena, part.first, len);
    for (size_t i = 0; i < len; i++) {
        if (copy[i] == '\t' || copy[i] == '\0')
            copy[i] = ' ';
    }
    text_escape(out, copy);
    return utf8_count(out->data + before, out->len - before);
}

/* The end of the word or quoted text that begins at `p`. */
static const char *word_end(const char *p, const char *end)
{
    if (p < end && (*p == '"' || *p == '\'')) {
        const char *close = memchr(p + 1, *p, (size_t)(end - p - 1));
        return close != NULL ? close + 1 : end;
    }
    const char *first = p;
    while (p < end && *p != '\0' && strchr(" \t,:[]{}", *p) == NULL)
        p++;
    return p == first && p < end ? p + 1 : p;
}

/* The source line, at most MAX_EXCERPT characters of it around the column,
 * and below it the caret with the hint. */
static void print_excerpt(const struct diag *diag, const struct diag_item *item,
                          struct text *out)
{
    struct span line = source_line(diag, item->line);
    size_t length = utf8_count(line.first, (size_t)(line.end - line.first));
    size_t column = item->column > 0 ? (size_t)item->column - 1 : 0;
    size_t start = 0;
    if (length > MAX_EXCERPT && column > MAX_EXCERPT / 2)
        start = column - MAX_EXCERPT / 2;
    if (length > MAX_EXCERPT && start > length - MAX_EXCERPT)
        start = length - MAX_EXCERPT;
    struct span part = {skip(line.first, line.end, start), NULL};
    part.end = skip(part.first, line.end, MAX_EXCERPT);
    const char *caret = skip(part.first, part.end, column - start);
    const char *stop = word_end(caret, part.end);

    text_printf(out, "%5d | %s", item->line, start > 0 ? "..." : "");
    size_t indent = start > 0 ? 3 : 0;
    indent += show(diag, out, (struct span){part.first, caret});
    size_t width = show(diag, out, (struct span){caret, stop});
    show(diag, out, (struct span){stop, part.end});
    text_printf(out, "%s\n      | %*s^", part.end < line.end ? "..." : "",
                (int)indent, "");
    for (size_t i = 1; i < width; i++)
        text_puts(out, "~");
    if (item->hint != NULL) {
        text_puts(out, " ");
        text_escape(out, item->hint);
    }
    text_puts(out, "\n");
}

static void print_item(const struct diag *diag, const struct diag_item *item,
                       struct text *out)
{
    bool has_excerpt = diag->source != NULL && item->line > 0;
    if (diag->file != NULL) {
        text_escape(out, diag->file);
        text_puts(out, ":");
    }
    if (item->line > 0)
        text_printf(out, "%d:%d:", item->line, item->column);
    if (diag->file != NULL || item->line > 0)
        text_puts(out, " ");
    text_puts(out, item->kind == DIAG_ERROR ? "error: " : "warning: ");
    if (*item->path != '\0') {
        text_escape(out, item->path);
        text_puts(out, ": ");
    }
    text_escape(out, item->text);
    if (item->hint != NULL && !has_excerpt) {
        text_puts(out, " (");
        text_escape(out, item->hint);
        text_puts(out, ")");
    }
    text_puts(out, "\n");
    if (has_excerpt)
        print_excerpt(diag, item, out);
}

static bool is_before(const struct diag_item *a, const struct diag_item *b)
{
    return a->line != b->line ? a->line < b->line : a->column < b->column;
}

void diag_print(const struct diag *diag, struct text *out)
{
    const struct diag_item *sorted[MAX_ITEMS];
    size_t n = 0;
    for (const struct diag_item *item = diag->first; item; item = item->next) {
        size_t at = n++;
        for (; at > 0 && is_before(item, sorted[at - 1]); at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = item;
    }
    for (size_t i = 0; i < n; i++)
        print_item(diag, sorted[i], out);
    if (diag->errors + diag->warnings > n)
        text_printf(out, "and %zu more\n", diag->errors + diag->warnings - n);
}
