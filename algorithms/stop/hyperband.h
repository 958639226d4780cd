/* hyperband.h - Hyperband: brackets of successive halving.
 *
 * Bracket b climbs a ladder that begins b rungs higher, so that a trial whose
 * start tells little about its end has a bracket that waits for more, up to
 * one that never stops a trial. About the same budget goes to each: bracket b
 * of B gets a share of trials in proportion to factor^(B-1-b) / (B-b) (Li et
 * al., "Hyperband", 2018). */
#ifndef HT_ALGORITHMS_STOP_HYPERBAND_H
#define HT_ALGORITHMS_STOP_HYPERBAND_H

#include <stddef.h>
#include <stdint.h>

#include "algorithms/stop/early_stop.h"

/* How many brackets there are, at least 1; max_steps is known. */
size_t hyperband_brackets(const struct early_stop *options);

/* The bracket of the trial of an ordinal. Any run of trials is spread over the
 * brackets by their shares. */
size_t hyperband_bracket(const struct early_stop *options, uint64_t ordinal);

#endif
