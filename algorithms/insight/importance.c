#include "algorithms/insight/importance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/base/order.h"
#include "algorithms/insight/absence.h"
#include "algorithms/insight/variation.h"
#include "algorithms/model/goal_model.h"
#include "algorithms/model/gp_fit.h"
#include "proto/base/arena.h"

enum {
    CELLS = 50,      /* of a coordinate, at most */
    FAR_SHARE = 20,  /* one of so many may be far off, */
    FAR = 3,         /* so many ranges of all better ones away */
    LEAST_GOOD = 5,  /* results that count as good */
    GOOD_SHARE = 10, /* one of so many */
    REFITS = 15      /* steps of a model without a parameter */
};

/* How much likelier results must be with a parameter than without: half of
 * chi-squared of one degree at 1 %, since there are many parameters; more of
 * few results, which a model can fit whatever they are. */
static const double least_gain = 3.32;
static const double few_results = 15;
static const double much_noise = 0.5; /* of a variance of 1 */

/* ---- where good results lie ---- */

/* Results, best first; without those outside of today's space, whose density
 * it is. */
struct ranking {
    size_t n, good;
    const double **x; /* owned, their coordinates */
};

static struct ranking rank(const struct history *history)
{
    struct ranking ranking = {0};
    struct ranked *order = ht_xcalloc(history->n + 1, sizeof *order);
    for (size_t i = 0; i < history->n; i++)
        if (!history->outside[i])
            order[ranking.n++] =
                (struct ranked){history_value(history, i, 0), i};
    order_ranked(ranking.n, order);
    ranking.x = ht_xcalloc(ranking.n + 1, sizeof(double *));
    for (size_t i = 0; i < ranking.n; i++)
        ranking.x[i] = history->x + order[i].at * history->encoding->dim;
    ranking.good = (ranking.n + GOOD_SHARE - 1) / GOOD_SHARE;
    if (ranking.good < LEAST_GOOD)
        ranking.good = ranking.n < LEAST_GOOD ? ranking.n : LEAST_GOOD;
    free(order);
    return ranking;
}

static double below(double z)
{
    return 0.5 * erfc(-z * M_SQRT1_2);
}

/* How wide a kernel around n positions should be (Scott, "Multivariate Density
 * Estimation", 1992), no narrower than a cell. */
static double bandwidth(const struct ranking *ranking, size_t n, size_t c,
                        double cell)
{
    double count = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        const double u = ranking->x[i][c];
        if (u == COORDINATE_ABSENT)
            continue;
        count++;
        sum += u;
        squares += u * u;
    }
    const double mean = sum / count;
    const double spread = sqrt(fmax(squares / count - mean * mean, 0));
    return fmax(1.059 * spread * pow(count, -0.2), cell);
}

/* Adds a smooth bump around u, of weight 1, to the cells of [0, 1]. */
static void add_bump(size_t cells, double u, double width, double mass[])
{
    const double all = below((1 - u) / width) - below(-u / width);
    for (size_t g = 0; g < cells; g++) {
        const double low = (double)g / (double)cells;
        const double high = (double)(g + 1) / (double)cells;
        mass[g] += (below((high - u) / width) - below((low - u) / width)) / all;
    }
}

/* The distribution of coordinate c over its cells in the first n results where
 * it is present, with one even result as a prior. Returns how many they are. */
static size_t density(const struct encoding *encoding,
                      const struct ranking *ranking, size_t n, size_t c,
                      size_t cells, double mass[])
{
    const bool category = encoding->at[c].kind == COORDINATE_CATEGORY;
    const double width =
        category ? 0 : bandwidth(ranking, n, c, 0.5 / (double)cells);
    size_t present = 0;
    for (size_t g = 0; g < cells; g++)
        mass[g] = 1 / (double)cells;
    for (size_t i = 0; i < n; i++) {
        const double u = ranking->x[i][c];
        if (u == COORDINATE_ABSENT)
            continue;
        present++;
        if (category)
            mass[(size_t)u] += 1;
        else
            add_bump(cells, u, width, mass);
    }
    for (size_t g = 0; g < cells; g++)
        mass[g] /= (double)present + 1;
    return present;
}

/* The Pearson divergence of good results from all of them, where the
 * coordinate is present; weighted by how much more often it is so in good
 * ones. */
