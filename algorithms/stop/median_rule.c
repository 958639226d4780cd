/* The median rule: a trial stops when its best value is strictly worse than
 * the median, over completed trials, of their running averages up to the
 * trial's newest measurement. */
#include <math.h>
#include <stdlib.h>

#include "algorithms/stop/early_stop.h"
#include "algorithms/stop/learning_curve.h"
#include "proto/base/arena.h"

/* A mean of equal or decimal values is off by a few units in the last place;
 * such a difference is no worse result. */
static const double rounding = 1e-12;

static const struct stop_guard guard = {.trials = 5, .measurements = 2};

/* Running averages of those that have one at this place. */
static size_t read_means(const struct stop_study *study, size_t goal, double at,
                         double means[])
{
    size_t n = 0;
    for (size_t i = 0; i < study->n; i++) {
        const struct learning_curve curve = {&study->curves[i], goal};
        if (study->curves[i].end == STOP_END_WHOLE)
            n += learning_curve_mean(&curve, at, &means[n]);
    }
    return n;
}

/* Whether the trial misses the median of one goal, and by which numbers. */
static bool misses(const struct stop_study *study, size_t current, size_t goal,
                   struct stop_verdict *verdict)
{
    const struct learning_curve curve = {&study->curves[current], goal};
    double *means = ht_xcalloc(study->n + 1, sizeof *means);
    const size_t n = read_means(study, goal, verdict->at, means);
    bool missed = false;
    double best;
    if (n > 0 && learning_curve_best(&curve, verdict->at, &best)) {
        const double median = learning_curve_median(n, means);
        missed = best < median - rounding * fabs(median);
        verdict->goal = goal;
        verdict->value = best;
        verdict->threshold = median;
        verdict->compared = n;
    }
    free(means);
    return missed;
}

static void judge(const struct stop_study *study, size_t current,
                  struct stop_verdict *verdict)
{
    if (!stop_guard_opens(&guard, study, current))
        return;
    stop_where_all_fall_short(misses, study, current, verdict);
}

const struct stop_rule median_rule = {"median", judge, NULL};
