#include "tuner/webhooks.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <curl/curl.h>

#include "proto/clock.h"
#include "proto/token.h"
#include "tuner/core.h"
#include "tuner/db.h"
#include "tuner/db_outbox.h"
#include "tuner/log.h"
#include "tuner/meter.h"
#include "tuner/state.h"
#include "tuner/webhook_letter.h"
#include "tuner/webhook_post.h"
#include "tuner/webhook_rules.h"

enum {
    LOOK_MS = 2000,  /* between two looks at the file */
    AGAIN_MS = 5000, /* after a failure of our own files */
    FILE_BYTES = 65536,
    EVENTS_PAGE = 200,
    LETTERS = 16,
    FIRST_MS = 1000, /* before the second attempt */
    LONGEST_MS = 3600000,
    DAY_MS = 86400000,
    KEPT_DAYS = 30 /* dead ones are shown so long */
};

struct webhooks {
    struct core *core;
    char *folder, *http;
    pthread_t thread;
    bool running;
    pthread_mutex_t lock; /* guards the list of news */
    pthread_cond_t wake;
    size_t n_news, room;
    int64_t *news; /* studies with new revisions, each once */
    atomic_bool stopping, active;

    /* the thread's own */
    struct arena *arena; /* of the rules */
    struct webhook_rules rules;
    struct timespec changed; /* of the file */
    off_t size;
    struct db *db;
    struct outbox *outbox;
};

int64_t webhooks_pause(int64_t tries, int64_t age_ms, uint64_t random)
{
    int64_t pause_ms = FIRST_MS;
    for (int64_t i = 1; i < tries && pause_ms < LONGEST_MS; i++)
        pause_ms *= 2;
    pause_ms = pause_ms < LONGEST_MS ? pause_ms : LONGEST_MS;
    return age_ms >= DAY_MS
               ? -1
               : pause_ms + (int64_t)(random % (uint64_t)(pause_ms / 2));
}

/* --- news --- */

void webhooks_note(struct webhooks *webhooks, int64_t study)
{
    if (!atomic_load(&webhooks->active))
        return;
    pthread_mutex_lock(&webhooks->lock);
    size_t i = 0;
    while (i < webhooks->n_news && webhooks->news[i] != study)
        i++;
    if (i == webhooks->n_news) {
        if (webhooks->n_news == webhooks->room) {
            webhooks->room = 2 * webhooks->room + 8;
            webhooks->news = ht_xrealloc(webhooks->news, webhooks->room,
                                         sizeof *webhooks->news);
        }
        webhooks->news[webhooks->n_news++] = study;
        pthread_cond_signal(&webhooks->wake);
    }
    pthread_mutex_unlock(&webhooks->lock);
}

/* Takes the next study with news; false: there is none. */
static bool take_news(struct webhooks *webhooks, int64_t *study)
{
    pthread_mutex_lock(&webhooks->lock);
    const bool any = webhooks->n_news > 0;
    if (any)
        *study = webhooks->news[--webhooks->n_news];
    pthread_mutex_unlock(&webhooks->lock);
    return any;
}

/* --- the admin's file --- */

static void read_rules(struct webhooks *webhooks, int fd)
{
    char text[FILE_BYTES + 1];
    struct ht_error err;
    struct arena *arena = arena_new();
    struct webhook_rules rules;
    const ssize_t n = read(fd, text, FILE_BYTES);
    text[n > 0 ? n : 0] = '\0';
    if (webhook_rules_read(arena, text, &rules, &err) != HT_OK) {
        log_event(LOG_ERROR, "webhooks.wrong", "reason=\"%s\"", err.text);
        arena_free(arena);
        return;
    }
    arena_free(webhooks->arena);
    webhooks->arena = arena;
    webhooks->rules = rules;
    log_event(LOG_INFO, "webhooks.read", "webhooks=%zu", rules.n);
}

