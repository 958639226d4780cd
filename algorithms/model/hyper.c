#include "algorithms/model/hyper.h"

#include <math.h>
#include <string.h>

#include "algorithms/base/rng.h"
#include "algorithms/model/gp_fit.h"

enum { STARTS = 2, IMPROVING_STEPS = 15 };

size_t hyper_anchor(size_t n)
{
    if (n <= 20)
        return n;
    if (n < 100)
        return n - n % 5;
    size_t anchor = 100;
    while (anchor + anchor / 20 <= n)
        anchor += anchor / 20;
    return anchor;
}

/* A different number for every model of a study. */
static uint64_t number_of(const struct hyper *hyper)
{
    return 4 * (uint64_t)hyper->target.goal +
           2 * (uint64_t)hyper->target.aspect + hyper->prior;
}

/* How many results after others' this model's anchors are fitted; all of them
 * before the next anchor, which is at least 5 results away. */
static size_t lateness(const struct hyper *hyper, size_t n)
{
    return n > HYPER_AT_ONCE ? STARTS * (number_of(hyper) % 3) : 0;
}

/* How many of the anchor's starts are made after n results. */
static size_t starts_after(size_t anchor, size_t n)
{
    const size_t one_each = n - anchor + 1;
    return anchor <= HYPER_AT_ONCE || one_each > STARTS ? STARTS : one_each;
}

/* ---- fits to the first n results ---- */

struct work {
    struct gp *gp;
    struct gp_fit *fit;
};

static struct work work_begin(const struct hyper *hyper,
                              const struct history *history, size_t n)
{
    const struct selection selection = {.n = n, .most = HYPER_ROWS};
    struct work work;
    work.gp = history_model(history, &hyper->target, &selection, true, NULL);
    work.gp->kernel.apart = prior_apart(hyper->prior);
    work.fit = gp_fit_new(work.gp, hyper->prior);
    gp_fit_expect(work.fit, hyper->noise);
    return work;
}

static void work_end(struct work *work)
{
    gp_fit_free(work->fit);
    gp_free(work->gp);
}

/* Brings the anchor at n results up to so many starts. */
static void find_anchor(struct hyper *hyper, const struct history *history,
                        size_t n, size_t starts, uint64_t seed)
{
    const struct rng_place place = {seed, n, RNG_FIT + number_of(hyper)};
    double theta[HYPER_MAX];
    if (hyper->anchor_n != n) {
        hyper->anchor_n = n;
        hyper->starts = 0;
        hyper->anchor_value = INFINITY;
    }
    if (hyper->starts >= starts)
        return;
    struct work work = work_begin(hyper, history, n);
    for (; hyper->starts < starts; hyper->starts++) {
        const double value =
            gp_fit_start(work.fit, rng_bits(&place, 0), hyper->starts, theta);
        if (!(value < hyper->anchor_value))
            continue;
        hyper->anchor_value = value;
        memcpy(hyper->anchor, theta, sizeof theta);
    }
    work_end(&work);
}

static bool improve(struct hyper *hyper, const struct history *history,
                    size_t n)
{
    struct work work = work_begin(hyper, history, n);
    const double value =
        gp_fit_improve(work.fit, IMPROVING_STEPS, hyper->theta);
    work_end(&work);
    return isfinite(value) != 0;
}

bool hyper_find(struct hyper *hyper, const struct history *history, size_t n,
                uint64_t seed, double theta[])
{
    const size_t ready = n - lateness(hyper, n), anchor = hyper_anchor(ready);
    if (hyper->n != n) {
        find_anchor(hyper, history, anchor, starts_after(anchor, ready), seed);
        memcpy(hyper->theta, hyper->anchor, sizeof hyper->theta);
        hyper->n = n;
        hyper->found = isfinite(hyper->anchor_value) != 0;
        if (hyper->found && anchor < n && n <= HYPER_IMPROVED)
            hyper->found = improve(hyper, history, n);
    }
    memcpy(theta, hyper->theta, sizeof hyper->theta);
    return hyper->found;
}
