/* words.h - lists of words, and which of them a wrong one was meant to be. */
#ifndef HT_PROTO_BASE_WORDS_H
#define HT_PROTO_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"

struct words {
    size_t n;
    const char **items; /* in the arena that they were added with */
};

void words_add(struct arena *arena, struct words *words, const char *word);

bool words_include(const struct words *words, const char *word);

/* Is `name` one of the blank-separated names of `list`? */
bool words_has(const char *list, const char *name);

/* The name in the NULL-terminated list that has the smallest edit distance to
 * `wrong`, at most a third of its length, across - and _ and case, or NULL. */
const char *words_closest(const char *wrong, const char *const names[]);

/* The name that `wrong` most likely meant: the closest, else the shortest that
 * has all of it as a part, as bayesian has bayes, else the longest that it
 * begins with; or NULL. */
const char *words_nearest(const char *wrong, const char *const names[]);

/* " (did you mean NAME?)" for the nearest of them, or "" for none: the end of
 * a message about the wrong name. */
const char *words_hint(struct arena *arena, const char *wrong,
                       const char *const names[]);

/* Whether two words are one across - and _ and case. */
bool words_are_alike(const char *a, const char *b);

#endif
