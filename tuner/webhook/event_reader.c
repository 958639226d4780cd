#include "tuner/webhook/event_reader.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "tuner/base/changed_studies.h"
#include "tuner/db/ranking.h"
#include "tuner/view/view.h"
#include "tuner/webhook/outbox.h"

enum {
    EVENTS_PAGE = 200,
    STUDIES_A_COMMIT = 64 /* so that a burst costs few synced writes */
};

struct webhook_reader {
    struct changed_studies *changed;

    /* the thread's own */
    const char *http;
    struct db *outbox, *db; /* db is hypertune.db; NULL: not open */
};

struct webhook_reader *webhook_reader_new(void)
{
    struct webhook_reader *reader = ht_xcalloc(1, sizeof *reader);
    reader->changed = changed_studies_new();
    return reader;
}

void webhook_reader_free(struct webhook_reader *reader)
{
    if (reader == NULL)
        return;
    db_close(reader->db);
    changed_studies_free(reader->changed);
    free(reader);
}

bool webhook_reader_note(struct webhook_reader *reader, int64_t study)
{
    return changed_studies_add(reader->changed, study);
}

/* --- all studies --- */

static enum ht_status start_all(struct webhook_reader *reader, bool resume,
                                struct ht_error *err)
{
    static const struct study_scope everything = {0};
    enum { BATCH = 100 };
    int64_t before = 0;
    size_t n = BATCH;
    enum ht_status status = HT_OK;
    while (status == HT_OK && n == BATCH) {
        struct arena *arena = arena_new();
        struct study_list list = {0};
        status = db_study_list(reader->db, arena, &everything, before, BATCH,
                               &list, err);
        n = list.n;
        for (size_t i = 0; status == HT_OK && i < n; i++) {
            const struct study_row *study = &list.rows[i];
            before = study->id;
            if (resume)
                webhook_reader_note(reader, study->id);
            else
                status = webhook_outbox_set_mark(reader->outbox, study->id,
                                                 study->revision, err);
        }
        arena_free(arena);
    }
    return status;
}

static enum ht_status open_db(struct webhook_reader *reader, const char *folder,
                              struct ht_error *err)
{
    struct text path = {0};
    enum ht_status status = HT_OK;
    text_printf(&path, "%s/hypertune.db", folder);
    if (reader->db == NULL)
        status = db_open_readonly(path.data, &reader->db, err);
    text_free(&path);
    return status;
}

enum ht_status webhook_reader_start(struct webhook_reader *reader,
                                    const char *folder, const char *http,
                                    struct db *outbox, bool *resumed,
                                    struct ht_error *err)
{
    int64_t kept;
    enum ht_status status = open_db(reader, folder, err);
    reader->http = http;
    reader->outbox = outbox;
    if (status == HT_OK)
        status = webhook_outbox_mark(outbox, WEBHOOK_MARKS_KEPT, &kept, err);
    if (status != HT_OK)
        return status;
    *resumed = kept != 0;
    if (*resumed)
        return start_all(reader, true, err);
    status = db_begin(reader->outbox, err);
    if (status == HT_OK)
        status = start_all(reader, false, err);
    if (status == HT_OK)
        status =
            webhook_outbox_set_mark(reader->outbox, WEBHOOK_MARKS_KEPT, 1, err);
    return db_end(reader->outbox, status, err);
}

/* --- the body of an event --- */

/* One reading of a study. */
struct reading {
    const struct webhook_reader *reader;
    const struct webhook_rules *rules;
    struct arena *arena;
    struct study_row study;
    struct job *job;
    struct trial_row best; /* id 0: none */
    struct view_failures failures;
};

/* The webhook events of an event of the log: bits 1 << enum notify_event. */
static unsigned meanings_of(const struct event_row *event, int64_t best)
{
    enum {
        ENDED = 1 << NOTIFY_TRIAL_ENDED,
        FAILED = ENDED | 1 << NOTIFY_TRIAL_FAILED,
        COUNTED = ENDED | 1 << NOTIFY_BEST_IMPROVED,
        ALL_ENDED = 1 << NOTIFY_STUDY_ENDED,
        ALL_PAUSED = 1 << NOTIFY_STUDY_PAUSED
    };
    static const struct {
        const char *kind, *to;
        unsigned events;
    } meanings[] = {
        {"trial.moved", "SUCCEEDED", COUNTED},
        {"trial.moved", "STOPPED", COUNTED},
        {"trial.moved", "FAILED", FAILED},
        {"trial.moved", "INFEASIBLE", FAILED},
        {"trial.moved", "CANCELLED", ENDED},
        {"study.moved", "SUCCEEDED", ALL_ENDED},
        {"study.moved", "STOPPED", ALL_ENDED},
        {"study.moved", "FAILED", ALL_ENDED},
        {"study.moved", "CANCELLED", ALL_ENDED},
        {"study.moved", "PAUSED", ALL_PAUSED},
    };
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strcmp(event->kind, meanings[i].kind) == 0 &&
            strcmp(event->to, meanings[i].to) == 0)
            return event->trial == best
                       ? meanings[i].events
                       : meanings[i].events & ~(1U << NOTIFY_BEST_IMPROVED);
    return 0;
}

