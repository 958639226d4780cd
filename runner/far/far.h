/* far.h - the files of a cluster whose file system this machine does not share,
 * over the one connection of ssh that a person opened to a login node.
 *
 * The same paths below the state folder here and below a root folder there:
 * what the runner writes is put there, what elements and trials write comes
 * here, so that the rest of the runner sees files as on a shared file system.
 * A process of ours on the login node (runner/mirror) does the other half. All
 * that has to be known is in files on both sides: when the connection lapses,
 * or either side is killed, a new one continues where the files are.
 *
 * The supervising thread calls all functions but far_settle(). Each accepts far
 * NULL, for a cluster with a shared file system: then there is nothing to do.
 * Folders are absolute and below the state folder. */
#ifndef HT_RUNNER_FAR_FAR_H
#define HT_RUNNER_FAR_FAR_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "runner/base/site.h"
#include "runner/mirror/names.h"

struct far;

enum { FAR_FAULT_BYTES = 256 };

struct far_settings { /* borrowed until far_close() */
    const struct site *site;
    const char *ssh;    /* [USER@]HOST of the login node */
    const char *folder; /* the root there; NULL: below the user's home */
};

/* Begins to connect, again and again, in the background.
 * HT_INVALID  no such host, or the program for the other side is missing
 * HT_IO       no thread */
enum ht_status far_open(const struct far_settings *settings, struct far **far,
                        struct ht_error *err);
/* From now on far_settle() fails at once. */
void far_stop(struct far *far);
/* What runs there continues. */
void far_close(struct far *far);

/* Waits until there was a connection; then *site has the paths there.
 * HT_UNAVAILABLE  not within so long, with the reason */
enum ht_status far_wait(struct far *far, int64_t wait_ms, struct site *site,
                        struct ht_error *err);

/* Repeats all on a new connection. */
void far_tick(struct far *far);
/* The folder, with ours in it, is there as well from now on, and theirs come.
 * `extra` is one more file in it that grows, by its relative path; NULL: none.
 * `fresh`: of a trial that has not begun, so that what its folder there has is
 * of an earlier database, and is put aside. */
void far_watch(struct far *far, enum names_folder is, const char *folder,
               const char *extra, bool fresh);
/* Files of ours were written in a folder that is watched, or in one of its
 * folders. */
void far_put(struct far *far, const char *folder);
/* No more; the folder there is removed. */
void far_remove(struct far *far, const char *folder);

enum far_state { FAR_PENDING, FAR_READY };
/* A folder whose content does not change: it is put once. `path` is where,
 * below the root. */
enum far_state far_tree(struct far *far, const char *folder, const char *path);

/* How often all files there have been looked at. What was there when this was
 * N has come here when it is N + 2. */
uint64_t far_looks(struct far *far);
/* Why nothing comes or goes; "" when all is well. */
void far_fault(struct far *far, char text[FAR_FAULT_BYTES]);

/* Any thread: waits until what was put before is there.
 * HT_UNAVAILABLE  there is no connection */
enum ht_status far_settle(struct far *far, struct ht_error *err);

#endif
