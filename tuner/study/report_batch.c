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
    if (batch->scores.best.metrics != NULL)
        batch->best = metrics_value(batch->arena, batch->scores.best.metrics,
                                    batch->job->metrics[0].name);
    return HT_OK;
}

enum ht_status report_batch_begin(struct report_batch *batch,
                                  struct ht_error *err)
{
    batch->is_master =
        strcmp(batch->key.replica,
               report_batch_master(batch->arena, batch->job)) == 0;
    const enum ht_status status =
        db_replica_records(batch->db, &batch->key, &batch->records, err);
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
                                   struct writer_row *writer, int64_t seq,
                                   struct ht_error *err)
{
    batch->records++;
    writer->records++;
    if (writer->writer == 0 || seq != writer->have + 1)
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

/* On equal values the earlier step is the better one, so that the order of
 * arrival does not decide. */
static bool is_better(const struct report_batch *batch,
                      const struct measurement_row *row, double value)
{
    const struct measurement_row *best = &batch->scores.best;
    if (!isfinite(value))
        return false;
    if (best->metrics == NULL)
        return true;
    if (value == batch->best)
        return row->step < best->step;
    return (value > batch->best) == batch->job->metrics[0].maximize;
}

static void score(struct report_batch *batch, const struct report *report,
                  const struct measurement_row *row)
{
    const char *objective = batch->job->metrics[0].name;
    size_t i = 0;
    assert(batch->is_master && row->metrics != NULL);
    while (i < report->n_metrics &&
           strcmp(report->metrics[i].name, objective) != 0)
        i++;
    if (i == report->n_metrics)
        return;
    const double value = report->metrics[i].value;
    if (is_newer(&batch->scores.last, row)) {
        batch->scores.last = *row;
        batch->moved_scores = true;
    }
    if (is_better(batch, row, value)) {
        batch->scores.best = *row;
        batch->best = value;
        batch->moved_scores = true;
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

enum ht_status report_batch_store(struct report_batch *batch,
                                  const struct report *report,
                                  struct ht_error *err)
{
    struct writer_row *writer;
    enum ht_status status = writer_of(batch, report->writer, &writer, err);
    if (status != HT_OK)
        return status;
    const struct measurement_row row = {
        .study = batch->key.study,
        .trial = batch->key.trial,
        .attempt = batch->key.attempt,
        .replica = batch->key.replica,
        .writer = report->writer,
        .seq = report->seq,
        .step = report->has_step ? report->step : batch->records + 1,
        .time_ms = report->time_ms,
        .metrics = report_batch_metrics_text(batch->arena, report->n_metrics,
                                             report->metrics),
        .checkpoint = report->checkpoint};
    bool inserted;
    status = db_measurement_insert(batch->db, &row, &inserted, err);
    if (status != HT_OK || !inserted)
        return status;
    assert(row.seq > 0); /* report_read() refuses others */
    note(batch, report, &row);
    return count_record(batch, writer, report->seq, err);
}

enum ht_status report_batch_add(struct report_batch *batch,
                                const struct node *node, struct ht_error *err)
{
    struct report report;
    const enum ht_status status = report_read(batch->arena, node, &report, err);
    if (status != HT_OK)
        return ht_wrap(err, HT_INVALID, "record at column %d", node->column);
    return report_batch_store(batch, &report, err);
}

enum ht_status report_batch_end(struct report_batch *batch,
                                struct ht_error *err)
{
    enum ht_status status = HT_OK;
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
