#include "runner/base/hash_set.h"

#include <stdlib.h>

#include "proto/base/arena.h"

static uint64_t *find_slot(uint64_t *slots, size_t room, uint64_t hash)
{
    size_t i = (size_t)hash & (room - 1);
    while (slots[i] != 0 && slots[i] != hash)
        i = (i + 1) & (room - 1);
    return &slots[i];
}

static void grow(struct hash_set *seen)
{
    const size_t room = seen->room > 0 ? 2 * seen->room : 256;
    uint64_t *slots = ht_xcalloc(room, sizeof *slots);
    for (size_t i = 0; i < seen->room; i++) {
        if (seen->slots[i] != 0)
            *find_slot(slots, room, seen->slots[i]) = seen->slots[i];
    }
    free(seen->slots);
    seen->slots = slots;
    seen->room = room;
}

bool hash_set_add(struct hash_set *seen, uint64_t hash)
{
    if (hash == 0)
        hash = 1; /* 0 marks a free slot */
    if (2 * (seen->n + 1) > seen->room)
        grow(seen);
    uint64_t *slot = find_slot(seen->slots, seen->room, hash);
    if (*slot != 0)
        return false;
    *slot = hash;
    seen->n++;
    return true;
}

void hash_set_fini(struct hash_set *seen)
{
    free(seen->slots);
    *seen = (struct hash_set){0};
}
