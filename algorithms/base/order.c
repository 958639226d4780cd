#include "algorithms/base/order.h"

#include <stdlib.h>

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void order_numbers(size_t n, double values[])
{
    qsort(values, n, sizeof *values, compare_numbers);
}

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

void order_ranked(size_t n, struct ranked ranked[])
{
    qsort(ranked, n, sizeof *ranked, compare_ranked);
}
