#include "tuner/core/transaction.h"

#include <string.h>

#include "tuner/db/db.h"

void transaction_init(struct transaction *transaction)
{
    *transaction = (struct transaction){.arena = arena_new()};
}

void transaction_fini(struct transaction *transaction)
{
    arena_free(transaction->arena);
}

void transaction_reset(struct transaction *transaction)
{
    struct arena *arena = transaction->arena;
    arena_reset(arena);
    *transaction = (struct transaction){.arena = arena};
}

struct transaction_mark transaction_mark(const struct transaction *transaction)
{
    return (struct transaction_mark){transaction->n_steps,
                                     transaction->n_revisions};
}

void transaction_back_to(struct transaction *transaction,
                         struct transaction_mark mark)
{
    transaction->n_steps = mark.steps;
    transaction->n_revisions = mark.revisions;
}

void transaction_add_step(struct transaction *transaction, core_deferred *apply,
                          const void *data, size_t size)
{
    void *copy = arena_alloc(transaction->arena, 1, size > 0 ? size : 1);
    if (size > 0)
        memcpy(copy, data, size);
    transaction->steps =
        db_grow(transaction->arena, transaction->steps, transaction->n_steps,
                sizeof *transaction->steps);
    transaction->steps[transaction->n_steps++] =
        (struct transaction_step){apply, copy};
}

void transaction_add_revision(struct transaction *transaction, int64_t study,
                              int64_t revision)
{
    transaction->revisions =
        db_grow(transaction->arena, transaction->revisions,
                transaction->n_revisions, sizeof *transaction->revisions);
    transaction->revisions[transaction->n_revisions++] =
        (struct transaction_revision){study, revision};
}

static bool has(size_t n, const int64_t studies[], int64_t study)
{
    for (size_t i = 0; i < n; i++)
        if (studies[i] == study)
            return true;
    return false;
}

void transaction_add_touched(struct transaction *transaction, int64_t study)
{
    if (has(transaction->n_touched, transaction->touched, study))
        return;
    transaction->touched =
        db_grow(transaction->arena, transaction->touched,
                transaction->n_touched, sizeof *transaction->touched);
    transaction->touched[transaction->n_touched++] = study;
}

void transaction_add_wake(struct transaction *transaction, bool polls,
                          int64_t study)
{
    transaction->wake_polls = transaction->wake_polls || polls;
    if (study == 0 || has(transaction->n_woken, transaction->woken, study))
        return;
    transaction->woken =
        db_grow(transaction->arena, transaction->woken, transaction->n_woken,
                sizeof *transaction->woken);
    transaction->woken[transaction->n_woken++] = study;
}

bool transaction_wakes(const struct transaction *transaction,
                       const struct request *req)
{
    return req->held_for == 0
               ? transaction->wake_polls
               : has(transaction->n_woken, transaction->woken, req->held_for);
}