static void refresh_rules(struct webhooks *webhooks)
{
    struct text path = {0};
    struct stat info;
    text_printf(&path, "%s/webhooks.json", webhooks->folder);
    const int fd =
        open(path.data, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const int code = fd < 0 ? errno : 0;
    text_free(&path);
    if (code == ENOENT) {
        webhooks->rules.n = 0;
        webhooks->size = 0;
    }
    if (fd < 0)
        return;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
        (info.st_size != webhooks->size ||
         info.st_mtim.tv_sec != webhooks->changed.tv_sec ||
         info.st_mtim.tv_nsec != webhooks->changed.tv_nsec)) {
        webhooks->size = info.st_size;
        webhooks->changed = info.st_mtim;
        read_rules(webhooks, fd);
    }
    close(fd);
}

static const struct webhook *find_rule(const struct webhooks *webhooks,
                                       const char *url)
{
    for (size_t i = 0; i < webhooks->rules.n; i++)
        if (strcmp(webhooks->rules.items[i].url, url) == 0)
            return &webhooks->rules.items[i];
    return NULL;
}

/* --- our files --- */

static enum ht_status open_files(struct webhooks *webhooks,
                                 struct ht_error *err)
{
    struct text path = {0};
    enum ht_status status = HT_OK;
    if (webhooks->db == NULL) {
        text_printf(&path, "%s/hypertune.db", webhooks->folder);
        status = db_open_readonly(path.data, &webhooks->db, err);
    }
    text_clear(&path);
    text_printf(&path, "%s/webhooks.db", webhooks->folder);
    if (status == HT_OK && webhooks->outbox == NULL)
        status = outbox_open(path.data, &webhooks->outbox, err);
    text_free(&path);
    return status;
}

typedef enum ht_status study_visitor(struct webhooks *webhooks,
                                     const struct study_row *study,
                                     struct ht_error *err);

static enum ht_status each_study(struct webhooks *webhooks,
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
        status = db_study_list(webhooks->db, arena, &everything, before, BATCH,
                               &list, err);
        n = list.n;
        for (size_t i = 0; status == HT_OK && i < n; i++) {
            before = list.rows[i].id;
            status = visit(webhooks, &list.rows[i], err);
        }
        arena_free(arena);
    }
    return status;
}

static enum ht_status mark_now(struct webhooks *webhooks,
                               const struct study_row *study,
                               struct ht_error *err)
{
    return outbox_set_mark(webhooks->outbox, study->id, study->revision, err);
}

/* What happened before there was a webhook is told to nobody. */
static enum ht_status begin_marks(struct webhooks *webhooks,
                                  struct ht_error *err)
{
    enum ht_status status = outbox_begin(webhooks->outbox, err);
    if (status != HT_OK)
        return status;
    status = each_study(webhooks, mark_now, err);
    if (status == HT_OK)
        status = outbox_set_begun(webhooks->outbox, true, err);
    if (status == HT_OK)
        status = outbox_commit(webhooks->outbox, err);
    if (status != HT_OK)
        outbox_rollback(webhooks->outbox);
    return status;
}

/* --- from events to letters --- */

struct reading {
    struct webhooks *webhooks;
    struct arena *arena;
    struct study_row study;
    struct trial_row best; /* id 0: none */
};

static enum ht_status add_letter(struct reading *now,
                                 const struct event_row *event,
                                 enum webhook_event what, struct ht_error *err)
{
    const struct webhooks *webhooks = now->webhooks;
    struct trial_row trial = {0};
    enum ht_status status = HT_OK;
    const char *body = NULL;
    for (size_t i = 0; status == HT_OK && i < webhooks->rules.n; i++) {
        const struct webhook *rule = &webhooks->rules.items[i];
        if (!webhook_wants(rule, what, now->study.name))
            continue;
        /* A trial may have been deleted since. */
        if (body == NULL && event->trial != 0 &&
            db_trial_get(webhooks->db, now->arena, now->study.id, event->trial,
                         &trial, err) != HT_OK)
            trial.id = 0;
        if (body == NULL)
            body = webhook_letter_body(
                now->arena, &(struct webhook_letter_parts){
                                .http = webhooks->http,
                                .what = what,
                                .event = event,
                                .study = &now->study,
                                .trial = trial.id != 0 ? &trial : NULL,
                                .best = now->best.id != 0 ? &now->best : NULL});
        const int64_t wall_ms = clock_wall_ms();
        status =
            outbox_add(webhooks->outbox,
                       &(struct delivery){.study = now->study.id,
                                          .url = rule->url,
                                          .event = webhook_event_names[what],
                                          .body = body,
                                          .made_ms = wall_ms,
                                          .due_ms = wall_ms},
                       err);
    }
    return status;
}

