/* leftovers.h - removes containers and networks of this runner that belong to
 * no attempt any more.
 *
 * They are found by their labels, whatever left them: a runner that was killed,
 * an engine that did not answer, a call that succeeded after it was cancelled.
 * Has one thread; any thread may call the functions. */
#ifndef HT_RUNNER_CONTAINER_LEFTOVERS_H
#define HT_RUNNER_CONTAINER_LEFTOVERS_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "runner/base/order.h"
#include "runner/base/site.h"
#include "runner/docker/docker.h"

struct leftovers;

/* Whether the runner has the attempt. Called after the engine listed what there
 * is, so that an attempt that has just been started is known. */
typedef bool leftovers_keep(const struct order_key *key);

/* Sweeps at once, then every 30 s. Everything is borrowed.
 * HT_IO  no thread can be made */
enum ht_status leftovers_start(const struct docker_address *address,
                               const struct site *site, leftovers_keep *keeps,
                               struct leftovers **leftovers,
                               struct ht_error *err);
void leftovers_stop(struct leftovers *leftovers); /* accepts NULL */

/* Removes all with this attempt's label, kept or not; sweeps at once, and again
 * soon, for calls that were under way. */
void leftovers_give_up(struct leftovers *leftovers,
                       const struct order_key *key);
/* Sweeps at once. */
void leftovers_wake(struct leftovers *leftovers);

#endif
