#include "runner/reports/records.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/base/log.h"
#include "proto/job/pattern.h"
#include "runner/base/folder.h"
#include "runner/base/hash_map.h"
#include "runner/base/json.h"
#include "runner/base/tail.h"
#include "runner/reports/log.h"
#include "runner/reports/metrics_seen.h"
#include "runner/reports/record_queue.h"
#include "runner/reports/results_file.h"

enum {
    QUEUE_ENOUGH = 5 * RECORD_BATCH,        /* read more once it is shorter */
    COLLECT_BYTES = 4 * RECORD_BATCH_BYTES, /* of one file in one call */
    MOST_RECORDS = 10 * HT_MAX_REPORTS      /* of one replica, ever */
};

struct records {
    const struct order *order;
    const char *replica; /* its name */
    struct metrics_seen seen;
    struct arena *arena;   /* paths, patterns */
    struct arena *scratch; /* one line */
    struct tail reports, foreign, saved, events;
    struct results_file file;
    size_t n_patterns;
    struct pattern **patterns;
    struct log_source output; /* stdout, for the patterns */
    struct text line;         /* its last, unfinished line */
    int64_t line_at;          /* where that line begins */
    int64_t line_number;      /* ... and its number, from 1 */
    bool overlong;            /* that line is passed over */
    bool cut;                 /* see records_cut() */
    struct hash_map taken; /* of each writer: the highest seq that was read or
                              that the server has */
    struct hash_map foreign_known; /* records of other files */
    struct record_queue queue;
    struct text checkpoint; /* the newest that a report names */
    int64_t checkpoint_step;
    bool has_checkpoint; /* ... and it was not taken */
    int64_t next_beat;   /* of the running records_collect() */
    int64_t late;        /* bytes of stdout read since its writer died */
    uint64_t n_taken;    /* records that were queued */
    uint64_t malformed;
};

static void compile_patterns(struct records *records)
{
    const struct strings *texts = &records->order->stdout_patterns;
    records->patterns =
        arena_alloc(records->arena, texts->n + 1, sizeof(struct pattern *));
    for (size_t i = 0; i < texts->n; i++) {
        struct ht_error err;
        struct pattern *pattern;
        if (pattern_compile(records->arena, texts->items[i], &pattern, &err) ==
            HT_OK)
            records->patterns[records->n_patterns++] = pattern;
        else
            log_event(LOG_WARN, "pattern.refused", "name=%s reason=\"%s\"",
                      records->order->name, err.text);
    }
}

/* Records beyond MOST_RECORDS are counted, not sent: a trial must not keep the
 * runner busy for ever. */
static void queue_record(struct records *records, const struct report *report,
                         int64_t after)
{
    if (records->n_taken == MOST_RECORDS) {
        records->malformed++;
        return;
    }
    records->n_taken++;
    record_queue_add(&records->queue, report, after);
}

static void take_result(void *context, const struct report *report)
{
    queue_record(context, report, 0);
}

struct records *records_new(const struct order *order, size_t replica,
                            const char *folder, const struct guest *guest)
{
    struct records *records = ht_xcalloc(1, sizeof *records);
    records->order = order;
    records->replica = order->replicas[replica].name;
    records->arena = arena_new();
    records->seen.arena = records->arena;
    records->line_number = 1;
    records->scratch = arena_new();
    struct arena *arena = records->arena;
    folder = arena_strdup(arena, folder);
    tail_init(&records->reports,
              arena_printf(arena, "%s/reports.jsonl", folder));
    tail_init(&records->foreign,
              arena_printf(arena, "%s/output.metrics", folder));
    tail_init(&records->saved,
              arena_printf(arena, "%s/checkpoints.jsonl", folder));
    tail_init(&records->events,
              order->metrics_events != NULL
                  ? arena_printf(arena, "%s/" FOLDER_EVENTS, folder)
                  : NULL);
    tail_trust(&records->saved, guest, false);
    tail_trust(&records->events, guest, false);
    tail_trust(&records->reports, guest, false);
    tail_trust(&records->foreign, guest, false);
    results_file_init(&records->file, order, replica, folder, guest,
                      &records->seen);
    records->file.take = take_result;
    records->file.context = records;
    records->output = (struct log_source){.folder = folder, .stream = "stdout"};
    record_queue_init(&records->queue);
    compile_patterns(records);
    return records;
}

void records_free(struct records *records)
{
    if (records == NULL)
        return;
    record_queue_fini(&records->queue);
    results_file_fini(&records->file);
    hash_map_clear(&records->foreign_known);
    hash_map_clear(&records->taken);
    text_free(&records->line);
    text_free(&records->checkpoint);
    arena_free(records->scratch);
    arena_free(records->arena);
    free(records);
}

