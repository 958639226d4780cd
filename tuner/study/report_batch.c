#include "tuner/study/report_batch.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/quote.h"
#include "proto/job/report.h"
#include "tuner/db/db.h"

void report_batch_writer_text(char text[17], uint64_t writer)
{
    snprintf(text, 17, "%016" PRIx64, writer);
}

const char *report_batch_master(struct arena *arena, const struct job *job)
{
    return arena_printf(arena, "%s-0",
                        job->n_pools > 0 ? job->pools[0].type : "master");
}

/* A metric of such a JSON object; NaN without it. */
static double metrics_value(struct arena *arena, const char *metrics,
                            const char *name)
{
    struct diag diag;
    const size_t len = strlen(metrics);
    diag_init(&diag, arena, "metrics", metrics, len);
    return node_get_double(node_read_json(arena, metrics, len, &diag), name,
                           NAN);
}

static bool has_objective(const struct report_batch *batch,
                          const struct report *report)
{
    size_t i = 0;
    if (batch->job->n_metrics == 0)
        return false;
    while (i < report->n_metrics &&
           strcmp(report->metrics[i].name, batch->job->metrics[0].name) != 0)
        i++;
    return i < report->n_metrics;
}

/* NaN without it. */
static double objective_of(const struct report_batch *batch,
                           const struct report *report)
{
    for (size_t i = 0; has_objective(batch, report); i++)
        if (strcmp(report->metrics[i].name, batch->job->metrics[0].name) == 0)
            return report->metrics[i].value;
    return NAN;
}

/* Whether it is the best now. On equal values the earlier step is the better
 * one, so that the order of arrival does not decide. */
static bool take_best(struct report_batch *batch, int64_t step, double value)
{
    if (!isfinite(value))
        return false;
    const bool better =
        !batch->has_best ||
        (value == batch->best
             ? step < batch->best_step
             : (value > batch->best) == batch->job->metrics[0].maximize);
    if (better) {
        batch->has_best = true;
        batch->best = value;
        batch->best_step = step;
    }
    return better;
}

static void take_stored_best(struct report_batch *batch)
{
    const struct measurement_row *best = &batch->scores.best;
    if (best->metrics != NULL)
        take_best(batch, best->step,
                  metrics_value(batch->arena, best->metrics,
                                batch->job->metrics[0].name));
}

/* What new records are compared with. */
static enum ht_status read_before(struct report_batch *batch,
                                  struct ht_error *err)
{
    struct measurement_row latest;
    enum ht_status status =
        db_trial_latest(batch->db, batch->arena, batch->trial, &latest, err);
    if (status == HT_OK)
        status = db_scores_get(batch->db, batch->arena, batch->attempt,
                               &batch->scores, err);
    if (status != HT_OK)
        return status;
    batch->latest_step = latest.step;
    take_stored_best(batch);
    held_read(batch->arena, batch->use.held, &batch->held);
    for (size_t i = 0; i < batch->held.best.n; i++)
        take_best(batch, batch->held.best.items[i].step,
                  objective_of(batch, &batch->held.best.items[i]));
    return HT_OK;
}

enum ht_status report_batch_begin(struct report_batch *batch,
                                  struct ht_error *err)
{
    batch->is_master =
        strcmp(batch->key.replica,
               report_batch_master(batch->arena, batch->job)) == 0;
    const enum ht_status status = db_report_use_get(
        batch->db, batch->arena, &batch->key, &batch->use, err);
    return status == HT_OK && batch->is_master ? read_before(batch, err)
                                               : status;
}

static enum ht_status writer_of(struct report_batch *batch, uint64_t writer,
                                struct writer_row **row, struct ht_error *err)
{
    for (size_t i = 0; i < batch->n_writers; i++)
        if (batch->writers[i].writer == writer) {
            *row = &batch->writers[i];
            return HT_OK;
        }
    struct writer_row found;
    const enum ht_status status =
        db_writer_get(batch->db, &batch->key, writer, &found, err);
    if (status != HT_OK)
        return status;
    batch->writers = db_grow(batch->arena, batch->writers, batch->n_writers,
                             sizeof *batch->writers);
    batch->writers[batch->n_writers] = found;
    *row = &batch->writers[batch->n_writers++];
    return HT_OK;
}