static enum ht_status read_page(struct reading *now, int64_t *mark, bool *more,
                                struct ht_error *err)
{
    struct webhooks *webhooks = now->webhooks;
    struct event_list list;
    enum ht_status status =
        db_event_list(webhooks->db, now->arena, now->study.id, *mark,
                      EVENTS_PAGE, &list, err);
    for (size_t i = 0; status == HT_OK && i < list.n; i++) {
        const unsigned told =
            webhook_letter_events(&list.rows[i], now->best.id);
        for (int what = 0; status == HT_OK && what < WEBHOOK_EVENTS; what++)
            if ((told & 1U << what) != 0)
                status = add_letter(now, &list.rows[i],
                                    (enum webhook_event)what, err);
        *mark = list.rows[i].revision;
    }
    if (status == HT_OK)
        *more = list.n == EVENTS_PAGE;
    return status;
}

/* One page of a study's events, in one snapshot and one commit. */
static enum ht_status read_events(struct reading *now, int64_t study,
                                  bool *more, struct ht_error *err)
{
    struct webhooks *webhooks = now->webhooks;
    int64_t mark;
    enum ht_status status =
        db_study_get(webhooks->db, now->arena, study, &now->study, err);
    if (status != HT_OK)
        return status == HT_NOT_FOUND ? HT_OK : status;
    status = outbox_mark(webhooks->outbox, study, &mark, err);
    if (status != HT_OK || mark >= now->study.revision)
        return status;
    status = webhook_letter_best(webhooks->db, now->arena, &now->study,
                                 &now->best, err);
    if (status == HT_NOT_FOUND)
        now->best.id = 0;
    else if (status != HT_OK)
        return status;
    status = read_page(now, &mark, more, err);
    return status == HT_OK ? outbox_set_mark(webhooks->outbox, study, mark, err)
                           : status;
}

static enum ht_status read_study(struct webhooks *webhooks, int64_t study,
                                 bool *more, struct ht_error *err)
{
    struct reading now = {.webhooks = webhooks, .arena = arena_new()};
    *more = false;
    enum ht_status status = outbox_begin(webhooks->outbox, err);
    if (status == HT_OK)
        status = db_begin(webhooks->db, err);
    if (status == HT_OK) {
        status = read_events(&now, study, more, err);
        db_rollback(webhooks->db);
    }
    if (status == HT_OK)
        status = outbox_commit(webhooks->outbox, err);
    if (status != HT_OK)
        outbox_rollback(webhooks->outbox);
    arena_free(now.arena);
    return status;
}

static enum ht_status note_study(struct webhooks *webhooks,
                                 const struct study_row *study,
                                 struct ht_error *err)
{
    (void)err;
    webhooks_note(webhooks, study->id);
    return HT_OK;
}

static enum ht_status read_all(struct webhooks *webhooks, struct ht_error *err)
{
    int64_t study;
    enum ht_status status = HT_OK;
    while (status == HT_OK && !atomic_load(&webhooks->stopping) &&
           take_news(webhooks, &study)) {
        bool more;
        status = read_study(webhooks, study, &more, err);
        if (status != HT_OK || more)
            webhooks_note(webhooks, study);
    }
    return status;
}

/* --- delivering --- */

struct obituary {
    int64_t study;
    char reason[256];
};

/* The event that a delivery was given up. */
static enum ht_status handle_dead(struct core *core, struct request *req,
                                  struct ht_error *err)
{
    const struct obituary *dead = req->owner;
    struct event_row event = {.study = dead->study,
                              .kind = "study.warned",
                              .from = "",
                              .to = "",
                              .reason = dead->reason,
                              .data = ""};
    text_puts(&req->reply, "{}");
    return state_event(core, &event, err);
}

