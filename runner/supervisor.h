/* supervisor.h - the runner's one loop: takes attempts, watches them, tells
 * the server, until it has to end.
 *
 * All state belongs to the calling thread; two threads carry requests. Ending
 * leaves every attempt running: the next runner adopts them. */
#ifndef HT_RUNNER_SUPERVISOR_H
#define HT_RUNNER_SUPERVISOR_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "runner/talk/talk.h"

struct supervisor_settings {
    const struct site *site;
    const struct engine *engine;
    const char *server; /* HTTP URL */
    const char *token_file;
    const char *host;     /* shown to people */
    struct sender sender; /* its token is read by the supervisor */
    bool exit_when_alone; /* end when no server and no attempt is left */
    int alone_ms;         /* ... for so long */
};

/* Runs until SIGTERM or SIGINT (or until alone). SIGTERM, SIGINT and SIGCHLD
 * are blocked from here on; call it before any thread exists.
 * An engine that cannot be reached is tried again until it can.
 * HT_IO       the token file, a thread or a descriptor cannot be had
 * HT_INVALID  the engine cannot work with its options */
enum ht_status supervisor_run(const struct supervisor_settings *settings,
                              struct ht_error *err);

#endif
