/* belief.h - the fitted models of a study: one for each goal, one of failures,
 * and the pending points with their expected results. */
#ifndef HT_ALGORITHMS_MODEL_BELIEF_H
#define HT_ALGORITHMS_MODEL_BELIEF_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/model/acquisition.h"
#include "algorithms/model/goal_model.h"
#include "algorithms/model/history.h"
#include "algorithms/space/candidates.h"

/* Hyperparameters as a study grows, given what its owner said of the noise. */
struct belief_hyper {
    struct goal_hyper goals[SETTING_METRICS];
    struct hyper feasibility;
};
/* Nothing is found yet; it owns no memory. */
void belief_hyper_init(struct belief_hyper *hyper, enum noise noise);

/* The models change with each belief_add(); one thread at a time. */
struct belief {
    const struct setting *setting; /* borrowed */
    const struct history *history; /* borrowed */
    size_t n;                      /* goals */
    struct goal_model goals[SETTING_METRICS];
    struct gp *feasibility; /* owned; NULL: nothing failed, here or earlier */
};

/* Of all results, with room for `extra` points. False when a goal has no
 * model, as without any result; belief_fini() either way. `setting` and
 * `history` must outlive it; `hyper` keeps what was fitted for the next belief
 * of the same study. */
bool belief_init(struct belief *belief, const struct setting *setting,
                 const struct history *history, struct belief_hyper *hyper,
                 size_t extra);
/* Frees the models, so acquisitions of this belief end before it. */
void belief_fini(struct belief *belief);

/* A pending point, of `dim` coordinates, comes out as each goal's models
 * predict; at most `extra` of them. `outside` as in history.h. */
void belief_add(struct belief *belief, const double x[], bool outside);

/* How much points promise now, beyond the best that is known or believed of the
 * part which `encoding` is of; its caller ends it before the belief. What is
 * outside counts only where nothing else is known, as the models predict the
 * nearest point of today. */
void belief_promise(const struct belief *belief,
                    const struct encoding *encoding,
                    const struct rng_place *place,
                    struct acquisition *acquisition);

/* Adds the best known points, moved into the candidates' part, to them and
 * writes for each coordinate the value it had in the best point where it was
 * present. Of several
 * objectives, the points that fewest others beat, which ones of those is drawn
 * at the place. What is outside counts as in belief_promise(). */
void belief_known(const struct belief *belief, const struct rng_place *place,
                  struct candidates *candidates, double fill[]);

#endif
