#include "algorithms/stop/early_stop.h"

#include <math.h>

#include "algorithms/stop/final_model.h"
#include "algorithms/stop/learning_curve.h"

/* A trial that may still be as good as any in its own way continues. */
static const double least_hope = 0.05;

/* Behind this share of the way nothing is saved that is worth a result. */
static const double latest_share = 0.95;

static const struct stop_rule *const rules[] = {
    [EARLY_NONE] = NULL,         [EARLY_MEDIAN] = &median_rule,
    [EARLY_DECAY] = &decay_rule, [EARLY_CONVEX] = &convex_rule,
    [EARLY_ASHA] = &asha_rule,   [EARLY_HYPERBAND] = &hyperband_rule,
};

const struct stop_rule *stop_rule_find(enum job_early_stop rule)
{
    return rules[rule];
}

static double or_default(int64_t said, double otherwise)
{
    return said > 0 ? (double)said : otherwise;
}

bool stop_wait_is_set(const struct early_stop *options)
{
    return options->min_steps > 0 || options->min_measurements > 0;
}

bool stop_guard_opens(const struct stop_guard *guard,
                      const struct stop_study *study, size_t current)
{
    const struct early_stop *options = study->options;
    const struct learning_curve curve = {&study->curves[current], 0};
    const bool set = stop_wait_is_set(options);
    const double share = set ? guard->share : fmax(guard->share, STOP_SHARE);
    const double measurements =
        fmax((double)guard->measurements, set ? 0 : STOP_REPORTS);
    double at, end, whole = 0;
    for (size_t i = 0; i < study->n; i++)
        whole +=
            study->curves[i].end == STOP_END_WHOLE && study->curves[i].n > 0;
    return whole >= or_default(options->min_trials, (double)guard->trials) &&
           learning_curve_end(&curve, &at) && final_model_place(study, &end) &&
           at >= or_default(options->min_steps, share * end) &&
           at < latest_share * end &&
           (double)learning_curve_count(&curve, at) >=
               or_default(options->min_measurements, measurements);
}

void stop_where_all_fall_short(stop_shortfall *falls_short,
                               const struct stop_study *study, size_t current,
                               struct stop_verdict *verdict)
{
    struct stop_prediction *prediction = &verdict->prediction;
    for (size_t k = study->setting->n_goals; k > 0; k--)
        if (!study->setting->goals[k - 1].safety &&
            !falls_short(study, current, k - 1, verdict))
            return;
    final_model_predict(study, current, prediction);
    if (setting_objectives(study->setting) == 1 ||
        (prediction->known && prediction->probability < least_hope))
        verdict->action = STOP_NOW;
}

void early_stop_judge(const struct stop_study *study, size_t current,
                      struct stop_verdict *verdict)
{
    const struct stop_rule *rule = stop_rule_find(study->options->rule);
    const struct learning_curve curve = {&study->curves[current], 0};
    *verdict =
        (struct stop_verdict){.value = NAN, .threshold = NAN, .rung = -1};
    if (rule == NULL || !learning_curve_end(&curve, &verdict->at))
        return;
    rule->judge(study, current, verdict);
    if (verdict->action != STOP_GO_ON && !verdict->prediction.known)
        final_model_predict(study, current, &verdict->prediction);
}
