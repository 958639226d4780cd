#include "algorithms/search/acquire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/base/lbfgs.h"
#include "algorithms/base/rng.h"
#include "algorithms/model/acquisition.h"
#include "algorithms/space/inside.h"
#include "proto/base/arena.h"

enum {
    LISTED = 4096,          /* points of a space that is listed whole */
    STARTS = 6,             /* of the best candidates */
    KNOWN_STARTS = 2,       /* beside the best known points */
    ROUNDS = 8,             /* of continuous and discrete turns */
    FIRST_STEPS = 40,       /* along the slopes, in the first turn */
    LATER_STEPS = 20,       /* and in later ones */
    MOST_ALTERNATIVES = 64, /* of one discrete coordinate */
    ALL_LEVELS = 16,        /* of an ordinal that are all tried */
    HALVINGS = 30           /* of a way back to what is allowed */
};

static const double least_gain = 1e-9; /* that keeps an improvement going */
static const double same_place = 1e-7; /* of coordinates: nothing new there */
static const double too_close = 0.05;  /* squared, in lengths: of two starts */
static const double penalty = 1e4;     /* of a squared violation */
static const double tiny_step = 1e-6;  /* for the slope of a violation */
static const double nudge = 1e-3;      /* from a known point to a start */
/* Between categories, for starts: they are what the sweeps can reach. */
static const double category_gap = 0.3;
/* Slopes are followed in units of lengths, but not of boundless ones. */
static const double longest = 10.0;

struct spot { /* a place and its promise */
    double x[HT_MAX_PARAMETERS];
    double value;
    size_t order; /* among equal ones */
};

/* ---- what is free ---- */

/* A point so close to a known one that its result is known as well. */
static bool is_known(const struct acquire *acquire, const double x[])
{
    const struct rows *rows = acquire->acquisition->guide->rows;
    const size_t dim = rows->encoding->dim;
    for (size_t i = 0; i < rows->n; i++) {
        double most = 0;
        for (size_t c = 0; c < dim; c++)
            most = fmax(most, fabs(x[c] - rows->columns[c * rows->cap + i]));
        if (most <= same_place)
            return true;
    }
    return false;
}

static bool is_free(const struct acquire *acquire, const double x[],
                    struct value point[])
{
    const struct encoding *encoding = acquire->candidates.encoding;
    if (encoding->continuous && is_known(acquire, x))
        return false;
    encoding_decode(encoding, x, point);
    return algorithm_request_allows(acquire->request, point);
}

static double violation(const struct acquire *acquire, const double x[])
{
    const struct candidates *at = &acquire->candidates;
    const struct inside inside = {at->encoding, at->constraints, at->fill};
    return inside_violation(&inside, x);
}

/* ---- along the slopes ---- */

/* Continuous, present coordinates, each in units of its length. */
struct slope_search {
    const struct acquire *acquire;
    size_t n, at[HT_MAX_PARAMETERS];
    double unit[HT_MAX_PARAMETERS];
    double *x; /* the whole point, moved in place */
};

/* What a violation costs: its square, so that slopes lead back before it is
 * large, however much is promised out there. Adds its slopes, by differences:
 * a constraint costs little beside a model. */
static double add_penalty(const struct slope_search *search, double gradient[])
{
    const double outside = violation(search->acquire, search->x);
    if (outside == 0)
        return 0;
    for (size_t i = 0; i < search->n; i++) {
        double *u = &search->x[search->at[i]];
        const double before = *u, step = before < 0.5 ? tiny_step : -tiny_step;
        *u = before + step;
        const double slope =
            (violation(search->acquire, search->x) - outside) / step;
        *u = before;
        gradient[i] += penalty * 2 * outside * slope * search->unit[i];
    }
    return penalty * outside * outside;
}

static double descend(void *context, const double z[], double gradient[])
{
    struct slope_search *search = context;
    double whole[HT_MAX_PARAMETERS];
    for (size_t i = 0; i < search->n; i++)
        search->x[search->at[i]] = fmin(z[i] * search->unit[i], 1);
    const double value =
        acquisition_value(search->acquire->acquisition, search->x, whole);
    for (size_t i = 0; i < search->n; i++)
        gradient[i] = -whole[search->at[i]] * search->unit[i];
    return add_penalty(search, gradient) - value;
}

