/* repeat.h - when a point is worth measuring again, and which.
 *
 * Where results are noisy, the best one may only have been lucky. Once in
 * REPEAT_EVERY suggestions a point that may well be the best is measured
 * again, if the study's owner allows it. */
#ifndef HT_ALGORITHMS_SEARCH_REPEAT_H
#define HT_ALGORITHMS_SEARCH_REPEAT_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/model/belief.h"

enum { REPEAT_EVERY = 10 };

/* Whether this suggestion is one: it is allowed, the turn has come, there is
 * one goal, and its owner said or the model found that noise is large beside
 * what differs between points. Where a point that was measured twice came out
 * the same, the model is not believed. */
bool repeat_is_due(const struct belief *belief,
                   const struct suggest_request *request);

/* The result whose point may be the best: of the best values reported in the
 * part asked for, within the constraints, the one with the highest mean plus
 * deviation. False when there is none whose point is not pending. */
bool repeat_find(const struct belief *belief,
                 const struct suggest_request *request, size_t *result);

#endif
