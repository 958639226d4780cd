/* db_prior.h - what is kept of the earlier studies that a study starts from:
 * their jobs and results as they were when it was created. */
#ifndef HT_TUNER_DB_PRIOR_H
#define HT_TUNER_DB_PRIOR_H

#include <stdbool.h>
#include <stdint.h>

#include "tuner/db.h"

struct prior_row {
    int64_t study, n;     /* which of its earlier ones, from 0 */
    int64_t origin;       /* id of that study, which may be gone by now */
    const char *resource; /* its full name */
    const char *name;     /* the name alone */
    const char *spec;     /* job_write_vertex() text */
    bool same;            /* same parameters, same objective */
    int64_t shared;       /* parameters that both have */
    int64_t results;      /* that mean something in this study */
};

struct prior_list {
    size_t n;
    struct prior_row *rows; /* in order */
};

/* --- reading --- */

enum ht_status db_prior_list(struct db *db, struct arena *arena, int64_t study,
                             struct prior_list *list, struct ht_error *err);
/* The copied trials of its n-th earlier study by id: their point, state, final
 * values and what is foretold in `stop` are set. */
enum ht_status db_prior_results(struct db *db, struct arena *arena,
                                int64_t study, int64_t n,
                                struct trial_list *list, struct ht_error *err);

/* --- writing; core only --- */

enum ht_status db_prior_insert(struct db *db, const struct prior_row *row,
                               struct ht_error *err);
/* Copies what ended in row->origin: all, or of very many the best and the
 * newest. */
enum ht_status db_prior_copy(struct db *db, const struct prior_row *row,
                             bool maximize, struct ht_error *err);
#endif
