#include "tuner/core/transaction.h"

#include <string.h>

void transaction_init(struct transaction *group)
{
    *group = (struct transaction){.arena = arena_new()};
}

void transaction_fini(struct transaction *group)
{
    arena_free(group->arena);
}

void transaction_reset(struct transaction *group)
{
    struct arena *arena = group->arena;
    arena_reset(arena);
    *group = (struct transaction){.arena = arena};
}

struct transaction_mark transaction_mark(const struct transaction *group)
{
    return (struct transaction_mark){group->n_steps, group->n_revisions};
}

void transaction_back_to(struct transaction *group,
                         struct transaction_mark mark)
{
    group->n_steps = mark.steps;
    group->n_revisions = mark.revisions;
}

/* Room for one more; full exactly at powers of two, also after
 * transaction_back_to() because the larger array is then simply made again. */
static void *grow(struct transaction *group, void *items, size_t n, size_t size)
{
    if (n != 0 && (n & (n - 1)) != 0)
        return items;
    void *larger = arena_alloc(group->arena, n == 0 ? 1 : 2 * n, size);
    if (n > 0)
        memcpy(larger, items, n * size);
    return larger;
}

void transaction_add_step(struct transaction *group, core_deferred *apply,
                          const void *data, size_t size)
{
    void *copy = arena_alloc(group->arena, 1, size > 0 ? size : 1);
    if (size > 0)
        memcpy(copy, data, size);
    group->steps =
        grow(group, group->steps, group->n_steps, sizeof *group->steps);
    group->steps[group->n_steps++] = (struct transaction_step){apply, copy};
}

void transaction_add_revision(struct transaction *group, int64_t study,
                              int64_t revision)
{
    group->revisions = grow(group, group->revisions, group->n_revisions,
                            sizeof *group->revisions);
    group->revisions[group->n_revisions++] =
        (struct transaction_revision){study, revision};
}

static bool has(size_t n, const int64_t studies[], int64_t study)
{
    for (size_t i = 0; i < n; i++)
        if (studies[i] == study)
            return true;
    return false;
}

void transaction_add_touched(struct transaction *group, int64_t study)
{
    if (has(group->n_touched, group->touched, study))
        return;
    group->touched =
        grow(group, group->touched, group->n_touched, sizeof *group->touched);
    group->touched[group->n_touched++] = study;
}

void transaction_add_wake(struct transaction *group, bool polls, int64_t study)
{
    group->wake_polls = group->wake_polls || polls;
    if (study == 0 || has(group->n_woken, group->woken, study))
        return;
    group->woken =
        grow(group, group->woken, group->n_woken, sizeof *group->woken);
    group->woken[group->n_woken++] = study;
}

bool transaction_wakes(const struct transaction *group,
                       const struct request *req)
{
    return req->held_for == 0
               ? group->wake_polls
               : has(group->n_woken, group->woken, req->held_for);
}
