/* checkpoints.h - an attempt's checkpoints on their way to the server and from
 * it (runner/transfer/transfers.h), so that its trial continues at any runner.
 *
 * Only those in the runner's own folder travel: what an outputDir holds is
 * there for all who can reach it. One thread; each returns at once. */
#ifndef HT_RUNNER_ATTEMPT_CHECKPOINTS_H
#define HT_RUNNER_ATTEMPT_CHECKPOINTS_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "runner/attempt/attempt.h"
#include "runner/transfer/transfers.h"

/* Whether the order names a checkpoint that is not here yet. */
bool checkpoints_lacks_its_own(const struct attempt *attempt);
/* Asks for it; `fetching` is false once it is here, or with a failure, which
 * is HT_UNAVAILABLE. */
enum ht_status checkpoints_fetch(struct attempt *attempt, struct ht_error *err);
/* Says in the master's log where it continues. */
void checkpoints_log_start(const struct attempt *attempt);

/* Sends what the replicas have said to be whole since the last call. */
void checkpoints_collect(struct attempt *attempt);
/* Of an attempt that has ended: whether its last checkpoint is in the store, or
 * is not wanted, or has taken too long. */
bool checkpoints_are_settled(struct attempt *attempt);

/* Whether the attempt, which has ended, wrote into a folder of checkpoints that
 * the server does not see. Reads all of that folder. */
bool checkpoints_has_saved(const struct attempt *attempt);

/* One that the server does not know of yet. */
bool checkpoints_has_sent(const struct attempt *attempt,
                          struct transfers_sent *sent);
void checkpoints_confirm(const struct attempt *attempt,
                         const struct transfers_sent *sent);
/* Gives up what is under way. */
void checkpoints_forget(const struct attempt *attempt);

#endif
