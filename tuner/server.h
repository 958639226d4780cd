/* server.h - hypertuned as a whole: its start in order, its end in reverse
 * order. */
#ifndef HT_TUNER_SERVER_H
#define HT_TUNER_SERVER_H

#include "proto/base/error.h"
#include "tuner/options.h"

/* Serves until SIGTERM, SIGINT or the idle time, which must be blocked along
 * with SIGCHLD in every thread. Prints the ready line on stdout.
 * `fail` is a failpoint of tests, or NULL.
 *
 * Fails only while starting; HT_CONFLICT: another server owns the folder. */
enum ht_status server_run(const struct options *options, const char *fail,
                          struct ht_error *err);

#endif
