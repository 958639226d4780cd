#include "proto/job/report.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/base/limits.h"
#include "proto/base/quote.h"
#include "proto/doc/diag.h"

/* ---- our own records ---- */

static void metric_text(const struct report_metric *metric, struct text *out)
{
    quote_json(out, metric->name);
    text_puts(out, ":");
    if (!isfinite(metric->value))
        text_puts(out, "\"");
    text_double(out, metric->value);
    if (!isfinite(metric->value))
        text_puts(out, "\"");
}

void report_text(const struct report *report, struct text *out)
{
    text_printf(out,
                "{\"w\":\"%016" PRIx64 "\",\"n\":%" PRId64 ",\"t\":%" PRId64,
                report->writer, report->seq, report->time_ms);
    if (report->has_step)
        text_printf(out, ",\"s\":%" PRId64, report->step);
    text_puts(out, ",\"m\":{");
    for (size_t i = 0; i < report->n_metrics; i++) {
        if (i > 0)
            text_puts(out, ",");
        metric_text(&report->metrics[i], out);
    }
    text_puts(out, "},\"c\":");
    quote_json(out, report->checkpoint ? report->checkpoint : "");
    text_puts(out, "}");
}

static bool read_writer(const struct node *node, uint64_t *writer)
{
    const char *text = node_string(node);
    if (text == NULL || strlen(text) != 16 ||
        strspn(text, "0123456789abcdefABCDEF") != 16)
        return false;
    *writer = strtoull(text, NULL, 16);
    return true;
}

/* A number as text is none. */
static bool read_metric_value(const struct node *node, double *value)
{
    return node_special_double(node, value) ||
           (node->kind == NODE_NUMBER && node_double(node, value));
}

static bool is_metric_name(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > HT_MAX_NAME)
        return false;
    for (const char *c = name; *c; c++)
        if (iscntrl((unsigned char)*c))
            return false;
    return true;
}

static enum ht_status read_metric_values(struct arena *arena,
                                         const struct node *map,
                                         struct report *report,
                                         struct ht_error *err)
{
    if (map == NULL || map->kind != NODE_MAP || map->count == 0 ||
        map->count > HT_MAX_METRICS)
        return ht_fail(err, HT_INVALID, "record: \"m\" needs 1 to %d metrics",
                       HT_MAX_METRICS);
    struct report_metric *metrics =
        arena_alloc(arena, map->count, sizeof *metrics);
    size_t n = 0;
    for (const struct node *node = map->first; node; node = node->next) {
        if (!is_metric_name(node->key))
            return ht_fail(err, HT_INVALID,
                           "record: a metric's name needs 1 to %d bytes, no "
                           "control characters",
                           HT_MAX_NAME);
        if (!read_metric_value(node, &metrics[n].value))
            return ht_fail(err, HT_INVALID, "record: metric %s is no number",
                           node->key);
        metrics[n++].name = arena_strdup(arena, node->key);
    }
    report->n_metrics = n;
    report->metrics = metrics;
    return HT_OK;
}

static enum ht_status read_checkpoint(struct arena *arena,
                                      const struct node *node,
                                      struct report *report,
                                      struct ht_error *err)
{
    const char *text = node ? node_string(node) : "";
    if (text == NULL)
        return ht_fail(err, HT_INVALID, "record: \"c\" must be a text");
    if (strlen(text) > HT_MAX_CHECKPOINT)
        return ht_fail(err, HT_INVALID, "record: \"c\" is over %d bytes",
                       HT_MAX_CHECKPOINT);
    report->checkpoint = arena_strdup(arena, text);
    return HT_OK;
}

enum ht_status report_read(struct arena *arena, const struct node *map,
                           struct report *report, struct ht_error *err)
{
    struct report read = {0};
    if (map == NULL || map->kind != NODE_MAP)
        return ht_fail(err, HT_INVALID, "record: not an object");
    if (!read_writer(node_find(map, "w"), &read.writer))
        return ht_fail(err, HT_INVALID, "record: \"w\" needs 16 hex digits");
    const struct node *seq = node_find(map, "n");
    if (seq == NULL || !node_int64(seq, &read.seq) || read.seq < 1)
        return ht_fail(err, HT_INVALID, "record: \"n\" needs an integer >= 1");
    const struct node *time = node_find(map, "t");
    if (time == NULL || !node_int64(time, &read.time_ms))
        return ht_fail(err, HT_INVALID, "record: \"t\" needs milliseconds");
    const struct node *step = node_find(map, "s");
    read.has_step = step != NULL;
    if (step && !node_int64(step, &read.step))
        return ht_fail(err, HT_INVALID, "record: \"s\" needs an integer");
    enum ht_status status =
        read_metric_values(arena, node_find(map, "m"), &read, err);
    if (status == HT_OK)
        status = read_checkpoint(arena, node_find(map, "c"), &read, err);
    if (status == HT_OK)
        *report = read;
    return status;
}

