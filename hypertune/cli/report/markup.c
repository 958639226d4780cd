#include "hypertune/cli/report/markup.h"

#include <string.h>

#include "proto/base/utf8.h"

/* Appends text that has no bytes but printable ones. */
static void add_safe(struct text *out, const char *safe)
{
    static const char special[] = "&<>\"'";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;",
                                           "&#39;"};
    while (*safe != '\0') {
        const size_t plain = strcspn(safe, special);
        text_append(out, safe, plain);
        safe += plain;
        if (*safe != '\0')
            text_puts(out, entities[strchr(special, *safe++) - special]);
    }
}

void markup_text(struct text *out, const char *foreign)
{
    struct text safe = {0};
    text_escape(&safe, foreign);
    add_safe(out, text_string(&safe));
    text_free(&safe);
}

void markup_cut(struct text *out, const char *foreign, size_t most)
{
    struct text safe = {0}, cut = {0};
    text_escape(&safe, foreign);
    const char *all = text_string(&safe);
    size_t len = safe.len;
    if (utf8_count(all, safe.len) > most) {
        len = 0;
        for (size_t i = 0; i + 1 < most; i++)
            len += utf8_sequence(all + len, safe.len - len);
    }
    text_append(&cut, all, len);
    add_safe(out, text_string(&cut));
    text_puts(out, len < safe.len ? "\u2026" : "");
    text_free(&cut);
    text_free(&safe);
}

void markup_lines(struct text *out, const char *foreign)
{
    while (*foreign != '\0') {
        const size_t len = strcspn(foreign, "\n");
        struct text line = {0};
        text_append(&line, foreign, len);
        markup_text(out, text_string(&line));
        text_free(&line);
        foreign += len + (foreign[len] == '\n');
        text_puts(out, "\n");
    }
}

void markup_put(struct text *out, const char *before, const char *foreign,
                const char *after)
{
    text_puts(out, before);
    markup_text(out, foreign);
    text_puts(out, after);
}
