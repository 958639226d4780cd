/* report_use.h - the table of what replicas have reported: how much, and
 * records that are kept aside instead of as measurements. */
#ifndef HT_TUNER_DB_REPORT_USE_H
#define HT_TUNER_DB_REPORT_USE_H

#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/write.h"

struct report_use {
    int64_t records;  /* that came, over all writers */
    int64_t bytes;    /* of their values and checkpoints */
    int64_t dropped;  /* of the records: not stored as measurements */
    const char *held; /* JSON, see tuner/study/thinning.h, or "" */
};

/* Zeros and "" when the replica has reported nothing. */
enum ht_status db_report_use_get(struct db *db, struct arena *arena,
                                 const struct replica_key *key,
                                 struct report_use *use, struct ht_error *err);
/* Adds the replica's row or replaces it. */
enum ht_status db_report_use_set(struct db *db, const struct replica_key *key,
                                 const struct report_use *use,
                                 struct ht_error *err);
/* The dropped records of all replicas of an attempt. */
enum ht_status db_report_use_dropped(struct db *db,
                                     const struct attempt_row *attempt,
                                     int64_t *dropped, struct ht_error *err);

#endif
