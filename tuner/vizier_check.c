#include <math.h>
#include <string.h>

#include "algorithms/median_stop.h"
#include "proto/json.h"
#include "proto/node.h"
#include "tuner/db_write.h"
#include "tuner/memory.h"
#include "tuner/operation.h"
#include "tuner/trial.h"
#include "tuner/vizier.h"

enum {
    COMPARED = 100,     /* completed trials, the newest: their median is as good
                           as that of all, and the time stays bounded */
    CURVE_POINTS = 1000 /* looked at of one trial */
};

/* The objective of a record, negated when it is minimised; NaN without one. */
static double value_of(const struct vizier_call *call, struct arena *arena,
                       const struct measurement_row *row)
{
    const struct metric_goal *goal = &call->job->metrics[0];
    const size_t len = strlen(row->metrics);
    struct diag diag;
    diag_init(&diag, arena, "metrics", row->metrics, len);
    const struct node *map = node_read_json(arena, row->metrics, len, &diag);
    const double value = node_get_double(map, goal->name, NAN);
    return goal->maximize ? value : -value;
}

static enum ht_status read_curve(const struct vizier_call *call, int64_t trial,
                                 struct curve *curve, struct ht_error *err)
{
    struct arena *arena = call->req->arena;
    struct measurement_list list;
    const enum ht_status status =
        db_measurement_list(core_db(call->core), arena, call->study.id, trial,
                            CURVE_POINTS, &list, err);
    if (status != HT_OK)
        return status;
    struct curve_point *points = arena_alloc(arena, list.n + 1, sizeof *points);
    for (size_t i = 0; i < list.n; i++)
        points[i] = (struct curve_point){(double)list.rows[i].step,
                                         value_of(call, arena, &list.rows[i])};
    *curve = (struct curve){list.n, points};
    return HT_OK;
}

static enum ht_status read_completed(const struct vizier_call *call,
                                     struct curve curves[COMPARED], size_t *n,
                                     struct ht_error *err)
{
    struct trial_list list;
    enum ht_status status =
        db_trial_completed(core_db(call->core), call->req->arena,
                           call->study.id, COMPARED, &list, err);
    for (size_t i = 0; status == HT_OK && i < list.n; i++)
        status = read_curve(call, list.rows[i].id, &curves[i], err);
    if (status == HT_OK)
        *n = list.n;
    return status;
}

/* What the rule says also moves the trial, so that everybody can see why. */
static enum ht_status apply_median(struct vizier_call *call,
                                   struct ht_error *err)
{
    struct curve current, completed[COMPARED];
    double scratch[COMPARED];
    size_t n = 0;
    enum ht_status status = read_curve(call, call->trial.id, &current, err);
    if (status == HT_OK && current.n > 0)
        status = read_completed(call, completed, &n, err);
    if (status != HT_OK || !median_stop(&current, n, completed, scratch))
        return status;
    return trial_end(call->core, &call->trial,
                     "its best is below the median of the other trials", err);
}

static enum ht_status find(struct vizier_call *call, struct ht_error *err)
{
    const enum ht_status status = trial_find_named(
        call->core, call->req, &call->study, &call->trial, err);
    return status == HT_OK ? memory_job(core_memory(call->core), &call->study,
                                        &call->job, err)
                           : status;
}

static void reply(const struct vizier_call *call)
{
    struct arena *arena = call->req->arena;
    const char *study = vizier_study_name(arena, &call->study);
    const char *trial =
        arena_printf(arena, "%s/trials/%lld", study, (long long)call->trial.id);
    struct operation operation = {
        .resource = trial,
        .metadata = operation_message("CheckTrialEarlyStoppingStateMetatdata"),
        .response = operation_message("CheckTrialEarlyStoppingStateResponse")};
    operation_add_times(call->core, operation.metadata);
    json_add_string(operation.metadata, "study", study);
    json_add_string(operation.metadata, "trial", trial);
    json_add_bool(operation.response, "shouldStop",
                  call->trial.state >= TRIAL_STOPPING ||
                      call->study.state >= STUDY_STOPPING);
    operation_reply(call->core, call->req, &operation);
}

enum ht_status trial_check_stop(struct core *core, struct request *req,
                                struct ht_error *err)
{
    struct vizier_call call = {.core = core, .req = req};
    enum ht_status status = find(&call, err);
    if (status == HT_OK && call.job->early_stop.rule == EARLY_MEDIAN &&
        call.job->n_metrics > 0 && call.trial.state == TRIAL_ACTIVE)
        status = apply_median(&call, err);
    if (status == HT_OK)
        reply(&call);
    return status;
}
