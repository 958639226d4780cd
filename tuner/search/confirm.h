/* confirm.h - finalists of a study and the trials that confirm them.
 *
 * The best value of a search is partly luck. To confirm it, its best points run
 * again with other random seeds, as trials of the same study that name the
 * trial they confirm. Only these runs are compared: the values by which the
 * finalists were chosen favour the lucky. */
#ifndef HT_TUNER_SEARCH_CONFIRM_H
#define HT_TUNER_SEARCH_CONFIRM_H

#include <stdint.h>

#include <cjson/cJSON.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/job/job.h"
#include "tuner/db/db.h"

/* A trial and its confirmations; all those of one point confirm one trial. */
struct finalist {
    int64_t trial;
    const char *params;
    const struct trial_row *found; /* the trial; NULL: deleted since */
    size_t n;
    const struct trial_row *runs; /* by id */
};

struct finalist_list {
    size_t n;
    struct finalist *items; /* by trial */
};

/* The trials that have confirmations. */
enum ht_status confirm_read(struct db *db, struct arena *arena, int64_t study,
                            struct finalist_list *list, struct ht_error *err);

/* Whether the result of a confirmation counts. One that was stopped counts only
 * if the trial that it confirms was stopped as well. */
bool confirm_counts(const struct finalist *finalist,
                    const struct trial_row *run);

/* The confirmation as docs/http.md has it; the caller owns *out.
 * HT_NOT_FOUND  nothing of the study was confirmed */
enum ht_status confirm_view(struct db *db, struct arena *arena,
                            const struct study_row *study,
                            const struct job *job, cJSON **out,
                            struct ht_error *err);

#endif
