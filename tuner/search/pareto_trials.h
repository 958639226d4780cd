/* pareto_trials.h - the trials of a study that no other one beats.
 *
 * With one metric that is the best trial, the oldest of equals. With several,
 * trials within all safety bounds whose objectives no other such trial beats;
 * they are marked in the database, so that reading them costs what they are,
 * not what the study has. Trials that repeat others do not count. */
#ifndef HT_TUNER_SEARCH_PARETO_TRIALS_H
#define HT_TUNER_SEARCH_PARETO_TRIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/job/job.h"
#include "tuner/db/write.h"

/* The trials that count. */
struct pareto_trials_scope {
    int64_t study;
    int64_t without; /* this one does not; 0: all do */
    bool within;     /* trials outside of what is searched today do not, see
                        trial_row.outside */
};

/* Any thread. Of several objectives the best one in the first.
 * HT_NOT_FOUND  no trial has a result, or none is within the bounds */
enum ht_status pareto_trials_best(struct db *db, struct arena *arena,
                                  const struct pareto_trials_scope *scope,
                                  const struct job *job, struct trial_row *best,
                                  struct ht_error *err);

/* Any thread. Ids, oldest first. */
enum ht_status pareto_trials_list(struct db *db, struct arena *arena,
                                  const struct pareto_trials_scope *scope,
                                  const struct job *job, struct id_list *ids,
                                  struct ht_error *err);

/* What the end of a trial means for the study's best trials. */
struct pareto_trials_change {
    bool gain;             /* the trial is better than all before, or it beats
                              or adds to what nothing beat */
    struct id_list beaten; /* with several metrics: trials that it is better
                              than, which nothing beat until now */
};

/* Core thread. Counts a trial that ends, by its final values, before its row is
 * saved. The lists are in the arena. */
enum ht_status pareto_trials_note(struct db *db, struct arena *arena,
                                  const struct job *job,
                                  const struct trial_row *trial,
                                  struct pareto_trials_change *change,
                                  struct ht_error *err);

/* Core thread. Decides anew, by the bounds that the job has now. */
enum ht_status pareto_trials_renew(struct db *db, const struct job *job,
                                   int64_t study, struct ht_error *err);

/* Core thread. Removes the trial's result; its row still exists. */
enum ht_status pareto_trials_forget(struct db *db, const struct job *job,
                                    const struct trial_row *trial,
                                    struct ht_error *err);

#endif
