#include "algorithms/pareto.h"

#include <stdlib.h>
#include <string.h>

#include "proto/arena.h"

void pareto_init(struct pareto *front, size_t m)
{
    *front = (struct pareto){.m = m};
}

void pareto_fini(struct pareto *front)
{
    free(front->values);
    free(front->ids);
}

bool pareto_covers(size_t m, const double a[], const double b[])
{
    for (size_t k = 0; k < m; k++)
        if (!(a[k] >= b[k]))
            return false;
    return true;
}

bool pareto_dominates(size_t m, const double a[], const double b[])
{
    return pareto_covers(m, a, b) && !pareto_covers(m, b, a);
}

bool pareto_has(const struct pareto *front, const double values[])
{
    for (size_t i = 0; i < front->n; i++)
        if (pareto_covers(front->m, pareto_values(front, i), values))
            return true;
    return false;
}

static void keep(struct pareto *front, size_t from, size_t to)
{
    memmove(front->values + to * front->m, front->values + from * front->m,
            front->m * sizeof *front->values);
    front->ids[to] = front->ids[from];
}

static void grow(struct pareto *front)
{
    front->cap = front->cap == 0 ? 16 : 2 * front->cap;
    front->values = ht_xrealloc(front->values, front->cap * front->m + 1,
                                sizeof *front->values);
    front->ids = ht_xrealloc(front->ids, front->cap, sizeof *front->ids);
}

bool pareto_add(struct pareto *front, const double values[], int64_t id)
{
    size_t kept = 0;
    for (size_t i = 0; i < front->n; i++)
        if (pareto_dominates(front->m, pareto_values(front, i), values))
            return false;
    for (size_t i = 0; i < front->n; i++)
        if (!pareto_dominates(front->m, values, pareto_values(front, i)))
            keep(front, i, kept++);
    front->n = kept;
    if (front->n == front->cap)
        grow(front);
    memcpy(front->values + front->n * front->m, values,
           front->m * sizeof *values);
    front->ids[front->n++] = id;
    return true;
}

const double *pareto_values(const struct pareto *front, size_t i)
{
    return front->values + i * front->m;
}
