/* taken_set.h - the points a study has tried, for tests of algorithms on
 * spaces small enough for one byte a point. */
#ifndef HT_TESTS_LIB_TAKEN_SET_H
#define HT_TESTS_LIB_TAKEN_SET_H

#include <stdint.h>

#include "algorithms/base/algorithm.h"

struct taken_set {
    const struct space *space; /* borrowed */
    unsigned char *marks;      /* owned, one a point */
    uint64_t size;             /* points of the space */
    struct taken taken;        /* what a suggest_request points to */
};

/* Nothing is taken. The set must not move while `taken` is in use. */
void taken_set_init(struct taken_set *set, const struct space *space);
void taken_set_fini(struct taken_set *set);

/* Marks a point; returns whether it was free before. */
bool taken_set_add(struct taken_set *set, const struct value point[]);

/* The number of a point whose every value is a level of its parameter, as
 * subspace_point() counts them. */
uint64_t point_index(const struct space *space, const struct value point[]);

/* A taken that holds nothing, for continuous spaces. */
extern const struct taken taken_nothing;

#endif
