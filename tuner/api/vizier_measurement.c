/* vizier_measurement.c - `:addTrialMeasurement` and `:complete` of Vizier's
 * trials. */

#include <math.h>
#include <string.h>

#include "proto/doc/node.h"
#include "tuner/api/method.h"
#include "tuner/api/vizier.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/trial_body.h"
#include "tuner/base/reason.h"
#include "tuner/core/core.h"
#include "tuner/db/write.h"
#include "tuner/study/final_measurement.h"
#include "tuner/study/measured.h"
#include "tuner/study/move.h"
#include "tuner/study/report_batch.h"
#include "tuner/study/trial.h"

enum { MOST_MEASUREMENTS = 10000 }; /* of one trial */

/* A client's measurements belong to no attempt; they count from 1. */
static struct replica_key key_of(const struct trial_row *trial)
{
    return (struct replica_key){
        .study = trial->study, .trial = trial->id, .replica = "client"};
}

/* --- addTrialMeasurement --- */

/* One, or several in order. */
struct body {
    struct place one, several;
};

static const struct field measure_fields[] = {
    {"measurement", field_place, .offset = offsetof(struct body, one)},
    {"measurements", field_place, .offset = offsetof(struct body, several)},
    {0}};

struct addition {
    struct place at;
    struct measurement measurement;
};

struct addition_list {
    size_t n;
    struct addition *items;
};

static void read_addition(const struct method_call *call,
                          const struct field_reader *reader, struct place at,
                          struct addition_list *list)
{
    struct addition *addition = &list->items[list->n];
    addition->at = at;
    list->n +=
        trial_body_measurement(reader, at, call->job, &addition->measurement);
}

static void read_several(const struct method_call *call,
                         const struct field_reader *reader, struct place at,
                         struct addition_list *list)
{
    size_t index = 0;
    if (at.node->kind != NODE_LIST) {
        field_wrong_kind(reader, at, "a list");
        return;
    }
    list->items =
        arena_alloc(reader->arena, at.node->count + 1, sizeof *list->items);
    NODE_EACH (node, at.node->first)
        read_addition(call, reader, field_item(reader, at, node, index++),
                      list);
}

static enum ht_status read_measurements(struct method_call *call,
                                        struct addition_list *list,
                                        struct ht_error *err)
{
    struct body body = {0};
    const enum ht_status status =
        trial_body_read(call->req, measure_fields, &body, err);
    if (!trial_body_is_message(call->req))
        return status;
    const struct field_reader reader = trial_body_reader(call->req);
    if (body.one.node != NULL && body.several.node != NULL) {
        field_error(&reader, body.one, "cannot be given with measurements");
    } else if (body.several.node != NULL) {
        read_several(call, &reader, body.several, list);
    } else if (body.one.node != NULL) {
        list->items = arena_alloc(reader.arena, 1, sizeof *list->items);
        read_addition(call, &reader, body.one, list);
    } else {
        diag_error(reader.diag, 0, 0, "measurement", "is missing");
    }
    return faults_check(call->req, err);
}

/* Later is a higher step, or the same step after a longer time. */
static bool is_later(const struct method_call *call,
                     const struct measurement *measurement,
                     const struct measurement_row *last)
{
    if (measurement->step != last->step)
        return measurement->step > last->step;
    return measurement->elapsed_ms > last->time_ms - call->trial.started_ms;
}

static enum ht_status next_seq(struct method_call *call,
                               const struct addition *addition, int64_t *seq,
                               struct ht_error *err)
{
    struct measurement_row last;
    const struct replica_key key = key_of(&call->trial);
    const enum ht_status status =
        db_measurement_newest(call->db, call->arena, &key, &last, err);
    if (status == HT_NOT_FOUND) {
        *seq = 1;
        return HT_OK;
    }
    if (status != HT_OK)
        return status;
    if (last.seq >= MOST_MEASUREMENTS)
        return ht_fail(err, HT_LIMIT, "trial %lld has %d measurements already",
                       (long long)call->trial.id, MOST_MEASUREMENTS);
    if (!is_later(call, &addition->measurement, &last)) {
        const struct field_reader reader = trial_body_reader(call->req);
        field_error(&reader, addition->at,
                    "is not later than the one before, of step %lld",
                    (long long)last.step);
        return faults_check(call->req, err);
    }
    *seq = last.seq + 1;
    return HT_OK;
}

