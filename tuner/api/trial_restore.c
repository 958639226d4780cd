/* trial_restore.c - `trials:restore`: trials of an exported study, as they
 * were. */

#include "tuner/api/trial.h"
#include "tuner/ask/faults.h"

#include <math.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/token.h"
#include "tuner/api/method.h"
#include "tuner/ask/trial_body.h"
#include "tuner/db/write.h"
#include "tuner/study/final_measurement.h"
#include "tuner/study/live_edit.h"
#include "tuner/study/report_batch.h"
#include "tuner/study/trial.h"

enum { MOST_ITEMS = 10000, MOST_ATTEMPTS = 1000000 };

/* --- reading --- */

struct metric_list {
    size_t n;
    struct report_metric *items;
};

struct restored {
    struct trial_row row;
    struct place params, metrics, state;
    const char *runner;
    struct value *point;
    struct metric_list final;
};

struct remembered { /* a measurement */
    struct measurement_row row;
    struct place metrics;
};

struct restoring {
    struct place trials, measurements;
    size_t n_trials, n_measurements;
    struct restored *restored;
    struct remembered *remembered;
};

static const struct field_choice states[] = {
    {"SUCCEEDED", -1, TRIAL_SUCCEEDED}, {"STOPPED", -1, TRIAL_STOPPED},
    {"FAILED", -1, TRIAL_FAILED},       {"INFEASIBLE", -1, TRIAL_INFEASIBLE},
    {"CANCELLED", -1, TRIAL_CANCELLED}, {0}};

#define ROW(member) offsetof(struct restored, row.member)
#define RECORD(member) offsetof(struct remembered, row.member)

static const struct field trial_fields[] = {
    {"id", field_whole, ROW(id), .min = 1, .max = HT_MAX_TRIAL_ID},
    {"state", field_choose, .offset = ROW(state), .choices = states},
    {"params", field_place, .offset = offsetof(struct restored, params)},
    {"metrics", field_place, .offset = offsetof(struct restored, metrics)},
    {"step", field_whole, ROW(final_step), .max = INT64_MAX},
    {"elapsed", field_duration, .offset = ROW(final_elapsed_ms)},
    {"attempt", field_whole, ROW(attempt), .min = 1, .max = MOST_ATTEMPTS},
    {"replicate", field_whole, ROW(replicate), .max = HT_MAX_TRIALS},
    {"confirms", field_whole, ROW(confirms), .min = 1, .max = HT_MAX_TRIAL_ID},
    {"runner", field_text, .offset = offsetof(struct restored, runner)},
    {"client", field_text, .offset = ROW(client)},
    {"reason", field_text, .offset = ROW(reason)},
    {"created", field_moment, .offset = ROW(created_ms)},
    {"started", field_moment, .offset = ROW(started_ms)},
    {"ended", field_moment, .offset = ROW(ended_ms)},
    {.name = "value", .read = field_skip},
    {0}};

static const struct field record_fields[] = {
    {"trial", field_whole, RECORD(trial), .min = 1, .max = HT_MAX_TRIAL_ID},
    {"step", field_whole, RECORD(step), .max = INT64_MAX},
    {"timeMs", field_whole, RECORD(time_ms), .max = INT64_MAX},
    {"attempt", field_whole, RECORD(attempt), .max = MOST_ATTEMPTS},
    {"replica", field_name, .offset = RECORD(replica)},
    {"checkpoint", field_text, .offset = RECORD(checkpoint)},
    {"metrics", field_place, .offset = offsetof(struct remembered, metrics)},
    {0}};

#define RESTORING(member) offsetof(struct restoring, member)

static const struct field body_fields[] = {
    {"trials", field_place, .offset = RESTORING(trials)},
    {"measurements", field_place, .offset = RESTORING(measurements)},
    {0}};

/* {"loss": 0.25}; what was no number is a text. */
static void read_metric_values(const struct field_reader *reader,
                               struct place at, struct metric_list *list)
{
    if (at.node == NULL)
        return;
    if (at.node->kind != NODE_MAP || at.node->count > HT_MAX_METRICS) {
        field_error(reader, at, "must be a map of at most %d metrics",
                    HT_MAX_METRICS);
        return;
    }
    list->items =
        arena_alloc(reader->arena, at.node->count + 1, sizeof *list->items);
    NODE_EACH (node, at.node->first) {
        const struct place member = field_child(reader, at, node);
        double value;
        if (field_is_metric(reader, member, node->key) &&
            trial_body_number(reader, member, &value))
            list->items[list->n++] = (struct report_metric){node->key, value};
    }
}

static void check_length(const struct field_reader *reader, struct place at,
                         const char *key, const char *text)
{
    if (text != NULL && strlen(text) > HT_MAX_NAME)
        field_error(reader, field_member(reader, at, key), "is over %d bytes",
                    HT_MAX_NAME);
}

static void require(const struct field_reader *reader, struct place at,
                    const char *key)
{
    if (field_member(reader, at, key).node == NULL)
        field_missing(reader, at, key, NULL);
}

