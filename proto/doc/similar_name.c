#include "proto/doc/similar_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/base/words.h"

enum {
    SHORTEST_PART = 3, /* of fewer letters everything is a part */
    NAME_BYTES = 128   /* longer words are no names */
};

static bool has_part(const char *whole, const char *part)
{
    const size_t n = strlen(part);
    if (n < SHORTEST_PART)
        return false;
    for (; *whole != '\0'; whole++) {
        if (strncasecmp(whole, part, n) == 0)
            return true;
    }
    return false;
}

enum likeness similar_name_score(const char *wanted, const char *seen)
{
    const char *const names[] = {wanted, NULL};
    if (words_are_alike(wanted, seen))
        return LIKENESS_FOLDED;
    if (words_closest(seen, names) != NULL)
        return LIKENESS_NEAR;
    return has_part(wanted, seen) || has_part(seen, wanted) ? LIKENESS_PART
                                                            : LIKENESS_NONE;
}

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || strchr("_-./", c) != NULL;
}

/* The name that ends before `end`, followed only by marks like ": ".
 * False when there is none, or nothing parts it from the number. */
static bool find_name(const char *line, size_t end, struct named_number *named)
{
    size_t last = end;
    while (last > 0 && strchr(" \t:=\"'>", line[last - 1]) != NULL)
        last--;
    size_t first = last;
    while (first > 0 && is_of_name(line[first - 1]))
        first--;
    /* A list's dash or a sentence's full stop is no part of it. */
    while (first < last && !isalpha((unsigned char)line[first]) &&
           line[first] != '_')
        first++;
    if (last == end || first == last || last - first >= NAME_BYTES)
        return false;
    named->at = first;
    named->name_len = last - first;
    return true;
}

static bool read_number(const char *line, size_t at, struct named_number *named)
{
    char *end;
    if (!isdigit((unsigned char)line[at]) && strchr("+-.", line[at]) == NULL)
        return false;
    named->value = strtod(line + at, &end);
    named->number_at = at;
    named->number_len = (size_t)(end - (line + at));
    return named->number_len > 0;
}

enum likeness similar_name_find(const char *wanted, const char *line,
                                struct named_number *found)
{
    enum likeness best = LIKENESS_NONE;
    for (size_t i = 0; line[i] != '\0'; i++) {
        struct named_number named;
        char name[NAME_BYTES];
        if (i == 0 || line[i] == ' ' || !read_number(line, i, &named))
            continue;
        if (find_name(line, i, &named)) {
            memcpy(name, line + named.at, named.name_len);
            name[named.name_len] = '\0';
            const enum likeness like = similar_name_score(wanted, name);
            if (like != LIKENESS_NONE && like >= best) {
                best = like;
                *found = named;
            }
        }
        i += named.number_len - 1;
    }
    return best;
}
