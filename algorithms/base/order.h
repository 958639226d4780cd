/* order.h - numbers put in order; of equal ones the earlier comes first, so
 * that the order is the same on every machine. */
#ifndef HT_ALGORITHMS_BASE_ORDER_H
#define HT_ALGORITHMS_BASE_ORDER_H

#include <stddef.h>

/* The smallest first; none is NaN, here and below. */
void order_numbers(size_t n, double values[]);

/* A value with its index, so that other arrays can be put in the same order. */
struct ranked {
    double value;
    size_t at; /* place before the sorting */
};

/* The largest first. */
void order_ranked(size_t n, struct ranked ranked[]);

#endif
