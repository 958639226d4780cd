/* disk.h - files that are either complete or absent, and the sizes of trees.
 *
 * A reader never sees a half-written file, and what disk_write() wrote survives
 * a power cut. A symbolic link as the last component is not followed. */
#ifndef HT_RUNNER_BASE_DISK_H
#define HT_RUNNER_BASE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/node.h"

/* Replaces FOLDER/NAME by the bytes: temporary file, fsync, rename, fsync of
 * the folder. Blocks until the bytes are on the disk.
 * HT_IO  some step failed; the previous content stays */
enum ht_status disk_write(const char *folder, const char *name,
                          const void *bytes, size_t len, mode_t mode,
                          struct ht_error *err);

/* The same without fsync: after a power cut the file may be the previous one,
 * empty or absent. For files that only running processes need. */
enum ht_status disk_replace(const char *folder, const char *name,
                            const void *bytes, size_t len, mode_t mode,
                            struct ht_error *err);

struct disk_bytes { /* a whole file, a NUL behind it */
    char *data;
    size_t len;
};

/* Reads a regular file of at most `limit` bytes into the arena.
 * HT_NOT_FOUND  there is none, or, on NFS, it was replaced meanwhile
 * HT_TOO_LARGE  it is longer than the limit
 * HT_IO         it cannot be read or is no regular file */
enum ht_status disk_read(struct arena *arena, const char *folder,
                         const char *name, size_t limit,
                         struct disk_bytes *bytes, struct ht_error *err);

/* The same for an open file; the error's text continues the file's name. */
enum ht_status disk_read_open(struct arena *arena, int fd, size_t limit,
                              struct disk_bytes *bytes, struct ht_error *err);

/* Reads a JSON file; statuses of disk_read() and
 * HT_CORRUPT  it is not a JSON object */
enum ht_status disk_read_json(struct arena *arena, const char *folder,
                              const char *name, const struct node **map,
                              struct ht_error *err);

/* Writes the text to a file of the kernel (/proc, /sys) in one piece; false
 * with errno. */
bool disk_write_kernel(const char *path, const char *text);

bool disk_has(const char *folder, const char *name);

/* On NFS, what another machine has put into the folder may be unknown here for
 * a minute; opening the folder asks the server. False when it is gone. */
bool disk_refresh(const char *folder);

/* Makes an empty file, without fsync: it survives this process, but maybe not
 * the machine. HT_OK when it exists already.
 * HT_IO  it cannot be made, or is a link */
enum ht_status disk_mark(const char *folder, const char *name,
                         struct ht_error *err);

/* Makes the folder and its missing parents, all with mode 0700, which then
 * survive a power cut; one that exists keeps its mode.
 * HT_IO       one cannot be made, or the path is no folder
 * HT_INVALID  the path is too long */
enum ht_status disk_make_folder(const char *path, struct ht_error *err);

/* Bytes of disk of the files below, links not followed; 0 when there is no
 * such folder. Counting ends once the sum is more than `enough`; for a tree of
 * very many files or levels the result is also more than that. Reads every
 * folder of the tree, which may take seconds. */
int64_t disk_usage(const char *path, int64_t enough);
/* When the newest file below was written, wall clock of the file system; links
 * not followed, folders not counted. 0: there is none. It reads as much as
 * disk_usage(). */
int64_t disk_newest_ms(const char *path);
/* When the file was written, by the same clock; 0: it is not there. */
int64_t disk_written_ms(const char *folder, const char *name);

#endif