/* Draws a point that ended a little outside back towards where it began. */
static void draw_back(const struct slope_search *search, const double from[])
{
    const struct acquire *acquire = search->acquire;
    double to[HT_MAX_PARAMETERS], inside = 0, outside = 1;
    if (violation(acquire, search->x) == 0)
        return;
    memcpy(to, search->x, sizeof to);
    for (int i = 0; i <= HALVINGS; i++) {
        const double share = i < HALVINGS ? (inside + outside) / 2 : inside;
        for (size_t k = 0; k < search->n; k++) {
            const size_t c = search->at[k];
            search->x[c] = from[c] + share * (to[c] - from[c]);
        }
        if (violation(acquire, search->x) > 0)
            outside = share;
        else
            inside = share;
    }
}

static void list_slopes(struct slope_search *search)
{
    const struct encoding *encoding = search->acquire->candidates.encoding;
    const double *weight = search->acquire->acquisition->guide->kernel.weight;
    for (size_t c = 0; c < encoding->dim; c++) {
        if (encoding->at[c].kind != COORDINATE_CONTINUOUS ||
            search->x[c] == COORDINATE_ABSENT || !encoding_is_free(encoding, c))
            continue;
        search->at[search->n] = c;
        search->unit[search->n++] = fmin(1 / sqrt(weight[c]), longest);
    }
}

static void follow_slopes(const struct acquire *acquire, size_t steps,
                          struct spot *spot)
{
    static const double low[HT_MAX_PARAMETERS];
    double high[HT_MAX_PARAMETERS], z[HT_MAX_PARAMETERS];
    struct spot moved = *spot;
    struct slope_search search = {.acquire = acquire, .x = moved.x};
    list_slopes(&search);
    if (search.n == 0)
        return;
    for (size_t i = 0; i < search.n; i++) {
        high[i] = 1 / search.unit[i];
        z[i] = moved.x[search.at[i]] / search.unit[i];
    }
    const struct lbfgs problem = {.n = search.n,
                                  .low = low,
                                  .high = high,
                                  .evaluate = descend,
                                  .context = &search,
                                  .iterations = steps,
                                  .gradient_tolerance = 1e-4,
                                  .value_tolerance = 1e-7};
    moved.value = -lbfgs_minimise(&problem, z);
    for (size_t i = 0; i < search.n; i++)
        moved.x[search.at[i]] = fmin(z[i] * search.unit[i], 1);
    if (acquire->candidates.constraints != NULL) {
        double gradient[HT_MAX_PARAMETERS];
        draw_back(&search, spot->x);
        moved.value =
            acquisition_value(acquire->acquisition, moved.x, gradient);
    }
    if (moved.value > spot->value)
        *spot = moved;
}

/* ---- through the values ---- */

/* Other levels of coordinate c: all of a few; of many the neighbours at 1, 2,
 * 4, ... and of many categories some drawn at `place`. Returns how many. */
static size_t alternatives(const struct encoding *encoding, size_t c,
                           size_t level, const struct rng_place *place,
                           size_t levels[])
{
    const struct coordinate *at = &encoding->at[c];
    const size_t few = at->kind == COORDINATE_CATEGORY
                           ? (size_t)MOST_ALTERNATIVES
                           : (size_t)ALL_LEVELS;
    size_t n = 0;
    if (at->levels <= few) {
        for (size_t j = 0; j < at->levels; j++)
            if (j != level)
                levels[n++] = j;
        return n;
    }
    if (at->kind == COORDINATE_CATEGORY) {
        const uint64_t first = HT_MAX_PARAMETERS + c * MOST_ALTERNATIVES;
        for (size_t j = 0; j < MOST_ALTERNATIVES; j++)
            levels[n++] =
                (size_t)(rng_unit(place, first + j) * (double)at->levels);
        return n;
    }
    for (size_t by = 1; by < at->levels; by *= 2) {
        if (level >= by)
            levels[n++] = level - by;
        if (level + by < at->levels)
            levels[n++] = level + by;
    }
    return n;
}

/* Moves to the best other value of coordinate c, if any is better. In a space
 * without continuous coordinates only to free points: no later turn would
 * lead away from a taken one. */
