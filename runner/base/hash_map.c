#include "runner/base/hash_map.h"

#include <stdlib.h>

#include "proto/base/arena.h"
#include "proto/base/token.h"

enum { FIRST_BITS = 6 };

struct hash_map_slot {
    uint64_t key; /* 0: free */
    int64_t number;
};

/* Multiply-shift hashing: with an odd factor unknown to trials, keys cannot
 * be chosen to collide. */
static struct hash_map_slot *find_slot(const struct hash_map *map, uint64_t key)
{
    const size_t mask = ((size_t)1 << map->bits) - 1;
    size_t i = (size_t)(key * map->factor >> (64 - map->bits));
    while (map->slots[i].key != 0 && map->slots[i].key != key)
        i = (i + 1) & mask;
    return &map->slots[i];
}

static void grow(struct hash_map *map)
{
    const struct hash_map old = *map;
    if (old.slots == NULL)
        map->factor = token_random64() | 1;
    map->bits = old.slots == NULL ? FIRST_BITS : old.bits + 1;
    map->slots = ht_xcalloc((size_t)1 << map->bits, sizeof *map->slots);
    for (size_t i = 0; old.slots != NULL && i < (size_t)1 << old.bits; i++) {
        if (old.slots[i].key != 0)
            *find_slot(map, old.slots[i].key) = old.slots[i];
    }
    free(old.slots);
}

static uint64_t usable(uint64_t key)
{
    return key != 0 ? key : 1;
}

int64_t *hash_map_at(struct hash_map *map, uint64_t key)
{
    if (map->slots == NULL || 2 * (map->n + 1) > (size_t)1 << map->bits)
        grow(map);
    struct hash_map_slot *slot = find_slot(map, usable(key));
    map->n += slot->key == 0;
    slot->key = usable(key);
    return &slot->number;
}

int64_t hash_map_count(struct hash_map *map, uint64_t key)
{
    return ++*hash_map_at(map, key);
}

int64_t hash_map_get(const struct hash_map *map, uint64_t key)
{
    return map->slots != NULL ? find_slot(map, usable(key))->number : 0;
}

void hash_map_clear(struct hash_map *map)
{
    free(map->slots);
    *map = (struct hash_map){0};
}
