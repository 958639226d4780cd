/* trial_usage.h - what each replica of an attempt used of its machine: a series
 * of proto/job/usage.h for each device, as JSON. */
#ifndef HT_TUNER_DB_TRIAL_USAGE_H
#define HT_TUNER_DB_TRIAL_USAGE_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/db.h"

enum {
    DB_MOST_USAGE = 1000, /* series of one attempt */
    DB_USAGE_LISTED = 200 /* of a trial, at a time */
};

struct trial_usage_row {
    int64_t study, trial, attempt;
    const char *replica; /* "master-0" */
    const char *device;  /* "" processors and memory; else the GPU's name */
    const char *series;
};

struct trial_usage_list {
    size_t n;
    struct trial_usage_row *rows;
};

/* Replaces the series of the same name. A new one beyond DB_MOST_USAGE of the
 * attempt is dropped. */
enum ht_status db_trial_usage_set(struct db *db,
                                  const struct trial_usage_row *row,
                                  struct ht_error *err);
/* At most DB_USAGE_LISTED, those of the newest attempt first. */
enum ht_status db_trial_usage_list(struct db *db, struct arena *arena,
                                   int64_t study, int64_t trial,
                                   struct trial_usage_list *list,
                                   struct ht_error *err);

#endif
