/* serve.h - the process on a login node that has the runner's files of a
 * cluster whose file system the runner does not share. It is started over ssh
 * (hypertune-shim --mirror ROOT) and talks frames at stdin and stdout.
 *
 * All below ROOT is this user's alone. A later process for the same ROOT takes
 * over from an earlier one, whose connection may be dead. */
#ifndef HT_RUNNER_MIRROR_SERVE_H
#define HT_RUNNER_MIRROR_SERVE_H

/* Until stdin ends, or is silent for minutes; the exit code. */
int serve_run(const char *root);

#endif
