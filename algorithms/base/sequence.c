#include "algorithms/base/sequence.h"

#include <math.h>

void sequence_init(struct sequence *sequence, size_t dim,
                   const struct rng_place *place)
{
    double g = 2;
    for (int i = 0; i < 60; i++) /* halves the error, at least, each time */
        g = pow(1 + g, 1 / ((double)dim + 1));
    sequence->dim = dim;
    for (size_t c = 0; c < dim; c++) {
        sequence->step[c] = pow(g, -((double)c + 1));
        sequence->shift[c] = rng_unit(place, c);
    }
}

double sequence_at(const struct sequence *sequence, uint64_t i, size_t c)
{
    const double u = sequence->shift[c] + (double)i * sequence->step[c];
    return u - floor(u);
}
