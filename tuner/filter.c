#include "tuner/filter.h"

#include <ctype.h>
#include <string.h>

/* display_name -> displayName, as Google's lists take both. */
static const char *camel_case(struct arena *arena, const char *text, size_t len)
{
    char *name = arena_alloc(arena, len + 1, 1);
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '_' && i + 1 < len)
            name[n++] = (char)toupper((unsigned char)text[++i]);
        else
            name[n++] = text[i];
    }
    return name;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* A quoted value with \" and \\, or a bare word; NULL when neither. */
static const char *read_value(struct arena *arena, const char **at)
{
    const char *from = *at;
    size_t room = strlen(from), n = 0;
    char *value = arena_alloc(arena, room + 1, 1);
    if (*from != '"') {
        n = strcspn(from, " \t\"=");
        memcpy(value, from, n);
        *at = from + n;
        return n > 0 ? value : NULL;
    }
    for (from++; *from != '\0' && *from != '"'; from++) {
        if (*from == '\\' && from[1] != '\0')
            from++;
        value[n++] = *from;
    }
    if (*from != '"')
        return NULL;
    *at = from + 1;
    return value;
}

static bool is_known(const char *field, const char *const fields[])
{
    for (size_t i = 0; fields[i] != NULL; i++)
        if (strcmp(fields[i], field) == 0)
            return true;
    return false;
}

static enum ht_status read_term(struct arena *arena, const char **at,
                                const char *const fields[],
                                struct filter_term *term, struct ht_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    const char *start = *at;
    size_t len = strspn(start, letters);
    const char *field = camel_case(arena, start, len);
    if (len == 0 || !is_known(field, fields))
        return ht_fail(err, HT_INVALID,
                       "filter: \"%.64s\" begins with no field known here",
                       start);
    *at = skip_blanks(start + len);
    if (**at != '=')
        return ht_fail(err, HT_INVALID,
                       "filter: %s must be followed by =", field);
    *at = skip_blanks(*at + 1);
    const char *value = read_value(arena, at);
    if (value == NULL)
        return ht_fail(err, HT_INVALID, "filter: %s= needs a \"value\"", field);
    *term = (struct filter_term){field, value};
    return HT_OK;
}

enum ht_status filter_read(struct arena *arena, const char *text,
                           const char *const fields[], struct filter *filter,
                           struct ht_error *err)
{
    struct filter read = {0};
    const char *at = skip_blanks(text != NULL ? text : "");
    while (*at != '\0') {
        if (read.n == FILTER_TERMS)
            return ht_fail(err, HT_INVALID, "filter: more than %d terms",
                           FILTER_TERMS);
        enum ht_status status =
            read_term(arena, &at, fields, &read.terms[read.n], err);
        if (status != HT_OK)
            return status;
        read.n++;
        const char *next = skip_blanks(at);
        if (*next == '\0')
            break;
        if (next == at || strncmp(next, "AND", 3) != 0 ||
            (next[3] != ' ' && next[3] != '\t'))
            return ht_fail(err, HT_INVALID,
                           "filter: \"%.64s\" is not AND and a term", next);
        at = skip_blanks(next + 3);
        if (*at == '\0')
            return ht_fail(err, HT_INVALID, "filter: nothing behind AND");
    }
    *filter = read;
    return HT_OK;
}

bool filter_allows(const struct filter *filter, const char *field, size_t n,
                   const char *const values[])
{
    for (size_t i = 0; i < filter->n; i++) {
        if (strcmp(filter->terms[i].field, field) != 0)
            continue;
        bool found = false;
        for (size_t j = 0; j < n; j++)
            found |= strcmp(filter->terms[i].value, values[j]) == 0;
        if (!found)
            return false;
    }
    return true;
}
