#include "tuner/study/final_measurement.h"

#include <math.h>
#include <string.h>

#include "proto/base/text.h"
#include "proto/doc/node.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/db/write.h"
#include "tuner/search/pareto_trials.h"
#include "tuner/study/metric_doctor.h"
#include "tuner/study/move.h"
#include "tuner/study/outputs.h"
#include "tuner/study/report_batch.h"
#include "tuner/study/running_time.h"

enum {
    LOOKED_AT = 100,  /* records read for the names that did come */
    MOST_METRICS = 64 /* of a result, when other records add theirs */
};

/* "ended without reporting accuracy; saw: acuracy; ..." */
static enum ht_status why_missing(struct deciding *deciding, const char *metric,
                                  struct ht_error *err)
{
    const struct attempt_row *attempt = deciding->attempt;
    struct metric_symptoms symptoms = {
        .job = deciding->job,
        .metric = metric,
        .master = report_batch_master(deciding->arena, deciding->job),
        .evidence = deciding->evidence};
    const enum ht_status status = db_measurement_list(
        core_db(deciding->core), deciding->arena, attempt->study,
        attempt->trial, LOOKED_AT, &symptoms.records, err);
    if (status != HT_OK)
        return status;
    const struct metric_diagnosis diagnosis =
        metric_doctor_examine(deciding->arena, &symptoms);
    deciding->final = (struct final_measurement){.why = diagnosis.reason,
                                                 .doctor = diagnosis.json};
    return db_attempt_set_doctor(core_db(deciding->core), attempt,
                                 diagnosis.json, err);
}

static void say_not_finite(struct deciding *deciding, const char *metric,
                           double value)
{
    char text[TEXT_DOUBLE_BYTES];
    deciding->final = (struct final_measurement){
        .why = arena_printf(deciding->arena, "%s was %s at step %lld", metric,
                            text_of_double(text, value),
                            (long long)deciding->final.step)};
}

/* --- the record that counts --- */

/* Its values, with room for metrics that it lacks. */
struct record {
    struct replica_key key;
    size_t n;
    struct report_metric *metrics;
    struct measurement_row chosen;
};

static void read_record(const struct deciding *deciding, const char *text,
                        struct record *record)
{
    struct arena *arena = deciding->arena;
    const struct attempt_row *attempt = deciding->attempt;
    struct diag diag;
    diag_init(&diag, arena, "metrics", text, strlen(text));
    const struct node *map = node_read_json(arena, text, strlen(text), &diag);
    const size_t most = (map == NULL ? 0 : map->count) +
                        deciding->job->n_metrics + MOST_METRICS;
    *record = (struct record){
        .key = {.study = attempt->study,
                .trial = attempt->trial,
                .attempt = attempt->n,
                .replica = report_batch_master(arena, deciding->job)},
        .metrics = arena_alloc(arena, most, sizeof *record->metrics)};
    for (const struct node *item = map == NULL ? NULL : map->first;
         item != NULL; item = item->next)
        record->metrics[record->n++] = (struct report_metric){
            item->key, node_get_double(map, item->key, NAN)};
}

/* record->n where it lacks the metric. */
static size_t index_of(const struct record *record, const char *metric)
{
    size_t i = 0;
    while (i < record->n && strcmp(record->metrics[i].name, metric) != 0)
        i++;
    return i;
}

static enum ht_status choose(struct deciding *deciding, struct record *record,
                             struct ht_error *err)
{
    struct attempt_scores scores;
    const enum ht_status status =
        db_scores_get(core_db(deciding->core), deciding->arena,
                      deciding->attempt, &scores, err);
    if (status != HT_OK)
        return status;
    const char *objective = deciding->job->metrics[0].name;
    if (scores.last.metrics == NULL)
        return why_missing(deciding, objective, err);
    const bool best =
        deciding->job->selection == SELECT_BEST && scores.best.metrics != NULL;
    const struct measurement_row *chosen = best ? &scores.best : &scores.last;
    read_record(deciding, chosen->metrics, record);
    record->chosen = *chosen;
    const size_t at = index_of(record, objective);
    const double value = at < record->n ? record->metrics[at].value : NAN;
    deciding->final.step = chosen->step;
    if (!isfinite(value)) {
        say_not_finite(deciding, objective, value);
        return HT_OK;
    }
    deciding->final = (struct final_measurement){.found = true,
                                                 .objective = value,
                                                 .step = chosen->step,
                                                 .metrics = chosen->metrics};
    return HT_OK;
}

/* --- the other metrics --- */

/* Trainers may report one metric a record: what the chosen one lacks is looked
 * for in the others. */
static enum ht_status find_metric(const struct deciding *deciding,
                                  const char *metric, struct record *record,
                                  const struct report_metric **value,
                                  struct ht_error *err)
{
    const size_t i = index_of(record, metric);
    bool found = true;
    enum ht_status status = HT_OK;
    if (i == record->n) {
        const struct metric_question question = {record->key, metric,
                                                 deciding->final.step};
        status = db_measurement_value(core_db(deciding->core), &question,
                                      &record->metrics[i].value, &found, err);
        record->metrics[i].name = metric;
        record->n += found ? 1 : 0;
    }
    *value = found ? &record->metrics[i] : NULL;
    return status;
}

