/* backups.h - the thread that makes backups of the running server: at once
 * where a request asks, and by a schedule, of which old ones are removed.
 *
 * It reads the database files only, at low priority; no other thread waits for
 * it, and its failures harm nothing. */
#ifndef HT_TUNER_BACKUP_BACKUPS_H
#define HT_TUNER_BACKUP_BACKUPS_H

#include <stdint.h>

#include "proto/base/error.h"

struct backup_board;
struct store_board;
struct backups;

struct backups_options {
    const char *data;   /* the server's folder, absolute; borrowed */
    const char *folder; /* where backups appear; copied, NULL: in `data` */
    int64_t every_ms;   /* between scheduled ones; 0: none are made */
    struct backup_board *board; /* borrowed */
    struct store_board *store;  /* the same */
    const char *fail;           /* as server_run() */
};

/* Makes the folder, and removes what a killed server left there.
 * HT_IO  it cannot be made or read */
enum ht_status backups_start(const struct backups_options *options,
                             struct backups **backups, struct ht_error *err);
/* Ends a backup that is being made. Accepts NULL. */
void backups_stop(struct backups *backups);

#endif