void records_have(struct records *records, uint64_t id, int64_t seq)
{
    if (id == 0)
        return; /* foreign records have hashes, not numbers */
    int64_t *taken = hash_map_at(&records->taken, id);
    if (*taken < seq)
        *taken = seq;
    record_queue_have(&records->queue, id, seq);
}

static void note(struct records *records, const struct report *report,
                 const char *file, int64_t line)
{
    metrics_seen_note(&records->seen, &records->order->metrics, report, file,
                      line);
}

static void note_checkpoint(struct records *records, const char *path,
                            int64_t step)
{
    if (*path == '\0')
        return;
    text_clear(&records->checkpoint);
    text_puts(&records->checkpoint, path);
    records->checkpoint_step = step;
    records->has_checkpoint = true;
}

/* A line of checkpoints.jsonl, see proto/README.md section 5. */
static void take_saved(void *context, const char *line, size_t len,
                       int64_t offset)
{
    struct records *records = context;
    (void)offset;
    arena_reset(records->scratch);
    const struct node *map = len <= HT_MAX_REPORT_LINE
                                 ? json_read_map(records->scratch, line, len)
                                 : NULL;
    const char *path = node_get_string(map, "c", "");
    if (*path == '\0' || strlen(path) > HT_MAX_CHECKPOINT)
        records->malformed++;
    else
        note_checkpoint(records, path, node_get_int(map, "s", -1));
}

bool records_take_checkpoint(struct records *records,
                             struct records_checkpoint *checkpoint)
{
    if (!records->has_checkpoint)
        return false;
    records->has_checkpoint = false;
    *checkpoint = (struct records_checkpoint){records->checkpoint.data,
                                              records->checkpoint_step};
    return true;
}

/* Queues a record that has a number of its writer's. */
static void take_numbered(struct records *records, const struct report *report,
                          int64_t after)
{
    int64_t *taken = hash_map_at(&records->taken, report->writer);
    if (report->seq <= *taken)
        return;
    *taken = report->seq;
    queue_record(records, report, after);
}

/* ---- libhypertune's file ---- */

static void take_report(void *context, const char *line, size_t len,
                        int64_t offset)
{
    struct records *records = context;
    struct report report;
    (void)offset;
    arena_reset(records->scratch);
    if (len > HT_MAX_REPORT_LINE ||
        report_parse(records->scratch, line, len, &report, NULL) != HT_OK ||
        report.writer == 0 /* the runner's */ ||
        records->n_taken == MOST_RECORDS) {
        records->malformed++;
        return;
    }
    note(records, &report, "reports.jsonl", records->reports.line);
    note_checkpoint(records, report.checkpoint,
                    report.has_step ? report.step : -1);
    const bool delivered = records->order->report_url != NULL;
    take_numbered(records, &report, delivered ? records->next_beat : 0);
}

/* ---- what the shim read in event files of TensorBoard ---- */

/* A line of events.jsonl, see proto/README.md section 5. */
static void take_event(void *context, const char *line, size_t len,
                       int64_t offset)
{
    struct records *records = context;
    struct report report;
    (void)offset;
    arena_reset(records->scratch);
    const struct node *map = len <= HT_MAX_REPORT_LINE
                                 ? json_read_map(records->scratch, line, len)
                                 : NULL;
    const char *fault = node_get_string(map, "fault", NULL);
    if (fault != NULL) {
        folder_log_line(records->output.folder, "%s", fault);
        return;
    }
    if (report_read(records->scratch, map, &report, NULL) != HT_OK ||
        records->n_taken == MOST_RECORDS) {
        records->malformed++;
        return;
    }
    note(records, &report, FOLDER_EVENTS, records->events.line);
    if (report.writer != 0) /* else no metric of the study */
        take_numbered(records, &report, 0);
}

/* ---- cloudml-hypertune's file ---- */

static void take_foreign(void *context, const char *line, size_t len,
                         int64_t offset)
{
    struct records *records = context;
    const struct strings *metrics = &records->order->metrics;
    struct report report;
    (void)offset;
    arena_reset(records->scratch);
    if (len > HT_MAX_REPORT_LINE ||
        report_parse_foreign(records->scratch, line, len, metrics->n,
                             metrics->items, &report, NULL) != HT_OK) {
        records->malformed++;
        return;
    }
    if (hash_map_count(&records->foreign_known, (uint64_t)report.seq) > 1)
        return;
    note(records, &report, "output.metrics", records->foreign.line);
    note_checkpoint(records, report.checkpoint,
                    report.has_step ? report.step : -1);
    queue_record(records, &report, 0);
}

