/* The decay curve rule: a trial stops when the result that a Gaussian process
 * foretells from its curve hardly has a chance against those that are in. */
#include <math.h>

#include "algorithms/stop/early_stop.h"
#include "algorithms/stop/final_model.h"
#include "algorithms/stop/learning_curve.h"

static const double least_chance = 0.05;

static const struct stop_guard guard = {
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

static void judge(const struct stop_study *study, size_t current,
                  struct stop_verdict *verdict)
{
    struct stop_prediction *prediction = &verdict->prediction;
    if (!stop_guard_opens(&guard, study, current) ||
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

const struct stop_rule decay_rule = {"decay", judge, NULL};