static bool sweep_one(const struct acquire *acquire, size_t c,
                      const struct rng_place *place, struct spot *spot)
{
    const struct encoding *encoding = acquire->candidates.encoding;
    const size_t dim = encoding->dim;
    size_t levels[MOST_ALTERNATIVES];
    double values[MOST_ALTERNATIVES];
    struct value point[HT_MAX_PARAMETERS];
    const size_t n = alternatives(
        encoding, c, encoding_level_of(encoding, c, spot->x[c]), place, levels);
    double *rows = ht_xcalloc(n * dim + 1, sizeof *rows);
    for (size_t j = 0; j < n; j++) {
        double *row = rows + j * dim;
        memcpy(row, spot->x, dim * sizeof *row);
        row[c] = encoding_level(encoding, c, levels[j]);
        encoding_settle(encoding, acquire->candidates.fill, row);
    }
    acquisition_values(acquire->acquisition, n, rows, values);
    bool moved = false;
    for (size_t j = 0; j < n; j++) {
        if (!(values[j] > spot->value + least_gain) ||
            violation(acquire, rows + j * dim) > 0)
            continue;
        if (!encoding->continuous && !is_free(acquire, rows + j * dim, point))
            continue;
        memcpy(spot->x, rows + j * dim, dim * sizeof *rows);
        spot->value = values[j];
        moved = true;
    }
    free(rows);
    return moved;
}

/* Every discrete, present coordinate once, in an order drawn at `place`. */
static bool sweep(const struct acquire *acquire, const struct rng_place *place,
                  struct spot *spot)
{
    const struct encoding *encoding = acquire->candidates.encoding;
    size_t order[HT_MAX_PARAMETERS];
    bool moved = false;
    for (size_t c = 0; c < encoding->dim; c++) {
        const size_t at = (size_t)(rng_unit(place, c) * (double)(c + 1));
        order[c] = order[at];
        order[at] = c;
    }
    for (size_t i = 0; i < encoding->dim; i++) {
        const size_t c = order[i];
        if (encoding->at[c].kind != COORDINATE_CONTINUOUS &&
            spot->x[c] != COORDINATE_ABSENT && encoding_is_free(encoding, c))
            moved = sweep_one(acquire, c, place, spot) || moved;
    }
    return moved;
}

static void improve(const struct acquire *acquire, size_t start,
                    struct spot *spot)
{
    struct rng_place place = {acquire->candidates.seed,
                              acquire->candidates.ordinal,
                              RNG_SWEEP + start * ROUNDS};
    for (size_t round = 0; round < ROUNDS; round++, place.draw++) {
        follow_slopes(acquire, round == 0 ? FIRST_STEPS : LATER_STEPS, spot);
        if (!sweep(acquire, &place, spot))
            break;
    }
}

/* ---- where to start ---- */

/* The squared distance in lengths of the first model. */
static double separation(const struct acquire *acquire, const double a[],
                         const double b[])
{
    const struct encoding *encoding = acquire->candidates.encoding;
    const double *weight = acquire->acquisition->guide->kernel.weight;
    double sum = 0;
    for (size_t c = 0; c < encoding->dim; c++) {
        if (a[c] == b[c])
            continue;
        if (encoding->at[c].kind == COORDINATE_CATEGORY ||
            a[c] == COORDINATE_ABSENT || b[c] == COORDINATE_ABSENT)
            sum += category_gap;
        else
            sum += weight[c] * (a[c] - b[c]) * (a[c] - b[c]);
    }
    return sum;
}

static int compare_spots(const void *a, const void *b)
{
    const struct spot *const *x = a, *const *y = b;
    if ((*x)->value != (*y)->value)
        return (*x)->value > (*y)->value ? -1 : 1;
    return ((*x)->order > (*y)->order) - ((*x)->order < (*y)->order);
}

/* The best ones that are not too close to better ones. */
static size_t pick_starts(const struct acquire *acquire, size_t n,
                          struct spot *const sorted[], struct spot starts[])
{
    size_t chosen = 0;
    for (size_t i = 0; i < n && chosen < STARTS; i++) {
        bool close = false;
        for (size_t k = 0; k < chosen && !close; k++)
            close = separation(acquire, starts[k].x, sorted[i]->x) < too_close;
        if (!close)
            starts[chosen++] = *sorted[i];
    }
    return chosen;
}

