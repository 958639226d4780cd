/* copy.h - makes one backup of a running server: a folder with a consistent
 * snapshot of its files, which appears whole or not at all. */
#ifndef HT_TUNER_BACKUP_COPY_H
#define HT_TUNER_BACKUP_COPY_H

#include <stdatomic.h>
#include <stdint.h>

#include "proto/base/error.h"

struct failpoint;
struct store_board;

/* Folders that are still being made, or were when the server was killed. */
#define COPY_MAKING ".making-"

struct backup_order {
    const char *data;            /* the server's folder */
    const char *folder;          /* where the backup appears */
    const char *name;            /* of its folder there */
    const atomic_bool *stopping; /* ends it; NULL: nothing does */
    struct store_board *store;   /* whose files stay meanwhile; NULL: none */
    struct failpoint *failpoint; /* NULL: none */
};

/* Its files and folders are on the disk when it appears. *bytes: its length.
 *
 * HT_UNAVAILABLE  less than the disk reserve would be left, or more than
 *                 COPY_WAL_MOST was written meanwhile, or it is to stop
 * HT_EXISTS       there is one of that name
 * HT_CORRUPT      a page of a file is damaged
 * HT_IO           the disk is full or fails */
enum { COPY_WAL_MOST = 256 * 1024 * 1024 };
enum ht_status copy_make(const struct backup_order *order, int64_t *bytes,
                         struct ht_error *err);

/* Removes what copies that were not finished left. */
void copy_remove_partial(const char *folder);

#endif
