#include "tuner/logs/entry_walk.h"

#include <string.h>

#include "tuner/ask/filter.h"
#include "tuner/db/db.h"
#include "tuner/db/event.h"
#include "tuner/logs/entry_jobs.h"
#include "tuner/logs/event_line.h"
#include "tuner/logs/log_lines.h"
#include "tuner/logs/logs.h"

/* Where the next group of a job's chunks or events is. */
struct source {
    const struct entry_job *job;
    struct entry_key key;
    struct log_head head; /* of a chunk */
};

struct entry_walk {
    struct db *db;
    struct logs *logs;
    const struct entry_range *range;
    size_t n; /* sources that have not ended: a heap, the next one first */
    struct source *sources;
};

/* --- sources --- */

/* Events have milliseconds and come behind lines of the same one, so a trial's
 * end is behind its last line. */
static int64_t event_us(int64_t time_ms)
{
    return time_ms * 1000 + 999;
}

static enum ht_status step_chunk(const struct entry_walk *walk,
                                 struct source *source,
                                 const struct log_place *place,
                                 struct ht_error *err)
{
    const enum ht_status status =
        logs_step(walk->logs, source->job->study, place, walk->range->down,
                  &source->head, err);
    if (status != HT_OK)
        return status;
    source->key.us = source->head.place.stored_us;
    source->key.id = source->head.place.row;
    return HT_OK;
}

static enum ht_status step_event(const struct entry_walk *walk,
                                 struct source *source, int64_t revision,
                                 struct ht_error *err)
{
    struct event_head head;
    const enum ht_status status = db_event_step(
        walk->db, source->job->study, revision, walk->range->down, &head, err);
    if (status != HT_OK)
        return status;
    source->key.us = event_us(head.time_ms);
    source->key.id = head.revision;
    return HT_OK;
}

/* The bound of the ids that a source may begin with at the moment of `from`. */
static int64_t first_id(const struct entry_walk *walk,
                        const struct source *source)
{
    struct entry_key from = walk->range->from, own = source->key;
    const int64_t id = from.id;
    own.us = from.us;
    own.id = from.id = own.line = from.line = 0;
    const int order = entry_key_order(&own, &from);
    if (order == 0)
        return id;
    return (order < 0) ? INT64_MAX : -1;
}

static enum ht_status seek_event(const struct entry_walk *walk,
                                 struct source *source, struct ht_error *err)
{
    const struct entry_job *job = source->job;
    const int64_t us = walk->range->from.us, id = first_id(walk, source);
    const bool down = walk->range->down;
    /* The last millisecond whose events are not behind `us`. */
    const int64_t ms = us < event_us(0) ? -1 : (us - event_us(0)) / 1000;
    const bool is_within = event_us(ms) == us; /* then the id decides */
    int64_t first, behind;
    enum ht_status status = db_event_seek(walk->db, job->study, job->revision,
                                          is_within ? ms : ms + 1, &first, err);
    if (status == HT_OK)
        status = db_event_seek(walk->db, job->study, job->revision, ms + 1,
                               &behind, err);
    if (status != HT_OK)
        return status;
    int64_t revision = down ? behind - 1 : first;
    if (is_within && down && id < revision)
        revision = id > first - 1 ? id : first - 1;
    if (is_within && !down && id > revision)
        revision = id < behind ? id : behind;
    return step_event(walk, source, revision, err);
}

static enum ht_status seek(const struct entry_walk *walk, struct source *source,
                           struct ht_error *err)
{
    if (source->key.origin == ENTRY_EVENT)
        return seek_event(walk, source, err);
    const struct log_place place = {walk->range->from.us,
                                    first_id(walk, source)};
    return step_chunk(walk, source, &place, err);
}