/* A little beside the best known points, where an optimum is refined. */
static size_t nudge_known(const struct acquire *acquire, struct spot starts[])
{
    const struct candidates *known = &acquire->candidates;
    size_t n = 0;
    if (!known->encoding->continuous)
        return 0;
    for (size_t k = 0; k < KNOWN_STARTS && k < known->n_known; k++) {
        const struct rng_place place = {known->seed, known->ordinal,
                                        RNG_NUDGE + k};
        double gradient[HT_MAX_PARAMETERS];
        memcpy(starts[n].x, known->known[k], sizeof starts[n].x);
        for (size_t c = 0; c < known->encoding->dim; c++)
            if (known->encoding->at[c].kind == COORDINATE_CONTINUOUS &&
                starts[n].x[c] != COORDINATE_ABSENT &&
                encoding_is_free(known->encoding, c))
                starts[n].x[c] = fmin(
                    fmax(starts[n].x[c] + nudge * rng_normal(&place, c), 0), 1);
        if (violation(acquire, starts[n].x) > 0)
            continue;
        starts[n].value =
            acquisition_value(acquire->acquisition, starts[n].x, gradient);
        n++;
    }
    return n;
}

/* ---- the choice ---- */

static struct spot *new_spots(const struct acquire *acquire, size_t n,
                              const double x[])
{
    const size_t dim = acquire->candidates.encoding->dim;
    struct spot *spots = ht_xcalloc(n + 1, sizeof *spots);
    double *values = ht_xcalloc(n + 1, sizeof *values);
    acquisition_values(acquire->acquisition, n, x, values);
    for (size_t j = 0; j < n; j++) {
        memcpy(spots[j].x, x + j * dim, dim * sizeof *x);
        spots[j].value = values[j];
        spots[j].order = j;
    }
    free(values);
    return spots;
}

static bool first_free(const struct acquire *acquire, size_t n,
                       struct spot *spots[], struct value point[])
{
    qsort(spots, n, sizeof(struct spot *), compare_spots);
    for (size_t i = 0; i < n; i++)
        if (is_free(acquire, spots[i]->x, point))
            return true;
    return false;
}

static bool choose(const struct acquire *acquire, size_t n, const double x[],
                   struct value point[])
{
    struct spot starts[STARTS + KNOWN_STARTS];
    struct spot *spots = new_spots(acquire, n, x);
    struct spot **sorted =
        ht_xcalloc(n + STARTS + KNOWN_STARTS, sizeof(struct spot *));
    for (size_t j = 0; j < n; j++)
        sorted[j] = &spots[j];
    qsort(sorted, n, sizeof(struct spot *), compare_spots);
    size_t n_starts = pick_starts(acquire, n, sorted, starts);
    n_starts += nudge_known(acquire, starts + n_starts);
    for (size_t i = 0; i < n_starts; i++) {
        improve(acquire, i, &starts[i]);
        starts[i].order = n + i;
        sorted[n + i] = &starts[i];
    }
    const bool found = first_free(acquire, n + n_starts, sorted, point);
    free(sorted);
    free(spots);
    return found;
}

/* The best free point of a small space; false when all are taken. */
static bool choose_listed(const struct acquire *acquire, uint64_t size,
                          struct value point[])
{
    const struct encoding *encoding = acquire->candidates.encoding;
    const struct suggest_request *request = acquire->request;
    const size_t dim = encoding->dim;
    double *x = ht_xcalloc(size * dim + 1, sizeof *x);
    double *values = ht_xcalloc(size, sizeof *values);
    uint64_t *index = ht_xcalloc(size, sizeof *index);
    size_t n = 0, best = 0;
    uint64_t i = algorithm_request_next(encoding->space, request, 0, size);
    for (; i < size;
         i = algorithm_request_next(encoding->space, request, i + 1, size)) {
        subspace_point(encoding->space, request->within, i, point);
        encoding_encode(encoding, point, x + n * dim);
        index[n++] = i;
    }
    acquisition_values(acquire->acquisition, n, x, values);
    for (size_t j = 1; j < n; j++)
        if (values[j] > values[best])
            best = j;
    if (n > 0)
        subspace_point(encoding->space, request->within, index[best], point);
    free(index);
    free(values);
    free(x);
    return n > 0;
}

bool acquire_point(const struct acquire *acquire, struct value point[])
{
    const struct encoding *encoding = acquire->candidates.encoding;
    const uint64_t size = subspace_size(encoding->space, encoding->part);
    if (size > 0 && size <= LISTED)
        return choose_listed(acquire, size, point);
    double *x =
        ht_xcalloc((size_t)CANDIDATES_MAX * encoding->dim + 1, sizeof *x);
    const size_t n = candidates_fill(&acquire->candidates, x);
    const bool found = choose(acquire, n, x, point);
    free(x);
    return found;
}
