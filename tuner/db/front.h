/* front.h - which trials of a study with several metrics are marked as
 * beaten by no other one (front.h). */
#ifndef HT_TUNER_DB_FRONT_H
#define HT_TUNER_DB_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/db.h"

/* A SUCCEEDED or STOPPED trial that repeats no other one, by its result. */
struct front_row {
    int64_t id;
    double objective;
    const char *metrics; /* JSON */
};

struct front_rows {
    size_t n;
    const struct front_row *rows;
};

/* The marked trials, or all with a result, by id above `after`. */
enum ht_status db_front_marked(struct db *db, struct arena *arena,
                               int64_t study, struct front_rows *list,
                               struct ht_error *err);
enum { DB_FRONT_PAGE = 500 };
enum ht_status db_front_results(struct db *db, struct arena *arena,
                                int64_t study, int64_t after,
                                struct front_rows *list, struct ht_error *err);

/* Marks a trial, or takes its mark. */
enum ht_status db_front_mark(struct db *db, int64_t study, int64_t trial,
                             bool marked, struct ht_error *err);
enum ht_status db_front_is_marked(struct db *db, int64_t study, int64_t trial,
                                  bool *marked, struct ht_error *err);
/* Takes all marks of a study. */
enum ht_status db_front_clear(struct db *db, int64_t study,
                              struct ht_error *err);

#endif
