#include "algorithms/space/design.h"

#include "algorithms/base/sequence.h"
#include "algorithms/space/inside.h"

enum { LEAST = 3, FEW = 5, MANY = 10 };

size_t design_size(const struct encoding *encoding, uint64_t max_trials)
{
    const size_t dim = encoding->flat ? 0 : encoding->dim;
    size_t size = dim + 1 < FEW ? FEW : dim + 1 > MANY ? MANY : dim + 1;
    if (max_trials > 0 && size > max_trials / 4)
        size = (size_t)(max_trials / 4);
    return size < LEAST ? LEAST : size;
}

bool design_point(const struct encoding *encoding,
                  const struct constraint_set *constraints, uint64_t seed,
                  uint64_t index, double x[])
{
    const struct rng_place place = {seed, 0, RNG_DESIGN};
    const struct rng_place way = {seed, index, RNG_INSIDE};
    struct sequence sequence;
    double usual[HT_MAX_PARAMETERS];
    sequence_init(&sequence, encoding->dim, &place);
    for (size_t c = 0; c < encoding->dim; c++) {
        usual[c] = encoding->at[c].usual;
        x[c] = index == 0 ? usual[c]
                          : encoding_draw(encoding, c,
                                          sequence_at(&sequence, index, c));
    }
    encoding_settle(encoding, usual, x);
    const struct inside inside = {encoding, constraints, usual};
    return inside_reach(&inside, &way, x);
}
