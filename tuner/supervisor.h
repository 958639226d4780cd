/* supervisor.h - a local runner: started beside the server, started again when
 * it dies, adopted when an earlier server left it running.
 *
 * Runs on the main thread: tick() when its deadline comes or a child ended. */
#ifndef HT_TUNER_SUPERVISOR_H
#define HT_TUNER_SUPERVISOR_H

#include "proto/base/text.h"

#include <stdint.h>

struct supervisor;

struct supervisor_options {
    const char *engine;     /* "process", ... */
    const char *server_url; /* of HTTP */
    const char *token_file; /* of the runner */
    const char *state_dir;  /* its runner.lock names the owner */
    struct pairs flags;     /* others of the runner; without value: NULL */
};

/* Strings are borrowed. */
struct supervisor *supervisor_new(const struct supervisor_options *options);

/* Reaps, adopts, starts; returns the monotonic time of the next call, INT64_MAX
 * when only a child's end matters. */
int64_t supervisor_tick(struct supervisor *supervisor, int64_t now_ms);

/* SIGTERM to a runner that this server started, which leaves its trials
 * running; waits at most `wait_ms` (SIGCHLD must be blocked). Accepts NULL. */
void supervisor_stop(struct supervisor *supervisor, int64_t wait_ms);

#endif
