#include "proto/base/words.h"

#include <stdint.h>
#include <string.h>

enum {
    MAX_WORD = 128,   /* bytes that are compared */
    SHORTEST_PART = 3 /* of fewer letters almost everything is a part */
};

void words_add(struct arena *arena, struct words *words, const char *word)
{
    words->items =
        arena_grow(arena, words->items, words->n, sizeof *words->items);
    words->items[words->n++] = word;
}

bool words_include(const struct words *words, const char *word)
{
    for (size_t i = 0; i < words->n; i++)
        if (strcmp(words->items[i], word) == 0)
            return true;
    return false;
}

bool words_has(const char *list, const char *name)
{
    size_t len = strlen(name);
    if (len == 0)
        return false;
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += len) {
        bool starts = at == list || at[-1] == ' ';
        if (starts && (at[len] == ' ' || at[len] == '\0'))
            return true;
    }
    return false;
}

/* ---- the nearest name ---- */

/* Lower-case letters without - and _, so that maxTrials, max_trials and
 * MAX-TRIALS are one; its length, or 0 when it is too long to compare. */
static size_t fold(char folded[MAX_WORD], const char *word)
{
    size_t n = 0;
    for (; *word != '\0'; word++) {
        if (*word == '-' || *word == '_')
            continue;
        if (n == MAX_WORD)
            return 0;
        folded[n++] = (char)(*word >= 'A' && *word <= 'Z' ? *word + 32 : *word);
    }
    return n;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Damerau-Levenshtein distance (optimal string alignment): insertions,
 * deletions, substitutions and swaps of neighbours count one each. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][MAX_WORD + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        above[j] = before[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t cost = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(cost, 1 + least(above[j], row[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[m];
}

/* The shortest name that has the whole folded word in it, else the longest
 * that the word begins with. */
static const char *part_of(const char *word, size_t n,
                           const char *const names[])
{
    char name[MAX_WORD];
    const char *around = NULL, *inside = NULL;
    size_t shortest = SIZE_MAX, longest = SHORTEST_PART - 1;
    for (; n >= SHORTEST_PART && *names != NULL; names++) {
        size_t m = fold(name, *names);
        if (m < shortest && memmem(name, m, word, n) != NULL) {
            shortest = m;
            around = *names;
        } else if (m > longest && m < n && memcmp(name, word, m) == 0) {
            longest = m;
            inside = *names;
        }
    }
    return around != NULL ? around : inside;
}

const char *words_nearest(const char *wrong, const char *const names[])
{
    char word[MAX_WORD];
    const char *near = words_closest(wrong, names);
    return near != NULL ? near : part_of(word, fold(word, wrong), names);
}

const char *words_closest(const char *wrong, const char *const names[])
{
    char word[MAX_WORD], name[MAX_WORD];
    size_t n = fold(word, wrong);
    if (n == 0)
        return NULL;
    const char *nearest = NULL;
    size_t best = n / 3 > 0 ? n / 3 + 1 : 2; /* one above what is accepted */
    for (; *names != NULL; names++) {
        size_t m = fold(name, *names);
        size_t d = m == 0 ? SIZE_MAX : distance(word, n, name, m);
        if (d < best) {
            best = d;
            nearest = *names;
        }
    }
    return nearest;
}

const char *words_hint(struct arena *arena, const char *wrong,
                       const char *const names[])
{
    const char *near = words_nearest(wrong, names);
    return near != NULL ? arena_printf(arena, " (did you mean %s?)", near) : "";
}

bool words_are_alike(const char *a, const char *b)
{
    char one[MAX_WORD], other[MAX_WORD];
    size_t n = fold(one, a);
    return n > 0 && n == fold(other, b) && memcmp(one, other, n) == 0;
}
