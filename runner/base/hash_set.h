/* hash_set.h - a set of 64-bit hashes that only grows: records that a rewritten
 * file shows again. */
#ifndef HT_RUNNER_BASE_HASH_SET_H
#define HT_RUNNER_BASE_HASH_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_set {    /* zeroed = empty */
    uint64_t *slots; /* 0: free; owned */
    size_t n, room;  /* room is a power of two */
};

bool hash_set_add(struct hash_set *seen,
                  uint64_t hash); /* false: was there before */
void hash_set_fini(struct hash_set *seen);

#endif
