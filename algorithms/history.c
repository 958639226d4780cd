#include "algorithms/history.h"

#include <math.h>
#include <stdlib.h>

#include "algorithms/warp.h"
#include "proto/arena.h"

/* Of the way from the mean to the worst value that came out: bad enough not to
 * return to, not so bad that one failure hides what is beside it. */
static const double failure_share = 0.5;

void history_init(struct history *history, const struct encoding *encoding)
{
    *history = (struct history){.encoding = encoding};
}

void history_fini(struct history *history)
{
    free(history->x);
    free(history->objective);
}

static void grow(struct history *history)
{
    const size_t dim = history->encoding->dim;
    history->cap = history->cap == 0 ? 64 : 2 * history->cap;
    history->x =
        ht_xrealloc(history->x, history->cap * dim + 1, sizeof *history->x);
    history->objective = ht_xrealloc(history->objective, history->cap,
                                     sizeof *history->objective);
}

void history_add(struct history *history, const struct observation *seen)
{
    if (history->n == history->cap)
        grow(history);
    const bool usable = seen->feasible && isfinite(seen->objective);
    history->objective[history->n] = usable ? seen->objective : NAN;
    encoding_encode(history->encoding, seen->point,
                    history->x + history->n * history->encoding->dim);
    history->n++;
}

size_t history_feasible(const struct history *history, size_t n)
{
    size_t feasible = 0;
    for (size_t i = 0; i < n; i++)
        feasible += isnan(history->objective[i]) ? 0 : 1;
    return feasible;
}

/* ---- which ones ---- */

struct ranked {
    double objective;
    size_t at;
};

/* Best first, older first among equals. */
static int compare_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->objective != y->objective)
        return x->objective > y->objective ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static void mark_best(const struct history *history, size_t n, size_t most,
                      bool chosen[])
{
    struct ranked *ranked = ht_xcalloc(n, sizeof *ranked);
    size_t feasible = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(history->objective[i]))
            ranked[feasible++] = (struct ranked){history->objective[i], i};
    qsort(ranked, feasible, sizeof *ranked, compare_rank);
    for (size_t i = 0; i < feasible && i < most; i++)
        chosen[ranked[i].at] = true;
    free(ranked);
}

/* Writes the indexes in order; returns how many. */
static size_t choose(const struct history *history, size_t n, size_t most,
                     size_t index[])
{
    bool *chosen = ht_xcalloc(n + 1, sizeof *chosen);
    size_t n_chosen = 0, n_index = 0;
    if (n > most)
        mark_best(history, n, most - most / 3, chosen);
    for (size_t i = 0; i < n; i++)
        n_chosen += chosen[i];
    for (size_t i = n; i-- > 0 && n_chosen < most;) {
        n_chosen += !chosen[i];
        chosen[i] = true;
    }
    for (size_t i = 0; i < n; i++)
        if (chosen[i])
            index[n_index++] = i;
    free(chosen);
    return n_index;
}

/* ---- the model ---- */

static void objectives_of(const struct history *history, size_t n,
                          const size_t index[], double values[])
{
    double *raw = ht_xcalloc(2 * n + 1, sizeof *raw), *warped = raw + n;
    size_t feasible = 0;
    double worst = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(history->objective[index[i]]))
            raw[feasible++] = history->objective[index[i]];
    warp(feasible, raw, warped);
    for (size_t i = 0; i < feasible; i++)
        worst = fmin(worst, warped[i]);
    for (size_t i = 0, next = 0; i < n; i++)
        values[i] = isnan(history->objective[index[i]]) ? failure_share * worst
                                                        : warped[next++];
    free(raw);
}

static void feasibility_of(const struct history *history, size_t n,
                           const size_t index[], double values[])
{
    for (size_t i = 0; i < n; i++)
        values[i] = isnan(history->objective[index[i]]) ? -1 : 1;
}

struct gp *history_model(const struct history *history, enum target target,
                         size_t n, size_t most, size_t extra, bool fits)
{
    const size_t dim = history->encoding->dim;
    size_t *index = ht_xcalloc(most + 1, sizeof *index);
    const size_t chosen = choose(history, n, most, index);
    double *values = ht_xcalloc(chosen + 1, sizeof *values);
    if (target == TARGET_OBJECTIVE)
        objectives_of(history, chosen, index, values);
    else
        feasibility_of(history, chosen, index, values);
    struct gp *gp = gp_new(history->encoding, chosen + extra, fits);
    for (size_t i = 0; i < chosen; i++)
        gp_add(gp, history->x + index[i] * dim, values[i]);
    free(index);
    free(values);
    return gp;
}
