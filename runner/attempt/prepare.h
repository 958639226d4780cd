/* prepare.h - an attempt's folder: all that must be on disk before a replica
 * starts.
 *
 * lease.json is written first, then placement.json, launch.json of each replica
 * last; as long as a launch.json is missing, nothing of the attempt has been
 * started. So a restarted runner can continue after a crash at any step. */
#ifndef HT_RUNNER_ATTEMPT_PREPARE_H
#define HT_RUNNER_ATTEMPT_PREPARE_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/attempt/replica_view.h"
#include "runner/base/order.h"
#include "runner/base/placement.h"
#include "runner/base/site.h"

/* The paths STATE/STUDY/TRIAL/ATTEMPT, and a replica's folder below it, in the
 * arena; nothing is made. */
char *prepare_attempt_folder(struct arena *arena, const struct site *site,
                             const struct order_key *key);
char *prepare_replica_folder(struct arena *arena, const char *attempt_folder,
                             const struct replica_order *replica);

/* Makes the folder and writes lease.json, before any other step. */
enum ht_status prepare_lease(const char *attempt_folder,
                             const struct order *order, struct ht_error *err);
/* When that was, by the clock of the file system; 0: there is no lease.json. */
int64_t prepare_lease_ms(const char *attempt_folder);

/* Makes folders, token, params and launch.json of every replica, and the
 * attempt's copy of its credentials; views[i] is of the order's replica i. Any
 * user may write into a replica's folder, since containers have other users;
 * but no other user of this machine can enter the attempt's folder. Can be
 * repeated while prepare_is_complete() is false.
 * HT_PRECONDITION  a secret is missing, or there is no command to run
 * HT_IO            a folder or file cannot be made */
enum ht_status
prepare_replicas(const struct site *site, const struct order *order,
                 const struct placement *placement, const char *attempt_folder,
                 const struct replica_view views[], struct ht_error *err);
/* Whether every replica has its launch.json, so that something may run. */
bool prepare_is_complete(const struct order *order, const char *attempt_folder);

/* Removes an ended attempt's folder and credentials. The trial's own folders
 * (models, checkpoints, summaries) stay unless they are empty. */
void prepare_remove(const struct site *site, const struct order_key *key);

#endif
