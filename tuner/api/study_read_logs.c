/* study_read_logs.c - `:readLogs` of a study: patterns are added to its job,
 * and what ended trials printed counts as if it had been reported. */

#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "tuner/api/method.h"
#include "tuner/api/study.h"
#include "tuner/ask/printed.h"
#include "tuner/base/reason.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/study/end.h"
#include "tuner/study/final_measurement.h"
#include "tuner/study/outputs.h"
#include "tuner/study/pauses.h"
#include "tuner/study/report_batch.h"
#include "tuner/study/trial.h"

struct outcome {      /* of a trial */
    const char *left; /* why it is as it was; NULL: it has succeeded */
    double objective;
    int64_t step;
};

struct reading {
    struct method_call *call;
    const struct printed *printed;
    struct strings patterns;  /* of the job, the added ones first */
    struct outcome *outcomes; /* of printed->trials */
    size_t read;              /* of them */
};

/* --- the patterns --- */

static enum ht_status add_patterns(struct reading *reading,
                                   struct ht_error *err)
{
    struct method_call *call = reading->call;
    const struct strings *added = &reading->printed->added;
    struct job *job;
    struct text what = {0};
    enum ht_status status =
        vertex_parse(call->arena, call->study.spec, &job, err);
    if (status != HT_OK)
        return status;
    const size_t before = job->stdout_patterns.n;
    reading->patterns =
        printed_patterns(call->arena, &job->stdout_patterns, added);
    job->stdout_patterns = reading->patterns;
    if (reading->patterns.n > before) {
        for (size_t i = 0; i < added->n; i++)
            text_printf(&what, "%s%s",
                        i == 0 ? "reads stdout with the pattern " : ", ",
                        added->items[i]);
        status = method_store_job(call, job, what.data, err);
    }
    text_free(&what);
    if (status == HT_OK)
        status = live_job(core_live(call->core), &call->study, &call->job, err);
    return status;
}

/* --- one trial --- */

static enum ht_status store_reports(const struct deciding *deciding,
                                    const struct job *job,
                                    const struct printed_trial *one,
                                    struct ht_error *err)
{
    struct report_batch batch = {
        .db = core_db(deciding->core),
        .arena = deciding->arena,
        .trial = deciding->trial,
        .attempt = deciding->attempt,
        .job = job,
        .key = {.study = deciding->trial->study,
                .trial = deciding->trial->id,
                .attempt = deciding->attempt->n,
                .replica = report_batch_master(deciding->arena, job)}};
    enum ht_status status = report_batch_begin(&batch, err);
    for (size_t i = 0; status == HT_OK && i < one->n; i++)
        status = report_batch_store(&batch, &one->reports[i], err);
    return status == HT_OK ? report_batch_end(&batch, err) : status;
}

/* What was printed may be no result, such as NaN; then nothing is stored. */
static enum ht_status try_reports(struct deciding *deciding,
                                  const struct job *job,
                                  const struct printed_trial *one,
                                  struct ht_error *err)
{
    struct db *db = core_db(deciding->core);
    enum ht_status status = db_savepoint(db, err);
    if (status != HT_OK)
        return status;
    status = store_reports(deciding, job, one, err);
    if (status == HT_OK)
        status = final_measurement_prepare(deciding, err);
    if (status == HT_OK && deciding->final.found)
        return db_release(db, err);
    db_rollback_to(db);
    return status;
}

static enum ht_status end_trial(const struct reading *reading,
                                struct deciding *deciding, struct ht_error *err)
{
    const struct job *job = deciding->job;
    enum ht_status status = outputs_spare(deciding->core, deciding->trial, err);
    if (status == HT_OK)
        status = final_measurement_end_trial(
            deciding, TRIAL_SUCCEEDED,
            reason_make(deciding->arena,
                        "%s was read from its log with the pattern %s",
                        job->metrics[0].name, reading->patterns.items[0]),
            err);
    if (status == HT_OK)
        status = pauses_note_result(deciding, err);
    return status == HT_OK
               ? outputs_note_end(deciding->core, deciding->trial, err)
               : status;
}

