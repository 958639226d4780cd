/* printed.c - metrics that ended trials printed but did not report, read from
 * their logs. */

#include <ctype.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/job/pattern.h"
#include "proto/job/report.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/printed.h"
#include "tuner/ask/trial_body.h"
#include "tuner/db/db.h"
#include "tuner/logs/log_lines.h"
#include "tuner/logs/logs.h"
#include "tuner/read/reader.h"
#include "tuner/read/trials.h"

/* Of one request, so that the core stores it in a moment. */
enum {
    MOST_RECORDS = 20000,         /* of one trial; and no further trial then */
    MOST_BYTES = 64 * 1024 * 1024 /* of one log */
};

struct patterns {
    size_t n;
    struct pattern **items;
};

/* A log on its way to records. */
struct scan {
    struct arena *arena; /* of the request */
    const struct patterns *patterns;
    struct printed_trial *trial;
    struct text line; /* that has not ended yet */
    bool overlong;    /* it is passed over, as a runner does */
    int64_t time_ms;  /* of the chunk */
};

/* --- a line --- */

/* Whether a number of the line may lack digits, which were hidden with a
 * secret. */
static bool hides_digits(const char *line, size_t len)
{
    static const char mask[] = "***"; /* runner/reports/log.c */
    const size_t n = sizeof mask - 1;
    const char *at = line, *end = line + len;
    while ((at = memmem(at, (size_t)(end - at), mask, n)) != NULL) {
        const bool before =
            at > line && (isdigit((unsigned char)at[-1]) || at[-1] == '.');
        const bool behind =
            at + n < end && (isdigit((unsigned char)at[n]) || at[n] == '.');
        if (before || behind)
            return true;
        at++;
    }
    return false;
}

static void take_match(struct scan *scan, struct report *report)
{
    struct printed_trial *trial = scan->trial;
    if (hides_digits(scan->line.data, scan->line.len)) {
        trial->left = "a secret is hidden in a line with a value";
        return;
    }
    if (trial->n == MOST_RECORDS) {
        trial->left = arena_printf(scan->arena,
                                   "more than %d lines of its log have a "
                                   "value; retry it",
                                   MOST_RECORDS);
        return;
    }
    report->writer = PRINTED_WRITER;
    report->seq = (int64_t)trial->n + 1;
    report->time_ms = scan->time_ms;
    report->checkpoint = "";
    trial->reports =
        db_grow(scan->arena, trial->reports, trial->n, sizeof *trial->reports);
    trial->reports[trial->n++] = *report;
}

/* As runner/reports/records.c reads them. */
static void end_line(struct scan *scan)
{
    struct report report = {0};
    for (size_t i = 0;
         !scan->overlong && scan->line.len > 0 && i < scan->patterns->n; i++)
        if (pattern_match(scan->arena, scan->patterns->items[i],
                          scan->line.data, scan->line.len, &report)) {
            take_match(scan, &report);
            break;
        }
    text_clear(&scan->line);
    scan->overlong = false;
}

static void add_text(struct scan *scan, const char *bytes, size_t len)
{
    scan->overlong |= scan->line.len + len > LOG_LINE_MOST;
    if (!scan->overlong)
        text_append(&scan->line, bytes, len);
}