static void add_trial(cJSON *body, const char *key,
                      const struct trial_row *trial)
{
    cJSON *object = json_add_object(body, key);
    json_add_int(object, "id", trial->id);
    json_add_string(object, "state", db_trial_state_name(trial->state));
    if (trial->has_objective)
        json_add_double(object, "objective", trial->objective);
    cJSON_AddRawToObject(object, "parameters", trial->params);
    if (trial->final_metrics != NULL)
        cJSON_AddRawToObject(object, "metrics", trial->final_metrics);
    json_add_string(object, "reason", trial->reason);
}

static const char *link_of(const struct reading *reading)
{
    return arena_printf(reading->arena, "%s/#/studies/%lld",
                        reading->reader->http, (long long)reading->study.id);
}

static const char *body_of(const struct reading *reading,
                           const struct event_row *event,
                           enum notify_event what,
                           const struct trial_row *trial)
{
    const struct study_row *row = &reading->study;
    char stamp[CLOCK_STAMP_BYTES];
    cJSON *body = cJSON_CreateObject();
    json_add_string(body, "event", notify_event_name(what));
    json_add_string(body, "time", clock_stamp(stamp, event->time_ms));
    json_add_int(body, "revision", event->revision);
    cJSON *study = json_add_object(body, "study");
    json_add_int(study, "id", row->id);
    json_add_string(study, "name", row->name);
    json_add_string(study, "state", db_study_state_name(row->state));
    json_add_string(study, "reason", row->reason);
    view_failures_add(study, &reading->failures);
    if (trial != NULL)
        add_trial(body, "trial", trial);
    if (reading->best.id != 0)
        add_trial(body, "best", &reading->best);
    json_add_string(body, "link", link_of(reading));
    return json_text(reading->arena, body);
}

static const char *message_of(const struct reading *reading,
                              enum notify_event what,
                              const struct trial_row *trial,
                              enum webhook_format format)
{
    const struct job *job = reading->job;
    const struct webhook_message message = {
        .what = what,
        .study = &reading->study,
        .trial = trial,
        .best = &reading->best,
        .metric = job->n_metrics > 0 ? job->metrics[0].name : NULL,
        .link = link_of(reading)};
    return webhook_chat_body(reading->arena, format, &message);
}

/* The trial may have been deleted since. */
static enum ht_status make_body(const struct reading *reading,
                                const struct event_row *event,
                                enum notify_event what,
                                enum webhook_format format, const char **body,
                                struct ht_error *err)
{
    struct trial_row trial = {0};
    enum ht_status status = HT_NOT_FOUND;
    if (event->trial != 0)
        status = db_trial_get(reading->reader->db, reading->arena,
                              reading->study.id, event->trial, &trial, err);
    if (status != HT_OK && status != HT_NOT_FOUND)
        return status;
    const struct trial_row *found = status == HT_OK ? &trial : NULL;
    *body = format == WEBHOOK_EVENT ? body_of(reading, event, what, found)
                                    : message_of(reading, what, found, format);
    return HT_OK;
}

/* --- one study --- */

/* The study's best trial by its first goal, if there is one. */
static enum ht_status find_best(struct reading *reading, struct ht_error *err)
{
    if (reading->job->n_metrics == 0)
        return HT_OK;
    const enum ht_status status =
        db_trial_best(reading->reader->db, reading->arena, reading->study.id,
                      reading->job->metrics[0].maximize, &reading->best, err);
    return status == HT_NOT_FOUND ? HT_OK : status;
}

static enum ht_status find_failures(struct reading *reading,
                                    struct ht_error *err)
{
    struct trial_counts counts;
    struct db *db = reading->reader->db;
    const enum ht_status status =
        db_trial_counts(db, reading->study.id, &counts, err);
    return status == HT_OK
               ? view_failures_find(db, reading->arena, &reading->study,
                                    &counts, &reading->failures, err)
               : status;
}