/* Moves `have` over the new record and over further ones that have come
 * already. */
static enum ht_status count_record(struct report_batch *batch,
                                   struct writer_row *writer,
                                   const struct report *report,
                                   struct ht_error *err)
{
    batch->use.records++;
    batch->use.bytes += thinning_bytes(report);
    batch->counted = true;
    writer->records++;
    if (writer->writer == 0 || report->seq != writer->have + 1)
        return HT_OK;
    writer->have++;
    bool next = writer->records > writer->have;
    while (next) {
        const enum ht_status status =
            db_measurement_exists(batch->db, &batch->key, writer->writer,
                                  writer->have + 1, &next, err);
        if (status != HT_OK)
            return status;
        writer->have += next;
        next = next && writer->records > writer->have;
    }
    return HT_OK;
}

const char *report_batch_metrics_text(struct arena *arena, size_t n,
                                      const struct report_metric metrics[])
{
    struct text text = {0};
    for (size_t i = 0; i < n; i++) {
        const double value = metrics[i].value;
        text_puts(&text, i == 0 ? "{" : ",");
        quote_json(&text, metrics[i].name);
        text_puts(&text, isfinite(value) ? ":" : ":\"");
        text_double(&text, value);
        text_puts(&text, isfinite(value) ? "" : "\"");
    }
    text_puts(&text, "}");
    return text_take(&text, arena);
}

/* --- candidates for the final measurement --- */

static bool is_newer(const struct measurement_row *last,
                     const struct measurement_row *row)
{
    if (last->metrics == NULL)
        return true;
    if (row->step != last->step)
        return row->step > last->step;
    if (row->time_ms != last->time_ms)
        return row->time_ms > last->time_ms;
    return row->seq > last->seq;
}

static void score(struct report_batch *batch, const struct report *report,
                  const struct measurement_row *row)
{
    assert(batch->is_master && row->metrics != NULL);
    if (!has_objective(batch, report))
        return;
    if (is_newer(&batch->scores.last, row)) {
        batch->scores.last = *row;
        batch->moved_scores = true;
    }
    if (take_best(batch, row->step, objective_of(batch, report))) {
        batch->scores.best = *row;
        batch->moved_scores = true;
        held_begin_best(&batch->held, row->step, NULL);
    }
}

static void note(struct report_batch *batch, const struct report *report,
                 const struct measurement_row *row)
{
    struct trial_row *trial = batch->trial;
    if (!batch->is_master)
        return;
    if (trial->latest.replica == NULL || row->step >= batch->latest_step) {
        trial->latest = (struct record_name){row->attempt, row->replica,
                                             row->writer, row->seq};
        batch->latest_step = row->step;
        batch->moved_latest = true;
    }
    if (batch->job->n_metrics > 0)
        score(batch, report, row);
}

/* --- storing --- */

static enum ht_status insert(struct report_batch *batch,
                             const struct report *report, bool *inserted,
                             struct ht_error *err)
{
    const struct measurement_row row = {
        .study = batch->key.study,
        .trial = batch->key.trial,
        .attempt = batch->key.attempt,
        .replica = batch->key.replica,
        .writer = report->writer,
        .seq = report->seq,
        .step = report->step,
        .time_ms = report->time_ms,
        .metrics = report_batch_metrics_text(batch->arena, report->n_metrics,
                                             report->metrics),
        .checkpoint = report->checkpoint};
    const enum ht_status status =
        db_measurement_insert(batch->db, &row, inserted, err);
    assert(row.seq > 0); /* report_read() refuses others */
    if (status == HT_OK && *inserted)
        note(batch, report, &row);
    return status;
}

/* The record with its step, which is counted where it has none. */
static struct report with_step(const struct report_batch *batch,
                               const struct report *report)
{
    struct report stepped = *report;
    if (!stepped.has_step)
        stepped.step = batch->use.records + 1;
    stepped.has_step = true;
    return stepped;
}

