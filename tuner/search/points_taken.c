#include "tuner/search/points_taken.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"

/* FNV-1a. */
static uint64_t hash(const char *text)
{
    uint64_t value = 14695981039346656037u;
    for (; *text != '\0'; text++)
        value = (value ^ (unsigned char)*text) * 1099511628211u;
    return value;
}

static size_t slot_of(const struct points_taken *set, const char *point)
{
    size_t slot = (size_t)hash(point) & (set->cap - 1);
    while (set->slots[slot] != NULL && strcmp(set->slots[slot], point) != 0)
        slot = (slot + 1) & (set->cap - 1);
    return slot;
}

void points_taken_clear(struct points_taken *set)
{
    for (size_t i = 0; i < set->cap; i++) {
        free(set->slots[i]);
        set->slots[i] = NULL;
    }
    set->n = 0;
}

void points_taken_free(struct points_taken *set)
{
    points_taken_clear(set);
    free(set->slots);
    *set = (struct points_taken){0};
}

bool points_taken_has(const struct points_taken *set, const char *point)
{
    return set->n > 0 && set->slots[slot_of(set, point)] != NULL;
}

static void grow(struct points_taken *set)
{
    struct points_taken larger = {.n = set->n,
                                  .cap = set->cap == 0 ? 64 : 2 * set->cap};
    larger.slots = ht_xcalloc(larger.cap, sizeof *larger.slots);
    for (size_t i = 0; i < set->cap; i++)
        if (set->slots[i] != NULL)
            larger.slots[slot_of(&larger, set->slots[i])] = set->slots[i];
    char **old = set->slots;
    set->cap = larger.cap;
    set->slots = larger.slots;
    free(old);
}

bool points_taken_add(struct points_taken *set, const char *point)
{
    if (2 * (set->n + 1) > set->cap)
        grow(set);
    const size_t slot = slot_of(set, point);
    if (set->slots[slot] != NULL)
        return false;
    set->slots[slot] = ht_xstrdup(point);
    set->n++;
    return true;
}