static enum ht_status add_deliveries(const struct reading *reading,
                                     const struct event_row *event,
                                     enum notify_event what,
                                     struct ht_error *err)
{
    enum ht_status status = HT_OK;
    const char *bodies[WEBHOOK_FORMATS] = {0};
    struct webhook_delivery delivery = {.study = reading->study.id,
                                        .event = notify_event_name(what),
                                        .made_ms = clock_wall_ms()};
    for (size_t i = 0; status == HT_OK && i < reading->rules->n; i++) {
        const struct webhook *webhook = &reading->rules->items[i];
        if (!webhook_wants(webhook, &reading->job->notify, what,
                           reading->study.name))
            continue;
        const char **body = &bodies[webhook->format];
        if (*body == NULL)
            status =
                make_body(reading, event, what, webhook->format, body, err);
        delivery.webhook = webhook->name;
        delivery.body = *body;
        if (status == HT_OK)
            status =
                webhook_outbox_add(reading->reader->outbox, &delivery, err);
    }
    return status;
}

static enum ht_status read_page(const struct reading *reading, int64_t *mark,
                                bool *more, struct ht_error *err)
{
    struct event_list list;
    enum ht_status status =
        db_event_list(reading->reader->db, reading->arena, reading->study.id,
                      *mark, EVENTS_PAGE, &list, err);
    for (size_t i = 0; status == HT_OK && i < list.n; i++) {
        const struct event_row *event = &list.rows[i];
        const unsigned events = meanings_of(event, reading->best.id);
        for (int what = 0; status == HT_OK && what < NOTIFY_EVENTS; what++)
            if ((events & 1U << what) != 0)
                status = add_deliveries(reading, event, (enum notify_event)what,
                                        err);
        *mark = event->revision;
    }
    if (status == HT_OK)
        *more = list.n == EVENTS_PAGE;
    return status;
}

static enum ht_status read_events(struct reading *reading, int64_t study,
                                  bool *more, struct ht_error *err)
{
    struct db *outbox = reading->reader->outbox;
    int64_t mark;
    enum ht_status status = db_study_get(reading->reader->db, reading->arena,
                                         study, &reading->study, err);
    if (status == HT_NOT_FOUND)
        return webhook_outbox_remove_mark(outbox, study, err);
    if (status == HT_OK)
        status = webhook_outbox_mark(outbox, study, &mark, err);
    if (status != HT_OK || mark >= reading->study.revision)
        return status;
    status =
        vertex_parse(reading->arena, reading->study.spec, &reading->job, err);
    if (status == HT_OK)
        status = find_best(reading, err);
    if (status == HT_OK)
        status = find_failures(reading, err);
    if (status == HT_OK)
        status = read_page(reading, &mark, more, err);
    return status == HT_OK ? webhook_outbox_set_mark(outbox, study, mark, err)
                           : status;
}

/* One page of a study's events, in one snapshot. */
static enum ht_status read_study(struct webhook_reader *reader,
                                 const struct webhook_rules *rules,
                                 int64_t study, struct ht_error *err)
{
    struct reading reading = {
        .reader = reader, .rules = rules, .arena = arena_new()};
    bool more = false;
    enum ht_status status = db_begin(reader->db, err);
    if (status == HT_OK) {
        status = read_events(&reading, study, &more, err);
        db_rollback(reader->db);
    }
    if (more)
        webhook_reader_note(reader, study);
    arena_free(reading.arena);
    return status;
}

enum ht_status webhook_reader_read(struct webhook_reader *reader,
                                   const struct webhook_rules *rules,
                                   const atomic_bool *stop, size_t *n,
                                   struct ht_error *err)
{
    int64_t *studies;
    enum ht_status status = HT_OK;
    size_t done = 0;
    *n = changed_studies_take(reader->changed, &studies);
    while (done < *n && status == HT_OK && !atomic_load(stop)) {
        const size_t left = *n - done;
        const size_t end =
            done + (left < STUDIES_A_COMMIT ? left : STUDIES_A_COMMIT);
        status = db_begin(reader->outbox, err);
        for (size_t i = done; status == HT_OK && i < end; i++)
            status = read_study(reader, rules, studies[i], err);
        status = db_end(reader->outbox, status, err);
        done = status == HT_OK ? end : done;
    }
    for (size_t i = done; i < *n; i++)
        webhook_reader_note(reader, studies[i]);
    free(studies);
    return status;
}
