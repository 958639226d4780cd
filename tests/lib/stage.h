/* stage.h - an attempt of a state folder of its own, as if just leased, for
 * tests of what the runner does with it. */
#ifndef HT_TESTS_LIB_STAGE_H
#define HT_TESTS_LIB_STAGE_H

#include <limits.h>
#include <stdbool.h>

#include "proto/base/text.h"
#include "runner/attempt/attempt.h"
#include "runner/attempt/attempts.h"
#include "runner/attempt/engine.h"
#include "runner/attempt/prepare.h"
#include "runner/attempt/replica_view.h"
#include "tests/check.h"
#include "tests/lib/scratch.h"

struct stage {
    char state[PATH_MAX];
    struct site site;
    struct text lease;
    struct order *order; /* the test's own; runs and fleets parse theirs */
    char folder[PATH_MAX + 32];  /* of the attempt */
    char replica[PATH_MAX + 64]; /* of the master */
};

/* Reads the lease; the caller owns the order. */
struct order *stage_parse(const struct stage *stage);

/* A state folder and the lease of one attempt, whose master and worker run
 * these scripts; `worker` may be NULL. Nothing is written yet. */
void stage_open(struct stage *stage, const char *master, const char *worker);

/* Kills what still runs of the attempt, and frees what is here. */
void stage_close(struct stage *stage);

/* Writes the lease into the folder of the attempt. */
void stage_write_lease(const struct stage *stage);

/* Writes the lease, the placement and what the shims need, and then lets the
 * placement go, as if the runner had died there. */
void stage_write_launches(const struct stage *stage);

/* What a runner does that finds the folder: takes it in and adopts it. */
struct attempt *stage_adopt(const struct stage *stage, struct attempts *fleet);

/* Whether the attempt has ended, after another tick. */
bool stage_has_ended(struct attempt *run);

#endif
