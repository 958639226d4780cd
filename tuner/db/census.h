/* census.h - counts of studies and trials by state. */
#ifndef HT_TUNER_DB_CENSUS_H
#define HT_TUNER_DB_CENSUS_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/rows.h"

struct db;

enum { STUDY_STATES = STUDY_DELETING }; /* those that are shown */

struct census {
    int64_t studies[STUDY_STATES];
    int64_t trials[TRIAL_STATES]; /* of all studies that are shown */
};
enum ht_status db_census(struct db *db, struct census *census,
                         struct ht_error *err);

/* Trials of one state in a study that has not ended. */
struct census_part {
    int64_t study;
    const char *name;
    enum trial_state state;
    int64_t n;
};
struct census_parts {
    size_t n;
    struct census_part *items;
};
/* Those of the newest `most` such studies, by study and state. */
enum ht_status db_census_open(struct db *db, struct arena *arena, size_t most,
                              struct census_parts *parts, struct ht_error *err);

#endif
