#include "algorithms/model/pareto.h"

#include <stdlib.h>
#include <string.h>

#include "algorithms/base/order.h"
#include "proto/base/arena.h"

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

/* --- all against all --- */

/* Which of the rows of a block, a bit for each, a row compares with. */
struct versus {
    uint64_t covers; /* at least as good in all objectives so far */
    uint64_t equals;
};

enum { BLOCK = 64 };

/* Walks down one objective: what was met so far is at least as good. */
static void compare_block(size_t n, const struct ranked order[], size_t first,
                          struct versus versus[])
{
    uint64_t met = 0;
    for (size_t at = 0, end = 0; at < n; at = end) {
        uint64_t level = 0; /* those of one value */
        for (end = at; end < n && order[end].value >= order[at].value; end++)
            if (order[end].at >= first && order[end].at - first < BLOCK)
                level |= UINT64_C(1) << (order[end].at - first);
        met |= level;
        for (size_t i = at; i < end; i++) {
            versus[order[i].at].covers &= met;
            versus[order[i].at].equals &= level;
        }
    }
}

void pareto_ranks(size_t m, size_t n, const double values[], size_t ranks[])
{
    struct ranked *orders = ht_xcalloc(m * n + 1, sizeof *orders);
    struct versus *versus = ht_xcalloc(n + 1, sizeof *versus);
    for (size_t k = 0; k < m; k++) {
        for (size_t i = 0; i < n; i++)
            orders[k * n + i] = (struct ranked){values[i * m + k], i};
        order_ranked(n, orders + k * n);
    }
    memset(ranks, 0, n * sizeof *ranks);
    for (size_t first = 0; first < n; first += BLOCK) {
        memset(versus, 0xff, n * sizeof *versus);
        for (size_t k = 0; k < m; k++)
            compare_block(n, orders + k * n, first, versus);
        for (size_t i = 0; i < n; i++)
            ranks[i] += (size_t)__builtin_popcountll(versus[i].covers &
                                                     ~versus[i].equals);
    }
    free(orders);
    free(versus);
}

/* --- a front --- */

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
