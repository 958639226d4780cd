/* transaction.h - what the core does after the COMMIT of a transaction.
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

struct transaction_step {
    core_deferred *apply;
    const void *data;
};

struct transaction_revision {
    int64_t study, revision;
};

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

struct transaction_mark {
    size_t steps, revisions;
};

void transaction_init(struct transaction *transaction);
void transaction_fini(struct transaction *transaction);
void transaction_reset(struct transaction *transaction);

struct transaction_mark transaction_mark(const struct transaction *transaction);
void transaction_back_to(struct transaction *transaction,
                         struct transaction_mark mark);

void transaction_add_step(struct transaction *transaction, core_deferred *apply,
                          const void *data, size_t size);
void transaction_add_revision(struct transaction *transaction, int64_t study,
                              int64_t revision);
void transaction_add_touched(struct transaction *transaction, int64_t study);
/* `study` 0: of none. */
void transaction_add_wake(struct transaction *transaction, bool polls,
                          int64_t study);
/* Whether the held request is to be handled again. */
bool transaction_wakes(const struct transaction *transaction,
                       const struct request *req);

#endif
