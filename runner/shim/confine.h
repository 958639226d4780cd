/* confine.h - makes a new process a guest (runner/base/guest.h), before it
 * becomes the trainer.
 *
 * A process that confine_fork() made calls the functions after that in the
 * order of this file. */
#ifndef HT_RUNNER_SHIM_CONFINE_H
#define HT_RUNNER_SHIM_CONFINE_H

#include <stdbool.h>
#include <sys/types.h>

#include "proto/base/error.h"
#include "runner/base/guest.h"

/* The best sandbox that this process can make here. Starts children and waits
 * for them. */
enum sandbox confine_best(void);
bool confine_works(enum sandbox sandbox);

/* Chooses the guest's uid among the ids that no other guest of this machine
 * has, until this process ends, and gives it its folders; 0: the user stays.
 * `folder` is the replica's, NULL: there is none. HT_IO  none is free, or a
 * folder cannot be given */
enum ht_status confine_claim(const struct guest *guest, const char *folder,
                             uid_t *uid, struct ht_error *err);

struct confined { /* the process's user before confine_fork() */
    uid_t uid;
    gid_t gid;
};

/* As fork(), with the guest's namespaces. */
pid_t confine_fork(const struct guest *guest, struct confined *self);

/* Enters the control groups; false with errno. */
bool confine_join(const struct guest *guest);

/* Hides what the guest cannot see; false with errno. */
bool confine_hide(const struct guest *guest, const struct confined *self);

/* With namespaces: continues in a child. This process stays the first one of
 * the namespace, without the descriptor `given_up`; it passes signals on to the
 * child's group, writes the child's status for waitpid() to `report`, and ends
 * with the child, whereupon the kernel ends what is left. False with errno. */
bool confine_begin(const struct guest *guest, int given_up, int report);

/* Limits, user and capabilities; false with errno. */
bool confine_drop(const struct guest *guest, uid_t uid);

#endif
