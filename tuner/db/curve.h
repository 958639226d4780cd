/* curve.h - the data of learning curves. Any connection. */
#ifndef HT_TUNER_DB_CURVE_H
#define HT_TUNER_DB_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/db/db.h"

/* Trials that have run and did not fail, the newest `limit` of them, by id
 * from the highest. */
enum ht_status db_curve_trials(struct db *db, struct arena *arena,
                               int64_t study, size_t limit,
                               struct trial_list *list, struct ht_error *err);

/* What the trial's master (or its client) measured: by attempt, then step,
 * then arrival; at most HT_MAX_REPORTS. `master` is the name of the replica. */
enum ht_status db_curve_records(struct db *db, struct arena *arena,
                                const struct trial_row *trial,
                                const char *master,
                                struct measurement_list *list,
                                struct ht_error *err);

/* The trials with the most useful curves: those with the best objectives that
 * ended with a result, at most `top`, the best first, then running ones, at
 * most `running`, then those that ended without a result, at most `failed`, the
 * newest first. Trials that confirm others are left out. */
struct curve_choice {
    int64_t study;
    bool maximize;
    size_t top, running, failed;
};
/* The rows are one list, in that order; three queries of one snapshot. */
enum ht_status db_curve_choose(struct db *db, struct arena *arena,
                               const struct curve_choice *choice,
                               struct trial_list *list, struct ht_error *err);

/* What a trial's master (or its client) measured of one metric, by rising
 * step: of a longer curve `most` >= 2 points spread evenly, the first and the
 * last among them. What a later attempt measures again replaces it. NaN and
 * infinities are in `odd`, at most `most` of them. */
struct curve_question {
    const struct trial_row *trial;
    const char *master, *metric;
    size_t most;
};
struct curve_point {
    int64_t step;
    double value;
};
struct curve_points {
    size_t n, n_odd;
    struct curve_point *points, *odd; /* odd: not finite */
};
/* Reads all records of the trial. */
enum ht_status db_curve_points(struct db *db, struct arena *arena,
                               const struct curve_question *question,
                               struct curve_points *points,
                               struct ht_error *err);

/* Names of the metrics that a trial's master (or its client) measured, as its
 * first 1000 records have them; sorted by name, each once. */
struct metric_names {
    size_t n;
    const char **names;
};
enum ht_status db_curve_metrics(struct db *db, struct arena *arena,
                                const struct trial_row *trial,
                                const char *master, struct metric_names *names,
                                struct ht_error *err);

#endif
