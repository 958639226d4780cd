/* rng.h - random numbers as a function of seed, suggestion and place of use, so
 * that a replay needs no stored state.
 *
 * A number is a pure function of (seed, ordinal, draw, dimension), so a replay
 * after a restart needs no stored generator, and asking for one suggestion
 * never shifts another. Good for search; not for secrets (proto/base/token.h).
 */
#ifndef HT_ALGORITHMS_BASE_RNG_H
#define HT_ALGORITHMS_BASE_RNG_H

#include <stdint.h>

/* First draw of each use, so that no two uses share a number. */
enum rng_use {
    RNG_UNTRIED = 0,      /* random points */
    RNG_DESIGN = 1 << 10, /* the shift of the first points */
    RNG_FIT = 2 << 10,    /* starts of fits, by prior */
    RNG_GLOBAL = 3 << 10, /* the shift of candidates everywhere */
    RNG_SWEEP = 4 << 10,  /* the order of coordinates, by start and round */
    RNG_NUDGE = 5 << 10,  /* steps away from known points */
    RNG_DRAWN = 6 << 10,  /* ways of random points to what is allowed */
    RNG_RAYS = 7 << 10,   /* directions of a volume's rays */
    RNG_TRADE = 8 << 10,  /* which of many trade-offs are known best */
    RNG_TREES = 9 << 10,  /* how trees of a forest grow, by tree */
    RNG_DENSE = 10 << 10, /* points where good ones are dense, by candidate,
                             then their ways to what is allowed */
    RNG_LOCAL = 16 << 10, /* candidates near known points, by candidate */
    RNG_INSIDE = 20 << 10 /* ways of candidates to what is allowed, as well */
};

/* The address of random numbers: equal places give equal numbers on every
 * machine. */
struct rng_place {
    uint64_t seed;    /* of the study */
    uint64_t ordinal; /* of the suggestion in its study */
    uint64_t draw;    /* of the attempts to find this suggestion, from 0 */
};

/* 64 well mixed bits; every argument changes all of them. */
uint64_t rng_bits(const struct rng_place *place, uint64_t dimension);

/* Uniform in [0, 1), a multiple of 2^-53. */
double rng_unit(const struct rng_place *place, uint64_t dimension);

/* Standard normal (Box and Muller, 1958), made of the uniform numbers of
 * dimensions 2 * dimension and 2 * dimension + 1. */
double rng_normal(const struct rng_place *place, uint64_t dimension);

#endif
