/* cgroup.h - control groups of the kernel: memory, processes and processors
 * that one replica may use.
 *
 * Version 2 needs a group that belongs to the runner alone (Delegate=yes of a
 * systemd unit, or a container of its own): the runner moves itself one level
 * down there. Version 1 needs root. */
#ifndef HT_RUNNER_BASE_CGROUP_H
#define HT_RUNNER_BASE_CGROUP_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/base/guest.h"

/* The resources that a control group limits; 0: no limit. */
struct cgroup_limits {
    int64_t memory; /* bytes */
    int64_t pids;   /* processes and threads */
    double cpus;
};

enum { CGROUP_MEMORY, CGROUP_PIDS, CGROUP_CPU, CGROUP_CONTROLLERS };
extern const char *const cgroup_controllers[CGROUP_CONTROLLERS];

struct cgroup_places {
    const char *folders[CGROUP_CONTROLLERS]; /* below which groups are made, of
                                                each; NULL: not possible */
    bool unified;                            /* version 2: all the same */
};

/* Finds this process's groups in `mount` (/sys/fs/cgroup) by the text of
 * `self` (/proc/self/cgroup). In version 2 it moves this process. */
void cgroup_find(struct arena *arena, const char *mount, const char *self,
                 struct cgroup_places *places);

/* Adds to the guest what limits the replica of that name, as far as there are
 * places; in the arena. */
void cgroup_plan(struct arena *arena, const struct cgroup_places *places,
                 const struct cgroup_limits *limits, const char *name,
                 struct guest *guest);

/* ---- in the shim ---- */

/* HT_IO  a group cannot be made or limited */
enum ht_status cgroup_make(const struct guest *guest, struct ht_error *err);
/* Removes the groups, whose processes have ended or were killed; waits up to
 * two seconds for these. */
void cgroup_remove(const struct guest *guest);
/* Whether a process was killed since the memory was used up. */
bool cgroup_was_full(const struct guest *guest);

#endif
