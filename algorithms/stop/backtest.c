#include "algorithms/stop/backtest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/base/order.h"
#include "algorithms/stop/early_stop.h"
#include "proto/base/arena.h"

enum {
    LEAST_BEST = 5,
    MOST_BEST = 20,
    BEST_SHARE = 10, /* one of so many */
    PLACES = 20      /* of a curve where it is judged, at most */
};

/* Finished curves by their results, the best first. */
static size_t rank(const struct stop_study *study, struct ranked order[])
{
    size_t n = 0;
    for (size_t i = 0; i < study->n; i++) {
        const struct stop_curve *curve = &study->curves[i];
        if (curve->end == STOP_END_WHOLE && curve->n > 1 &&
            isfinite(curve->finals[0]))
            order[n++] = (struct ranked){curve->finals[0], i};
    }
    order_ranked(n, order);
    return n;
}

/* Whether it would be stopped while it runs; writes where. `curves` are the
 * caller's copy of the study's, and are as before afterwards. */
static bool is_stopped(const struct stop_study *study,
                       struct stop_curve curves[], size_t at, double *place)
{
    const struct stop_curve whole = curves[at];
    const size_t step = (whole.n + PLACES - 1) / PLACES;
    struct stop_verdict verdict = {.action = STOP_GO_ON};
    curves[at].end = STOP_END_OPEN;
    curves[at].finals = NULL;
    for (size_t n = step; verdict.action == STOP_GO_ON && n < whole.n;
         n += step) {
        curves[at].n = n;
        early_stop_judge(study, at, &verdict);
    }
    curves[at] = whole;
    *place = verdict.at;
    return verdict.action != STOP_GO_ON;
}

static size_t how_many(size_t n)
{
    const size_t share = (n + BEST_SHARE - 1) / BEST_SHARE;
    return share < LEAST_BEST  ? LEAST_BEST
           : share > MOST_BEST ? MOST_BEST
                               : share;
}

bool backtest_run(const struct stop_study *study, struct backtest *found)
{
    const struct stop_rule *rule = stop_rule_find(study->options->rule);
    *found = (struct backtest){0};
    if (rule == NULL || rule->promote != NULL || study->setting->n_goals != 1)
        return false;
    struct ranked *order = ht_xcalloc(study->n + 1, sizeof *order);
    const size_t n = rank(study, order);
    if (n >= BACKTEST_LEAST)
        found->best = how_many(n);
    struct stop_curve *curves = ht_xcalloc(study->n + 1, sizeof *curves);
    if (study->n > 0)
        memcpy(curves, study->curves, study->n * sizeof *curves);
    struct stop_study tried = *study;
    tried.curves = curves;
    for (size_t i = 0; i < found->best; i++) {
        double place;
        if (!is_stopped(&tried, curves, order[i].at, &place))
            continue;
        found->stopped++;
        found->latest = fmax(found->latest, place);
    }
    free(curves);
    free(order);
    return found->best > 0;
}
