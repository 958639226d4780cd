/* prior.h - the results of earlier studies that a study starts from, and their
 * jobs, as they were when it was created. */
#ifndef HT_TUNER_DB_PRIOR_H
#define HT_TUNER_DB_PRIOR_H

#include <stdbool.h>
#include <stdint.h>

#include "tuner/db/db.h"

/* One earlier study of a study. */
struct prior_row {
    /* the study that learns, and */
    int64_t study, n;     /* which of its earlier ones, from 0 */
    int64_t origin;       /* id of that study, which may have been deleted */
    const char *resource; /* its full name */
    const char *name;     /* the name alone */
    const char *spec;     /* vertex_write() text */
    bool same;            /* same parameters, same objective */
    bool inherited;       /* an earlier one of a study that was named */
    int64_t shared;       /* parameters that both have */
    int64_t results;      /* that mean something in this study */
    int64_t failures;     /* beside them: trials without a result */
    int64_t own;          /* of both, how many count as its own */
};

struct prior_list {
    size_t n;
    struct prior_row *rows; /* in order */
};

/* A copied trial: its id, point, state, final values and the prediction in
 * `stop` are set. */
struct prior_trial {
    struct trial_row trial;
    const char *point; /* canonical, in the space of the study that counts it as
                          its own; NULL: used by transfer only */
};

struct prior_trial_list {
    size_t n;
    struct prior_trial *rows;
};

/* --- reading --- */

/* By n; no rows for a study that starts from nothing. */
enum ht_status db_prior_list(struct db *db, struct arena *arena, int64_t study,
                             struct prior_list *list, struct ht_error *err);
/* The copied trials of its n-th earlier study by id. */
enum ht_status db_prior_results(struct db *db, struct arena *arena,
                                int64_t study, int64_t n,
                                struct prior_trial_list *list,
                                struct ht_error *err);
/* How many points count as tried that no trial of the study itself has. */
enum ht_status db_prior_tried(struct db *db, int64_t study, int64_t *points,
                              struct ht_error *err);
/* Whether something was measured that counts as its own. */
enum ht_status db_prior_measured(struct db *db, int64_t study, bool *measured,
                                 struct ht_error *err);

/* --- writing; core only --- */

/* HT_INTERNAL when the study has that n already. */
enum ht_status db_prior_insert(struct db *db, const struct prior_row *row,
                               struct ht_error *err);
/* Copies the results of the trials of row->origin: all, or of very many the
 * best and the newest. Trials that failed without their own fault - their
 * machine was lost too often, they could not start, or their study never
 * reported anything - are left out. */
enum ht_status db_prior_copy(struct db *db, const struct prior_row *row,
                             bool maximize, struct ht_error *err);
/* Copies the results that study `from` has of its n-th earlier one, except
 * results that are there already. */
enum ht_status db_prior_inherit(struct db *db, const struct prior_row *row,
                                int64_t from, int64_t n, struct ht_error *err);
/* The copied trial counts as the study's own, at that point of its space. */
enum ht_status db_prior_own(struct db *db, const struct prior_row *row,
                            const struct prior_trial *own,
                            struct ht_error *err);
/* Removes the copied trial, not the original. */
enum ht_status db_prior_drop(struct db *db, const struct prior_row *row,
                             int64_t trial, struct ht_error *err);
#endif
