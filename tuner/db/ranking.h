/* ranking.h - the trials of a study by their results: the best in front, those
 * that no other one beats, and those worth confirming. Changes run inside the
 * transaction of the core's dispatcher. */
#ifndef HT_TUNER_DB_RANKING_H
#define HT_TUNER_DB_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/db.h"
#include "tuner/db/write.h"

/* Best SUCCEEDED or STOPPED trial by the objective; on equal values the
 * older one. HT_NOT_FOUND without any. */
enum ht_status db_trial_best(struct db *db, struct arena *arena, int64_t study,
                             bool maximize, struct trial_row *row,
                             struct ht_error *err);

/* The same without the trials that lie outside (trial_row.outside). */
enum ht_status db_trial_best_within(struct db *db, struct arena *arena,
                                    int64_t study, bool maximize,
                                    struct trial_row *row,
                                    struct ht_error *err);

/* What is asked for. */
struct ranking {
    int64_t study;
    bool maximize;
    int64_t n; /* at most so many trials */
};
/* Ids of the best SUCCEEDED or STOPPED trials, the best first, of equals the
 * older one. */
enum ht_status db_trial_ranking(struct db *db, struct arena *arena,
                                const struct ranking *ranking,
                                struct id_list *list, struct ht_error *err);

/* A SUCCEEDED or STOPPED trial that repeats no other one, by its result. */
struct front_row {
    int64_t id;
    double objective;
    const char *metrics; /* JSON */
    bool outside;        /* as in trial_row */
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
/* A page of at most DB_FRONT_PAGE rows; one with fewer is the last. */
enum ht_status db_front_results(struct db *db, struct arena *arena,
                                int64_t study, int64_t after,
                                struct front_rows *list, struct ht_error *err);

/* Marks a trial, or takes its mark. */
enum ht_status db_front_mark(struct db *db, int64_t study, int64_t trial,
                             bool marked, struct ht_error *err);
/* False for a trial that does not exist. */
enum ht_status db_front_is_marked(struct db *db, int64_t study, int64_t trial,
                                  bool *marked, struct ht_error *err);
/* Takes all marks of a study. */
enum ht_status db_front_clear(struct db *db, int64_t study,
                              struct ht_error *err);

/* --- all, the best in front --- */

/* Ids of all trials but PREPARED ones: SUCCEEDED or STOPPED ones with an
 * objective by it, the best first, of equals the older one; then all others by
 * id, confirmations among them. */
enum ht_status db_trial_order(struct db *db, struct arena *arena, int64_t study,
                              bool maximize, struct id_list *list,
                              struct ht_error *err);

/* --- confirmations --- */

/* The best SUCCEEDED or STOPPED trials of the search, the best first and each
 * point once, with its best trial. */
enum ht_status db_confirm_finalists(struct db *db, struct arena *arena,
                                    const struct ranking *ranking,
                                    struct trial_list *list,
                                    struct ht_error *err);

/* All confirmations of the study, by the trial they confirm and by id. */
enum ht_status db_confirm_list(struct db *db, struct arena *arena,
                               int64_t study, struct trial_list *list,
                               struct ht_error *err);

#endif