static const struct node *parse_line(struct arena *arena, const char *line,
                                     size_t len, struct ht_error *err)
{
    if (len > HT_MAX_REPORT_LINE) {
        ht_fail(err, HT_INVALID, "record: over %d bytes", HT_MAX_REPORT_LINE);
        return NULL;
    }
    struct diag diag;
    diag_init(&diag, arena, "record", line, len);
    const struct node *map = node_read_json(arena, line, len, &diag);
    if (map == NULL)
        ht_fail(err, HT_INVALID, "record: %s",
                diag.first ? diag.first->text : "not JSON");
    return map;
}

enum ht_status report_parse(struct arena *arena, const char *line, size_t len,
                            struct report *report, struct ht_error *err)
{
    const struct node *map = parse_line(arena, line, len, err);
    return map ? report_read(arena, map, report, err) : HT_INVALID;
}

/* ---- cloudml-hypertune's file ---- */

/* FNV-1a, cut to 63 bits as seq is signed; 0 is no seq. */
static int64_t line_hash(const char *line, size_t len)
{
    uint64_t hash = 0xcbf29ce484222325U;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)line[i]) * 0x100000001b3U;
    hash &= INT64_MAX;
    return hash ? (int64_t)hash : 1;
}

/* Python's str(float): also nan, inf, -inf. */
static bool read_python_float(const struct node *node, double *value)
{
    if (node->kind != NODE_STRING)
        return node->kind == NODE_NUMBER && node_double(node, value);
    static const struct {
        const char *text;
        double value;
    } special[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (strcasecmp(node->text, special[i].text) == 0) {
            *value = special[i].value;
            return true;
        }
    }
    return node_double(node, value);
}

/* A metric may be called like a member of the format. These two then lose
 * their value to the format's own; the other two take its place. */
static bool is_overwritten(const char *key)
{
    return strcmp(key, "global_step") == 0 ||
           strcmp(key, "checkpoint_path") == 0;
}

static bool is_replaced(const char *key)
{
    return strcmp(key, "trial") == 0 || strcmp(key, "timestamp") == 0;
}

/* The metric of a line: a member that the study names; else the only member
 * that is not the format's; else a format's member that the study's metric of
 * the same name replaced. NULL when that is not clear. */
static const struct node *foreign_metric(const struct node *map, size_t n,
                                         const char *const names[])
{
    const struct node *only = NULL;
    size_t foreign = 0;
    for (const struct node *node = map->first; node; node = node->next) {
        if (is_overwritten(node->key) || is_replaced(node->key))
            continue;
        for (size_t i = 0; i < n; i++)
            if (strcmp(node->key, names[i]) == 0)
                return node;
        only = node;
        foreign++;
    }
    if (foreign > 0)
        return foreign == 1 ? only : NULL;
    for (size_t i = 0; i < n; i++)
        if (is_replaced(names[i]) && node_find(map, names[i]))
            return node_find(map, names[i]);
    return NULL;
}

static int64_t foreign_time(const struct node *map)
{
    const struct node *node = node_find(map, "timestamp");
    double seconds;
    if (node == NULL || node->kind != NODE_NUMBER ||
        !node_double(node, &seconds) || seconds < 0 || seconds > 1e12)
        return 0;
    return (int64_t)(seconds * 1000 + 0.5);
}

/* "as given": anything that is no text within the limit counts as none. */
static const char *foreign_checkpoint(const struct node *map)
{
    const char *text = node_string(node_find(map, "checkpoint_path"));
    return text && strlen(text) <= HT_MAX_CHECKPOINT ? text : "";
}

/* The header's signature is one parameter over the house's limit. */
/* NOLINTNEXTLINE(readability-function-size) */
enum ht_status report_parse_foreign(struct arena *arena, const char *line,
                                    size_t len, size_t n,
                                    const char *const names[],
                                    struct report *report, struct ht_error *err)
{
    while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
        len--;
    const struct node *map = parse_line(arena, line, len, err);
    if (map == NULL)
        return HT_INVALID;
    if (map->kind != NODE_MAP)
        return ht_fail(err, HT_INVALID, "record: not an object");
    const struct node *found = foreign_metric(map, n, names);
    if (found == NULL || !is_metric_name(found->key))
        return ht_fail(err, HT_INVALID, "record: no metric in the line");
    struct report_metric *metric = arena_alloc(arena, 1, sizeof *metric);
    if (!read_python_float(found, &metric->value))
        return ht_fail(err, HT_INVALID, "record: metric %s is no number",
                       found->key);
    metric->name = arena_strdup(arena, found->key);
    struct report read = {.seq = line_hash(line, len),
                          .time_ms = foreign_time(map),
                          .n_metrics = 1,
                          .metrics = metric};
    const struct node *step = node_find(map, "global_step");
    read.has_step = step && node_int64(step, &read.step);
    read.checkpoint = arena_strdup(arena, foreign_checkpoint(map));
    *report = read;
    return HT_OK;
}
