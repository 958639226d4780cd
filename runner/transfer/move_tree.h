/* move_tree.h - one checkpoint, or all outputs of a trial, sent to the store or
 * fetched from it, from a trial's folder or into it. Takes as long as it takes;
 * any thread. */
#ifndef HT_RUNNER_TRANSFER_MOVE_TREE_H
#define HT_RUNNER_TRANSFER_MOVE_TREE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/text.h"
#include "proto/tree/manifest.h"

struct transfers_settings;

struct move_tree { /* all is borrowed */
    const struct transfers_settings *settings;
    const atomic_bool *given_up; /* ends it soon */
    const char *project;
    const char *checkpoints, *scratch; /* as in struct transfers_place */
    size_t lanes;                      /* as in struct transfer_settings */
    void (*moved)(void *context, int64_t bytes, int64_t of); /* the same */
    void *context;
};

/* Sends what PATH below the checkpoints is now; `tree` gets its name once all
 * of it is in the store. *bytes: how many were sent, also by a failure.
 * HT_NOT_FOUND     there is nothing
 * HT_CONFLICT      it changed while it was read
 * HT_UNAVAILABLE   no server answers, or it has no room
 * others           it cannot be sent, by the disk or the server */
enum ht_status move_tree_send(const struct move_tree *move, const char *path,
                              char tree[TREE_NAME], int64_t *bytes,
                              struct ht_error *err);

/* The same of those of the folders `names` that are below the checkpoints; the
 * tree has each under its name, also an empty one.
 * HT_NOT_FOUND  none of them is there */
enum ht_status move_tree_send_folders(const struct move_tree *move,
                                      const struct strings *names,
                                      char tree[TREE_NAME],
                                      struct ht_error *err);

/* Makes the checkpoints be the tree: they change at once, when all of it is
 * here.
 * HT_UNAVAILABLE   no server answers
 * others           as above */
enum ht_status move_tree_fetch(const struct move_tree *move, const char *tree,
                               struct ht_error *err);

#endif
