/* lease_stops.h - what a runner has to stop. Core thread. */
#ifndef HT_TUNER_WIRE_LEASE_STOPS_H
#define HT_TUNER_WIRE_LEASE_STOPS_H

#include <cjson/cJSON.h>

#include "tuner/core/live.h"

struct core;

/* Adds every stop for the runner to `stops`. With `fresh` only
 * stops that no lease answer has carried yet, which are then noted. */
enum ht_status lease_add_stops(struct core *core, struct arena *arena,
                               const struct live_runner *runner, bool fresh,
                               cJSON *stops, struct ht_error *err);

#endif
