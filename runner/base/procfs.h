/* procfs.h - the identity of processes, and the processes a replica has left.
 *
 * Nothing is killed by its pid alone, as pids are reused: a process is
 * identified by pid, start time and boot id, and signalled through a pidfd. */
#ifndef HT_RUNNER_BASE_PROCFS_H
#define HT_RUNNER_BASE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/error.h"
#include "runner/base/folder.h"

enum { PROCFS_BOOT_BYTES = 40 };
/* The id of this boot of the machine; false when /proc has none. */
bool procfs_boot(char boot[PROCFS_BOOT_BYTES]);

/* Fills in the identity of a living process.
 * HT_NOT_FOUND  there is no such process
 * HT_IO         /proc cannot be read */
enum ht_status procfs_identify(pid_t pid, struct process *process,
                               struct ht_error *err);

/* Whether that process still runs (a zombie does not). */
bool procfs_is_alive(const struct process *process);

/* Whether the living process was started with the word as its only argument. */
bool procfs_has_argument(pid_t pid, const char *word);

/* Sends SIGKILL to that process; false when it has ended. Does not wait for
 * its end. */
bool procfs_kill(const struct process *process);

/* Kills with SIGKILL every process of this user whose environment has
 * HYPERTUNE_TRIAL_DIR=folder, or which is in the session that `leader` made
 * (NULL: only by the environment), apart from the caller, and repeats it until
 * none is left or `bound_ms` passed. Blocks meanwhile. Returns how many were
 * left. */
size_t procfs_kill_leftovers(const char *folder, const struct process *leader,
                             int bound_ms);

/* SIGKILL to every child of the caller or, where that is the first process of a
 * container, to all its processes; returns 0 when there was none. */
size_t procfs_kill_children(void);

#endif
