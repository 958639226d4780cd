#include "tuner/store/chunk_set.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

enum { FIRST_CAP = 1024 };

static uint64_t key_of(const struct tree_hash *chunk)
{
    uint64_t key;
    memcpy(&key, chunk->bytes, sizeof key);
    return key != 0 ? key : 1;
}

static size_t place_of(const struct chunk_set *set, uint64_t key)
{
    size_t at = (size_t)(key & (set->cap - 1));
    while (set->keys[at] != 0 && set->keys[at] != key)
        at = (at + 1) & (set->cap - 1);
    return at;
}

static void grow(struct chunk_set *set)
{
    struct chunk_set larger = {.cap = set->cap > 0 ? 2 * set->cap : FIRST_CAP};
    larger.keys = ht_xcalloc(larger.cap, sizeof *larger.keys);
    for (size_t i = 0; i < set->cap; i++)
        if (set->keys[i] != 0)
            larger.keys[place_of(&larger, set->keys[i])] = set->keys[i];
    larger.n = set->n;
    free(set->keys);
    *set = larger;
}

void chunk_set_free(struct chunk_set *set)
{
    free(set->keys);
    *set = (struct chunk_set){0};
}

void chunk_set_add(struct chunk_set *set, const struct tree_hash *chunk)
{
    if (4 * (set->n + 1) > 3 * set->cap)
        grow(set);
    const uint64_t key = key_of(chunk);
    const size_t at = place_of(set, key);
    set->n += set->keys[at] == 0;
    set->keys[at] = key;
}

bool chunk_set_has(const struct chunk_set *set, const struct tree_hash *chunk)
{
    return set->cap > 0 && set->keys[place_of(set, key_of(chunk))] != 0;
}