static enum ht_status complete(struct deciding *deciding, struct record *record,
                               struct ht_error *err)
{
    const struct job *job = deciding->job;
    for (size_t i = 1; i < job->n_metrics; i++) {
        const char *name = job->metrics[i].name;
        const struct report_metric *metric;
        const enum ht_status status =
            find_metric(deciding, name, record, &metric, err);
        if (status != HT_OK)
            return status;
        if (metric == NULL)
            return why_missing(deciding, name, err);
        if (!isfinite(metric->value)) {
            say_not_finite(deciding, name, metric->value);
            return HT_OK;
        }
    }
    deciding->final.metrics =
        report_batch_metrics_text(deciding->arena, record->n, record->metrics);
    return HT_OK;
}

/* What is no goal, and was reported in records of its own. */
static enum ht_status add_others(struct deciding *deciding,
                                 struct record *record, struct ht_error *err)
{
    struct arena *arena = deciding->arena;
    struct measurement_list list;
    const size_t before = record->n;
    const enum ht_status status = db_measurement_around(
        core_db(deciding->core), arena, &record->chosen, &list, err);
    for (size_t i = 0; status == HT_OK && i < list.n; i++) {
        const struct node *map = node_read_stored(arena, list.rows[i].metrics);
        NODE_EACH (item, node_items(map)) {
            const double value = node_get_double(map, item->key, NAN);
            if (!isfinite(value) || record->n >= MOST_METRICS ||
                index_of(record, item->key) < record->n)
                continue;
            record->metrics[record->n++] =
                (struct report_metric){item->key, value};
        }
    }
    if (record->n > before)
        deciding->final.metrics =
            report_batch_metrics_text(arena, record->n, record->metrics);
    return status;
}

/* Nothing comes any more, so what was thinned out and may count is stored. */
static enum ht_status store_held(struct deciding *deciding,
                                 struct ht_error *err)
{
    const struct attempt_row *attempt = deciding->attempt;
    if (attempt == NULL)
        return HT_OK;
    struct report_batch batch = {.db = core_db(deciding->core),
                                 .arena = deciding->arena,
                                 .trial = deciding->trial,
                                 .attempt = attempt,
                                 .job = deciding->job,
                                 .key = {.study = attempt->study,
                                         .trial = attempt->trial,
                                         .attempt = attempt->n,
                                         .replica = report_batch_master(
                                             deciding->arena, deciding->job)}};
    return report_batch_release(&batch, err);
}

enum ht_status final_measurement_prepare(struct deciding *deciding,
                                         struct ht_error *err)
{
    struct record record = {0};
    enum ht_status status =
        db_study_get(core_db(deciding->core), deciding->arena,
                     deciding->trial->study, &deciding->study, err);
    if (status == HT_OK)
        status = live_job(core_live(deciding->core), &deciding->study,
                          &deciding->job, err);
    if (status == HT_OK)
        status = store_held(deciding, err);
    if (status != HT_OK || deciding->job->n_metrics == 0)
        return status;
    status = choose(deciding, &record, err);
    if (status == HT_OK && deciding->final.found &&
        deciding->job->n_metrics > 1)
        status = complete(deciding, &record, err);
    return status == HT_OK && deciding->final.found
               ? add_others(deciding, &record, err)
               : status;
}

/* --- the end of the trial --- */

/* The attempt that the result came from is the one winner the trial will ever
 * have. */
static enum ht_status save_winner(struct core *core, struct attempt_row *winner,
                                  struct ht_error *err)
{
    if (winner == NULL)
        return HT_OK;
    winner->winner = true;
    return db_attempt_save(core_db(core), winner, err);
}

enum ht_status final_measurement_end_trial(struct deciding *deciding,
                                           enum trial_state to,
                                           const char *reason,
                                           struct ht_error *err)
{
    struct trial_row *trial = deciding->trial;
    const bool counts = trial->confirms == 0 && deciding->job->n_metrics > 0;
    struct pareto_trials_change change = {0};
    enum ht_status status = save_winner(deciding->core, deciding->attempt, err);
    trial->has_objective = deciding->final.found;
    trial->objective = deciding->final.objective;
    trial->final_step = deciding->final.step;
    trial->final_metrics = deciding->final.metrics;
    if (status == HT_OK && counts)
        status = pareto_trials_note(core_db(deciding->core), deciding->arena,
                                    deciding->job, trial, &change, err);
    if (status == HT_OK)
        status = outputs_note_beaten(deciding->core, trial->study,
                                     deciding->job, &change.beaten, err);
    /* An end without a result was counted then. */
    const bool counted = trial->state == TRIAL_INFEASIBLE;
    if (status == HT_OK && counts && (change.gain || !counted))
        status = running_time_note(deciding->core, &deciding->study,
                                   change.gain, err);
    return status == HT_OK ? move_trial(deciding->core, trial, to, reason, err)
                           : status;
}
