/* file_tree.h - folders removed with all that is below them, never through a
 * link.
 *
 * What is removed may have been made by a user who wants it to stay: folders
 * that are locked, or deeper than descriptors go. */
#ifndef HT_PROTO_BASE_FILE_TREE_H
#define HT_PROTO_BASE_FILE_TREE_H

#include "proto/base/error.h"

/* Removes the folder; its file `last`, unless that is NULL, goes when all else
 * is gone. What cannot be removed stays.
 * HT_IO  there is no such folder, or something is left */
enum ht_status file_tree_remove(const char *path, const char *last,
                                struct ht_error *err);

#endif