static enum ht_status store(struct method_call *call,
                            const struct measurement *measurement, int64_t seq,
                            struct ht_error *err)
{
    struct trial_row *trial = &call->trial;
    const bool timed = measurement->elapsed_ms != MEASUREMENT_UNSAID;
    const struct measurement_row row = {
        .study = trial->study,
        .trial = trial->id,
        .replica = key_of(trial).replica,
        .seq = seq,
        .step = measurement->step,
        .time_ms = timed ? trial->started_ms + measurement->elapsed_ms
                         : core_wall_ms(call->core),
        .metrics = report_batch_metrics_text(
            call->arena, measurement->n_metrics, measurement->metrics),
        .checkpoint = ""};
    bool inserted;
    trial->latest =
        (struct record_name){row.attempt, row.replica, row.writer, row.seq};
    return db_measurement_insert(call->db, &row, &inserted, err);
}

static enum ht_status store_all(struct method_call *call,
                                const struct addition_list *list,
                                struct ht_error *err)
{
    const struct trial_row *trial = &call->trial;
    enum ht_status status = HT_OK;
    for (size_t i = 0; i < list->n && status == HT_OK; i++) {
        int64_t seq = 0;
        status = next_seq(call, &list->items[i], &seq, err);
        if (status == HT_OK)
            status = store(call, &list->items[i].measurement, seq, err);
    }
    if (status != HT_OK || list->n == 0)
        return status;
    status = db_trial_set_latest(call->db, trial, err);
    return status == HT_OK ? measured_note(call->core, trial, err) : status;
}

static enum ht_status add_measurements(struct method_call *call,
                                       struct ht_error *err)
{
    struct addition_list list = {0};
    enum ht_status status = read_measurements(call, &list, err);
    if (status == HT_OK)
        status = method_check_trial_open(call, err);
    if (status == HT_OK && call->trial.state == TRIAL_REQUESTED)
        status = move_trial(call->core, &call->trial, TRIAL_ACTIVE,
                            "a client measures it", err);
    return status == HT_OK ? store_all(call, &list, err) : status;
}

METHOD(vizier_add_measurement, METHOD_CLIENT_TRIAL, add_measurements,
       method_reply_trial)

/* --- the final measurement --- */

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

static enum ht_status conclude(struct method_call *call,
                               struct final_measurement final,
                               enum trial_state to, const char *reason,
                               struct ht_error *err)
{
    struct deciding deciding = {.core = call->core,
                                .arena = call->req->arena,
                                .trial = &call->trial,
                                .study = call->study,
                                .job = call->job,
                                .final = final};
    const enum ht_status status =
        final_measurement_end_trial(&deciding, to, reason, err);
    if (status == HT_OK)
        trial_forget(call->core, &call->trial);
    return status;
}

