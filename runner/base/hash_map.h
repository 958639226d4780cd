/* hash_map.h - a number for each 64-bit key, in a table that only grows:
 * records that were seen, how often a line came, the highest seq of each
 * writer. */
#ifndef HT_RUNNER_BASE_HASH_MAP_H
#define HT_RUNNER_BASE_HASH_MAP_H

#include <stddef.h>
#include <stdint.h>

struct hash_map_slot;

struct hash_map {                /* zeroed = empty */
    struct hash_map_slot *slots; /* owned */
    size_t n;                    /* keys */
    int bits;                    /* there are 1 << bits slots */
    uint64_t factor;             /* random, odd */
};

/* The number of a key, 0 for a new one, which is added. The pointer is valid
 * until the next call for this map. Key 0 is the same as key 1. */
int64_t *hash_map_at(struct hash_map *map, uint64_t key);
/* Adds 1 to it and returns it: 1 when the key is new. */
int64_t hash_map_count(struct hash_map *map, uint64_t key);
/* The number of a key, 0 when the map does not have it. */
int64_t hash_map_get(const struct hash_map *map, uint64_t key);
void hash_map_clear(struct hash_map *map); /* empty, nothing is owned */

#endif
