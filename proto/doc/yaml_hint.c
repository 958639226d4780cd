#include "proto/doc/yaml_hint.h"

#include <stdbool.h>
#include <string.h>

/* A place in its line. */
struct spot {
    const char *line, *at, *end; /* the line's ends, without its newline */
};

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* The last character before the place that is no blank, '\0' for none. */
static char before(const struct spot *spot)
{
    const char *at = spot->at;
    while (at > spot->line && at[-1] == ' ')
        at--;
    if (at == spot->line)
        return '\0';
    return at[-1];
}

/* "write "--x=${x}"": the item of a list or map in brackets that has the brace
 * in it, up to what ends the item. */
static const char *quote_braces(struct arena *arena, const struct spot *spot)
{
    const char *first = spot->at, *last = spot->at;
    if (spot->at == spot->end || *spot->at != '{')
        return NULL;
    while (first > spot->line && !is_one_of(first[-1], "[,{\"'") &&
           !(first[-1] == ' ' && first - 1 > spot->line && first[-2] == ':'))
        first--;
    while (*first == ' ')
        first++;
    for (int depth = 0; last < spot->end; last++) {
        depth += (*last == '{') - (*last == '}');
        if (depth < 0 || (depth == 0 && is_one_of(*last, ",]")))
            break;
    }
    if (first == spot->at)
        return NULL;
    const int len = (int)(last - first);
    const char quote = memchr(first, '"', (size_t)len) != NULL ? '\'' : '"';
    return arena_printf(arena, "write %c%.*s%c, with quotes", quote, len, first,
                        quote);
}

/* "-a", "key:value". */
static const char *part_words(struct arena *arena, const struct spot *spot)
{
    static const char of_names[] = "abcdefghijklmnopqrstuvwxyz"
                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const char *first = spot->line;
    while (first < spot->end && *first == ' ')
        first++;
    const int len = (int)(spot->end - first);
    if (len > 1 && first[0] == '-' && !is_one_of(first[1], " -"))
        return arena_printf(arena,
                            "write \"- %.*s\", with a blank behind \"-\"",
                            len - 1, first + 1);
    int name = 0; /* the text has no end of its own */
    while (name < len &&
           memchr(of_names, first[name], sizeof of_names - 1) != NULL)
        name++;
    if (name > 0 && name + 1 < len && first[name] == ':' &&
        !is_one_of(first[name + 1], " /"))
        return arena_printf(arena,
                            "write \"%.*s: %.*s\", with a blank behind "
                            "\":\"",
                            name, first, len - name - 1, first + name + 1);
    return NULL;
}

const char *yaml_hint(struct arena *arena, const char *text, const char *at,
                      const char *end)
{
    struct spot spot = {at, at, at};
    while (spot.line > text && spot.line[-1] != '\n')
        spot.line--;
    while (spot.end < end && !is_one_of(*spot.end, "\r\n"))
        spot.end++;
    const char *hint = quote_braces(arena, &spot);
    if (hint != NULL)
        return hint;
    if (at < spot.end && *at == ':' && at + 1 < spot.end && at[1] != ' ')
        return "write a blank behind the ':'";
    if (at < spot.end && is_one_of(before(&spot), "\"'"))
        return "put the whole text in quotes, not a part of it";
    if (at < spot.end && before(&spot) == '}')
        return "text that begins with '{' needs quotes around all of it";
    return part_words(arena, &spot);
}
