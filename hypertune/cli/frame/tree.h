/* tree.h - folders copied with all that is in them, never through a link. */
#ifndef HT_HYPERTUNE_CLI_FRAME_TREE_H
#define HT_HYPERTUNE_CLI_FRAME_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"

struct tree_copy {
    bool replace;     /* files that are there already; else they are errors */
    bool moves;       /* the files leave `from`, which is on the same disk */
    const char *mark; /* top folders with a file of this name stay out, or
                         NULL */
    /* Called after each block; or NULL. */
    void (*progress)(const struct tree_copy *copy);
    void *context;
    int64_t files, bytes; /* copied so far */
    int64_t left_out;     /* links, devices and the like */
};

/* Copies the regular files and folders below `from` into the folder `to`, which
 * is made when it is not there (not those above it). A file appears when it is
 * whole, with the permissions that the umask leaves.
 * HT_NOT_FOUND  `from` is no folder
 * HT_EXISTS     a file is there already
 * HT_IO         the text names what could not be read or written */
enum ht_status tree_copy(const char *from, const char *to,
                         struct tree_copy *copy, struct ht_error *err);

#endif
