#include "algorithms/insight/variation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/base/order.h"
#include "algorithms/base/rng.h"
#include "algorithms/insight/absence.h"
#include "algorithms/model/goal_model.h"
#include "proto/base/arena.h"

enum {
    MOST_WALKS = 512,  /* from one point to another */
    LEAST_WALKS = 128, /* of many coordinates */
    STEPS = 8192       /* of all walks of one kind, about */
};

enum sample { SAMPLE_FROM = 1, SAMPLE_TO, SAMPLE_ORDER };

/* Values further below the lowest tenth than this many spreads of the middle
 * eight tenths would make all other variation nothing. */
static const double far_spreads = 2;

struct survey {
    const struct landscape *landscape;
    size_t dim, walks;
    double *from, *to;       /* rows of coordinates, all with a value */
    double *at_from, *at_to; /* what is expected there */
    double floor;            /* of far outliers */
    double mean, variance;
};

static double expect(const struct survey *survey, const double x[])
{
    const struct landscape *landscape = survey->landscape;
    const struct goal_model *model = landscape->model;
    double row[HT_MAX_PARAMETERS];
    memcpy(row, x, survey->dim * sizeof *row);
    if (landscape->absence != NULL)
        absence_settle(landscape->absence, row);
    else
        encoding_settle(landscape->encoding, row, row);
    const double value =
        warp_undo(&model->warping, goal_model_mean(model, row));
    return fmax(value, survey->floor);
}

static void draw(struct survey *survey, enum sample sample, double x[],
                 double at[])
{
    for (size_t w = 0; w < survey->walks; w++) {
        const struct rng_place place = {sample, w, 0};
        double *row = x + w * survey->dim;
        for (size_t c = 0; c < survey->dim; c++)
            row[c] = encoding_draw(survey->landscape->encoding, c,
                                   rng_unit(&place, c));
        at[w] = expect(survey, row);
    }
}

/* at_from and at_to lie one behind the other. */
static void find_floor(struct survey *survey)
{
    const size_t n = 2 * survey->walks;
    double *sorted = ht_xcalloc(n, sizeof *sorted);
    memcpy(sorted, survey->at_from, n * sizeof *sorted);
    order_numbers(n, sorted);
    const double low = sorted[n / 10], high = sorted[n - 1 - n / 10];
    survey->floor = low - far_spreads * (high - low);
    for (size_t i = 0; i < n; i++)
        survey->at_from[i] = fmax(survey->at_from[i], survey->floor);
    free(sorted);
}

static void find_variance(struct survey *survey)
{
    const size_t n = 2 * survey->walks;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += survey->at_from[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += pow(survey->at_from[i] - sum, 2) / (double)n;
    survey->mean = sum;
    survey->variance = squares;
}

/* A random order of the coordinates. */
static void shuffle(const struct survey *survey, size_t walk, size_t order[])
{
    const struct rng_place place = {SAMPLE_ORDER, walk, 0};
    for (size_t c = 0; c < survey->dim; c++)
        order[c] = c;
    for (size_t left = survey->dim; left > 1; left--) {
        const size_t k = (size_t)(rng_unit(&place, left) * (double)left);
        const size_t kept = order[left - 1];
        order[left - 1] = order[k];
        order[k] = kept;
    }
}

/* One way from a point to another, a coordinate at a time: how much further
 * each takes the square of the distance from where it began. */
static void walk(const struct survey *survey, size_t w,
                 struct variation variations[])
{
    const double *to = survey->to + w * survey->dim;
    double x[HT_MAX_PARAMETERS], last = survey->at_from[w];
    size_t order[HT_MAX_PARAMETERS];
    memcpy(x, survey->from + w * survey->dim, survey->dim * sizeof *x);
    shuffle(survey, w, order);
    for (size_t i = 0; i < survey->dim; i++) {
        const size_t c = order[i];
        x[c] = to[c];
        const double next = expect(survey, x);
        variations[c].share += pow(next - survey->at_from[w], 2) -
                               pow(last - survey->at_from[w], 2);
        last = next;
    }
}

/* Each coordinate by itself, from one point towards another. */
static void step_out(const struct survey *survey, size_t w,
                     struct variation variations[])
{
    const double *from = survey->from + w * survey->dim;
    const double *to = survey->to + w * survey->dim;
    double x[HT_MAX_PARAMETERS];
    memcpy(x, from, survey->dim * sizeof *x);
    for (size_t c = 0; c < survey->dim; c++) {
        x[c] = to[c];
        const double gap = expect(survey, x) - survey->at_from[w];
        variations[c].alone += (survey->at_to[w] - survey->mean) * gap;
        variations[c].total += gap * gap;
        x[c] = from[c];
    }
}

/* Sums become shares of the variance. */
static void normalise(const struct survey *survey,
                      struct variation variations[])
{
    const double n = (double)survey->walks;
    double sum = 0;
    for (size_t c = 0; c < survey->dim; c++) {
        variations[c].share = fmax(variations[c].share, 0);
        sum += variations[c].share;
    }
    for (size_t c = 0; c < survey->dim; c++) {
        struct variation *at = &variations[c];
        at->share = sum > 0 ? at->share / sum : 0;
        at->alone = fmin(fmax(at->alone / n / survey->variance, 0), at->share);
        at->total =
            fmin(fmax(at->total / n / 2 / survey->variance, at->share), 1);
    }
}

void variation_find(const struct landscape *landscape,
                    struct variation variations[])
{
    const size_t dim = landscape->encoding->dim;
    const size_t walks = STEPS / dim < LEAST_WALKS  ? LEAST_WALKS
                         : STEPS / dim > MOST_WALKS ? MOST_WALKS
                                                    : STEPS / dim;
    struct survey survey = {
        .landscape = landscape, .dim = dim, .walks = walks, .floor = -INFINITY};
    survey.from = ht_xcalloc(2 * walks * (dim + 1), sizeof *survey.from);
    survey.to = survey.from + walks * dim;
    survey.at_from = survey.to + walks * dim;
    survey.at_to = survey.at_from + walks;
    draw(&survey, SAMPLE_FROM, survey.from, survey.at_from);
    draw(&survey, SAMPLE_TO, survey.to, survey.at_to);
    find_floor(&survey);
    find_variance(&survey);
    memset(variations, 0, dim * sizeof *variations);
    const double least = 1e-12 * fmax(fabs(survey.mean), 1e-300);
    for (size_t w = 0; w < walks && sqrt(survey.variance) > least; w++) {
        walk(&survey, w, variations);
        step_out(&survey, w, variations);
    }
    if (sqrt(survey.variance) > least)
        normalise(&survey, variations);
    free(survey.from);
}
