#include "runner/reports/metrics_seen.h"

#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/similar_name.h"
#include "runner/base/json.h"
#include "runner/reports/log.h"

enum {
    LOOKED_AT = 4 * 1024 * 1024, /* bytes of a stream */
    LINE_BYTES = 1000,           /* of a line that is looked at */
    SHOWN_BYTES = 160            /* of the one that is sent */
};

/* ---- names ---- */

/* NULL: there is no room for it. */
static struct metrics_seen_name *get_name(struct metrics_seen *seen,
                                          const char *name)
{
    size_t i = 0;
    while (i < seen->n && strcmp(seen->names[i].name, name) != 0)
        i++;
    if (i == METRICS_SEEN_NAMES)
        return NULL;
    if (i == seen->n)
        seen->names[seen->n++] =
            (struct metrics_seen_name){.name = arena_strdup(seen->arena, name)};
    return &seen->names[i];
}

static void note_value(struct metrics_seen *seen,
                       const struct report_metric *metric, const char *file,
                       int64_t line)
{
    struct metrics_seen_name *name = get_name(seen, metric->name);
    if (name == NULL)
        return;
    if (name->n++ == 0)
        name->first = metric->value;
    name->last = metric->value;
    name->file = file;
    name->line = line;
}

void metrics_seen_note(struct metrics_seen *seen, const struct strings *metrics,
                       const struct report *report, const char *file,
                       int64_t line)
{
    for (size_t i = 0; i < report->n_metrics; i++) {
        note_value(seen, &report->metrics[i], file, line);
        for (size_t k = 0; k < metrics->n; k++)
            if (strcmp(metrics->items[k], report->metrics[i].name) == 0)
                seen->metrics |= UINT32_C(1) << k;
    }
}

void metrics_seen_note_column(struct metrics_seen *seen, const char *name,
                              const char *file, int64_t line)
{
    struct metrics_seen_name *column = get_name(seen, name);
    if (column == NULL || column->n > 0)
        return;
    column->file = file;
    column->line = line;
}

bool metrics_seen_is_whole(const struct metrics_seen *seen,
                           const struct strings *metrics)
{
    _Static_assert(HT_MAX_METRICS < 32, "each metric has its bit");
    return seen->metrics == (UINT32_C(1) << metrics->n) - 1;
}

static void put_number(struct text *out, const char *key, double value)
{
    char text[TEXT_DOUBLE_BYTES];
    json_put_string(out, key, text_of_double(text, value));
}

void metrics_seen_text(const struct metrics_seen *seen, const char *replica,
                       struct text *out)
{
    for (size_t i = 0; i < seen->n; i++) {
        const struct metrics_seen_name *name = &seen->names[i];
        json_open(out, NULL);
        json_put_string(out, "name", name->name);
        json_put_int(out, "count", name->n);
        if (name->n > 0) {
            put_number(out, "first", name->first);
            put_number(out, "last", name->last);
        }
        json_put_string(out, "file", name->file);
        json_put_int(out, "line", name->line);
        json_put_string(out, "replica", replica);
        json_close(out);
    }
}

/* ---- lines ---- */

struct search { /* for the likest line of the streams */
    const char *metric;
    enum likeness like;
    const char *stream;
    int64_t line;
    struct named_number named;
    char text[LINE_BYTES + 1];
};

static void look_at_line(struct search *search, const char *stream,
                         int64_t number, struct text *line)
{
    struct named_number named;
    if (line->len > 0 && line->len <= LINE_BYTES) {
        const enum likeness like =
            similar_name_find(search->metric, line->data, &named);
        if (like != LIKENESS_NONE && like >= search->like) {
            search->like = like;
            search->stream = stream;
            search->line = number;
            search->named = named;
            memcpy(search->text, line->data, line->len + 1);
        }
    }
    text_clear(line);
}

static void search_stream(struct search *search, const char *folder,
                          const char *stream)
{
    struct log_source source = {.folder = folder, .stream = stream};
    struct text line = {0};
    char buffer[16 * 1024];
    int64_t at, number = 1;
    size_t n;
    /* Behind a gap the numbers of lines are not known. */
    while ((n = log_source_read(&source, buffer, sizeof buffer, &at)) > 0 &&
           source.offset <= LOOKED_AT && at + (int64_t)n == source.offset) {
        size_t used = 0;
        const char *newline;
        while ((newline = memchr(buffer + used, '\n', n - used)) != NULL) {
            const size_t len = (size_t)(newline - (buffer + used));
            text_append(&line, buffer + used, len);
            look_at_line(search, stream, number++, &line);
            used += len + 1;
        }
        text_append(&line, buffer + used, n - used);
    }
    look_at_line(search, stream, number, &line);
    text_free(&line);
}

/* The line from `from` on, as much as is sent; cut between characters. */
static void part_text(struct text *out, const char *key, const char *from,
                      size_t len)
{
    struct text part = {0};
    len = len < SHOWN_BYTES ? len : SHOWN_BYTES;
    while (len > 0 && ((unsigned char)from[len] & 0xc0) == 0x80)
        len--;
    text_append(&part, from, len);
    json_put_string(out, key, part.data);
    text_free(&part);
}

void metrics_seen_line_text(const char *folder, const char *replica,
                            const char *metric, struct text *out)
{
    struct search search = {.metric = metric};
    search_stream(&search, folder, "stderr");
    search_stream(&search, folder, "stdout");
    if (search.like == LIKENESS_NONE)
        return;
    const struct named_number *named = &search.named;
    const size_t end = named->number_at + named->number_len;
    /* A long line is sent from the name on. */
    const size_t from = end > SHOWN_BYTES ? named->at : 0;
    json_open(out, "line");
    json_put_string(out, "stream", search.stream);
    json_put_int(out, "line", search.line);
    json_put_string(out, "replica", replica);
    part_text(out, "text", search.text + from, strlen(search.text + from));
    part_text(out, "name", search.text + named->at, named->name_len);
    part_text(out, "before", search.text + named->at,
              named->number_at - named->at);
    json_close(out);
}
