#include "tuner/webhook/event_reader.h"

#include <stdlib.h>

#include "proto/base/clock.h"
#include "tuner/db/db.h"
#include "tuner/webhook/body.h"

enum {
    EVENTS_PAGE = 200,
    STUDIES_A_COMMIT = 64 /* so that a burst costs few synced writes */
};

struct webhook_reading {
    struct webhook_reading_options options;
    struct db *db;
};

enum ht_status
webhook_reading_open(const struct webhook_reading_options *options,
                     struct webhook_reading **reading, struct ht_error *err)
{
    struct text path = {0};
    struct db *db;
    text_printf(&path, "%s/hypertune.db", options->folder);
    const enum ht_status status = db_open_readonly(path.data, &db, err);
    text_free(&path);
    if (status != HT_OK)
        return status;
    *reading = ht_xcalloc(1, sizeof **reading);
    **reading = (struct webhook_reading){*options, db};
    return HT_OK;
}

void webhook_reading_close(struct webhook_reading *reading)
{
    if (reading != NULL)
        db_close(reading->db);
    free(reading);
}

/* --- all studies --- */

typedef enum ht_status study_visitor(struct webhook_reading *reading,
                                     const struct study_row *study,
                                     struct ht_error *err);

static enum ht_status each_study(struct webhook_reading *reading,
                                 study_visitor *visit, struct ht_error *err)
{
    static const struct study_scope everything = {0};
    enum { BATCH = 100 };
    int64_t before = 0;
    size_t n = BATCH;
    enum ht_status status = HT_OK;
    while (status == HT_OK && n == BATCH) {
        struct arena *arena = arena_new();
        struct study_list list = {0};
        status = db_study_list(reading->db, arena, &everything, before, BATCH,
                               &list, err);
        n = list.n;
        for (size_t i = 0; status == HT_OK && i < n; i++) {
            before = list.rows[i].id;
            status = visit(reading, &list.rows[i], err);
        }
        arena_free(arena);
    }
    return status;
}

static enum ht_status mark_now(struct webhook_reading *reading,
                               const struct study_row *study,
                               struct ht_error *err)
{
    return outbox_set_mark(reading->options.outbox, study->id, study->revision,
                           err);
}

enum ht_status webhook_reading_begin(struct webhook_reading *reading,
                                     struct ht_error *err)
{
    struct outbox *outbox = reading->options.outbox;
    enum ht_status status = outbox_begin(outbox, err);
    if (status != HT_OK)
        return status;
    status = each_study(reading, mark_now, err);
    if (status == HT_OK)
        status = outbox_set_begun(outbox, true, err);
    if (status == HT_OK)
        status = outbox_commit(outbox, err);
    if (status != HT_OK)
        outbox_rollback(outbox);
    return status;
}

static enum ht_status note_study(struct webhook_reading *reading,
                                 const struct study_row *study,
                                 struct ht_error *err)
{
    (void)err;
    webhook_news_add(reading->options.news, study->id);
    return HT_OK;
}

enum ht_status webhook_reading_resume(struct webhook_reading *reading,
                                      struct ht_error *err)
{
    return each_study(reading, note_study, err);
}

/* --- one study --- */

struct reading {
    const struct webhook_reading *all;
    const struct webhook_rules *rules;
    struct arena *arena;
    struct study_row study;
    struct job *job;
    struct trial_row best; /* id 0: none */
    struct view_failures failures;
};

/* The study's best trial by its first goal, if there is one. */
static enum ht_status find_best(struct reading *now, struct ht_error *err)
{
    if (now->job->n_metrics == 0)
        return HT_OK;
    const enum ht_status status =
        db_trial_best(now->all->db, now->arena, now->study.id,
                      now->job->metrics[0].maximize, &now->best, err);
    return status == HT_NOT_FOUND ? HT_OK : status;
}

static enum ht_status find_failures(struct reading *now, struct ht_error *err)
{
    struct trial_counts counts;
    const enum ht_status status =
        db_trial_counts(now->all->db, now->study.id, &counts, err);
    return status == HT_OK
               ? view_failures_find(now->all->db, now->arena, &now->study,
                                    &counts, &now->failures, err)
               : status;
}

static enum ht_status make_body(struct reading *now,
                                const struct event_row *event,
                                enum notify_event what, const char **body,
                                struct ht_error *err)
{
    struct trial_row trial = {0};
    const enum ht_status status =
        event->trial == 0
            ? HT_NOT_FOUND
            : db_trial_get(now->all->db, now->arena, now->study.id,
                           event->trial, &trial, err);
    if (status != HT_OK && status != HT_NOT_FOUND)
        return status;
    *body = webhook_letter_body(
        now->arena, &(struct webhook_letter_parts){
                        .http = now->all->options.http,
                        .what = what,
                        .event = event,
                        .study = &now->study,
                        .failures = &now->failures,
                        /* It may have been deleted since. */
                        .trial = status == HT_OK ? &trial : NULL,
                        .best = now->best.id != 0 ? &now->best : NULL});
    return HT_OK;
}

