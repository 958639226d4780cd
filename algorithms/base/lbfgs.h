/* lbfgs.h - minimises a smooth function in a box.
 *
 * Limited-memory BFGS on the coordinates that no bound holds, with a line
 * search along the path projected onto the box (Bertsekas, "Projected Newton
 * Methods", 1982; Nocedal and Wright, "Numerical Optimization", 7.2). Nothing
 * allocates. */
#ifndef HT_ALGORITHMS_BASE_LBFGS_H
#define HT_ALGORITHMS_BASE_LBFGS_H

#include <stddef.h>

#include "proto/base/limits.h"

/* Coordinates: those of a point, or a model's hyperparameters. */
enum { LBFGS_MAX = HT_MAX_PARAMETERS + 2 };

/* The box of n coordinates, the function to be made small, and when to end. */
struct lbfgs {
    size_t n; /* coordinates, at most LBFGS_MAX */
    const double *low, *high;
    /* Writes the gradient, returns the value. Where there is none it returns
     * something not finite, and the search steps back. */
    double (*evaluate)(void *context, const double x[], double gradient[]);
    void *context;
    size_t iterations;         /* at most */
    double gradient_tolerance; /* ends when no free slope is larger */
    double value_tolerance;    /* ends when a step gains a smaller share */
};

/* Improves x, which lies in the box, in place. Returns its value, which is not
 * finite only when that of the first x was not. */
double lbfgs_minimise(const struct lbfgs *problem, double x[]);

#endif