/* A URL may hold a secret: only its host is shown. */
static void add_host(struct text *out, const char *url)
{
    CURLU *parts = curl_url();
    char *host = NULL;
    if (parts != NULL &&
        curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK)
        curl_url_get(parts, CURLUPART_HOST, &host, 0);
    text_puts(out, host != NULL ? host : "?");
    curl_free(host);
    curl_url_cleanup(parts);
}

static void announce_dead(struct webhooks *webhooks,
                          const struct delivery *delivery)
{
    struct request *req = request_new();
    struct obituary *dead = arena_alloc(req->arena, 1, sizeof *dead);
    struct text reason = {0};
    text_printf(&reason, "webhook %s was given up after %lld attempts at ",
                delivery->event, (long long)delivery->tries);
    add_host(&reason, delivery->url);
    text_printf(&reason, ": %s", delivery->why);
    dead->study = delivery->study;
    snprintf(dead->reason, sizeof dead->reason, "%s", reason.data);
    log_event(LOG_WARN, "webhook.dead", "study=%lld reason=\"%s\"",
              (long long)delivery->study, reason.data);
    text_free(&reason);
    req->owner = dead;
    req->handle = handle_dead;
    req->answer = request_free;
    core_post(webhooks->core, req);
}

static enum ht_status deliver(struct webhooks *webhooks,
                              struct delivery *delivery, struct ht_error *err)
{
    struct ht_error why;
    const struct webhook *rule = find_rule(webhooks, delivery->url);
    if (rule == NULL) /* the admin took it away */
        return outbox_remove(webhooks->outbox, delivery->id, err);
    const struct webhook_letter letter = {.url = rule->url,
                                          .event = delivery->event,
                                          .body = delivery->body,
                                          .secret = rule->secret,
                                          .id = delivery->id,
                                          .time_ms = clock_wall_ms(),
                                          .local = rule->local,
                                          .stop = &webhooks->stopping};
    const enum ht_status sent = webhook_post(&letter, &why);
    if (sent == HT_OK) {
        meter_add(METER_DELIVERIES, 1);
        return outbox_remove(webhooks->outbox, delivery->id, err);
    }
    if (atomic_load(&webhooks->stopping))
        return HT_OK; /* it was broken off: no attempt */
    meter_add(METER_DELIVERY_FAILURES, 1);
    delivery->tries++;
    delivery->why = why.text;
    const int64_t now_ms = clock_wall_ms();
    const int64_t pause_ms = webhooks_pause(
        delivery->tries, now_ms - delivery->made_ms, token_random64());
    delivery->dead = sent == HT_PRECONDITION || pause_ms < 0;
    delivery->due_ms = now_ms + (delivery->dead ? 0 : pause_ms);
    if (delivery->dead)
        announce_dead(webhooks, delivery);
    return outbox_save(webhooks->outbox, delivery, err);
}

static enum ht_status deliver_due(struct webhooks *webhooks,
                                  struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct delivery_list due = {0};
    enum ht_status status = outbox_due(webhooks->outbox, arena, clock_wall_ms(),
                                       LETTERS, &due, err);
    for (size_t i = 0;
         status == HT_OK && i < due.n && !atomic_load(&webhooks->stopping); i++)
        status = deliver(webhooks, &due.items[i], err);
    arena_free(arena);
    return status;
}

/* --- the thread --- */

