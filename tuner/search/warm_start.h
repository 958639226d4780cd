/* warm_start.h - what results of an earlier study mean in the space of another.
 *
 * Parameters are the same when they have the same name and both are numbers or
 * both are categories; ranges, steps and scales may differ. Metrics are the
 * same by name. Where the new objective's name is not among the old ones, the
 * old objective is used for it.
 *
 * A result at a point of the new space, no value too many and none missing,
 * with metrics that are wanted as they were, counts as the new study's own: it
 * is what measuring the point again would give. Others teach by transfer. A
 * result whose value the new study could not try is left out: moved into the
 * range it would describe a place where nothing was measured. */
#ifndef HT_TUNER_SEARCH_WARM_START_H
#define HT_TUNER_SEARCH_WARM_START_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/base/algorithm.h"
#include "proto/base/arena.h"
#include "proto/job/job.h"
#include "tuner/db/db.h"
#include "tuner/db/prior.h"

/* Two jobs compared, parameter by parameter and metric by metric. */
struct warm_start_match {
    const struct job *old, *job; /* borrowed */
    bool *shared;                /* by parameter of the job */
    size_t n_shared;
    bool renamed;    /* the old objective is used for another metric */
    bool same;       /* the same parameters and objective */
    bool same_goals; /* the old study has every metric, wanted the same way */
};

/* How the old job matches the new one; in the arena. */
struct warm_start_match warm_start_match(struct arena *arena,
                                         const struct job *old,
                                         const struct job *job);

enum warm_start_use { PRIOR_LEFT_OUT, PRIOR_TRANSFERRED, PRIOR_OWN };

/* The use of a trial of the old study in the new one, whose constraints these
 * are. Its observation there is written to `seen`, and of a trial that counts
 * as the study's own trial->point is set; both in the arena. */
enum warm_start_use
warm_start_classify(struct arena *arena, const struct warm_start_match *match,
                    const struct constraint_set *constraints,
                    struct prior_trial *trial, struct observation *seen);

/* A result of an earlier study that counts as the study's own. */
struct warm_start_result {
    int64_t trial;
    const char *study; /* the name */
    const char *point; /* canonical */
    struct observation seen;
};

/* What a study has of earlier ones. */
struct warm_start_knowledge {
    struct prior_list list;
    size_t n_own;
    struct warm_start_result *own; /* study by study, in their order */
    size_t n_studies;
    struct prior_study *studies; /* results for transfer */
};

/* Reads what the study took from earlier ones when it was created, into the
 * arena.
 * HT_CORRUPT  it cannot be read */
enum ht_status warm_start_read(struct db *db, struct arena *arena,
                               int64_t study, const struct job *job,
                               struct warm_start_knowledge *knowledge,
                               struct ht_error *err);

#endif
