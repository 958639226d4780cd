#include "algorithms/space/candidates.h"

#include <math.h>
#include <string.h>

#include "algorithms/base/rng.h"
#include "algorithms/space/inside.h"

/* ---- points that fill the unit cube evenly, in any dimension ---- */

/* The additive recurrence u_c(i) = frac(shift_c + i g^-(c+1)), where g is the
 * root of g^(dim+1) = g + 1 (Roberts, "The Unreasonable Effectiveness of
 * Quasirandom Sequences", 2018), with a random shift (Cranley and Patterson,
 * 1976). */
struct sequence {
    size_t dim;
    double step[HT_MAX_PARAMETERS], shift[HT_MAX_PARAMETERS];
};

/* The shift is drawn at `place`. */
static void sequence_init(struct sequence *sequence, size_t dim,
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

/* Coordinate c of point i, in [0, 1). */
static double sequence_at(const struct sequence *sequence, uint64_t i, size_t c)
{
    const double u = sequence->shift[c] + (double)i * sequence->step[c];
    return u - floor(u);
}

/* ---- the design of a study ---- */

enum { LEAST = 3, FEW = 5, MANY = 10 };

size_t candidates_design_size(const struct encoding *encoding,
                              uint64_t max_trials)
{
    const size_t dim = encoding->flat ? 0 : encoding->dim;
    size_t size = dim + 1 < FEW ? FEW : dim + 1 > MANY ? MANY : dim + 1;
    if (max_trials > 0 && size > max_trials / 4)
        size = (size_t)(max_trials / 4);
    return size < LEAST ? LEAST : size;
}

bool candidates_design_point(const struct encoding *encoding,
                             const struct constraint_set *constraints,
                             uint64_t seed, uint64_t index, double x[])
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

/* ---- candidates ---- */

enum { GLOBAL = 1024, LOCAL = 512, WIDE = 15 };

static void everywhere(const struct candidates *candidates, size_t n,
                       double x[])
{
    const struct encoding *encoding = candidates->encoding;
    const struct rng_place place = {candidates->seed, candidates->ordinal,
                                    RNG_GLOBAL};
    struct sequence sequence;
    sequence_init(&sequence, encoding->dim, &place);
    for (size_t j = 0; j < n; j++) {
        double *row = x + j * encoding->dim;
        for (size_t c = 0; c < encoding->dim; c++)
            row[c] = encoding_draw(encoding, c, sequence_at(&sequence, j, c));
        encoding_settle(encoding, candidates->fill, row);
    }
}

/* How many coordinates of many a step changes: enough to move, few enough to
 * stay near (Regis and Shoemaker's perturbation, as TuRBO has it). */
static double chance_to_step(size_t dim)
{
    const double d = (double)dim;
    return dim > WIDE ? 6 / d : fmin(1, fmax(2, 0.3 * d) / d);
}

static double step(const struct encoding *encoding, size_t c, double u,
                   double size, const struct rng_place *place)
{
    const struct coordinate *at = &encoding->at[c];
    const uint64_t first = 3 * (uint64_t)c + HT_MAX_PARAMETERS;
    switch (at->kind) {
    case COORDINATE_CONTINUOUS:
        return fmin(fmax(u + size * rng_normal(place, first), 0), 1);
    case COORDINATE_ORDINAL: {
        const double k = (double)at->levels;
        const double by =
            nearbyint(rng_normal(place, first) * fmax(0.7, size * k));
        const double level = (double)encoding_level_of(encoding, c, u) + by;
        return encoding_level(encoding, c, (size_t)fmin(fmax(level, 0), k - 1));
    }
    case COORDINATE_CATEGORY:
        break;
    }
    return rng_unit(place, 2 * first) < 0.5
               ? u
               : floor(rng_unit(place, 2 * first + 1) * (double)at->levels);
}

/* A step of a size that takes turns from one of the best, the better ones more
 * often; every fourth moves all the n coordinates that may, the others at least
 * one. */
static void nearby(const struct candidates *candidates, size_t j, size_t n,
                   const size_t moves[], double row[])
{
    static const double sizes[] = {0.2, 0.05, 0.01};
    const struct encoding *encoding = candidates->encoding;
    const struct rng_place place = {candidates->seed, candidates->ordinal,
                                    RNG_LOCAL + j};
    const size_t dim = encoding->dim, last = (size_t)HT_MAX_PARAMETERS * 4;
    const size_t from =
        (size_t)((double)candidates->n_known * rng_unit(&place, 4 * last) *
                 rng_unit(&place, 4 * last + 1));
    const size_t surely =
        moves[(size_t)((double)n * rng_unit(&place, 4 * last + 2))];
    const double chance = j % 4 == 0 ? 1 : chance_to_step(n);
    memcpy(row, candidates->known[from], dim * sizeof *row);
    for (size_t i = 0; i < n; i++) {
        const size_t c = moves[i];
        if (row[c] != COORDINATE_ABSENT &&
            (c == surely || rng_unit(&place, c) < chance))
            row[c] = step(encoding, c, row[c], sizes[j % 3], &place);
    }
    encoding_settle(encoding, candidates->fill, row);
}

/* Leads every row to what is allowed and drops the rows that do not get there;
 * returns how many are left. */
static size_t keep_allowed(const struct candidates *candidates, size_t n,
                           double x[])
{
    const size_t dim = candidates->encoding->dim;
    const struct inside inside = {candidates->encoding, candidates->constraints,
                                  candidates->fill};
    size_t kept = 0;
    for (size_t j = 0; j < n; j++) {
        const struct rng_place place = {candidates->seed, candidates->ordinal,
                                        RNG_INSIDE + j};
        if (inside_reach(&inside, &place, x + j * dim))
            memmove(x + kept++ * dim, x + j * dim, dim * sizeof *x);
    }
    return kept;
}

size_t candidates_fill(const struct candidates *candidates, double x[])
{
    const size_t dim = candidates->encoding->dim;
    size_t moves[HT_MAX_PARAMETERS];
    const size_t n_moves = encoding_list_free(candidates->encoding, moves);
    const size_t wanted = n_moves > WIDE ? 2 * LOCAL : LOCAL;
    const size_t local = candidates->n_known > 0 && n_moves > 0 ? wanted : 0;
    everywhere(candidates, GLOBAL, x);
    for (size_t j = 0; j < local; j++)
        nearby(candidates, j, n_moves, moves, x + (GLOBAL + j) * dim);
    return candidates->constraints == NULL
               ? GLOBAL + local
               : keep_allowed(candidates, GLOBAL + local, x);
}