static enum ht_status step(const struct entry_walk *walk, struct source *source,
                           struct ht_error *err)
{
    const int64_t next = source->key.id + (walk->range->down ? -1 : 1);
    if (source->key.origin == ENTRY_EVENT)
        return step_event(walk, source, next, err);
    const struct log_place place = {source->key.us, next};
    return step_chunk(walk, source, &place, err);
}

/* --- the heap --- */

static bool is_before(const struct entry_walk *walk, const struct source *a,
                      const struct source *b)
{
    const int order = entry_key_order(&a->key, &b->key);
    return walk->range->down ? order > 0 : order < 0;
}

static void sift_down(struct entry_walk *walk, size_t at)
{
    struct source *all = walk->sources;
    for (;;) {
        size_t first = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < walk->n;
             child++)
            if (is_before(walk, &all[child], &all[first]))
                first = child;
        if (first == at)
            return;
        const struct source moved = all[at];
        all[at] = all[first];
        all[first] = moved;
        at = first;
    }
}

enum ht_status entry_walk_open(struct db *db, struct logs *logs,
                               struct arena *arena,
                               const struct entry_range *range,
                               struct entry_walk **out, struct ht_error *err)
{
    const struct entry_jobs *jobs = range->jobs;
    struct entry_walk *walk = arena_alloc(arena, 1, sizeof *walk);
    *walk = (struct entry_walk){.db = db, .logs = logs, .range = range};
    walk->sources = arena_alloc(arena, 2 * jobs->n, sizeof *walk->sources);
    for (size_t i = 0; i < 2 * jobs->n; i++) {
        struct source *source = &walk->sources[walk->n];
        source->job = &jobs->items[i / 2];
        source->key = (struct entry_key){.origin = i % 2 == 0 ? ENTRY_PRINTED
                                                              : ENTRY_EVENT,
                                         .study = source->job->study};
        const enum ht_status status = seek(walk, source, err);
        if (status != HT_OK && status != HT_NOT_FOUND)
            return status;
        walk->n += status == HT_OK;
    }
    for (size_t i = walk->n / 2; i-- > 0;)
        sift_down(walk, i);
    *out = walk;
    return HT_OK;
}

/* --- groups --- */

static const char *severity_of(const char *stream)
{
    return strcmp(stream, "stderr") == 0 ? "ERROR" : "INFO";
}

/* A carriage return at the end belongs to the line feed. */
static const char *join(struct arena *arena, const char *a, size_t a_len,
                        const char *b, size_t b_len)
{
    char *joined = arena_alloc(arena, a_len + b_len + 1, 1);
    memcpy(joined, a, a_len);
    memcpy(joined + a_len, b, b_len);
    char *end = joined + a_len + b_len;
    if (end > joined && end[-1] == '\r')
        end[-1] = '\0';
    return joined;
}

static void add_line(struct arena *arena, struct entry_group *group,
                     const struct entry *made, const char *text)
{
    group->items = db_grow(arena, group->items, group->n, sizeof *group->items);
    struct entry *entry = &group->items[group->n];
    *entry = *made;
    entry->text = text;
    entry->key.line = (int64_t)group->n++;
}

static void add_lines(struct arena *arena, struct entry_group *group,
                      const struct entry *made, const struct log_text *text)
{
    struct log_lines lines = {.data = text->data,
                              .len = text->len,
                              .open = text->gap > 0 ? 0 : text->open_len};
    size_t at = 0, open = lines.open, len;
    if (text->gap > 0 && text->open_len > 0)
        add_line(arena, group, made,
                 join(arena, text->open, text->open_len, "", 0));
    if (text->gap > 0) {
        struct entry missing = *made;
        missing.severity = "WARNING";
        add_line(arena, group, &missing,
                 arena_printf(arena, "(%lld bytes of this log were not kept)",
                              (long long)text->gap));
    }
    for (; log_lines_next(&lines, &len); at = lines.at, open = 0)
        add_line(arena, group, made,
                 join(arena, text->open, open, text->data + at, len));
}

