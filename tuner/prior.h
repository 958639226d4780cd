/* prior.h - what results of an earlier study mean in the space of another.
 *
 * Parameters are the same when they have the same name and both are numbers or
 * both are categories; ranges, steps and scales may differ. A result whose
 * value of one of them the new study could not try is left out: moved into
 * the range it would tell of a place where nothing was measured. Metrics are
 * the same by name. Where the new objective's name is not among the old ones,
 * the old objective stands for it. */
#ifndef HT_TUNER_PRIOR_H
#define HT_TUNER_PRIOR_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/algorithm.h"
#include "proto/arena.h"
#include "proto/job.h"
#include "tuner/db.h"

struct prior_match {
    const struct job *old, *job; /* borrowed */
    bool *shared;                /* by parameter of the job */
    size_t n_shared;
    bool renamed; /* the old objective stands for another metric */
    bool same;    /* the same parameters and objective */
};

/* How the old job matches the new one; in the arena. */
struct prior_match prior_match(struct arena *arena, const struct job *old,
                               const struct job *job);

/* The results that mean something in the new study, in the arena. */
struct prior_study prior_translate(struct arena *arena,
                                   const struct prior_match *match,
                                   const struct trial_list *trials);

/* What the study was given of earlier ones when it was created, for its
 * setting, in the arena.
 * HT_CORRUPT  it cannot be read */
enum ht_status prior_read(struct db *db, struct arena *arena, int64_t study,
                          const struct job *job, struct setting *setting,
                          struct ht_error *err);

#endif
