/* store_copy.h - the store (tuner/store) in a backup: manifests and chunks of
 * the trees that its hypertune.db names, in a folder of the same form.
 *
 * Their files never change, so on one disk a copy is a second name of each. */
#ifndef HT_TUNER_BACKUP_STORE_COPY_H
#define HT_TUNER_BACKUP_STORE_COPY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"

#define STORE_FOLDER "store"

struct store_copy_order {
    const char *from, *to; /* folders with, and to get, the folder store */
    const char *database;  /* that names the trees; nothing beside it is its
                              own */
    const atomic_bool *stopping; /* ends it; NULL: nothing does */
};

/* All is on the disk then. Nothing may be removed from the store meanwhile.
 *
 * HT_CORRUPT      a file is missing, or a manifest damaged
 * HT_UNAVAILABLE  less than the disk reserve would be left, or it is to stop
 * HT_IO           the disk is full or fails */
enum ht_status store_copy_make(const struct store_copy_order *order,
                               struct ht_error *err);

/* Whether all trees that `database` names are whole in the folder: names,
 * lengths and hashes. *trees: how many there are. `alone` as db_trees_each().
 *
 * HT_CORRUPT  one is not; named
 * HT_IO       a file cannot be read */
enum ht_status store_copy_verify(const char *folder, const char *database,
                                 bool alone, int64_t *trees,
                                 struct ht_error *err);

#endif