static enum ht_status build_chunk(const struct entry_walk *walk,
                                  const struct source *source,
                                  struct arena *arena,
                                  struct entry_group *group,
                                  struct ht_error *err)
{
    const struct log_head *head = &source->head;
    struct log_text text;
    struct entry made = {.job = source->job,
                         .key = source->key,
                         .trial = head->trial,
                         .attempt = head->attempt,
                         .task = entry_task(arena, source->job, head->replica),
                         .stream = arena_strdup(arena, head->stream),
                         .severity = severity_of(head->stream)};
    struct entry_question question = {arena, &made};
    if (!filter_may_allow(walk->range->filter, entry_look_up, &question))
        return HT_OK;
    const enum ht_status status =
        logs_text(walk->logs, arena, source->job->study, head, &text, err);
    if (status == HT_OK)
        add_lines(arena, group, &made, &text);
    return status == HT_NOT_FOUND ? HT_OK : status; /* forgotten since */
}

/* The lines that ended with their attempt. */
static enum ht_status add_tails(const struct entry_walk *walk,
                                const struct source *source,
                                const struct event_row *event,
                                struct arena *arena, struct entry_group *group,
                                struct ht_error *err)
{
    struct log_tails tails = {0};
    const enum ht_status status =
        logs_tails(walk->logs, arena, event->study, event->trial,
                   event->attempt, &tails, err);
    for (size_t i = 0; status == HT_OK && i < tails.n; i++) {
        const struct log_tail *tail = &tails.items[i];
        const struct entry made = {
            .job = source->job,
            .key = source->key,
            .trial = event->trial,
            .attempt = event->attempt,
            .task = entry_task(arena, source->job, tail->replica),
            .stream = tail->stream,
            .severity = severity_of(tail->stream)};
        add_line(arena, group, &made,
                 join(arena, "", 0, tail->data, tail->len));
    }
    return status;
}

static enum ht_status build_event(const struct entry_walk *walk,
                                  const struct source *source,
                                  struct arena *arena,
                                  struct entry_group *group,
                                  struct ht_error *err)
{
    struct event_list list;
    const enum ht_status status = db_event_list(
        walk->db, arena, source->job->study, source->key.id - 1, 1, &list, err);
    if (status != HT_OK || list.n == 0)
        return status;
    const struct event_row *event = &list.rows[0];
    if (strcmp(event->kind, "attempt.moved") == 0)
        return add_tails(walk, source, event, arena, group, err);
    struct entry made = {.job = source->job,
                         .key = source->key,
                         .trial = event->trial,
                         .task = "service",
                         .stream = ""};
    const char *line =
        event_line(arena, event, source->job->kind, &made.severity);
    if (line != NULL)
        add_line(arena, group, &made, line);
    return HT_OK;
}

/* Moves the first source on, or takes it out of the heap at its end. */
static enum ht_status advance(struct entry_walk *walk, struct ht_error *err)
{
    const enum ht_status status = step(walk, &walk->sources[0], err);
    if (status == HT_NOT_FOUND)
        walk->sources[0] = walk->sources[--walk->n];
    else if (status != HT_OK)
        return status;
    sift_down(walk, 0);
    return HT_OK;
}

enum ht_status entry_walk_next(struct entry_walk *walk, struct arena *arena,
                               struct entry_group *out, struct ht_error *err)
{
    const struct entry_range *range = walk->range;
    const struct source *source = &walk->sources[0];
    if (walk->n == 0 || (range->down ? source->key.us < range->until_us
                                     : source->key.us > range->until_us))
        return ht_fail(err, HT_NOT_FOUND, "no more entries");
    struct entry_group group = {.key = source->key};
    enum ht_status status = source->key.origin == ENTRY_EVENT
                                ? build_event(walk, source, arena, &group, err)
                                : build_chunk(walk, source, arena, &group, err);
    if (status == HT_OK)
        status = advance(walk, err);
    if (status == HT_OK)
        *out = group;
    return status;
}