enum ht_status report_batch_store(struct report_batch *batch,
                                  const struct report *report,
                                  struct ht_error *err)
{
    const struct report stepped = with_step(batch, report);
    struct writer_row *writer;
    bool inserted = false;
    enum ht_status status = writer_of(batch, report->writer, &writer, err);
    if (status == HT_OK)
        status = insert(batch, &stepped, &inserted, err);
    if (status != HT_OK || !inserted)
        return status;
    held_replace(&batch->held, &stepped);
    return count_record(batch, writer, report, err);
}

/* --- beyond a budget --- */

static void hold(struct report_batch *batch, const struct report *report)
{
    const bool objective = has_objective(batch, report);
    if (objective &&
        take_best(batch, report->step, objective_of(batch, report)))
        held_begin_best(&batch->held, report->step, report);
    held_add(&batch->held, report,
             !objective && batch->has_best && report->step == batch->best_step);
}

static enum ht_status drop(struct report_batch *batch,
                           struct writer_row *writer,
                           const struct report *report, enum budget budget,
                           struct ht_error *err)
{
    const struct report stepped = with_step(batch, report);
    bool exists;
    const enum ht_status status = db_measurement_exists(
        batch->db, &batch->key, report->writer, report->seq, &exists, err);
    if (status != HT_OK || exists)
        return status;
    if (batch->use.dropped++ == 0) {
        batch->first_dropped = true;
        batch->beyond = budget;
    }
    budget_exceeded(budget);
    if (batch->is_master)
        hold(batch, &stepped);
    return count_record(batch, writer, report, err);
}

enum ht_status report_batch_add(struct report_batch *batch,
                                const struct node *node, struct ht_error *err)
{
    struct report report;
    struct writer_row *writer;
    enum budget budget = BUDGETS;
    enum ht_status status = report_read(batch->arena, node, &report, err);
    if (status != HT_OK)
        return ht_wrap(err, HT_INVALID, "record at column %d", node->column);
    status = writer_of(batch, report.writer, &writer, err);
    /* Also one that was dropped: it must not be judged again. */
    if (status != HT_OK || (report.writer != 0 && report.seq <= writer->have))
        return status;
    const int64_t every =
        thinning_keep_every(&batch->use, batch->age_ms, &budget);
    return thinning_keeps(&report, every)
               ? report_batch_store(batch, &report, err)
               : drop(batch, writer, &report, budget, err);
}

static enum ht_status store_list(struct report_batch *batch,
                                 const struct held_list *list,
                                 struct ht_error *err)
{
    enum ht_status status = HT_OK;
    bool inserted;
    for (size_t i = 0; status == HT_OK && i < list->n; i++) {
        status = insert(batch, &list->items[i], &inserted, err);
        batch->use.dropped -= status == HT_OK && inserted;
    }
    return status;
}

enum ht_status report_batch_release(struct report_batch *batch,
                                    struct ht_error *err)
{
    enum ht_status status = report_batch_begin(batch, err);
    const struct held held = batch->held;
    if (status != HT_OK || held.newest.n + held.best.n == 0)
        return status;
    batch->held = (struct held){.newest.n = 0};
    batch->has_best = false; /* what is held must beat the stored one again */
    take_stored_best(batch);
    batch->counted = true;
    status = store_list(batch, &held.best, err);
    if (status == HT_OK)
        status = store_list(batch, &held.newest, err);
    return status == HT_OK ? report_batch_end(batch, err) : status;
}

enum ht_status report_batch_end(struct report_batch *batch,
                                struct ht_error *err)
{
    enum ht_status status = HT_OK;
    if (batch->counted) {
        batch->use.held = held_text(batch->arena, &batch->held);
        status = db_report_use_set(batch->db, &batch->key, &batch->use, err);
    }
    for (size_t i = 0; status == HT_OK && i < batch->n_writers; i++)
        if (batch->writers[i].records > 0)
            status =
                db_writer_set(batch->db, &batch->key, &batch->writers[i], err);
    if (status == HT_OK && batch->moved_scores)
        status = db_scores_set(batch->db, batch->attempt, &batch->scores, err);
    if (status == HT_OK && batch->moved_latest)
        status = db_trial_set_latest(batch->db, batch->trial, err);
    return status;
}
