#include "runner/base/tally.h"

#include <stdlib.h>

#include "proto/base/arena.h"

static struct tally_slot *find_slot(struct tally_slot *slots, size_t room,
                                    uint64_t hash)
{
    size_t i = (size_t)hash & (room - 1);
    while (slots[i].count != 0 && slots[i].hash != hash)
        i = (i + 1) & (room - 1);
    return &slots[i];
}

static void grow(struct tally *tally)
{
    const size_t room = tally->room > 0 ? 2 * tally->room : 256;
    struct tally_slot *slots = ht_xcalloc(room, sizeof *slots);
    for (size_t i = 0; i < tally->room; i++) {
        const struct tally_slot *old = &tally->slots[i];
        if (old->count != 0)
            *find_slot(slots, room, old->hash) = *old;
    }
    free(tally->slots);
    tally->slots = slots;
    tally->room = room;
}

uint32_t tally_add(struct tally *tally, uint64_t hash)
{
    if (2 * (tally->n + 1) > tally->room)
        grow(tally);
    struct tally_slot *slot = find_slot(tally->slots, tally->room, hash);
    tally->n += slot->count == 0;
    slot->hash = hash;
    return ++slot->count;
}

uint32_t tally_get(const struct tally *tally, uint64_t hash)
{
    return tally->room > 0 ? find_slot(tally->slots, tally->room, hash)->count
                           : 0;
}

void tally_clear(struct tally *tally)
{
    free(tally->slots);
    *tally = (struct tally){0};
}
