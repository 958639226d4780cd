/* transfer.h - what a study learns from the results of earlier studies.
 *
 * Their models are a stack: each is of what its study's values are beyond the
 * mean of the one before, and the last is the base of this study's model. */
#ifndef HT_ALGORITHMS_MODEL_TRANSFER_H
#define HT_ALGORITHMS_MODEL_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/model/history.h"
#include "algorithms/space/encoding.h"

enum { TRANSFER_SEEDS = 3 }; /* at most */

struct transfer;

/* Fits the models of setting->priors, which may take seconds; borrows the
 * encoding. Owned by the caller until transfer_free(). */
struct transfer *transfer_new(const struct setting *setting,
                              const struct encoding *encoding);
void transfer_free(struct transfer *transfer); /* accepts NULL */

/* Puts the stack below the models of a history, before its first result; the
 * transfer must outlive it. */
void transfer_support(const struct transfer *transfer, struct history *history);

/* Whether nothing came out of some of their trials. */
bool transfer_has_failures(const struct transfer *transfer);
/* Adds all their results to a history of the same encoding and goals: whether
 * something comes out needs no scale, so others' trials tell it like one's own.
 * A parameter that their study did not have is at its usual place. */
void transfer_recall(const struct transfer *transfer, struct history *outcomes);

/* How many results with an objective there are. */
size_t transfer_results(const struct transfer *transfer);

/* How many points to begin with: the best of each earlier study. */
size_t transfer_seeds(const struct transfer *transfer);
/* Writes number i of them, best of the first study first, settled; parameters
 * that the study did not have are at their usual place. */
void transfer_seed(const struct transfer *transfer, size_t i, double x[]);

#endif
