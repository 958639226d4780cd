/* vector.h - loops that use what the processor at hand has.
 *
 * A function behind VECTOR is made twice where the build asks for it, for any
 * x86-64 and for those with AVX2, with all that it calls inside, and the loader
 * takes the one that fits. AVX2 alone fuses no multiplication with an addition,
 * so every operation rounds as in the other: the numbers are the same. */
#ifndef HT_ALGORITHMS_BASE_VECTOR_H
#define HT_ALGORITHMS_BASE_VECTOR_H

/* Clang has the one attribute only without the other. */
#if defined(HT_VECTOR) && defined(__x86_64__) && !defined(__clang__)
#define VECTOR __attribute__((flatten, target_clones("avx2", "default")))
#else
#define VECTOR
#endif

#endif
