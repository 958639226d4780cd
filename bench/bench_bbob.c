/* The values of a function of bbob.h, for tuners of other languages.
 *
 *     bench_bbob FUNCTION COORDINATES INSTANCE
 *
 * First a line with the smallest value and with the median of random points;
 * then for each line of input, a point, one with its value. Numbers are parted
 * by blanks. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bbob.h"

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_regret(const struct bbob *b)
{
    enum { POINTS = 5001 };
    static double values[POINTS];
    struct rng_place place = {9, 0, 0};
    for (; place.draw < POINTS; place.draw++) {
        double x[BBOB_MAX_DIM];
        for (size_t i = 0; i < b->n; i++)
            x[i] = bbob_uniform(&place, i, BBOB_BOUND);
        values[place.draw] = bbob_regret(b, x);
    }
    qsort(values, POINTS, sizeof *values, compare);
    return values[POINTS / 2];
}

/* False at the end of input. */
static bool read_point(const struct bbob *b, double x[])
{
    for (size_t i = 0; i < b->n; i++)
        if (scanf("%lf", &x[i]) != 1)
            return false;
    return true;
}

int main(int argc, char *argv[])
{
    static struct bbob b;
    long numbers[3] = {0};
    for (int i = 0; i < 3 && i + 1 < argc; i++)
        numbers[i] = strtol(argv[i + 1], NULL, 10);
    if (argc != 4 || numbers[0] < 1 || numbers[0] > BBOB_FUNCTIONS ||
        numbers[1] < 2 || numbers[1] > BBOB_MAX_DIM || numbers[2] < 0) {
        fprintf(stderr,
                "usage: bench_bbob FUNCTION COORDINATES INSTANCE, a function "
                "of 1 to %d of 2 to %d coordinates\n",
                BBOB_FUNCTIONS, BBOB_MAX_DIM);
        return 2;
    }
    bbob_init(&b, (int)numbers[0], (size_t)numbers[1], (uint64_t)numbers[2]);
    printf("%.17g %.17g\n", b.optimum, b.optimum + median_regret(&b));
    double x[BBOB_MAX_DIM];
    while (fflush(stdout) == 0 && read_point(&b, x))
        printf("%.17g\n", b.optimum + bbob_regret(&b, x));
    return 0;
}
