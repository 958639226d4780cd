/* rungs.h - the stored values of trials at the rungs (algorithms/stop/asha.h)
 * that they reached. */
#ifndef HT_TUNER_DB_RUNGS_H
#define HT_TUNER_DB_RUNGS_H

#include <stdint.h>

#include "tuner/db/db.h"

/* Where a trial was when it reached a rung. */
struct rung_row {
    int64_t study, trial;
    int64_t rung;      /* from 0 */
    double at;         /* its place on the curve: a step or seconds */
    const char *goals; /* JSON array: the value of each metric, larger is
                          better, null where it is unknown */
};

/* A trial and its rungs so far. */
struct rung_trial {
    int64_t trial, ordinal, rungs_passed;
    enum trial_state state;
    size_t n;
    struct rung_row *rungs; /* in order */
};
struct rung_trial_list {
    size_t n;
    struct rung_trial *rows; /* by id */
};
/* Trials of the search that reached a rung. */
enum ht_status db_rung_trials(struct db *db, struct arena *arena, int64_t study,
                              struct rung_trial_list *list,
                              struct ht_error *err);

/* Trials that the study's rule has stopped. */
struct rung_stops {
    int64_t all, first; /* first: at its first rung; of rules without, all */
};
enum ht_status db_rung_stops(struct db *db, int64_t study,
                             struct rung_stops *stops, struct ht_error *err);

/* --- writing; core only --- */

/* Replaces an earlier value. */
enum ht_status db_rung_set(struct db *db, const struct rung_row *row,
                           struct ht_error *err);
/* Forgets all rungs of a trial. */
enum ht_status db_rung_clear(struct db *db, int64_t study, int64_t trial,
                             struct ht_error *err);
/* Writes rungs_passed alone, see db_trial_save(). */
enum ht_status db_trial_set_rungs_passed(struct db *db,
                                         const struct trial_row *row,
                                         struct ht_error *err);

#endif
