#include "hypertune/cli/study/short_params.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { WHOLE_BYTES = 4, BRIEF_BYTES = 16, DIGITS = 4 };

static bool starts_word(const char *name, size_t i)
{
    return i == 0 || strchr("_-./", name[i - 1]) != NULL ||
           (isupper((unsigned char)name[i]) &&
            islower((unsigned char)name[i - 1]));
}

static void shorten(const char *name, char brief[BRIEF_BYTES])
{
    size_t n = 0, len = strlen(name);
    for (size_t i = 0; i < len && n + 1 < BRIEF_BYTES; i++) {
        if (starts_word(name, i) && isalnum((unsigned char)name[i]))
            brief[n++] = (char)tolower((unsigned char)name[i]);
    }
    if (len <= WHOLE_BYTES || n < 2) {
        n = len <= WHOLE_BYTES ? len : 2;
        memcpy(brief, name, n);
    }
    brief[n] = '\0';
}

static bool are_unique(const struct node *params)
{
    char one[BRIEF_BYTES], other[BRIEF_BYTES];
    for (const struct node *a = params->first; a != NULL; a = a->next) {
        shorten(a->key, one);
        for (const struct node *b = a->next; b != NULL; b = b->next) {
            shorten(b->key, other);
            if (strcmp(one, other) == 0)
                return false;
        }
    }
    return true;
}

void cli_brief_value(const struct node *value, int digits, struct text *out)
{
    double real;
    int64_t whole;
    if (value->kind == NODE_NUMBER && !node_int64(value, &whole) &&
        node_double(value, &real))
        text_printf(out, "%.*g", digits, real);
    else
        text_escape(out, value->text != NULL ? value->text : "");
}

void cli_brief_params(const struct node *params, struct text *out)
{
    if (params == NULL)
        return;
    bool brief = are_unique(params);
    for (const struct node *one = params->first; one; one = one->next) {
        char name[BRIEF_BYTES];
        shorten(one->key, name);
        text_puts(out, one == params->first ? "" : " ");
        text_escape(out, brief ? name : one->key);
        text_puts(out, "=");
        cli_brief_value(one, DIGITS, out);
    }
}