static double divergence(const struct encoding *encoding,
                         const struct ranking *ranking, size_t c)
{
    const struct coordinate *at = &encoding->at[c];
    const size_t cells = at->levels > 0 && (at->kind == COORDINATE_CATEGORY ||
                                            at->levels < CELLS)
                             ? at->levels
                             : CELLS;
    double *all = ht_xcalloc(2 * cells, sizeof *all), *good = all + cells;
    const size_t n_good =
        density(encoding, ranking, ranking->good, c, cells, good);
    const size_t n_all = density(encoding, ranking, ranking->n, c, cells, all);
    double sum = 0;
    for (size_t g = 0; g < cells; g++)
        sum += all[g] * pow(good[g] / all[g] - 1, 2);
    free(all);
    if (n_good == 0)
        return 0;
    const double share_good = (double)n_good / (double)ranking->good;
    const double share_all = (double)n_all / (double)ranking->n;
    return share_good * share_good / share_all * sum;
}

static void find_good(const struct history *history,
                      struct importance importances[])
{
    const size_t dim = history->encoding->dim;
    struct ranking ranking = rank(history);
    double sum = 0;
    for (size_t c = 0; c < dim; c++) {
        importances[c].good = divergence(history->encoding, &ranking, c);
        sum += importances[c].good;
    }
    for (size_t c = 0; c < dim; c++)
        importances[c].good = sum > 0 ? importances[c].good / sum : 0;
    free(ranking.x);
}

/* ---- what differs from chance ---- */

struct trial_of { /* what a parameter is tried against */
    const struct history *history;
    struct hyper *hyper;
    const struct absence *absence;
    struct gp *gp;                  /* with all parameters */
    double theta[HYPER_MAX], value; /* its fit */
};

/* Whether coordinate c is there only where `parent` lets it be. */
static bool follows(const struct trial_of *tried, size_t c, size_t parent)
{
    const struct encoding *encoding = tried->history->encoding;
    if (tried->absence != NULL)
        return absence_follows(tried->absence, c, parent);
    const struct condition *when =
        encoding->space->params[encoding->at[c].param].when;
    while (when != NULL && when->parent != encoding->at[parent].param)
        when = when->next;
    return when != NULL;
}

/* Marks what is there only where c lets it be, at any depth. */
static void mark_followers(const struct trial_of *tried, size_t c,
                           bool marked[])
{
    for (size_t k = 0; k < tried->history->encoding->dim; k++) {
        if (marked[k] || !follows(tried, k, c))
            continue;
        marked[k] = true;
        mark_followers(tried, k, marked);
    }
}

/* The same results as if coordinate c was not seen, nor anything that only
 * it lets be there. */
static struct gp *without(const struct trial_of *tried, size_t c)
{
    const struct encoding *encoding = tried->history->encoding;
    struct gp *gp = gp_new(encoding, tried->gp->n_seen, true);
    bool followers[HT_MAX_PARAMETERS] = {false};
    double x[HT_MAX_PARAMETERS];
    mark_followers(tried, c, followers);
    for (size_t i = 0; i < tried->gp->n_seen; i++) {
        kernel_rows_get(tried->gp->rows, i, x);
        if (x[c] != COORDINATE_ABSENT)
            x[c] = encoding->at[c].usual;
        for (size_t k = 0; k < encoding->dim; k++)
            if (followers[k])
                x[k] = encoding->at[k].usual;
        gp_add(gp, x, tried->gp->y[i], tried->gp->own[i]);
    }
    return gp;
}

/* How improbable the results are to a model as it is, or to the best one that
 * is found from it with at least that much noise. */
static double as_it_is(const struct trial_of *tried, struct gp *gp)
{
    double slope[HYPER_MAX];
    struct gp_fit *fit = gp_fit_new(gp, tried->hyper->prior);
    gp_fit_expect(fit, tried->hyper->noise);
    const double value = gp_fit_evaluate(fit, tried->theta, slope);
    gp_fit_free(fit);
    return value;
}

/* theta: the fit that it begins with, then the one that is found. */
static double adapt(const struct trial_of *tried, struct gp *gp, double noise,
                    double theta[])
{
    double *own = &theta[tried->history->encoding->dim + 1];
    struct gp_fit *fit = gp_fit_new(gp, tried->hyper->prior);
    gp_fit_expect(fit, tried->hyper->noise);
    *own = fmax(*own, noise);
    const double value = gp_fit_improve(fit, REFITS, theta);
    gp_fit_free(fit);
    return value;
}

static double adapted(const struct trial_of *tried, struct gp *gp, double noise)
{
    double theta[HYPER_MAX];
    memcpy(theta, tried->theta, sizeof theta);
    return adapt(tried, gp, noise, theta);
}

/* The fit with all parameters: one that is kept up as results come may not have
 * met the newest of them, such as one that nothing but noise explains. */
