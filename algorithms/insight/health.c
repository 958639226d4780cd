#include "algorithms/insight/health.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/base/order.h"
#include "algorithms/insight/border.h"
#include "algorithms/insight/gain.h"
#include "algorithms/insight/importance.h"
#include "algorithms/model/goal_model.h"
#include "algorithms/model/leave_one_out.h"
#include "proto/base/arena.h"

enum {
    FAIR_FROM = 25,  /* results that tell a weak correlation from chance, */
    POOR_FROM = 30,  /* and a model that fails from one that has hardly begun */
    POOREST = 10,    /* one of so many may be far off */
    REPEATS = 5,     /* beyond the first result of a point, at least */
    STILL_FROM = 20, /* results before little to gain is believed, */
    FROM_EACH = 4,   /* and so many more for each parameter; */
    STILL = 20,      /* of them without a gain, and at least */
    STILL_FIRST = 10, /* so many */
    STILL_EACH = 2    /* and so many more for each parameter */
};

static const double good_ranks = 0.7, fair_ranks = 0.4;
/* Of the way from the poorest tenth to the best: less is no difference. */
static const double equal_share = 0.01;
/* Of what the best is better than the median: less is no gain. */
static const double gain_share = 0.01;
/* Deviations of a difference that is hardly chance. */
static const double sure = 2;

static struct health_finding *add(struct health *health, enum health_kind kind,
                                  size_t n, double value)
{
    struct health_finding *finding = &health->findings[health->n++];
    *finding = (struct health_finding){.kind = kind, .n = n, .value = value};
    return finding;
}

/* Whether it is a result with a value of the goal, not a prediction. */
static bool is_result(const struct health_study *study, size_t i)
{
    return !isnan(history_value(study->history, i, study->goal)) &&
           study->history->variance[i] == 0;
}

static size_t count_results(const struct health_study *study)
{
    size_t n = 0;
    for (size_t i = 0; i < study->history->n; i++)
        n += is_result(study, i) ? 1 : 0;
    return n;
}

/* ---- quality ---- */

struct left_out { /* results as the model sees them, beside what it predicts
                     for each from the others */
    size_t n;
    double *seen, *predicted;
};

/* The models of two priors predict the mean of their means. `all`: every row is
 * a result; otherwise row i is of result i. */
static void leave_out(const struct health_study *study, bool all,
                      struct left_out *out)
{
    const struct goal_model *model = study->model;
    const struct gp *first = model->models[0];
    double *mean = ht_xcalloc(3 * first->n_seen + 1, sizeof *mean),
           *variance = mean + first->n_seen, *sum = variance + first->n_seen;
    for (size_t k = 0; k < model->n; k++) {
        leave_one_out(model->models[k], mean, variance);
        for (size_t i = 0; i < first->n_seen; i++)
            sum[i] += mean[i] / (double)model->n;
    }
    out->n = 0;
    out->seen = ht_xcalloc(2 * first->n_seen + 1, sizeof *out->seen);
    out->predicted = out->seen + first->n_seen;
    for (size_t i = 0; i < first->n_seen; i++) {
        if (!all && !is_result(study, i))
            continue;
        out->seen[out->n] = first->y[i];
        out->predicted[out->n++] = sum[i];
    }
    free(mean);
}

/* Brings both from the model's scale to the goal's, in steps so small that less
 * is no difference: a search that has converged has many nearly equal
 * results, and their order says nothing. False where almost all are equal. */
static bool in_steps(const struct warping *warping, struct left_out *out)
{
    double *values = ht_xcalloc(out->n + 1, sizeof *values);
    for (size_t i = 0; i < out->n; i++)
        values[i] = out->seen[i] = warp_undo(warping, out->seen[i]);
    order_numbers(out->n, values);
    const double step =
        equal_share * (values[out->n - 1] - values[out->n / POOREST]);
    for (size_t i = 0; step > 0 && i < out->n; i++) {
        out->seen[i] = round(out->seen[i] / step);
        out->predicted[i] = round(warp_undo(warping, out->predicted[i]) / step);
    }
    free(values);
    return step > 0;
}

/* The correlation of ranks counts from 0 on: a model that has learnt nothing
 * predicts the mean of the others, which runs against each. Returns whether
 * what the model says can be trusted; it cannot where it is not known which of
 * its rows are results. */
static bool find_quality(const struct health_study *study, size_t n_results,
                         struct health *health)
{
    static const size_t least[] = {[HEALTH_GOOD] = HEALTH_LEAST,
                                   [HEALTH_FAIR] = FAIR_FROM,
                                   [HEALTH_POOR] = POOR_FROM};
    struct left_out out;
    const size_t n = study->history->n;
    if (study->model->models[0]->n_seen != n && n_results != n)
        return false;
    leave_out(study, n_results == n, &out);
    const bool differ =
        out.n >= HEALTH_LEAST && in_steps(&study->model->warping, &out);
    const double ranks =
        fmax(leave_one_out_rank_correlation(out.n, out.predicted, out.seen), 0);
    const enum health_grade grade = ranks >= good_ranks   ? HEALTH_GOOD
                                    : ranks >= fair_ranks ? HEALTH_FAIR
                                                          : HEALTH_POOR;
    if (differ && out.n >= least[grade])
        add(health, HEALTH_QUALITY, out.n, ranks)->grade = grade;
    free(out.seen);
    return differ && ranks >= good_ranks;
}