enum ht_status vizier_result_store(struct method_call *call,
                                   const struct vizier_result *result,
                                   struct ht_error *err)
{
    struct arena *arena = call->arena;
    const struct measurement *measurement = &result->measurement;
    const char *infeasible = result->infeasible;
    if (infeasible == NULL)
        infeasible = not_finite(arena, result);
    if (infeasible != NULL)
        return conclude(call, (struct final_measurement){.why = infeasible},
                        TRIAL_INFEASIBLE,
                        infeasible[0] == '\0' ? "reported as infeasible"
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

/* --- complete --- */

struct completion {
    struct place measurement;
    bool infeasible;
    const char *reason;
};

#define COMPLETION(member) offsetof(struct completion, member)

static const struct field complete_fields[] = {
    {"finalMeasurement", field_place, .offset = COMPLETION(measurement)},
    {"trialInfeasible", field_flag, .offset = COMPLETION(infeasible)},
    {"infeasibleReason", field_text, .offset = COMPLETION(reason)},
    {0}};

static enum ht_status read_completion(struct method_call *call,
                                      struct vizier_result *result,
                                      struct ht_error *err)
{
    struct completion completion = {0};
    const enum ht_status status =
        trial_body_read(call->req, complete_fields, &completion, err);
    if (!trial_body_is_message(call->req))
        return status;
    const struct field_reader reader = trial_body_reader(call->req);
    if (!completion.infeasible && completion.reason != NULL &&
        completion.reason[0] != '\0')
        diag_error(reader.diag, 0, 0, "infeasibleReason",
                   "requires trialInfeasible, which is not true");
    if (completion.infeasible)
        result->infeasible = completion.reason == NULL ? "" : completion.reason;
    else if (completion.measurement.node != NULL)
        vizier_result_read(&reader, completion.measurement, call->job, result);
    return faults_check(call->req, err);
}

static bool is_better(const struct job *job, double value, double than)
{
    return job->metrics[0].maximize ? value > than : value < than;
}

/* A stored measurement as a result; false when it lacks a metric. */
static bool read_stored(struct method_call *call,
                        const struct measurement_row *row,
                        struct vizier_result *result)
{
    struct arena *arena = call->arena;
    const struct job *job = call->job;
    const struct node *map = node_read_stored(arena, row->metrics);
    struct measurement found = {
        .step = row->step, .elapsed_ms = row->time_ms - call->trial.started_ms};
    found.metrics = arena_alloc(arena, job->n_metrics, sizeof *found.metrics);
    for (size_t i = 0; i < job->n_metrics; i++) {
        const char *name = job->metrics[i].name;
        if (node_find(map, name) == NULL)
            return false;
        found.metrics[found.n_metrics++] =
            (struct report_metric){name, node_get_double(map, name, NAN)};
    }
    *result = (struct vizier_result){.measurement = found,
                                     .objective = found.metrics[0].value};
    return true;
}

/* The last one, or of the best ones the first, as the study has it. */
static enum ht_status choose(struct method_call *call,
                             struct vizier_result *result, struct ht_error *err)
{
    struct measurement_list list;
    const enum ht_status status =
        db_measurement_list(call->db, call->arena, call->trial.study,
                            call->trial.id, MOST_MEASUREMENTS, &list, err);
    if (status != HT_OK)
        return status;
    const bool best = call->job->selection == SELECT_BEST;
    for (size_t i = list.n; i > 0; i--) {
        struct vizier_result found;
        if (!read_stored(call, &list.rows[i - 1], &found))
            continue;
        if (!vizier_result_is_given(result) || !isfinite(result->objective) ||
            (isfinite(found.objective) &&
             !is_better(call->job, result->objective, found.objective)))
            *result = found;
        if (!best)
            break;
    }
    if (vizier_result_is_given(result))
        return HT_OK;
    return ht_fail(err, HT_PRECONDITION,
                   "trial %lld has no measurement to choose from: give a "
                   "finalMeasurement or trialInfeasible",
                   (long long)call->trial.id);
}

static enum ht_status complete_trial(struct method_call *call,
                                     struct ht_error *err)
{
    struct vizier_result result = {0};
    enum ht_status status = read_completion(call, &result, err);
    if (status == HT_OK)
        status = method_check_trial_open(call, err);
    if (status == HT_OK && !vizier_result_is_given(&result))
        status = choose(call, &result, err);
    return status == HT_OK ? vizier_result_store(call, &result, err) : status;
}

METHOD(vizier_complete_trial, METHOD_CLIENT_TRIAL, complete_trial,
       method_reply_trial)
