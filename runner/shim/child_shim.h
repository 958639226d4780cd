/* child_shim.h - a shim in a process of its own, below one that a cluster
 * signals: the job's element of Slurm, or the first process of a pod.
 *
 * When that process is the first one of its pid namespace, it reaps here
 * whatever ends there; the shim's own process kills only what is below it. */
#ifndef HT_RUNNER_SHIM_CHILD_SHIM_H
#define HT_RUNNER_SHIM_CHILD_SHIM_H

#include <stdbool.h>

#include "runner/shim/shim.h"

/* A line on stderr. */
__attribute__((format(printf, 1, 2))) void child_shim_say(const char *format,
                                                          ...);

/* Reads all signals of the signalfd; the last one that ends the job, 0: none.
 */
int child_shim_signals(int signals);

/* Writes exit.json: lost, for that reason. */
void child_shim_end(const char *folder, const char *reason);

/* Runs the shim of the folder until it has ended, and passes on to it what the
 * cluster says at `signals`, a signalfd that has SIGCHLD, too. *ending: such a
 * signal came; else unchanged. Afterwards the folder has exit.json, unless it
 * cannot be written or belongs to another process. */
void child_shim_run(const char *folder, const struct shim_batch *batch,
                    int signals, bool *ending);

/* Reaps what is another's child, where this is the first process. */
void child_shim_reap(void);

#endif
