/* prepare.h - an attempt's folder: everything that must lie on disk before a
 * replica starts, in an order that a crash cannot confuse.
 *
 * lease.json comes first (the intent), then placement.json, launch.json of each
 * replica last; while one launch.json is missing, nothing of the attempt has
 * been started. */
#ifndef HT_RUNNER_ATTEMPT_PREPARE_H
#define HT_RUNNER_ATTEMPT_PREPARE_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/attempt/replica_view.h"
#include "runner/base/order.h"
#include "runner/base/placement.h"
#include "runner/base/site.h"

/* STATE/STUDY/TRIAL/ATTEMPT, and a replica's folder below it. */
char *prepare_attempt_folder(struct arena *arena, const struct site *site,
                             const struct order_key *key);
char *prepare_replica_folder(struct arena *arena, const char *attempt_folder,
                             const struct replica_order *replica);

/* Writes the attempt down as it was leased, before anything else is done. */
enum ht_status prepare_lease(const char *attempt_folder,
                             const struct order *order, struct ht_error *err);

/* Makes folders, token, params and launch.json of every replica, and the
 * attempt's copy of its credentials; views[i] is
 * that of the order's replica i. What is in a replica's folder can be read, and
 * the folder written, by any user who gets there: containers have users of
 * their own, and the attempt's folder around it lets no other user through. May
 * be done again as long as prepare_is_complete() is false.
 * HT_PRECONDITION  a secret is missing, or there is no command to run
 * HT_IO            a folder or file cannot be made */
enum ht_status
prepare_replicas(const struct site *site, const struct order *order,
                 const struct placement *placement, const char *attempt_folder,
                 const struct replica_view views[], struct ht_error *err);
bool prepare_is_complete(const struct order *order, const char *attempt_folder);

/* Removes an ended attempt's folder and credentials. The trial's own folders
 * (models, checkpoints, summaries) stay unless they are empty. */
void prepare_remove(const struct site *site, const struct order_key *key);

#endif
