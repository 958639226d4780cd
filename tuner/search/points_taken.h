/* points_taken.h - a set of canonical point texts, for "was this tried?". */
#ifndef HT_TUNER_SEARCH_POINTS_TAKEN_H
#define HT_TUNER_SEARCH_POINTS_TAKEN_H

#include <stdbool.h>
#include <stddef.h>

struct point_set {
    size_t n;     /* members */
    size_t cap;   /* slots, a power of two or 0 */
    char **slots; /* owned texts, NULL: free */
};

void point_set_free(struct point_set *set);
bool point_set_has(const struct point_set *set, const char *point);
/* Copies the text; false when it was there already. */
bool point_set_add(struct point_set *set, const char *point);
void point_set_clear(struct point_set *set);

#endif
