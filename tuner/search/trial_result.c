#include "tuner/search/trial_result.h"

#include <math.h>

#include <cjson/cJSON.h>

#include "tuner/search/stop_record.h"

bool trial_result_values(const struct job *job, const double *objective,
                         const char *metrics, double values[SETTING_METRICS])
{
    cJSON *map = metrics == NULL ? NULL : cJSON_Parse(metrics);
    bool all = true;
    for (size_t k = 0; k < job->n_metrics && k < SETTING_METRICS; k++) {
        const struct metric_goal *metric = &job->metrics[k];
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(map, metric->name);
        double value = cJSON_IsNumber(item) ? item->valuedouble : NAN;
        if (k == 0)
            value = objective == NULL ? NAN : *objective;
        values[k] = metric->maximize ? value : -value;
        all = all && isfinite(value);
    }
    cJSON_Delete(map);
    return all;
}

bool trial_result_is_safe(const struct job *job,
                          const double values[SETTING_METRICS])
{
    for (size_t k = 0; k < job->n_metrics && k < SETTING_METRICS; k++) {
        const struct metric_goal *metric = &job->metrics[k];
        const double threshold =
            metric->maximize ? metric->threshold : -metric->threshold;
        if (metric->safety && !(values[k] >= threshold))
            return false;
    }
    return true;
}

bool trial_result_is_foretold(const struct job *job,
                              const struct trial_row *trial)
{
    double values[SETTING_METRICS];
    bool all = trial->state == TRIAL_PAUSED;
    for (size_t k = 0; k < job->n_metrics && k < SETTING_METRICS; k++)
        values[k] = NAN;
    if (all)
        stop_record_predicted(job, trial, values);
    for (size_t k = 0; k < job->n_metrics && k < SETTING_METRICS; k++)
        all = all && isfinite(values[k]);
    return all;
}

struct observation trial_result_read(const struct job *job,
                                     const struct trial_row *trial,
                                     const struct value point[],
                                     double values[SETTING_METRICS])
{
    const bool feasible = trial_result_values(
        job, trial->has_objective ? &trial->objective : NULL,
        trial->final_metrics, values);
    const double variance = stop_record_predicted(job, trial, values);
    return (struct observation){
        .point = point,
        .feasible = feasible || trial_result_is_foretold(job, trial),
        .values = values,
        .variance = variance};
}
