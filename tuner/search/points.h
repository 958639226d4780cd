/* points.h - the points of a study that its search has to know: those of trials
 * without a result, and all that were tried. */
#ifndef HT_TUNER_SEARCH_POINTS_H
#define HT_TUNER_SEARCH_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/space/space.h"

/* The points of trials whose results are out, by the trials' ids, so that a
 * search sees them in one order however they came. */
struct points_pending {
    size_t n, cap;
    struct point_pending {
        int64_t id;
        bool taken;          /* no other trial is to have it */
        struct value *point; /* owned */
    } * items;
};

/* Copies the point of n values. */
void points_pending_add(struct points_pending *pending, int64_t id, bool taken,
                        const struct value point[], size_t n);
/* Whether one of the trials has the point, and no other is to have it. */
bool points_pending_has(const struct points_pending *pending,
                        const struct space *space, const struct value point[]);
/* Nothing happens when the trial is not pending. */
void points_pending_drop(struct points_pending *pending, int64_t id);
void points_pending_clear(struct points_pending *pending); /* frees all */

/* The trials that an algorithm has seen, by observation. */
struct points_observed {
    size_t n, cap;
    struct point_observed {
        const char *study; /* an earlier one, borrowed; NULL: its own */
        int64_t id;
    } * trials; /* owned */
};

/* Remembers which trial the next observation is of. */
void points_observed_add(struct points_observed *observed, const char *study,
                         int64_t trial);

/* A set of canonical point texts. */
struct points_taken {
    size_t n;     /* members */
    size_t cap;   /* slots, a power of two or 0 */
    char **slots; /* owned texts, NULL: free */
};

/* False for an empty set, also a zeroed one. */
bool points_taken_has(const struct points_taken *set, const char *point);
/* Copies the text; false when the set has it already. */
bool points_taken_add(struct points_taken *set, const char *point);
void points_taken_clear(struct points_taken *set); /* keeps its slots */
void points_taken_free(struct points_taken *set);

#endif