/* ---- stdout ---- */

static void take_output(struct records *records)
{
    const char *line = records->line.data;
    struct report report = {0};
    arena_reset(records->scratch);
    for (size_t i = 0; i < records->n_patterns; i++) {
        if (!pattern_match(records->scratch, records->patterns[i], line,
                           records->line.len, &report))
            continue;
        report.writer = 0;
        report.seq = records->line_at + 1;
        report.time_ms = clock_wall_ms();
        report.checkpoint = "";
        note(records, &report, "stdout", records->line_number);
        queue_record(records, &report, 0);
        return;
    }
}

static void add_output(struct records *records, const char *bytes, size_t len)
{
    if (records->line.len + len > TAIL_LINE_BYTES)
        records->overlong = true;
    if (!records->overlong)
        text_append(&records->line, bytes, len);
}

static void end_output_line(struct records *records, int64_t next)
{
    if (!records->overlong && records->line.len > 0)
        take_output(records);
    text_clear(&records->line);
    records->overlong = false;
    records->line_at = next;
    records->line_number++;
}

static void split_output(struct records *records, const char *bytes, size_t len,
                         int64_t at)
{
    size_t used = 0;
    const char *newline;
    while ((newline = memchr(bytes + used, '\n', len - used)) != NULL) {
        const size_t n = (size_t)(newline - (bytes + used));
        add_output(records, bytes + used, n);
        used += n + 1;
        end_output_line(records, at + (int64_t)used);
    }
    add_output(records, bytes + used, len - used);
}

static bool read_output(struct records *records, bool final)
{
    char buffer[16 * 1024];
    size_t budget = COLLECT_BYTES;
    for (;;) {
        const int64_t expected = records->output.offset;
        int64_t at;
        const size_t n =
            log_source_read(&records->output, buffer, sizeof buffer, &at);
        if (n == 0 || records->late >= LOG_SOURCE_KEPT)
            break;
        records->late += final ? (int64_t)n : 0;
        if (at != expected) { /* the middle of the log is gone */
            text_clear(&records->line);
            records->line_at = at;
            records->overlong = true; /* until the next line begins */
        }
        split_output(records, buffer, n, at);
        if (n >= budget || records->queue.n >= QUEUE_ENOUGH)
            return true;
        budget -= n;
    }
    if (final && !records->cut)
        end_output_line(records, records->output.offset);
    return false;
}

enum ht_status records_begin(struct records *records,
                             const char *attempt_folder, bool anew,
                             struct ht_error *err)
{
    return anew ? results_file_begin(&records->file, attempt_folder, err)
                : results_file_resume(&records->file, attempt_folder, err);
}

void records_cut(struct records *records)
{
    records->cut = true;
    records->file.tail.cut = true;
}

const struct results_file *records_file(const struct records *records)
{
    return &records->file;
}

bool records_collect(struct records *records, int64_t next_beat, bool final)
{
    if (records->queue.n >= QUEUE_ENOUGH)
        return true;
    records->next_beat = next_beat;
    bool more = tail_read(&records->reports, COLLECT_BYTES, final, take_report,
                          records);
    more |= tail_read(&records->foreign, COLLECT_BYTES, final, take_foreign,
                      records);
    more |=
        tail_read(&records->saved, COLLECT_BYTES, final, take_saved, records);
    more |=
        tail_read(&records->events, COLLECT_BYTES, final, take_event, records);
    more |= results_file_read(&records->file, COLLECT_BYTES, final);
    if (records->n_patterns > 0)
        more |= read_output(records, final);
    return more;
}

struct record_queue *records_queue(struct records *records)
{
    return &records->queue;
}

bool records_are_whole(const struct records *records)
{
    return metrics_seen_is_whole(&records->seen, &records->order->metrics);
}

void records_names_text(const struct records *records, struct text *out)
{
    metrics_seen_text(&records->seen, records->replica, out);
}

void records_hints_text(const struct records *records, struct text *out)
{
    const char *state = results_file_state(&records->file);
    if (state != NULL) {
        json_open(out, "file");
        json_put_string(out, "path", records->order->metrics_file);
        json_put_string(out, "state", state);
        json_close(out);
    }
    metrics_seen_line_text(records->output.folder, records->replica,
                           records->order->metrics.items[0], out);
}

uint64_t records_skipped(const struct records *records)
{
    return records->malformed + records->reports.skipped +
           records->foreign.skipped + records->saved.skipped +
           records->events.skipped + records->file.skipped +
           records->file.tail.skipped;
}
