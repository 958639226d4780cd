#include "proto/tree/wildcard.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* What a part of the pattern found. The last two spare an outer star to try
 * again what cannot help, or a pattern of many stars would take for ever. */
enum found {
    FOUND,
    NOT_HERE,
    NOT_IN_PART, /* not before the next slash */
    NOWHERE      /* not in the rest of the path */
};

static enum found match(const char *pattern, const char *path);

/* ---- [a-z] ---- */

static bool in_class(const char *name, size_t len, unsigned char c)
{
    static const struct {
        const char *name;
        int (*has)(int c);
    } classes[] = {
        {"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank},
        {"cntrl", iscntrl}, {"digit", isdigit}, {"graph", isgraph},
        {"lower", islower}, {"print", isprint}, {"punct", ispunct},
        {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strlen(classes[i].name) == len &&
            strncmp(classes[i].name, name, len) == 0)
            return c < 128 && classes[i].has(c) != 0;
    return false;
}

/* One item behind the bracket, and where the next begins; NULL: the bracket is
 * never closed. `before` is the character that a range begins with, 0: none. */
static const char *match_item(const char *at, unsigned char c,
                              unsigned char *before, bool *has)
{
    const char *end = at[0] == '[' && at[1] == ':' ? strchr(at + 2, ']') : NULL;
    if (end != NULL && end > at + 2 && end[-1] == ':') {
        *has |= in_class(at + 2, (size_t)(end - at - 3), c);
        *before = 0;
        return end + 1;
    }
    const bool range =
        at[0] == '-' && *before != 0 && at[1] != '\0' && at[1] != ']';
    at += range;
    at += *at == '\\';
    if (*at == '\0')
        return NULL;
    const unsigned char own = (unsigned char)*at;
    *has |= range ? *before <= c && c <= own : c == own;
    *before = range ? 0 : own;
    return at + 1;
}

/* Behind "[": whether it has the character, and what follows "]". */
static const char *match_bracket(const char *at, unsigned char c, bool *has)
{
    const bool negated = *at == '!' || *at == '^';
    unsigned char before = 0;
    *has = false;
    at += negated;
    do {
        at = match_item(at, c, &before, has);
    } while (at != NULL && *at != ']' && *at != '\0');
    if (at == NULL || *at == '\0')
        return NULL;
    *has = *has != negated && c != '/';
    return at + 1;
}

/* ---- stars ---- */

/* Tries what follows the stars at every place that they can reach. */
static enum found match_rest(const char *pattern, const char *path, bool parts)
{
    for (; *path != '\0'; path++) {
        const enum found found = match(pattern, path);
        if (found != NOT_HERE && (!parts || found != NOT_IN_PART))
            return found;
        if (found == NOT_HERE && !parts && *path == '/')
            return NOT_IN_PART;
    }
    return match(pattern, path) == FOUND ? FOUND : NOWHERE;
}

/* `pattern` is at the first star, `begins`: a part of it begins there. */
static enum found match_stars(const char *pattern, const char *path,
                              bool begins)
{
    const char *next = pattern + strspn(pattern, "*");
    const bool parts =
        next - pattern >= 2 && begins && (*next == '\0' || *next == '/');
    if (*next == '\0')
        return parts || strchr(path, '/') == NULL ? FOUND : NOT_IN_PART;
    /* No part at all. */
    if (parts && match(next + 1, path) == FOUND)
        return FOUND;
    return match_rest(next, path, parts);
}

static enum found match_from(const char *start, const char *pattern,
                             const char *path)
{
    for (; *pattern != '\0'; path++) {
        const unsigned char c = (unsigned char)*path;
        bool has;
        if (*pattern == '*')
            return match_stars(pattern, path,
                               pattern == start || pattern[-1] == '/');
        if (c == '\0')
            return NOWHERE;
        if (*pattern == '[') {
            pattern = match_bracket(pattern + 1, c, &has);
            if (pattern == NULL)
                return NOWHERE;
        } else {
            const bool any = *pattern == '?';
            pattern += *pattern == '\\';
            has = any ? c != '/' : c == (unsigned char)*pattern;
            pattern += *pattern != '\0';
        }
        if (!has)
            return NOT_HERE;
    }
    return *path == '\0' ? FOUND : NOT_HERE;
}

static enum found match(const char *pattern, const char *path)
{
    return match_from(pattern, pattern, path);
}

bool wildcard_matches(const char *pattern, const char *path)
{
    return match(pattern, path) == FOUND;
}
