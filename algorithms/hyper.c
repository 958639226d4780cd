#include "algorithms/hyper.h"

#include <math.h>
#include <string.h>

#include "algorithms/gp_fit.h"
#include "algorithms/rng.h"

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

/* One fit to the first n results; from nothing when `cold`. */
static bool fit(const struct hyper *hyper, const struct history *history,
                size_t n, uint64_t seed, bool cold, double theta[])
{
    struct gp *gp =
        history_model(history, &hyper->target, n, HYPER_ROWS, 0, true, NULL);
    gp->kernel.apart = prior_apart(hyper->prior);
    struct gp_fit *work = gp_fit_new(gp, hyper->prior);
    gp_fit_expect(work, hyper->noise);
    const double value = cold ? gp_fit_find(work, seed, STARTS, theta)
                              : gp_fit_improve(work, IMPROVING_STEPS, theta);
    gp_fit_free(work);
    gp_free(gp);
    return isfinite(value) != 0;
}

static void find_anchor(struct hyper *hyper, const struct history *history,
                        size_t n, uint64_t seed)
{
    if (hyper->anchor_n == n)
        return;
    const uint64_t model = 4 * (uint64_t)hyper->target.goal +
                           2 * (uint64_t)hyper->target.aspect + hyper->prior;
    const struct rng_place place = {seed, n, RNG_FIT + model};
    hyper->anchor_n = n;
    hyper->anchor_found =
        fit(hyper, history, n, rng_bits(&place, 0), true, hyper->anchor);
}

bool hyper_find(struct hyper *hyper, const struct history *history, size_t n,
                uint64_t seed, double theta[])
{
    const size_t anchor = hyper_anchor(n);
    if (hyper->n != n) {
        find_anchor(hyper, history, anchor, seed);
        memcpy(hyper->theta, hyper->anchor, sizeof hyper->theta);
        hyper->n = n;
        hyper->found = hyper->anchor_found;
        if (hyper->found && anchor < n && n <= HYPER_IMPROVED)
            hyper->found = fit(hyper, history, n, seed, false, hyper->theta);
    }
    memcpy(theta, hyper->theta, sizeof hyper->theta);
    return hyper->found;
}