static const double *find_metric(const struct metric_list *list,
                                 const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return &list->items[i].value;
    return NULL;
}

/* Whose result counts has a number for every goal. */
static void check_result(const struct method_call *call,
                         const struct field_reader *reader, struct place at,
                         const struct restored *trial)
{
    const struct job *job = call->job;
    const bool counts = trial->row.state == TRIAL_SUCCEEDED ||
                        trial->row.state == TRIAL_STOPPED;
    for (size_t i = 0; counts && i < job->n_metrics; i++) {
        const double *value = find_metric(&trial->final, job->metrics[i].name);
        if (value == NULL || !isfinite(*value))
            field_error(
                reader, at, "is %s without a number for the metric %.64s",
                db_trial_state_name(trial->row.state), job->metrics[i].name);
    }
}

static void read_point(const struct method_call *call,
                       const struct field_reader *reader,
                       struct restored *trial)
{
    const struct space *space = &call->job->space;
    struct ht_error why;
    trial->point =
        arena_alloc(reader->arena, space->n + 1, sizeof *trial->point);
    if (trial->params.node != NULL &&
        space_point_restore(space, trial->params.node, trial->point, &why) !=
            HT_OK)
        field_error(reader, trial->params, "%s", why.text);
}

static void read_trial(const struct method_call *call,
                       const struct field_reader *reader, struct place at,
                       struct restored *trial)
{
    *trial = (struct restored){
        .row = {.replicate = TRIAL_AGAIN, .final_elapsed_ms = -1}};
    field_read_map(reader, at, trial_fields, trial);
    if (at.node->kind != NODE_MAP)
        return;
    require(reader, at, "id");
    require(reader, at, "state");
    require(reader, at, "params");
    check_length(reader, at, "client", trial->row.client);
    check_length(reader, at, "runner", trial->runner);
    read_metric_values(reader, trial->metrics, &trial->final);
    read_point(call, reader, trial);
    check_result(call, reader, at, trial);
}

static void read_record(const struct field_reader *reader, struct place at,
                        struct remembered *record)
{
    struct metric_list list = {0};
    *record =
        (struct remembered){.row = {.replica = "client", .checkpoint = ""}};
    field_read_map(reader, at, record_fields, record);
    if (at.node->kind != NODE_MAP)
        return;
    require(reader, at, "trial");
    require(reader, at, "metrics");
    read_metric_values(reader, record->metrics, &list);
    if (record->metrics.node != NULL && list.n == 0)
        field_error(reader, record->metrics, "has no metric");
    record->row.metrics =
        report_batch_metrics_text(reader->arena, list.n, list.items);
}

static enum ht_status read_body(struct method_call *call,
                                struct restoring *body, struct ht_error *err)
{
    struct request *req = call->req;
    const enum ht_status status = trial_body_read(req, body_fields, body, err);
    if (status != HT_OK)
        return status;
    const struct field_reader reader = trial_body_reader(req);
    const size_t n = trial_body_count(&reader, body->trials, MOST_ITEMS);
    const size_t m = trial_body_count(&reader, body->measurements, MOST_ITEMS);
    body->restored = arena_alloc(req->arena, n + 1, sizeof *body->restored);
    body->remembered = arena_alloc(req->arena, m + 1, sizeof *body->remembered);
    const struct node *node = n > 0 ? body->trials.node->first : NULL;
    for (; node != NULL; node = node->next, body->n_trials++)
        read_trial(call, &reader,
                   field_item(&reader, body->trials, node, body->n_trials),
                   &body->restored[body->n_trials]);
    node = m > 0 ? body->measurements.node->first : NULL;
    for (; node != NULL; node = node->next, body->n_measurements++)
        read_record(
            &reader,
            field_item(&reader, body->measurements, node, body->n_measurements),
            &body->remembered[body->n_measurements]);
    return faults_check(req, err);
}

/* --- storing --- */

/* The token of an attempt that ran elsewhere is drawn and thrown away. */
static enum ht_status store_attempt(struct method_call *call,
                                    const struct restored *trial,
                                    struct ht_error *err)
{
    static const enum attempt_outcome outcomes[TRIAL_STATES] = {
        [TRIAL_SUCCEEDED] = OUTCOME_SUCCEEDED,
        [TRIAL_INFEASIBLE] = OUTCOME_SUCCEEDED,
        [TRIAL_STOPPED] = OUTCOME_STOPPED,
        [TRIAL_CANCELLED] = OUTCOME_STOPPED,
        [TRIAL_FAILED] = OUTCOME_FAILED};
    char unused[TOKEN_TEXT_BYTES];
    unsigned char hash[TOKEN_HASH_BYTES];
    const struct trial_row *row = &call->trial;
    const struct attempt_row attempt = {
        .study = row->study,
        .trial = row->id,
        .n = trial->row.attempt,
        .state = ATTEMPT_ENDED,
        .outcome = outcomes[trial->row.state],
        .runner = trial->runner == NULL ? "" : trial->runner,
        .exit_code = -1,
        .reason = row->reason,
        .winner = row->has_objective,
        .created_ms = row->created_ms,
        .started_ms = row->started_ms,
        .ended_ms = row->ended_ms};
    token_make(unused, TOKEN_HASH_BYTES);
    token_hash(hash, unused);
    const struct attempt_lease lease = {.boot = "", .token_hash = hash};
    const enum ht_status status =
        db_attempt_insert(call->db, &attempt, &lease, err);
    return status == HT_OK ? db_attempt_save(call->db, &attempt, err) : status;
}