static enum ht_status tell(struct reading *now, const struct event_row *event,
                           enum notify_event what, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    struct letter letter = {.study = now->study.id,
                            .event = notify_event_name(what),
                            .made_ms = clock_wall_ms()};
    for (size_t i = 0; status == HT_OK && i < now->rules->n; i++) {
        const struct webhook *webhook = &now->rules->items[i];
        if (!webhook_wants(webhook, &now->job->notify, what, now->study.name))
            continue;
        letter.webhook = webhook->name;
        if (letter.body == NULL)
            status = make_body(now, event, what, &letter.body, err);
        if (status == HT_OK)
            status = outbox_add(now->all->options.outbox, &letter, err);
    }
    return status;
}

static enum ht_status read_page(struct reading *now, int64_t *mark, bool *more,
                                struct ht_error *err)
{
    struct event_list list;
    enum ht_status status =
        db_event_list(now->all->db, now->arena, now->study.id, *mark,
                      EVENTS_PAGE, &list, err);
    for (size_t i = 0; status == HT_OK && i < list.n; i++) {
        const unsigned told =
            webhook_letter_events(&list.rows[i], now->best.id);
        for (int what = 0; status == HT_OK && what < NOTIFY_EVENTS; what++)
            if ((told & 1U << what) != 0)
                status = tell(now, &list.rows[i], (enum notify_event)what, err);
        *mark = list.rows[i].revision;
    }
    if (status == HT_OK)
        *more = list.n == EVENTS_PAGE;
    return status;
}

static enum ht_status read_events(struct reading *now, int64_t study,
                                  bool *more, struct ht_error *err)
{
    struct outbox *outbox = now->all->options.outbox;
    int64_t mark;
    enum ht_status status =
        db_study_get(now->all->db, now->arena, study, &now->study, err);
    if (status == HT_NOT_FOUND)
        return outbox_forget_mark(outbox, study, err);
    if (status == HT_OK)
        status = outbox_mark(outbox, study, &mark, err);
    if (status != HT_OK || mark >= now->study.revision)
        return status;
    status = vertex_parse(now->arena, now->study.spec, &now->job, err);
    if (status == HT_OK)
        status = find_best(now, err);
    if (status == HT_OK)
        status = find_failures(now, err);
    if (status == HT_OK)
        status = read_page(now, &mark, more, err);
    return status == HT_OK ? outbox_set_mark(outbox, study, mark, err) : status;
}

/* One page of a study's events, in one snapshot. */
static enum ht_status read_study(struct webhook_reading *reading,
                                 const struct webhook_rules *rules,
                                 int64_t study, struct ht_error *err)
{
    struct reading now = {.all = reading, .rules = rules, .arena = arena_new()};
    bool more = false;
    enum ht_status status = db_begin(reading->db, err);
    if (status == HT_OK) {
        status = read_events(&now, study, &more, err);
        db_rollback(reading->db);
    }
    if (more)
        webhook_news_add(reading->options.news, study);
    arena_free(now.arena);
    return status;
}

/* --- all that is news --- */

static enum ht_status read_some(struct webhook_reading *reading,
                                const struct webhook_rules *rules, size_t n,
                                const int64_t studies[], struct ht_error *err)
{
    struct outbox *outbox = reading->options.outbox;
    enum ht_status status = outbox_begin(outbox, err);
    if (status != HT_OK)
        return status;
    for (size_t i = 0; status == HT_OK && i < n; i++)
        status = read_study(reading, rules, studies[i], err);
    if (status == HT_OK)
        status = outbox_commit(outbox, err);
    if (status != HT_OK)
        outbox_rollback(outbox);
    return status;
}

enum ht_status webhook_reading_take(struct webhook_reading *reading,
                                    const struct webhook_rules *rules,
                                    size_t *n, struct ht_error *err)
{
    int64_t *studies;
    enum ht_status status = HT_OK;
    const size_t all = webhook_news_take(reading->options.news, &studies);
    size_t done = 0;
    while (done < all && status == HT_OK &&
           !atomic_load(reading->options.stop)) {
        const size_t batch =
            all - done < STUDIES_A_COMMIT ? all - done : STUDIES_A_COMMIT;
        status = read_some(reading, rules, batch, studies + done, err);
        done += status == HT_OK ? batch : 0;
    }
    for (size_t i = done; i < all; i++)
        webhook_news_add(reading->options.news, studies[i]);
    free(studies);
    *n = all;
    return status;
}
