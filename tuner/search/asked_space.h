/* asked_space.h - the space of one question to a study with an open space: the
 * parameters that a client wants values of, and how they are searched.
 *
 * Its text is a Study of Vertex without a name and metrics, which are those of
 * the study:
 *
 *     {"studySpec": {"parameters": [...], "algorithm": "RANDOM_SEARCH"},
 *      "hypertune": {"seed": "7", "parameters": {"x": {"step": 0.5}}}}
 *
 * It is the member `search` of a context (trial_context.h). Equal texts are one
 * search, of all results of the study that have a value in each range. */
#ifndef HT_TUNER_SEARCH_ASKED_SPACE_H
#define HT_TUNER_SEARCH_ASKED_SPACE_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/diag.h"
#include "proto/doc/node.h"
#include "proto/job/job.h"

/* The study's job with that space, algorithm, noise and seed, in diag's arena;
 * NULL after a fault. */
struct job *asked_space_read(const struct job *study, const struct node *search,
                             struct diag *diag);
/* The same of a stored text, in the arena. HT_CORRUPT: it cannot be read. */
enum ht_status asked_space_parse(struct arena *arena, const struct job *study,
                                 const char *search, struct job **job,
                                 struct ht_error *err);

/* The text in a context, in the arena; NULL: there is none. */
const char *asked_space_of(struct arena *arena, const char *context);

/* How a trial's parameters are to a space. */
enum asked_fit {
    ASKED_OUTSIDE, /* one has no value, or one outside of its range */
    ASKED_WITHIN,  /* it has more of them */
    ASKED_EQUAL    /* just these */
};

/* Reads what a trial's canonical text has of the space. */
enum asked_fit asked_space_point(const struct space *space, const char *params,
                                 struct value point[]);
/* The same as canonical text, in the arena, or NULL. */
const char *asked_space_params(struct arena *arena, const struct space *space,
                               const char *params);

#endif
