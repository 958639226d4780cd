#include "tuner/search/points.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"

/* --- pending --- */

void points_pending_add(struct points_pending *pending, int64_t id, bool taken,
                        const struct value point[], size_t n)
{
    if (pending->n == pending->cap) {
        pending->cap = pending->cap == 0 ? 16 : 2 * pending->cap;
        pending->items =
            ht_xrealloc(pending->items, pending->cap, sizeof *pending->items);
    }
    struct value *copy = ht_xcalloc(n + 1, sizeof *copy);
    memcpy(copy, point, n * sizeof *copy);
    size_t at = pending->n++;
    for (; at > 0 && pending->items[at - 1].id > id; at--)
        pending->items[at] = pending->items[at - 1];
    pending->items[at] = (struct point_pending){id, taken, copy};
}

bool points_pending_has(const struct points_pending *pending,
                        const struct space *space, const struct value point[])
{
    for (size_t k = 0; k < pending->n; k++) {
        size_t i = pending->items[k].taken ? 0 : space->n + 1;
        while (i < space->n && space_value_equal(&space->params[i], point[i],
                                                 pending->items[k].point[i]))
            i++;
        if (i == space->n)
            return true;
    }
    return false;
}

void points_pending_drop(struct points_pending *pending, int64_t id)
{
    size_t kept = 0;
    for (size_t i = 0; i < pending->n; i++)
        if (pending->items[i].id == id)
            free(pending->items[i].point);
        else
            pending->items[kept++] = pending->items[i];
    pending->n = kept;
}

void points_pending_clear(struct points_pending *pending)
{
    for (size_t i = 0; i < pending->n; i++)
        free(pending->items[i].point);
    free(pending->items);
    *pending = (struct points_pending){0};
}

/* --- observed --- */

void points_observed_add(struct points_observed *observed, const char *study,
                         int64_t trial)
{
    if (observed->n == observed->cap) {
        observed->cap = observed->cap == 0 ? 64 : 2 * observed->cap;
        observed->trials = ht_xrealloc(observed->trials, observed->cap,
                                       sizeof *observed->trials);
    }
    observed->trials[observed->n++] = (struct point_observed){study, trial};
}

/* --- taken --- */

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
