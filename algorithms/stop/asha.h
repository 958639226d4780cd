/* asha.h - asynchronous successive halving: at certain places of the curves
 * (rungs) only the best trials continue; and Hyperband, several such ladders
 * with different first rungs (brackets).
 *
 * A ladder's rungs are places on the curves, each `factor` times as far as the
 * one below (Li et al., "A System for Massively Parallel Hyperparameter
 * Tuning", 2018). A trial that reaches a rung continues when it is among the
 * best 1/factor of all that came there, and stops or pauses otherwise; one that
 * paused continues when that holds later. With several objectives a trial is
 * behind the ones that dominate it. Equal trials share the better place.
 *
 * Hyperband's bracket b climbs a ladder that begins b rungs higher, so that a
 * trial whose start tells little about its end has a bracket that waits for
 * more, up to one that never stops a trial. About the same budget goes to each:
 * bracket b of B gets a share of trials in proportion to factor^(B-1-b) / (B-b)
 * (Li et al., "Hyperband", 2018). */
#ifndef HT_ALGORITHMS_STOP_ASHA_H
#define HT_ALGORITHMS_STOP_ASHA_H

#include "proto/job/job.h"
#include <stddef.h>
#include <stdint.h>

struct asha_ladder {
    double first;  /* place of rung 0, > 0 */
    double factor; /* >= 2 */
    double top;    /* rungs are below; INFINITY: not known */
};

/* The whole study's, by its options. */
struct asha_ladder asha_ladder(const struct early_stop *options);

/* The place of a rung on the curve, from 0 on, be it below the top or not. */
double asha_place(const struct asha_ladder *ladder, int64_t rung);
/* The highest rung at or below a place; -1: none. */
int64_t asha_reached(const struct asha_ladder *ladder, double at);

/* How many brackets Hyperband has, at least 1; max_steps is known. */
size_t asha_brackets(const struct early_stop *options);

/* The bracket of the trial of an ordinal. Any run of trials is spread over the
 * brackets by their shares. */
size_t asha_bracket(const struct early_stop *options, uint64_t ordinal);

#endif
