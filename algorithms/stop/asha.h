/* asha.h - asynchronous successive halving: rungs that trials climb.
 *
 * A ladder's rungs are places on the curves, each `factor` times as far as the
 * one below (Li et al., "A System for Massively Parallel Hyperparameter
 * Tuning", 2018). A trial that reaches a rung goes on when it is among the best
 * 1/factor of all that came there, and is told to stop or to pause otherwise;
 * one that paused goes on when that holds later. With several objectives a
 * trial is behind those that dominate it. Equal trials share the better
 * place. */
#ifndef HT_ALGORITHMS_STOP_ASHA_H
#define HT_ALGORITHMS_STOP_ASHA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "algorithms/stop/early_stop.h"

struct asha_ladder {
    double first;  /* place of rung 0, > 0 */
    double factor; /* >= 2 */
    double top;    /* rungs are below; INFINITY: not known */
};

/* The whole study's, by its options. */
struct asha_ladder asha_ladder(const struct early_stop *options);

double asha_place(const struct asha_ladder *ladder, int64_t rung);
/* The highest rung at or below a place; -1: none. */
int64_t asha_reached(const struct asha_ladder *ladder, double at);

/* Which ladder the trial of an ordinal climbs; those with the same first rung
 * compete. */
typedef struct asha_ladder ladder_function(const struct early_stop *options,
                                           uint64_t ordinal);

/* A stop_rule's functions, for any choice of ladders. */
void asha_judge(const struct stop_study *study, size_t current,
                ladder_function *choose, struct stop_verdict *verdict);
bool asha_promote(const struct stop_study *study, ladder_function *choose,
                  bool last, size_t *chosen);

#endif