static void take_piece(struct scan *scan, const struct log_piece *piece)
{
    const char *at = piece->data, *end = piece->data + piece->len, *newline;
    scan->time_ms = piece->stored_us / 1000;
    while ((newline = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        add_text(scan, at, (size_t)(newline - at));
        end_line(scan);
        at = newline + 1;
    }
    add_text(scan, at, (size_t)(end - at));
}

/* --- a log --- */

/* Why a log cannot be trusted: the value that counts may be in what is
 * missing. NULL: it can. */
static const char *fault_of(struct arena *arena, const struct log_piece *piece,
                            int64_t offset)
{
    if (piece->offset != offset)
        return arena_printf(arena,
                            "its log is cut: bytes from %lld on are "
                            "missing",
                            (long long)offset);
    return piece->next > MOST_BYTES
               ? arena_printf(arena, "its log has more than %d MB",
                              MOST_BYTES / 1024 / 1024)
               : NULL;
}

static enum ht_status scan_log(struct scan *scan, struct logs *logs,
                               const struct log_key *key, struct ht_error *err)
{
    struct arena *scratch = arena_new();
    struct log_piece piece;
    enum ht_status status = HT_OK;
    int64_t offset = 0;
    while (status == HT_OK && scan->trial->left == NULL) {
        arena_reset(scratch);
        status = logs_next(logs, scratch, key, offset, &piece, err);
        if (status != HT_OK)
            break;
        scan->trial->left = fault_of(scan->arena, &piece, offset);
        take_piece(scan, &piece);
        offset = piece.next;
    }
    arena_free(scratch);
    if (status != HT_NOT_FOUND)
        return status;
    end_line(scan);
    if (scan->trial->left == NULL && scan->trial->n == 0)
        scan->trial->left = offset == 0 ? "it has no log of stdout"
                                        : "no line of its stdout matches";
    return HT_OK;
}

/* --- all trials of a study that lack a metric --- */

struct question { /* the body of a request */
    struct strings added;
    int64_t after;
};

static const struct field question_fields[] = {
    {"patterns", field_texts, offsetof(struct question, added),
     .max = HT_MAX_METRICS},
    {"after", field_whole, offsetof(struct question, after), .max = INT64_MAX},
    {0}};

static bool names_metric(const struct pattern *pattern, const struct job *job)
{
    size_t n;
    const char *const *names = pattern_names(pattern, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < job->n_metrics; k++)
            if (strcmp(names[i], job->metrics[k].name) == 0)
                return true;
    return false;
}

static void check_pattern(struct request *req, const struct job *job,
                          const struct strings *added, size_t i)
{
    struct ht_error err;
    struct pattern *pattern;
    struct diag *diag = faults_of(req);
    const char *path = arena_printf(req->arena, "patterns[%zu]", i);
    if (pattern_compile(req->arena, added->items[i], &pattern, &err) != HT_OK)
        diag_error(diag, 0, 0, path, "%s", err.text);
    else if (!names_metric(pattern, job))
        diag_error(diag, 0, 0, path,
                   "reads no metric of the study, such as %s={%s}",
                   job->metrics[0].name, job->metrics[0].name);
}

static enum ht_status read_question(struct request *req, const struct job *job,
                                    struct question *question,
                                    struct ht_error *err)
{
    const enum ht_status status =
        trial_body_read(req, question_fields, question, err);
    if (status != HT_OK)
        return status;
    for (size_t i = 0; i < question->added.n; i++)
        check_pattern(req, job, &question->added, i);
    return faults_check(req, err);
}

/* A pattern that was stored and does not compile matches nothing in a runner
 * either. */
static enum ht_status compile(struct arena *arena, const struct job *job,
                              const struct strings *added,
                              struct patterns *patterns, struct ht_error *err)
{
    const struct strings all =
        printed_patterns(arena, &job->stdout_patterns, added);
    if (all.n > HT_MAX_METRICS)
        return ht_fail(err, HT_LIMIT,
                       "a study has at most %d patterns, these are %zu",
                       HT_MAX_METRICS, all.n);
    patterns->items = arena_alloc(arena, all.n + 1, sizeof(struct pattern *));
    for (size_t i = 0; i < all.n; i++)
        if (pattern_compile(arena, all.items[i], &patterns->items[patterns->n],
                            NULL) == HT_OK)
            patterns->n++;
    return HT_OK;
}

/* Trials until time, room or trials are used up. */
static enum ht_status scan_trials(struct reader *reader, struct arena *arena,
                                  const struct log_key *master,
                                  const struct patterns *patterns,
                                  struct printed *printed, struct ht_error *err)
{
    struct trial_list list;
    size_t records = 0;
    enum ht_status status = db_trial_unreported(
        reader->db, arena, master->study, printed->after, &list, err);
    if (status != HT_OK)
        return status;
    printed->trials = arena_alloc(arena, list.n + 1, sizeof *printed->trials);
    while (status == HT_OK && printed->n < list.n && records < MOST_RECORDS &&
           (printed->n == 0 || !reader_is_late(reader))) {
        const struct trial_row *row = &list.rows[printed->n];
        struct printed_trial *trial = &printed->trials[printed->n++];
        struct log_key key = *master;
        struct scan scan = {
            .arena = arena, .patterns = patterns, .trial = trial};
        *trial = (struct printed_trial){.id = row->id, .attempt = row->attempt};
        key.trial = row->id;
        key.attempt = row->attempt;
        status = scan_log(&scan, reader->logs, &key, err);
        text_free(&scan.line);
        records += trial->n;
    }
    if (printed->n > 0 && (printed->n < list.n || list.n == DB_UNREPORTED_MOST))
        printed->next = printed->trials[printed->n - 1].id;
    return status;
}

enum ht_status read_printed(struct reader *reader, struct request *req,
                            struct ht_error *err)
{
    struct study_row study;
    struct job *job;
    struct question question = {0};
    struct patterns patterns = {0};
    struct printed *printed = arena_alloc(req->arena, 1, sizeof *printed);
    enum ht_status status = read_find_study(reader, req, &study, &job, err);
    if (status == HT_OK && (study.kind != JOB_TUNING || job->n_metrics == 0))
        return ht_fail(err, HT_PRECONDITION,
                       "study %.128s has no trials whose output is searched "
                       "for a metric",
                       study.name);
    if (status == HT_OK)
        status = read_question(req, job, &question, err);
    if (status == HT_OK)
        status = compile(req->arena, job, &question.added, &patterns, err);
    if (status != HT_OK)
        return status;
    const char *type = job->n_pools > 0 ? job->pools[0].type : "master";
    const struct log_key master = {.study = study.id,
                                   .replica =
                                       arena_printf(req->arena, "%s-0", type),
                                   .stream = "stdout"};
    *printed =
        (struct printed){.added = question.added, .after = question.after};
    req->kept = printed;
    return scan_trials(reader, req->arena, &master, &patterns, printed, err);
}
