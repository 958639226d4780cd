/* lease.h - assigns waiting trials to a runner, and sends it what to stop.
 *
 * The attempt and the hash of its token are committed before the answer goes
 * out. tuner/placement says which study is served; of it the lowest trial is.
 * Core thread.
 */
#ifndef HT_TUNER_WIRE_LEASE_H
#define HT_TUNER_WIRE_LEASE_H

#include "tuner/core/live.h"
#include "tuner/core/request.h"

/* Answers a `lease` message, or holds it until there is something to answer. */
enum ht_status lease_handle(struct core *core, struct request *req,
                            struct live_runner *runner, struct ht_error *err);

#endif
