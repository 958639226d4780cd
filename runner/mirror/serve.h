/* serve.h - the process on a login node, or in a pod, that has the runner's
 * files of a place whose file system the runner does not share. It is started
 * over ssh or by the cluster (hypertune-shim --mirror ROOT) and talks frames at
 * stdin and stdout.
 *
 * All below ROOT is this user's alone, or this pod's. A later process for the
 * same ROOT takes over from an earlier one, whose connection may be dead. */
#ifndef HT_RUNNER_MIRROR_SERVE_H
#define HT_RUNNER_MIRROR_SERVE_H

#include <stdbool.h>

/* Below ROOT: the file of the process that serves it, which in a pod holds a
 * shared flock(2) of it. */
#define MIRROR_TURN "mirror.turn"

/* Until stdin ends, or is silent for minutes; the exit code. `in_pod`: ROOT is
 * a volume of one pod, whose owner may be another user, and keeps its mode. */
int serve_run(const char *root, bool in_pod);

#endif
