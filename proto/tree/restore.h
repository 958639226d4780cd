/* restore.h - a folder from a manifest and its chunks, which may come in any
 * order.
 *
 * Neither the manifest nor who else works in the folder is trusted: no link is
 * passed, nothing outside of the folder is made or changed, files are new and
 * have permission bits alone, links come last and stay inside, and each chunk
 * has the hash that the manifest names. One thread. */
#ifndef HT_PROTO_TREE_RESTORE_H
#define HT_PROTO_TREE_RESTORE_H

#include <stdbool.h>

#include "proto/tree/manifest.h"

struct restore;

struct restore_rules {
    bool readable; /* by all users: the modes gain 0444, and 0111 with 0100 */
    bool sync;     /* all is on the disk before restore_end() returns */
};

/* A chunk that is wanted. */
struct restore_chunk {
    size_t entry, index; /* of the manifest, and in the file */
    const struct tree_hash *hash;
    size_t bytes;
};

/* Makes the folder, which does not exist yet (its parent does), with the
 * folders below it. The manifest is borrowed until restore_free().
 * HT_INVALID  the manifest is hostile; the sentence names the entry
 * HT_EXISTS   there is something of the folder's name
 * HT_IO       something cannot be made */
enum ht_status restore_begin(const struct tree_manifest *manifest,
                             const char *folder,
                             const struct restore_rules *rules,
                             struct restore **restore, struct ht_error *err);
/* What has been made stays, whole or not. Accepts NULL. */
void restore_free(struct restore *restore);

/* The next chunk that has not been asked for; *has is false when there is none.
 * Files are open from their first chunk on until they have all of them.
 * HT_IO  its file cannot be made */
enum ht_status restore_next(struct restore *restore,
                            struct restore_chunk *chunk, bool *has,
                            struct ht_error *err);
/* Writes a chunk that restore_next() gave.
 * HT_CORRUPT  the bytes have another hash or number; it is still wanted
 * HT_IO       they cannot be written */
enum ht_status restore_put(struct restore *restore,
                           const struct restore_chunk *chunk, const void *bytes,
                           size_t len, struct ht_error *err);
/* All chunks are there: makes the links. HT_IO. */
enum ht_status restore_end(struct restore *restore, struct ht_error *err);

#endif
