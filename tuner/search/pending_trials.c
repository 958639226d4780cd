#include "tuner/search/pending_trials.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/error.h"

void pending_trials_add(struct pending_trials *pending, int64_t id,
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
    pending->items[at] = (struct pending_trial){id, copy};
}

void pending_trials_drop(struct pending_trials *pending, int64_t id)
{
    size_t kept = 0;
    for (size_t i = 0; i < pending->n; i++)
        if (pending->items[i].id == id)
            free(pending->items[i].point);
        else
            pending->items[kept++] = pending->items[i];
    pending->n = kept;
}

void pending_trials_clear(struct pending_trials *pending)
{
    for (size_t i = 0; i < pending->n; i++)
        free(pending->items[i].point);
    free(pending->items);
    *pending = (struct pending_trials){0};
}
