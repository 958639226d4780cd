/* files.h - files of a backup: hashed, copied, synced. */
#ifndef HT_TUNER_BACKUP_FILES_H
#define HT_TUNER_BACKUP_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/token.h"

struct file_sum {
    int64_t bytes;
    char sha256[TOKEN_TEXT_BYTES]; /* in hex */
};

/* HT_IO. `path` is a plain file, not a link. */
enum ht_status files_sum(const char *path, struct file_sum *sum,
                         struct ht_error *err);
/* Copies it to a new file of mode 0600, which is on the disk then; *sum is of
 * what was written. HT_IO; then there is no `to`. */
enum ht_status files_copy(const char *from, const char *to,
                          struct file_sum *sum, struct ht_error *err);
/* What the folder lists is on the disk then. HT_IO */
enum ht_status files_sync_folder(const char *folder, struct ht_error *err);

struct file_names {
    size_t n;
    const char **items; /* of the arena */
};
/* What the folder lists, in no order, without "." and "..".
 * HT_IO; then there are none */
enum ht_status files_list(struct arena *arena, const char *folder,
                          struct file_names *names, struct ht_error *err);

bool files_exist(const char *path);
/* 0 when there is none. */
int64_t files_size(const char *path);

#endif
