/* points_taken.h - a set of canonical point texts, for "was this tried?". */
#ifndef HT_TUNER_SEARCH_POINTS_TAKEN_H
#define HT_TUNER_SEARCH_POINTS_TAKEN_H

#include <stdbool.h>
#include <stddef.h>

struct points_taken {
    size_t n;     /* members */
    size_t cap;   /* slots, a power of two or 0 */
    char **slots; /* owned texts, NULL: free */
};

void points_taken_free(struct points_taken *set);
bool points_taken_has(const struct points_taken *set, const char *point);
/* Copies the text; false when it was there already. */
bool points_taken_add(struct points_taken *set, const char *point);
void points_taken_clear(struct points_taken *set);

#endif
