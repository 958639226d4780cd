/* restore.h - makes the data folder of a server from a backup.
 *
 * A kill at any moment leaves the folder as it was or as it is to be: what is
 * new is written into a folder inside, whose rename decides. What then remains
 * to be moved is moved by restore_finish(), which a server calls, too. */
#ifndef HT_TUNER_BACKUP_RESTORE_H
#define HT_TUNER_BACKUP_RESTORE_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "proto/base/text.h"
#include "tuner/base/failpoint.h"

struct restore_order {
    const char *copy;   /* folder of the backup */
    const char *folder; /* of data; this process has its lock */
    bool replace;       /* it may have a database already, which is moved into a
                           folder inside */
    struct failpoint *failpoint;
};

/* The backup is verified first. Appends what was done and what to do next.
 *
 * HT_CONFLICT      the folder is not empty, and is not to be replaced
 * HT_PRECONDITION  the clock is before the backup's moment; or as verify_copy()
 * HT_NOT_FOUND, HT_CORRUPT, HT_IO  as verify_copy() */
enum ht_status restore_copy(const struct restore_order *order,
                            struct text *report, struct ht_error *err);

/* Ends a restore that was decided, and removes one that was not. The caller has
 * the folder's lock. HT_IO */
enum ht_status restore_finish(const char *folder, struct failpoint *failpoint,
                              struct ht_error *err);

#endif
