#include "tuner/api/vizier_result.h"

#include <math.h>
#include <string.h>

#include "tuner/base/reason.h"
#include "tuner/study/final_measurement.h"
#include "tuner/study/report_batch.h"
#include "tuner/study/trial.h"

bool vizier_result_is_given(const struct vizier_result *result)
{
    return result->infeasible != NULL || result->measurement.n_metrics > 0;
}

/* With several metrics each of them is an objective. */
static void check_metrics(const struct field_reader *reader, struct place at,
                          const struct job *job,
                          const struct measurement *measurement)
{
    for (size_t i = 0; i < job->n_metrics; i++) {
        size_t j = 0;
        while (j < measurement->n_metrics &&
               strcmp(measurement->metrics[j].name, job->metrics[i].name) != 0)
            j++;
        if (j == measurement->n_metrics)
            field_error(reader, field_member(reader, at, "metrics"),
                        "metric \"%.64s\" is missing", job->metrics[i].name);
    }
}

void vizier_result_read(const struct field_reader *reader, struct place at,
                        const struct job *job, struct vizier_result *result)
{
    struct measurement measurement;
    if (!trial_body_measurement(reader, at, job, &measurement))
        return;
    check_metrics(reader, at, job, &measurement);
    const double *objective = trial_body_objective(&measurement, job);
    if (objective == NULL)
        return;
    *result = (struct vizier_result){.measurement = measurement,
                                     .objective = *objective};
}

/* Which metric is no number; NULL when all are. */
static const char *not_finite(struct arena *arena,
                              const struct vizier_result *result)
{
    const struct measurement *measurement = &result->measurement;
    char value[TEXT_DOUBLE_BYTES];
    size_t i = 0;
    while (i < measurement->n_metrics &&
           isfinite(measurement->metrics[i].value))
        i++;
    if (i == measurement->n_metrics)
        return NULL;
    return reason_make(arena, "%s was %s at step %lld",
                       measurement->metrics[i].name,
                       text_of_double(value, measurement->metrics[i].value),
                       (long long)measurement->step);
}

static enum ht_status conclude(struct vizier_call *call,
                               struct final_measurement final,
                               enum trial_state to, const char *reason,
                               struct ht_error *err)
{
    struct deciding deciding = {.trial = &call->trial,
                                .study = call->study,
                                .job = call->job,
                                .final = final};
    const enum ht_status status = final_measurement_apply(
        call->core, call->req->arena, &deciding, to, reason, err);
    if (status != HT_OK)
        return status;
    trial_forget(call->core, &call->trial);
    return HT_OK;
}

enum ht_status vizier_result_store(struct vizier_call *call,
                                   const struct vizier_result *result,
                                   struct ht_error *err)
{
    struct arena *arena = call->req->arena;
    const struct measurement *measurement = &result->measurement;
    const char *infeasible = result->infeasible;
    if (infeasible == NULL)
        infeasible = not_finite(arena, result);
    if (infeasible != NULL)
        return conclude(call, (struct final_measurement){.why = infeasible},
                        TRIAL_INFEASIBLE,
                        infeasible[0] == '\0' ? "told infeasible"
                                              : reason_cut(arena, infeasible),
                        err);
    const struct final_measurement final = {
        .found = true,
        .objective = result->objective,
        .step = measurement->step,
        .metrics = report_batch_metrics_text(arena, measurement->n_metrics,
                                             measurement->metrics)};
    const bool stopped = call->trial.state == TRIAL_STOPPING;
    call->trial.final_elapsed_ms = measurement->elapsed_ms;
    return conclude(call, final, stopped ? TRIAL_STOPPED : TRIAL_SUCCEEDED,
                    stopped ? call->trial.reason : "", err);
}
