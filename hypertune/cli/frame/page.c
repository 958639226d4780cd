#include "hypertune/cli/frame/page.h"

#include <string.h>

#include "hypertune/cli/frame/table.h"

void page_fini(struct page *page)
{
    text_free(&page->line);
}

void page_end(struct page *page, bool strong)
{
    if (page->lines < page->height) {
        text_puts(page->out, strong && page->color ? "\033[1m" : "");
        table_cut(page->out, text_string(&page->line),
                  page->width > 1 ? page->width - 1 : 1);
        text_puts(page->out, strong && page->color ? "\033[0m\n" : "\n");
        page->lines++;
    }
    text_clear(&page->line);
}

void page_join(struct page *page, const char *more, size_t gap, bool strong)
{
    size_t width =
        table_width(text_string(&page->line)) + gap + table_width(more);
    if (width < page->width) {
        text_printf(&page->line, "%*s%s", (int)gap, "", more);
        return;
    }
    page_end(page, strong);
    text_printf(&page->line, "  %s", more);
}

/* Bytes of `words` that fit into so many columns, up to a blank if there is
 * one; all of them when they fit. */
static size_t fitting(const char *words, size_t columns)
{
    size_t end = 0, blank = 0;
    const size_t len = strlen(words);
    struct text part = {0};
    while (end < len) {
        const size_t next = end + 1 + strcspn(words + end + 1, " ");
        text_append(&part, words + end, next - end);
        if (table_width(part.data) > columns)
            break;
        end = blank = next;
    }
    text_free(&part);
    return end == len ? len : blank;
}

void page_wrap(struct page *page, const char *words, size_t lines)
{
    const size_t indent = table_width(text_string(&page->line));
    const size_t room = page->width > indent + 1 ? page->width - indent - 1 : 0;
    for (; lines > 1; lines--) {
        const size_t len = fitting(words, room);
        if (len == 0 || words[len] == '\0')
            break;
        text_append(&page->line, words, len);
        page_end(page, false);
        text_printf(&page->line, "%*s", (int)indent, "");
        words += len + 1;
    }
    text_puts(&page->line, words);
    page_end(page, false);
}

void page_padded(struct page *page, const char *foreign, size_t width)
{
    struct text safe = {0}, cut = {0};
    text_escape(&safe, foreign);
    table_cut(&cut, text_string(&safe), width);
    text_printf(&page->line, "  %s%*s", text_string(&cut),
                (int)(width - table_width(text_string(&cut))), "");
    text_free(&safe);
    text_free(&cut);
}

void page_lines(struct page *page, const char *lines)
{
    for (bool strong = true; *lines != '\0'; strong = false) {
        size_t len = strcspn(lines, "\n");
        text_append(&page->line, lines, len);
        page_end(page, strong);
        lines += len + (lines[len] == '\n');
    }
}
