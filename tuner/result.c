#include "tuner/result.h"

#include <math.h>

#include <cjson/cJSON.h>

static double final_value(const struct trial_row *trial, const cJSON *metrics,
                          const char *name, bool is_objective)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(metrics, name);
    if (is_objective)
        return trial->has_objective ? trial->objective : NAN;
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

struct observation result_read(const struct job *job,
                               const struct trial_row *trial,
                               const struct value point[],
                               double values[SETTING_METRICS])
{
    bool feasible = trial->has_objective;
    cJSON *metrics =
        trial->final_metrics == NULL ? NULL : cJSON_Parse(trial->final_metrics);
    for (size_t k = 0; k < job->n_metrics && k < SETTING_METRICS; k++) {
        const struct metric_goal *metric = &job->metrics[k];
        const double value = final_value(trial, metrics, metric->name, k == 0);
        values[k] = metric->maximize ? value : -value;
        feasible = feasible && isfinite(value);
    }
    cJSON_Delete(metrics);
    return (struct observation){
        .point = point, .feasible = feasible, .values = values};
}
