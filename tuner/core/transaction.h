/* transaction.h - effects that a transaction stages and the core carries out
 * after its COMMIT.
 *
 * Everything staged since a mark can be taken back with the savepoint it
 * belongs to. Core thread. */
#ifndef HT_TUNER_CORE_TRANSACTION_H
#define HT_TUNER_CORE_TRANSACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/core/options.h"
#include "tuner/core/request.h"

/* Work for after the COMMIT, see core_defer(); the data is in the arena. */
struct transaction_step {
    core_deferred *apply;
    const void *data;
};

/* A call of on_revision. */
struct transaction_revision {
    int64_t study, revision;
};

/* Everything staged in one transaction; all lists are in the arena. */
struct transaction {
    struct arena *arena; /* reset with the transaction */
    size_t n_steps;
    struct transaction_step *steps;
    size_t n_revisions;
    struct transaction_revision *revisions;
    size_t n_touched;
    int64_t *touched; /* studies to settle, each once */
    size_t n_woken;
    int64_t *woken;  /* studies whose held requests are handled again */
    bool wake_polls; /* and the polls of runners */
};

/* What was staged when a savepoint began. */
struct transaction_mark {
    size_t steps, revisions;
};

/* One transaction object serves all transactions of the core: reset() empties
 * it before each, fini() frees it. */
void transaction_init(struct transaction *transaction);
void transaction_fini(struct transaction *transaction);
void transaction_reset(struct transaction *transaction);

/* transaction_back_to() forgets the steps and revisions staged since the mark.
 * Studies touched and woken since then stay so, which costs a look in vain. */
struct transaction_mark transaction_mark(const struct transaction *transaction);
void transaction_back_to(struct transaction *transaction,
                         struct transaction_mark mark);

/* Copies `size` bytes (may be 0) of `data`. */
void transaction_add_step(struct transaction *transaction, core_deferred *apply,
                          const void *data, size_t size);
/* Every call is kept, also the same study again; applied newest first. */
void transaction_add_revision(struct transaction *transaction, int64_t study,
                              int64_t revision);
/* A study counts once. */
void transaction_add_touched(struct transaction *transaction, int64_t study);
/* `study` 0: of none. */
void transaction_add_wake(struct transaction *transaction, bool polls,
                          int64_t study);
/* Whether the held request is to be handled again. */
bool transaction_wakes(const struct transaction *transaction,
                       const struct request *req);

#endif