static enum ht_status conclude(struct method_call *call,
                               const struct restored *trial,
                               struct ht_error *err)
{
    struct arena *arena = call->arena;
    const struct job *job = call->job;
    struct deciding deciding = {.core = call->core,
                                .arena = arena,
                                .trial = &call->trial,
                                .study = call->study,
                                .job = job};
    if (trial->final.n > 0)
        deciding.final.metrics = report_batch_metrics_text(
            arena, trial->final.n, trial->final.items);
    deciding.final.step = trial->row.final_step;
    if (trial->row.state == TRIAL_SUCCEEDED ||
        trial->row.state == TRIAL_STOPPED) {
        deciding.final.found = job->n_metrics > 0;
        deciding.final.objective =
            deciding.final.found
                ? *find_metric(&trial->final, job->metrics[0].name)
                : 0;
    }
    const char *reason = trial->row.reason == NULL ? "" : trial->row.reason;
    return final_measurement_end_trial(&deciding, trial->row.state, reason,
                                       err);
}

/* The row has the moments of what happened; its events have that of now. */
static enum ht_status store_trial(struct method_call *call,
                                  const struct restored *trial,
                                  struct ht_error *err)
{
    bool created = false;
    call->trial = trial->row;
    call->trial.state = TRIAL_ACTIVE;
    call->trial.attempt = 0;
    call->trial.params = method_params(call, trial->point);
    call->trial.outside = live_edit_leaves_out(call->job, call->trial.params);
    call->trial.reason = "imported";
    enum ht_status status =
        trial_create(call->core, &call->study, &call->trial, &created, err);
    if (status == HT_OK && !created)
        return ht_fail(err, HT_CONFLICT,
                       "trial %lld: replicate %lld of its point is there "
                       "already",
                       (long long)trial->row.id,
                       (long long)trial->row.replicate);
    if (status == HT_OK)
        status = conclude(call, trial, err);
    if (status != HT_OK)
        return status;
    call->trial.attempt = trial->row.attempt;
    call->trial.started_ms = trial->row.started_ms;
    call->trial.ended_ms = trial->row.ended_ms;
    call->trial.final_elapsed_ms = trial->row.final_elapsed_ms;
    status = db_trial_save(call->db, &call->trial, err);
    if (status == HT_OK && trial->row.attempt > 0)
        status = store_attempt(call, trial, err);
    trial_forget(call->core, &call->trial);
    return status;
}

static enum ht_status store_record(struct method_call *call,
                                   struct measurement_row *row,
                                   struct ht_error *err)
{
    struct arena *arena = call->arena;
    const int64_t study = call->study.id;
    const struct replica_key key = {study, row->trial, row->attempt,
                                    row->replica};
    struct measurement_row last;
    struct trial_row trial;
    bool inserted;
    enum ht_status status =
        db_trial_get(call->db, arena, study, row->trial, &trial, err);
    if (status != HT_OK)
        return ht_wrap(err, status, "measurements of trial %lld",
                       (long long)row->trial);
    if (!db_trial_state_is_final(trial.state))
        return ht_fail(err, HT_PRECONDITION, "trial %lld is %s, not restored",
                       (long long)row->trial, db_trial_state_name(trial.state));
    status = db_measurement_newest(call->db, arena, &key, &last, err);
    if (status != HT_OK && status != HT_NOT_FOUND)
        return status;
    row->study = study;
    row->seq = status == HT_OK ? last.seq + 1 : 1;
    status = db_measurement_insert(call->db, row, &inserted, err);
    if (status != HT_OK || row->attempt != trial.attempt)
        return status;
    trial.latest =
        (struct record_name){row->attempt, row->replica, row->writer, row->seq};
    return db_trial_set_latest(call->db, &trial, err);
}

static enum ht_status restore(struct method_call *call, struct ht_error *err)
{
    struct restoring body = {0};
    enum ht_status status = read_body(call, &body, err);
    if (status == HT_OK)
        status = method_check_study_open(call, err);
    for (size_t i = 0; status == HT_OK && i < body.n_trials; i++)
        status = store_trial(call, &body.restored[i], err);
    for (size_t i = 0; status == HT_OK && i < body.n_measurements; i++)
        status = store_record(call, &body.remembered[i].row, err);
    return status;
}

METHOD(trial_restore, METHOD_JOB, restore, method_reply_empty)
