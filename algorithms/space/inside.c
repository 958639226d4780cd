#include "algorithms/space/inside.h"
#include "algorithms/space/encoding.h"
#include "proto/base/limits.h"
#include "proto/space/constraint.h"
#include "proto/space/space.h"

#include <math.h>
#include <string.h>

enum {
    STEPS = 100,    /* for each coordinate, towards what is allowed */
    ROUNDS = 4,     /* of shaking */
    SHRINKINGS = 24 /* of one interval: then nothing else is near */
};

double inside_violation(const struct inside *inside, const double x[])
{
    struct value point[HT_MAX_PARAMETERS];
    if (inside->constraints == NULL)
        return 0;
    encoding_decode(inside->encoding, x, point);
    return constraint_set_violation(inside->constraints, point);
}

/* Coordinate c of step t: anywhere, or not far from where it was. */
static double step_to(const struct encoding *encoding, size_t c, double u,
                      size_t t, const struct rng_place *place)
{
    static const double sizes[] = {0, 0.2, 0.02};
    const double size = sizes[t % 3];
    const double drawn =
        encoding_draw(encoding, c, rng_unit(place, 4 * (uint64_t)t));
    if (encoding->at[c].kind != COORDINATE_CONTINUOUS || size == 0)
        return drawn;
    const double normal = rng_normal(place, 2 * (uint64_t)t + 1);
    return fmin(fmax(u + size * normal, 0), 1);
}

bool inside_reach(const struct inside *inside, const struct rng_place *place,
                  double x[])
{
    const size_t dim = inside->encoding->dim;
    double violation = inside_violation(inside, x), next[HT_MAX_PARAMETERS];
    for (size_t t = 0; t < STEPS * dim && violation > 0; t++) {
        const size_t c =
            (size_t)(rng_unit(place, 4 * (uint64_t)t + 1) * (double)dim);
        if (x[c] == COORDINATE_ABSENT)
            continue;
        memcpy(next, x, dim * sizeof *x);
        next[c] = step_to(inside->encoding, c, x[c], t, place);
        encoding_settle(inside->encoding, inside->fill, next);
        const double found = inside_violation(inside, next);
        if (found > violation)
            continue; /* a step that costs nothing may lead around a corner */
        memcpy(x, next, dim * sizeof *x);
        violation = found;
    }
    return violation == 0;
}

/* A new value of coordinate c, drawn from an interval that shrinks towards
 * the old one, a position in [0, 1], with every value that is not allowed. */
static void shake_one(const struct inside *inside, size_t c,
                      const struct rng_place *place, uint64_t first, double x[])
{
    const struct encoding *encoding = inside->encoding;
    double next[HT_MAX_PARAMETERS], low = 0, high = 1;
    const bool shrinks = encoding->at[c].kind == COORDINATE_CONTINUOUS;
    for (uint64_t i = 0; i < SHRINKINGS; i++) {
        const double u = low + (high - low) * rng_unit(place, first + i);
        memcpy(next, x, encoding->dim * sizeof *x);
        next[c] = encoding_draw(encoding, c, u);
        encoding_settle(encoding, inside->fill, next);
        if (inside_violation(inside, next) == 0) {
            memcpy(x, next, encoding->dim * sizeof *x);
            return;
        }
        if (shrinks && u < x[c])
            low = u;
        else if (shrinks)
            high = u;
    }
}

void inside_shake(const struct inside *inside, const struct rng_place *place,
                  double x[])
{
    const size_t dim = inside->encoding->dim;
    for (uint64_t round = 0; round < ROUNDS; round++)
        for (size_t c = 0; c < dim; c++)
            if (x[c] != COORDINATE_ABSENT)
                shake_one(inside, c, place, (round * dim + c) * SHRINKINGS, x);
}