static void adapt_whole(struct trial_of *tried)
{
    double noisy[HYPER_MAX];
    memcpy(noisy, tried->theta, sizeof noisy);
    tried->value = adapt(tried, tried->gp, -INFINITY, tried->theta);
    const double value = adapt(tried, tried->gp, log(much_noise), noisy);
    if (value >= tried->value)
        return;
    tried->value = value;
    memcpy(tried->theta, noisy, sizeof noisy);
}

/* A fit that adapts is never worse than one that stays, so most parameters
 * without effect are found by the cheap one. What one fitted to chance needs
 * noise to do without. */
static bool is_certain(const struct trial_of *tried, size_t c)
{
    struct gp *gp = without(tried, c);
    const double enough =
        tried->value +
        least_gain * (1 + few_results / (double)tried->gp->n_seen);
    const bool certain = as_it_is(tried, gp) > enough &&
                         adapted(tried, gp, -INFINITY) > enough &&
                         adapted(tried, gp, log(much_noise)) > enough;
    gp_free(gp);
    return certain;
}

static void find_certain(struct trial_of *tried, uint64_t seed,
                         struct importance importances[])
{
    const struct history *history = tried->history;
    const struct selection selection = {.n = history->n, .most = HYPER_ROWS};
    if (!hyper_find(tried->hyper, history, history->n, seed, tried->theta))
        return;
    tried->gp =
        history_model(history, &tried->hyper->target, &selection, true, NULL);
    adapt_whole(tried);
    for (size_t c = 0; c < history->encoding->dim; c++)
        importances[c].certain =
            importances[c].share > 0 && is_certain(tried, c);
    gp_free(tried->gp);
}

/* ---- all of it ---- */

/* The poorest value of the goal but for a few so far off that beside them all
 * others look alike: a loss of 1e9 would hide what every parameter does. */
static double poorest(const struct history *history, size_t goal)
{
    double *values = ht_xcalloc(history->n + 1, sizeof *values);
    size_t n = 0, few = 0;
    for (size_t i = 0; i < history->n; i++)
        if (!isnan(history_value(history, i, goal)))
            values[n++] = history_value(history, i, goal);
    order_numbers(n, values);
    for (size_t far = n / FAR_SHARE; far > 0 && few == 0; far--) {
        const double range = values[n - 1] - values[far];
        if (range > 0 && values[far] - values[far - 1] > FAR * range)
            few = far;
    }
    const double value = n > 0 ? values[few] : NAN;
    free(values);
    return value;
}

/* The results that have a value of the goal, their distances kept: the search
 * bends them towards the best ones, and has looked there most. */
static void keep_results(const struct history *history, size_t goal,
                         struct history *kept)
{
    const size_t width = history->encoding->space->n;
    const double least = poorest(history, goal);
    history_init(kept, history->encoding, 1);
    kept->traded[0] = true;
    for (size_t i = 0; i < history->n; i++) {
        const double found = history_value(history, i, goal);
        const double value = found < least ? least : found;
        const struct observation seen = {
            .point = history->points + i * width,
            .feasible = true,
            .values = &value,
            .variance = goal == 0 ? history->variance[i] : 0};
        if (!isnan(found))
            history_add(kept, &seen);
    }
}

static void find_shares(const struct history *history, enum noise noise,
                        uint64_t seed, struct importance importances[])
{
    const bool open = history->encoding->space->open;
    struct goal_hyper hyper;
    struct goal_model model;
    struct variation variations[HT_MAX_PARAMETERS];
    struct absence *absence = open ? absence_learn(history) : NULL;
    goal_model_hyper_init(&hyper, 0, noise);
    if (goal_model_init(&model, history, &hyper, seed, 0)) {
        const struct landscape landscape = {history->encoding, absence, &model};
        struct trial_of tried = {.history = history,
                                 .hyper = &hyper.by_prior[0],
                                 .absence = absence};
        variation_find(&landscape, variations);
        for (size_t c = 0; c < history->encoding->dim; c++) {
            importances[c].share = variations[c].share;
            importances[c].alone = variations[c].alone;
            importances[c].total = variations[c].total;
        }
        find_certain(&tried, seed, importances);
    }
    goal_model_fini(&model);
    absence_free(absence);
}

bool importance_find(const struct history *history, size_t goal,
                     enum noise noise, uint64_t seed,
                     struct importance importances[])
{
    const size_t dim = history->encoding->dim;
    struct history kept;
    keep_results(history, goal, &kept);
    const bool enough = kept.n >= IMPORTANCE_LEAST;
    if (enough && dim > 0) {
        memset(importances, 0, dim * sizeof *importances);
        find_good(&kept, importances);
        find_shares(&kept, noise, seed, importances);
    }
    for (size_t c = 0; enough && c < dim; c++)
        if (!importances[c].certain)
            importances[c].share = 0;
    history_fini(&kept);
    return enough;
}
