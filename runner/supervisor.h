/* supervisor.h - the runner's main loop: takes attempts, watches them and
 * reports to the server.
 *
 * All state belongs to the calling thread; two threads send requests, and
 * others transfer trees. When the loop ends, attempts continue: the next runner
 * adopts them. */
#ifndef HT_RUNNER_SUPERVISOR_H
#define HT_RUNNER_SUPERVISOR_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "proto/net/trust.h"
#include "runner/talk/messages.h"

struct supervisor_settings {
    const struct site *site;
    const struct engine *engine;
    const char *server; /* HTTP URL */
    const char *token_file;
    struct trust trust;   /* in the server */
    const char *host;     /* shown to people */
    struct sender sender; /* its token is read by the supervisor */
    bool exit_when_alone; /* end when no server and no attempt is left */
    int alone_ms;         /* ... for so long */
};

/* Runs until SIGTERM, SIGINT or SIGHUP (or until alone), which are blocked from
 * here on, and so is SIGCHLD; call it before any thread exists. Tries again to
 * open an engine that cannot be reached.
 * HT_IO       the token file, a thread or a descriptor is not available
 * HT_INVALID  an option for the engine is wrong */
enum ht_status supervisor_run(const struct supervisor_settings *settings,
                              struct ht_error *err);

#endif