/* ---- what is chance ---- */

/* The results of one point. */
struct group {
    size_t first, n; /* the first of them; how many */
    double sum, squares;
};

static bool is_same_point(const struct history *history, size_t i, size_t j)
{
    const size_t dim = history->encoding->dim;
    return memcmp(history->x + i * dim, history->x + j * dim,
                  dim * sizeof *history->x) == 0;
}

/* Squares are those of distances from the first result, so that nothing
 * cancels. Returns how many groups there are. */
static size_t group(const struct health_study *study, struct group groups[])
{
    size_t n = 0;
    for (size_t i = 0; i < study->history->n; i++) {
        if (!is_result(study, i))
            continue;
        size_t at = 0;
        while (at < n && !is_same_point(study->history, groups[at].first, i))
            at++;
        if (at == n)
            groups[n++] = (struct group){.first = i};
        const double beyond =
            history_value(study->history, i, study->goal) -
            history_value(study->history, groups[at].first, study->goal);
        groups[at].n++;
        groups[at].sum += beyond;
        groups[at].squares += beyond * beyond;
    }
    return n;
}

static double mean_of(const struct health_study *study,
                      const struct group *group)
{
    return history_value(study->history, group->first, study->goal) +
           group->sum / (double)group->n;
}

/* How far the best point is above the second, in deviations of that
 * difference; infinite where there is no second. */
static double lead(const struct health_study *study, size_t n,
                   const struct group groups[], double deviation)
{
    struct ranked *order = ht_xcalloc(n + 1, sizeof *order);
    double found = INFINITY;
    for (size_t i = 0; i < n; i++)
        order[i] = (struct ranked){mean_of(study, &groups[i]), i};
    order_ranked(n, order);
    if (n > 1) {
        const double first = 1 / (double)groups[order[0].at].n;
        const double second = 1 / (double)groups[order[1].at].n;
        found = (order[0].value - order[1].value) /
                (deviation * sqrt(first + second));
    }
    free(order);
    return found;
}

/* Only repeated points tell chance from a shape that the model cannot learn. */
static void find_noise(const struct health_study *study, struct health *health)
{
    struct group *groups = ht_xcalloc(study->history->n + 1, sizeof *groups);
    const size_t n = group(study, groups);
    double squares = 0;
    size_t repeats = 0;
    for (size_t i = 0; i < n; i++) {
        const struct group *at = &groups[i];
        squares += at->squares - at->sum * at->sum / (double)at->n;
        repeats += at->n - 1;
    }
    if (repeats >= REPEATS && squares > 0) {
        const double deviation = sqrt(squares / (double)repeats);
        if (lead(study, n, groups, deviation) < sure)
            add(health, HEALTH_NOISE, repeats, deviation);
    }
    free(groups);
}

/* ---- ends of ranges ---- */

static void find_borders(const struct health_study *study,
                         struct health *health)
{
    const struct encoding *encoding = study->history->encoding;
    struct border border;
    for (size_t c = 0; c < encoding->dim; c++) {
        if (!study->importances[c].certain ||
            !border_find(study->history, study->goal, study->model, c, &border))
            continue;
        struct health_finding *found =
            add(health, HEALTH_BORDER, border.good, border.end);
        found->param = encoding->at[c].param;
        found->upper = border.upper;
        found->beyond = border.beyond;
    }
}

/* ---- what is left to gain ---- */

/* Results since one was better than all before it by more than `least`, and how
 * far the best one is above the median. */
static size_t stagnation(const struct health_study *study, double least)
{
    double mark = -INFINITY;
    size_t since = 0;
    for (size_t i = 0; i < study->history->n; i++) {
        const double value = history_value(study->history, i, study->goal);
        if (!is_result(study, i) || study->history->outside[i])
            continue;
        since++;
        if (!(value - mark > least))
            continue;
        mark = value;
        since = 0;
    }
    return since;
}

static double spread_above(const struct health_study *study)
{
    double *values = ht_xcalloc(study->history->n + 1, sizeof *values);
    size_t n = 0;
    for (size_t i = 0; i < study->history->n; i++)
        if (is_result(study, i) && !study->history->outside[i])
            values[n++] = history_value(study->history, i, study->goal);
    order_numbers(n, values);
    const double spread = n > 0 ? values[n - 1] - values[n / 2] : 0;
    free(values);
    return spread;
}

static void find_gain(const struct health_study *study, size_t n,
                      struct health *health)
{
    const double least = gain_share * spread_above(study);
    const size_t dim = study->history->encoding->dim;
    const size_t since = stagnation(study, least);
    if (!(least > 0) || n < STILL_FROM + FROM_EACH * dim || since < STILL ||
        since < STILL_FIRST + STILL_EACH * dim)
        return;
    const double gain = gain_most(study->history, study->model,
                                  study->constraints, study->seed);
    if (gain < least)
        add(health, HEALTH_LITTLE_TO_GAIN, since, gain);
}

/* ---- all of it ---- */

void health_find(const struct health_study *study, struct health *health)
{
    health->n = 0;
    const size_t n = count_results(study);
    if (n < HEALTH_LEAST || study->history->encoding->dim == 0)
        return;
    const bool trusted = study->model != NULL && find_quality(study, n, health);
    if (trusted && study->alone && study->importances != NULL)
        find_borders(study, health);
    if (trusted && study->alone)
        find_gain(study, n, health);
    if (study->alone)
        find_noise(study, health);
}
