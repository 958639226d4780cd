/* transaction.h - what one transaction of the core will do to memory once it
 * has committed.
 *
 * Everything staged since a mark can be taken back with the savepoint it
 * belongs to. Core thread. */
#ifndef HT_TUNER_CORE_TRANSACTION_H
#define HT_TUNER_CORE_TRANSACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "tuner/core/core.h"

struct group_step {
    core_deferred *apply;
    const void *data;
};

struct group_revision {
    int64_t study, revision;
};

struct group {
    struct arena *arena; /* reset with the group */
    size_t n_steps;
    struct group_step *steps;
    size_t n_revisions;
    struct group_revision *revisions;
    size_t n_touched;
    int64_t *touched; /* studies to settle, each once */
    bool wake;
};

struct group_mark {
    size_t steps, revisions;
};

void group_init(struct group *group);
void group_fini(struct group *group);
void group_reset(struct group *group);

struct group_mark group_mark(const struct group *group);
void group_back_to(struct group *group, struct group_mark mark);

void group_add_step(struct group *group, core_deferred *apply, const void *data,
                    size_t size);
void group_add_revision(struct group *group, int64_t study, int64_t revision);
void group_add_touched(struct group *group, int64_t study);

#endif
