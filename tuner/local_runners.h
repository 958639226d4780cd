/* local_runners.h - the runners on the server's own machine, one for each
 * engine of --runner, each with its supervisor.
 *
 * Runs on the main thread. */
#ifndef HT_TUNER_LOCAL_RUNNERS_H
#define HT_TUNER_LOCAL_RUNNERS_H

#include <stdint.h>

#include "tuner/datadir.h"
#include "tuner/options.h"

struct local_runners;

/* `http_url` is what they connect to; all three are borrowed. */
struct local_runners *local_runners_start(const struct options *options,
                                          const struct datadir *dir,
                                          const char *http_url);

/* Starts what should run; returns the monotonic time of the next call,
 * INT64_MAX when only a child's end matters. */
int64_t local_runners_tick(struct local_runners *runners, int64_t now_ms);

/* Leaves their trials running; waits at most `wait_ms` for each. */
void local_runners_stop(struct local_runners *runners, int64_t wait_ms);

#endif
