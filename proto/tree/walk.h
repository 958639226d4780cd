/* walk.h - a folder on the disk as a manifest: what is in it, with the hash of
 * each chunk.
 *
 * No link is followed. Sockets, pipes and devices are left out, and so are
 * links that lead out of the folder or may do so. A file that changes while it
 * is read fails the walk, so a manifest never has half of a change. Any
 * thread. */
#ifndef HT_PROTO_TREE_WALK_H
#define HT_PROTO_TREE_WALK_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/tree/manifest.h"

struct walk_rules {
    bool code;           /* without .git, what .gitignore files leave out (also
                            those above the folder, from the one with .git on),
                            and without hypertune's own data */
    const char *without; /* files whose paths begin so are left out; or NULL */
    int64_t most_bytes;  /* of all files; 0: no limit */
    size_t most_entries; /* at most TREE_MOST_ENTRIES; 0: as many */
};

/* A part of a folder that is too large: the folder's or file's path. */
struct walk_part {
    const char *path;
    int64_t bytes;
};

enum { WALK_PARTS = 5 };

struct walked { /* in the arena of the walk */
    struct tree_manifest manifest;
    size_t files;
    int64_t bytes;        /* of the files */
    size_t n_left_out;    /* links that lead out */
    const char *left_out; /* the first of them */
    bool git;             /* there were rules of .gitignore files */
    struct walk_part largest[WALK_PARTS]; /* largest first; path NULL: no more;
                                             only with HT_TOO_LARGE */
};

/* Reads the folder, whose path is absolute. *walked is also filled, but for
 * chunks, when it is too large.
 * HT_NOT_FOUND  there is no such folder
 * HT_TOO_LARGE  it has more than the rules allow
 * HT_CONFLICT   a file changed meanwhile; later it may succeed
 * HT_INVALID    a name is not UTF-8, or a path is too long
 * HT_IO         something cannot be read; the sentence names it */
enum ht_status walk_folder(struct arena *arena, const char *folder,
                           const struct walk_rules *rules,
                           struct walked *walked, struct ht_error *err);
/* Whether the file of that path is left out. */
bool walk_is_without(const char *without, const char *path);

#endif
