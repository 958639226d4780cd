/* pareto.h - the Pareto front of a set of values.
 *
 * Larger is better. Of equal ones all stay. Not for several threads. */
#ifndef HT_ALGORITHMS_MODEL_PARETO_H
#define HT_ALGORITHMS_MODEL_PARETO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pareto {
    size_t m;       /* objectives */
    size_t n, cap;  /* members, in the order they came */
    double *values; /* owned, a row of m for each */
    int64_t *ids;   /* owned, the caller's names for them */
};

/* An empty front of m objectives, without memory. */
void pareto_init(struct pareto *front, size_t m);
/* Frees values and ids; the struct must be initialised again before it is
 * used. */
void pareto_fini(struct pareto *front);

/* At least as good in all objectives. */
bool pareto_covers(size_t m, const double a[], const double b[]);
/* That, and better in one. */
bool pareto_dominates(size_t m, const double a[], const double b[]);

/* Of n rows of m finite values: how many of them dominate each, 0 for the
 * front; ranks[] has room for n. In steps of n*n*m/64. */
void pareto_ranks(size_t m, size_t n, const double values[], size_t ranks[]);

/* Whether a member is at least as good in all: the values are nothing new. */
bool pareto_has(const struct pareto *front, const double values[]);

/* Adds finite values that no member dominates, and drops the members that they
 * dominate. Returns whether they are in. */
bool pareto_add(struct pareto *front, const double values[], int64_t id);

/* The m values of member i < n, borrowed until the next pareto_add(). */
const double *pareto_values(const struct pareto *front, size_t i);

#endif
