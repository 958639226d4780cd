/* manifest.h - what is in a backup: manifest.json in its folder, the last file
 * that is written there. */
#ifndef HT_TUNER_BACKUP_MANIFEST_H
#define HT_TUNER_BACKUP_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/backup/files.h"
#include "tuner/db/copy.h"

#define MANIFEST "manifest.json"
#define MAIN_DB "hypertune.db"
#define LOGS_DB "logs.db"

/* What a backup may have, in the order in which it is copied: chunks of a log
 * before the attempts that they are of, what was sent of events after them. */
enum { BACKUP_FILES = 5 };
struct backup_part {
    const char *name;
    bool is_database;
};
extern const struct backup_part backup_parts[BACKUP_FILES];

struct backup_manifest {
    int64_t made_ms;     /* about when, wall clock: not after the snapshot */
    const char *program; /* release that made it */
    struct db_marks marks;
    struct file_sum files[BACKUP_FILES]; /* as backup_parts; bytes -1: none */
};

/* HT_IO */
enum ht_status manifest_write(const char *folder,
                              const struct backup_manifest *manifest,
                              struct ht_error *err);
/* HT_NOT_FOUND  there is none
 * HT_CORRUPT    it is damaged, or of a later form; names the place */
enum ht_status manifest_read(struct arena *arena, const char *folder,
                             struct backup_manifest *manifest,
                             struct ht_error *err);

#endif
