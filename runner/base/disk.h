/* disk.h - files that are whole or absent, and trees that come and go.
 *
 * A reader never sees half of what was written here, and what disk_write()
 * wrote outlives even a power cut. Nothing here follows a symbolic link in the
 * last component. */
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
 * the folder.
 * HT_IO  some step failed; the previous content stays */
enum ht_status disk_write(const char *folder, const char *name,
                          const void *bytes, size_t len, mode_t mode,
                          struct ht_error *err);

/* The same without fsync: after a power cut the file may be the previous one,
 * empty or absent. For what only running processes want to know. */
enum ht_status disk_replace(const char *folder, const char *name,
                            const void *bytes, size_t len, mode_t mode,
                            struct ht_error *err);

struct disk_bytes { /* a whole file, a NUL behind it */
    char *data;
    size_t len;
};

/* Reads a regular file of at most `limit` bytes into the arena.
 * HT_NOT_FOUND  there is none
 * HT_TOO_LARGE  it is longer than the limit
 * HT_IO         it cannot be read or is no regular file */
enum ht_status disk_read(struct arena *arena, const char *folder,
                         const char *name, size_t limit,
                         struct disk_bytes *bytes, struct ht_error *err);

/* The same of an open file, from its position; the text goes behind the
 * file's name. */
enum ht_status disk_read_open(struct arena *arena, int fd, size_t limit,
                              struct disk_bytes *bytes, struct ht_error *err);

/* Reads a JSON file of ours; statuses of disk_read() and
 * HT_CORRUPT  it is not a JSON object */
enum ht_status disk_read_json(struct arena *arena, const char *folder,
                              const char *name, const struct node **map,
                              struct ht_error *err);

bool disk_has(const char *folder, const char *name);

/* Leaves an empty file that survives this process, but need not survive the
 * machine. */
enum ht_status disk_mark(const char *folder, const char *name,
                         struct ht_error *err);

/* Makes the folder and its missing parents, all with mode 0700. */
enum ht_status disk_make_folder(const char *path, struct ht_error *err);

/* Bytes of disk of the files below, links not followed. Counting ends early,
 * with what was found, when it is more than `enough`; a tree of very many files
 * or levels counts as that, too. */
int64_t disk_usage(const char *path, int64_t enough);

#endif
