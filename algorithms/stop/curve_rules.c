/* curve_rules.c - the rules that look at one curve at a time: median, decay
 * curve, convex. */

#include <math.h>
#include <stdlib.h>

#include "algorithms/stop/early_stop.h"
#include "algorithms/stop/final_model.h"
#include "algorithms/stop/learning_curve.h"
#include "proto/base/arena.h"

/* The median rule: a trial stops when its best value is strictly worse than
 * the median, over completed trials, of their running averages up to the
 * trial's newest measurement. */

/* A mean of equal or decimal values is off by a few units in the last place;
 * such a difference is no worse result. */
static const double rounding = 1e-12;

static const struct stop_guard median_guard = {.trials = 5, .measurements = 2};

/* Running averages of the trials that have one at this place. */
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

/* Whether the trial is_behind_median the median of one goal, and by which
 * numbers. */
static bool is_behind_median(const struct stop_study *study, size_t current,
                             size_t goal, struct stop_verdict *verdict)
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

static void median_judge(const struct stop_study *study, size_t current,
                         struct stop_verdict *verdict)
{
    if (!stop_guard_opens(&median_guard, study, current))
        return;
    stop_where_all_fall_short(is_behind_median, study, current, verdict);
}

const struct stop_rule median_rule = {"median", median_judge, NULL};

/* The decay curve rule: a trial stops when the result that a Gaussian process
 * predicts from its curve hardly has a chance against the results so far. */

static const double least_chance = 0.05;

static const struct stop_guard decay_guard = {
    .trials = FINAL_CURVES, .measurements = 4, .share = 0.2};

/* Whether a goal would be as good as the best with as much again as the trial
 * gained in the last half of its way: a model of few curves may not see that.
 */
static bool is_near(const struct stop_study *study, size_t current, size_t goal,
                    double at)
{
    const struct learning_curve curve = {&study->curves[current], goal};
    double now, half, best;
    size_t n;
    return learning_curve_value(&curve, at, &now) &&
           learning_curve_value(&curve, at / 2, &half) &&
           learning_curve_best(&curve, at, &best) &&
           fmax(best, now + fmax(now - half, 0)) >=
               final_model_best(study, goal, &n);
}

static bool is_any_near(const struct stop_study *study, size_t current,
                        double at)
{
    for (size_t k = 0; k < study->setting->n_goals; k++)
        if (!study->setting->goals[k].safety && is_near(study, current, k, at))
            return true;
    return false;
}

static void decay_judge(const struct stop_study *study, size_t current,
                        struct stop_verdict *verdict)
{
    struct stop_prediction *prediction = &verdict->prediction;
    if (!stop_guard_opens(&decay_guard, study, current) ||
        is_any_near(study, current, verdict->at))
        return;
    final_model_predict(study, current, prediction);
    if (!prediction->known)
        return;
    const struct learning_curve curve = {&study->curves[current], 0};
    learning_curve_value(&curve, verdict->at, &verdict->value);
    verdict->threshold = final_model_best(study, 0, &verdict->compared);
    if (prediction->probability < least_chance)
        verdict->action = STOP_NOW;
}

const struct stop_rule decay_rule = {"decay", decay_judge, NULL};

/* The convex rule: a curve that flattens out as it goes never rises faster
 * than it does now, so its slope says the most that it can reach. A trial
 * stops when that is worse than a result that is in. */

static const struct stop_guard convex_guard = {
    .trials = 6, .measurements = 5, .share = 0.1};

/* The slope is that of the last so much of the way. */
static const double window_share = 1.0 / 3;
/* Noise makes slopes look small: as many standard errors are added. */
static const double doubt = 2;
/* With such a chance it continues nevertheless: for a moment, any curve falls.
 */
static const double some_chance = 0.1;
enum { LEAST_POINTS = 3 };

struct line { /* least squares: sums around the means */
    double n, x, y, xx, xy, yy;
};

/* Means and squares in one pass (Welford, 1962). */
static void add(struct line *line, double x, double y)
{
    line->n++;
    const double dx = x - line->x, dy = y - line->y;
    line->x += dx / line->n;
    line->y += dy / line->n;
    line->xx += dx * (x - line->x);
    line->xy += dx * (y - line->y);
    line->yy += dy * (y - line->y);
}

static struct line fit_line(const struct learning_curve *curve, double from,
                            double to)
{
    struct line line = {0};
    for (size_t i = 0; i < curve->of->n; i++) {
        const struct stop_point *point = &curve->of->points[i];
        const double y = point->values[curve->goal];
        if (point->at >= from && point->at <= to && isfinite(y))
            add(&line, point->at, y);
    }
    return line;
}

/* The most that a goal can come to; false while its curve does not move: it
 * has not begun to learn. */
static bool find_most(const struct stop_study *study, size_t current,
                      size_t goal, double at, double *most)
{
    const struct learning_curve curve = {&study->curves[current], goal};
    const struct line line = fit_line(&curve, at * (1 - window_share), at);
    double end, best;
    if (line.n < LEAST_POINTS || line.yy <= 0 ||
        !final_model_place(study, &end) ||
        !learning_curve_best(&curve, at, &best))
        return false;
    const double slope = line.xy / line.xx;
    const double left = line.yy - slope * line.xy;
    const double error = sqrt(fmax(left, 0) / ((line.n - 2) * line.xx));
    *most = best + fmax(slope + doubt * error, 0) * fmax(end - at, 0);
    return true;
}

static bool is_out_of_reach(const struct stop_study *study, size_t current,
                            size_t goal, struct stop_verdict *verdict)
{
    double most;
    if (!find_most(study, current, goal, verdict->at, &most))
        return false;
    verdict->goal = goal;
    verdict->value = most;
    verdict->threshold = final_model_best(study, goal, &verdict->compared);
    return most < verdict->threshold;
}

static void convex_judge(const struct stop_study *study, size_t current,
                         struct stop_verdict *verdict)
{
    if (!stop_guard_opens(&convex_guard, study, current))
        return;
    stop_where_all_fall_short(is_out_of_reach, study, current, verdict);
    if (verdict->prediction.known &&
        verdict->prediction.probability >= some_chance)
        verdict->action = STOP_GO_ON;
}

const struct stop_rule convex_rule = {"convex", convex_judge, NULL};