static enum ht_status read_trial(struct reading *reading, size_t i,
                                 struct ht_error *err)
{
    struct method_call *call = reading->call;
    const struct printed_trial *one = &reading->printed->trials[i];
    const struct trial_name name = {call->study.id, one->id, one->attempt};
    struct outcome *outcome = &reading->outcomes[i];
    struct trial_pair pair;
    outcome->left = one->left;
    if (one->left != NULL)
        return HT_OK;
    enum ht_status status = db_trial_get(call->db, call->arena, name.study,
                                         one->id, &pair.trial, err);
    if (status == HT_OK)
        status =
            db_attempt_get(call->db, call->arena, &name, &pair.attempt, err);
    if (status == HT_NOT_FOUND ||
        (status == HT_OK && (pair.trial.state != TRIAL_INFEASIBLE ||
                             pair.trial.attempt != one->attempt))) {
        outcome->left = "it was changed meanwhile";
        return HT_OK;
    }
    struct deciding deciding = {.core = call->core,
                                .arena = call->arena,
                                .trial = &pair.trial,
                                .attempt = &pair.attempt};
    if (status == HT_OK)
        status = try_reports(&deciding, call->job, one, err);
    if (status != HT_OK)
        return status;
    outcome->left = deciding.final.found ? NULL : deciding.final.why;
    if (outcome->left != NULL)
        return HT_OK;
    outcome->objective = deciding.final.objective;
    outcome->step = deciding.final.step;
    reading->read++;
    return end_trial(reading, &deciding, err);
}

/* --- all of them --- */

/* A pattern that reads nothing is likelier wrong than new, unless there are
 * logs to come. */
static enum ht_status check_read(const struct reading *reading,
                                 struct ht_error *err)
{
    const struct printed *printed = reading->printed;
    if (reading->read > 0 || printed->n == 0 || printed->after > 0 ||
        printed->next > 0)
        return HT_OK;
    return ht_fail(err, HT_PRECONDITION,
                   "no log of the %zu trial%s without %s has it, nothing was "
                   "changed; trial %lld: %s",
                   printed->n, printed->n == 1 ? "" : "s",
                   reading->call->job->metrics[0].name,
                   (long long)printed->trials[0].id, reading->outcomes[0].left);
}

/* A study that failed as it had no result has one now. */
static enum ht_status reopen(const struct reading *reading,
                             struct ht_error *err)
{
    struct method_call *call = reading->call;
    const enum ht_status status =
        db_study_get(call->db, call->arena, call->study.id, &call->study, err);
    if (status != HT_OK || reading->read == 0 ||
        call->study.state != STUDY_FAILED)
        return status;
    return study_reopen(
        call->core, &call->study,
        arena_printf(call->arena, "the logs of %zu trial%s have %s",
                     reading->read, reading->read == 1 ? "" : "s",
                     call->job->metrics[0].name),
        err);
}

static void reply(const struct reading *reading, int64_t running)
{
    const struct printed *printed = reading->printed;
    const struct study_row *study = &reading->call->study;
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "study", study->name);
    json_add_string(object, "state", db_study_state_name(study->state));
    json_add_strings(object, "patterns", &reading->patterns);
    cJSON *read = json_add_array(object, "read");
    cJSON *left = json_add_array(object, "left");
    for (size_t i = 0; i < printed->n; i++) {
        const struct outcome *outcome = &reading->outcomes[i];
        cJSON *item = json_push_object(outcome->left == NULL ? read : left);
        json_add_int_text(item, "trial", printed->trials[i].id);
        if (outcome->left != NULL) {
            json_add_string(item, "reason", outcome->left);
            continue;
        }
        json_add_double(item, "objective", outcome->objective);
        json_add_int_text(item, "step", outcome->step);
    }
    json_add_int(object, "running", running);
    json_add_count(object, "next", printed->next);
    json_print(object, &reading->call->req->reply);
}

static enum ht_status read_logs(struct method_call *call, struct ht_error *err)
{
    const struct printed *printed = call->req->kept;
    struct reading reading = {
        .call = call,
        .printed = printed,
        .outcomes =
            arena_alloc(call->arena, printed->n + 1, sizeof(struct outcome))};
    struct trial_counts counts;
    enum ht_status status = method_check_not_stopped(call, err);
    if (status == HT_OK)
        status = add_patterns(&reading, err);
    for (size_t i = 0; status == HT_OK && i < printed->n; i++)
        status = read_trial(&reading, i, err);
    if (status == HT_OK)
        status = check_read(&reading, err);
    if (status == HT_OK)
        status = reopen(&reading, err);
    if (status == HT_OK)
        status = method_settle(call, err);
    if (status == HT_OK)
        status = db_trial_counts(call->db, call->study.id, &counts, err);
    if (status == HT_OK)
        reply(&reading, trial_counts_all(&counts, TRIAL_ACTIVE) +
                            trial_counts_all(&counts, TRIAL_STOPPING));
    return status;
}

METHOD(study_read_logs, METHOD_STUDY, read_logs, NULL)
