/* absence.h - predicts which parameters of an open space a trial leaves out.
 *
 * An open space has no conditions to read: its trials are made by a program
 * that asks for a parameter or does not. For each parameter that was ever left
 * out a small tree of cuts predicts it from those that are there more often
 * (Breiman et al., "Classification and Regression Trees", 1984). */
#ifndef HT_ALGORITHMS_INSIGHT_ABSENCE_H
#define HT_ALGORITHMS_INSIGHT_ABSENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/model/history.h"

struct absence;

/* Of all results. Owned by the caller until absence_free(); it borrows the
 * encoding. */
struct absence *absence_learn(const struct history *history);
void absence_free(struct absence *absence); /* accepts NULL */

/* Makes absent what such a trial leaves out; every coordinate has a value. */
void absence_settle(const struct absence *absence, double x[]);

/* Whether coordinate `parent` has a say in the presence of c. */
bool absence_follows(const struct absence *absence, size_t c, size_t parent);

#endif
