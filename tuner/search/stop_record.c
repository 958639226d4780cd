#include "tuner/search/stop_record.h"

#include <math.h>
#include <string.h>

#include "algorithms/stop/early_stop.h"
#include "proto/doc/json.h"
#include "tuner/base/reason.h"

enum { CURVE_POINTS = 50, DIGITS = 4 };

/* What a rule compares with what. */
static const struct words {
    const char *value, *threshold;
} words[] = {
    [EARLY_MEDIAN] = {"best", "median"},     [EARLY_DECAY] = {"value", "best"},
    [EARLY_CONVEX] = {"reach", "best"},      [EARLY_ASHA] = {"value", "needed"},
    [EARLY_HYPERBAND] = {"value", "needed"},
};

static double users(const struct job *job, size_t goal, double value)
{
    return job->metrics[goal].maximize ? value : -value;
}

/* --- JSON --- */

static void add_predicted(cJSON *object, const struct job *job,
                          const struct stop_prediction *prediction)
{
    if (!prediction->known)
        return;
    cJSON *array = json_add_array(object, "predicted");
    for (size_t k = 0; k < job->n_metrics; k++) {
        if (!isfinite(prediction->final[k]))
            continue;
        cJSON *item = json_push_object(array);
        json_add_string(item, "metric", job->metrics[k].name);
        json_add_double(item, "value", users(job, k, prediction->final[k]));
        json_add_double(item, "deviation", sqrt(prediction->variance[k]));
    }
    json_add_double(object, "end", prediction->at);
    json_add_double(object, "probability", prediction->probability);
}

/* Evenly chosen points, the last one among them. */
static void add_curve(cJSON *object, const struct job *job,
                      const struct stop_curve *curve, size_t goal)
{
    cJSON *array = json_add_array(object, "curve");
    const size_t every = (curve->n + CURVE_POINTS - 1) / CURVE_POINTS;
    for (size_t i = 0; i < curve->n; i++) {
        const struct stop_point *point = &curve->points[i];
        if ((curve->n - 1 - i) % every != 0 || !isfinite(point->values[goal]))
            continue;
        cJSON *pair = cJSON_CreateArray();
        json_push_double(pair, point->at);
        json_push_double(pair, users(job, goal, point->values[goal]));
        cJSON_AddItemToArray(array, pair);
    }
}

const char *stop_record_text(struct arena *arena, const struct job *job,
                             const struct stop_curve *curve,
                             const struct stop_verdict *verdict)
{
    const size_t goal = verdict->goal;
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "rule", stop_rule_find(job->early_stop.rule)->name);
    json_add_string(object, "metric", job->metrics[goal].name);
    if (job->early_stop.by_time)
        json_add_string(object, "by", "time");
    json_add_double(object, "at", verdict->at);
    if (isfinite(verdict->value))
        json_add_double(object, "value", users(job, goal, verdict->value));
    if (isfinite(verdict->threshold))
        json_add_double(object, "threshold",
                        users(job, goal, verdict->threshold));
    json_add_int(object, "trials", (int64_t)verdict->compared);
    if (verdict->rung >= 0)
        json_add_int(object, "rung", verdict->rung);
    add_predicted(object, job, &verdict->prediction);
    add_curve(object, job, curve, goal);
    return json_text(arena, object);
}

static double number_of(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static double read_predicted(const struct job *job, const cJSON *predicted,
                             double values[SETTING_METRICS])
{
    double variance = 0;
    for (size_t k = 0; k < job->n_metrics && k < SETTING_METRICS; k++) {
        const cJSON *item = predicted == NULL ? NULL : predicted->child;
        for (; item != NULL; item = item->next) {
            const cJSON *name =
                cJSON_GetObjectItemCaseSensitive(item, "metric");
            if (!cJSON_IsString(name) ||
                strcmp(name->valuestring, job->metrics[k].name) != 0)
                continue;
            const double deviation = number_of(item, "deviation");
            if (isnan(deviation)) /* beyond all numbers: nothing is known */
                continue;
            values[k] = users(job, k, number_of(item, "value"));
            variance = k == 0 ? deviation * deviation : variance;
        }
    }
    return variance;
}

double stop_record_predicted(const struct job *job,
                             const struct trial_row *trial,
                             double values[SETTING_METRICS])
{
    const bool early =
        trial->state == TRIAL_STOPPED || trial->state == TRIAL_PAUSED;
    if (!early || trial->stop == NULL || trial->stop[0] == '\0')
        return 0;
    double variance = 0;
    cJSON *record = cJSON_Parse(trial->stop);
    const bool whole = !cJSON_HasObjectItem(record, "by") &&
                       (double)trial->final_step >= number_of(record, "end");
    if (!whole)
        variance = read_predicted(
            job, cJSON_GetObjectItemCaseSensitive(record, "predicted"), values);
    cJSON_Delete(record);
    return variance;
}

/* --- words --- */

static const char *compared(struct arena *arena, const struct job *job,
                            const struct stop_verdict *verdict)
{
    const struct words *said = &words[job->early_stop.rule];
    const size_t goal = verdict->goal;
    const double value = users(job, goal, verdict->value);
    const double threshold = users(job, goal, verdict->threshold);
    if (!isfinite(value) || !isfinite(threshold))
        return "";
    return arena_printf(arena, ": %s %.*g %s %s %.*g of %zu trials",
                        said->value, DIGITS, value,
                        value < threshold   ? "<"
                        : value > threshold ? ">"
                                            : "=",
                        said->threshold, DIGITS, threshold, verdict->compared);
}

static const char *predicted(struct arena *arena, const struct job *job,
                             const struct stop_verdict *verdict)
{
    const struct stop_prediction *prediction = &verdict->prediction;
    const size_t goal = verdict->goal;
    if (!prediction->known || !isfinite(prediction->final[goal]))
        return "";
    return arena_printf(arena, "; predicted final %.*g \u00b1 %.2g", DIGITS,
                        users(job, goal, prediction->final[goal]),
                        sqrt(prediction->variance[goal]));
}

const char *stop_record_reason(struct arena *arena, const struct job *job,
                               const struct stop_verdict *verdict)
{
    const bool by_time = job->early_stop.by_time;
    return reason_make(
        arena, "%s by the %s rule %s %.6g%s%s%s",
        verdict->action == STOP_PAUSE ? "paused" : "stopped early",
        stop_rule_find(job->early_stop.rule)->name,
        by_time ? "after" : "at step", verdict->at, by_time ? " s" : "",
        compared(arena, job, verdict), predicted(arena, job, verdict));
}
