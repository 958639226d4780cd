/* trees.h - trees that attempts begin with, fetched from the server once each,
 * on a thread of its own, and kept below the state folder while they are used.
 *
 * `code/TREE` there is whole whenever it exists. Some that are not used any
 * more stay, for the next trials of a study. All calls are of one thread. */
#ifndef HT_RUNNER_TRANSFER_TREES_H
#define HT_RUNNER_TRANSFER_TREES_H

#include "proto/base/arena.h"
#include "proto/transfer/transfer.h"

struct trees;

struct trees_settings { /* borrowed until trees_stop() */
    const char *state;  /* folder */
    /* As of transfer_settings; the thread of the trees calls it. */
    enum ht_status (*find)(void *context, struct transfer_server *server,
                           struct ht_error *err);
    void *context;
};

/* HT_IO  the folder cannot be made, or no thread */
enum ht_status trees_start(const struct trees_settings *settings,
                           struct trees **trees, struct ht_error *err);
/* Breaks a fetch off. Accepts NULL. */
void trees_stop(struct trees *trees);

/* The folder of a tree, there or not yet; in the arena. */
const char *trees_folder(struct arena *arena, const char *state,
                         const char *tree);

enum trees_state { TREES_PENDING, TREES_READY, TREES_FAILED };

/* From now on the tree is fetched, and kept until as many trees_leave(). What
 * failed before is tried again. */
void trees_want(struct trees *trees, const char *project, const char *tree);
void trees_leave(struct trees *trees, const char *tree);
/* Of a tree that is wanted; *err is filled when it has failed. */
enum trees_state trees_look(struct trees *trees, const char *tree,
                            struct ht_error *err);

#endif