static void wait_ms(struct webhooks *webhooks, int64_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const int64_t ns = until.tv_nsec + ms % 1000 * 1000000;
    until.tv_sec += (time_t)(ms / 1000 + ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    pthread_mutex_lock(&webhooks->lock);
    if (webhooks->n_news == 0 && !atomic_load(&webhooks->stopping))
        pthread_cond_timedwait(&webhooks->wake, &webhooks->lock, &until);
    pthread_mutex_unlock(&webhooks->lock);
}

/* From no webhook to some, or back. */
static enum ht_status switch_over(struct webhooks *webhooks, bool on,
                                  struct ht_error *err)
{
    bool begun;
    if (!on) {
        atomic_store(&webhooks->active, false);
        return outbox_set_begun(webhooks->outbox, false, err);
    }
    enum ht_status status = open_files(webhooks, err);
    if (status == HT_OK)
        status = outbox_is_begun(webhooks->outbox, &begun, err);
    if (status != HT_OK)
        return status;
    atomic_store(&webhooks->active, true);
    status = begun ? each_study(webhooks, note_study, err)
                   : begin_marks(webhooks, err);
    if (status == HT_OK)
        status =
            outbox_prune(webhooks->outbox,
                         clock_wall_ms() - (int64_t)KEPT_DAYS * DAY_MS, err);
    if (status == HT_OK)
        log_event(LOG_INFO, "webhooks.begun", "resumed=%d", (int)begun);
    else
        atomic_store(&webhooks->active, false);
    return status;
}

/* *pause_ms: until there may be something to do again. */
static enum ht_status work(struct webhooks *webhooks, int64_t *pause_ms,
                           struct ht_error *err)
{
    refresh_rules(webhooks);
    const bool on = webhooks->rules.n > 0;
    enum ht_status status = HT_OK;
    *pause_ms = LOOK_MS;
    if (on != atomic_load(&webhooks->active))
        status = switch_over(webhooks, on, err);
    if (!on || status != HT_OK)
        return status;
    int64_t due_ms;
    status = read_all(webhooks, err);
    if (status == HT_OK)
        status = deliver_due(webhooks, err);
    if (status == HT_OK)
        status = outbox_next(webhooks->outbox, &due_ms, err);
    if (status == HT_OK && due_ms < clock_wall_ms() + LOOK_MS)
        *pause_ms = due_ms - clock_wall_ms();
    return status;
}

static void *run(void *argument)
{
    struct webhooks *webhooks = argument;
    while (!atomic_load(&webhooks->stopping)) {
        struct ht_error err;
        int64_t pause_ms;
        if (work(webhooks, &pause_ms, &err) != HT_OK) {
            log_event(LOG_ERROR, "webhooks.failed", "why=%s", err.text);
            pause_ms = AGAIN_MS;
        }
        wait_ms(webhooks, pause_ms > 0 ? pause_ms : 0);
    }
    return NULL;
}

/* --- life --- */

struct webhooks *webhooks_new(void)
{
    struct webhooks *webhooks = ht_xcalloc(1, sizeof *webhooks);
    pthread_mutex_init(&webhooks->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&webhooks->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    return webhooks;
}

enum ht_status webhooks_start(struct webhooks *webhooks,
                              const struct webhooks_options *options,
                              struct ht_error *err)
{
    webhooks->core = options->core;
    webhooks->folder = ht_xstrdup(options->folder);
    webhooks->http = ht_xstrdup(options->http);
    webhooks->arena = arena_new();
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const int code = pthread_create(&webhooks->thread, NULL, run, webhooks);
    webhooks->running = code == 0;
    return code == 0
               ? HT_OK
               : ht_fail_errno(err, code, "cannot start the webhook thread");
}

void webhooks_stop(struct webhooks *webhooks)
{
    pthread_mutex_lock(&webhooks->lock);
    atomic_store(&webhooks->stopping, true);
    pthread_cond_signal(&webhooks->wake);
    pthread_mutex_unlock(&webhooks->lock);
    if (webhooks->running)
        pthread_join(webhooks->thread, NULL);
    webhooks->running = false;
}

void webhooks_free(struct webhooks *webhooks)
{
    if (webhooks == NULL)
        return;
    arena_free(webhooks->arena);
    outbox_close(webhooks->outbox);
    db_close(webhooks->db);
    pthread_cond_destroy(&webhooks->wake);
    pthread_mutex_destroy(&webhooks->lock);
    free(webhooks->news);
    free(webhooks->folder);
    free(webhooks->http);
    free(webhooks);
}
