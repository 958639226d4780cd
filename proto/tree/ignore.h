/* ignore.h - which files the .gitignore files of a folder leave out, as
 * gitignore(5) has it, without git.
 *
 * Only the files count: what git tracks although a rule names it is left out,
 * too. Rules of a folder further down come first, and of one file the last rule
 * that matches. The caller does not look into a folder that is left out, so
 * nothing in there comes back. */
#ifndef HT_PROTO_TREE_IGNORE_H
#define HT_PROTO_TREE_IGNORE_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"

/* The rules of one folder, with those of the folders around it. */
struct ignore;

/* Reads .gitignore in the open folder; `path` is the folder's own below the
 * topmost one with rules, "" for that. Without such a file it is `around`
 * (NULL: no rules yet). A link of that name is no such file, as for git.
 * HT_TOO_LARGE  the file has more than 1 MiB
 * HT_IO         it cannot be read */
enum ht_status ignore_read(struct arena *arena, const struct ignore *around,
                           int folder, const char *path,
                           const struct ignore **rules, struct ht_error *err);
/* The same of the folders from the one that holds .git down to the parent of
 * `folder`, which is absolute and without links; *path is the folder's own
 * below the first, "" when no folder above it holds .git. */
enum ht_status ignore_read_above(struct arena *arena, const char *folder,
                                 const struct ignore **rules, const char **path,
                                 struct ht_error *err);

/* Whether the rules leave out the file or folder of that path. */
bool ignore_has(const struct ignore *rules, const char *path, bool is_folder);

#endif
