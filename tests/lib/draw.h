/* draw.h - random draws that are the same on every machine, for tests of many
 * random cases. */
#ifndef HT_TESTS_LIB_DRAW_H
#define HT_TESTS_LIB_DRAW_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/base/rng.h"
#include "proto/base/arena.h"

struct draw { /* of one case */
    struct arena *arena;
    struct rng_place place;
};

double draw_unit(struct draw *draw);            /* in [0, 1) */
size_t draw_below(struct draw *draw, size_t n); /* 0 to n - 1 */
bool draw_chance(struct draw *draw, double p);

#endif
