/* The convex rule: a curve that flattens out as it goes never rises faster
 * than it does now, so its slope says the most that it can reach. A trial
 * stops when that is worse than a result that is in. */
#include <math.h>

#include "algorithms/stop/early_stop.h"
#include "algorithms/stop/final_model.h"
#include "algorithms/stop/learning_curve.h"

static const struct stop_guard guard = {
    .trials = 6, .measurements = 5, .share = 0.1};

/* The slope is that of the last so much of the way. */
static const double window_share = 1.0 / 3;
/* Noise makes slopes look small: as many standard errors are added. */
static const double doubt = 2;
/* With such a chance it goes on nevertheless: for a moment, any curve falls. */
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

static bool misses(const struct stop_study *study, size_t current, size_t goal,
                   struct stop_verdict *verdict)
{
    double most;
    if (!find_most(study, current, goal, verdict->at, &most))
        return false;
    verdict->goal = goal;
    verdict->value = most;
    verdict->threshold = final_model_best(study, goal, &verdict->compared);
    return most < verdict->threshold;
}

static void judge(const struct stop_study *study, size_t current,
                  struct stop_verdict *verdict)
{
    if (!stop_guard_opens(&guard, study, current))
        return;
    stop_where_all_fall_short(misses, study, current, verdict);
    if (verdict->prediction.known &&
        verdict->prediction.probability >= some_chance)
        verdict->action = STOP_GO_ON;
}

const struct stop_rule convex_rule = {"convex", judge, NULL};
