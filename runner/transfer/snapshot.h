/* snapshot.h - a part of a folder as it is now, by hard links, or copies of
 * other users' files: what a trainer replaces or removes later stays as it was.
 * What it changes in place changes here, too; reading it finds that out
 * (proto/tree/walk.h).
 *
 * The folder may be an enemy's: no link is followed, and sockets, pipes and
 * devices are left out. */
#ifndef HT_RUNNER_TRANSFER_SNAPSHOT_H
#define HT_RUNNER_TRANSFER_SNAPSHOT_H

#include <stdint.h>

#include "proto/base/error.h"

/* Makes the folder `into` with the file or folder FOLDER/PATH at the same path
 * below it; "" is all that the folder has. Both are on one file system. After a
 * failure a part of it is left, which is the caller's to remove, too.
 * HT_NOT_FOUND     there is no such file or folder
 * HT_PRECONDITION  its path leads out of the folder, or is neither
 * HT_CONFLICT      a part of it was removed meanwhile
 * HT_IO            a link cannot be made */
enum ht_status snapshot_make(const char *folder, const char *path,
                             const char *into, struct ht_error *err);
/* The same of all of the folder while its trial may still run: what has
 * changed in the last minutes, such as a log that grows, is copied, as far as
 * *may_copy bytes last, which it takes them from. */
enum ht_status snapshot_freeze(const char *folder, const char *into,
                               int64_t *may_copy, struct ht_error *err);

#endif
