#include "tuner/judge.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "proto/clock.h"
#include "tuner/core.h"
#include "tuner/early_stop.h"
#include "tuner/log.h"
#include "tuner/stop_curves.h"
#include "tuner/stop_record.h"

enum {
    CACHED_STUDIES = 8, /* curves kept; the least recently used go */
    REST_SHARE = 4,     /* a verdict's time is rested so often */
    REST_MS = 1000      /* at most */
};

struct waiting {
    int64_t study, trial;
    struct waiting *next;
};

struct judge {
    struct core *core;
    char *path;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the list and stopping */
    pthread_cond_t wake;
    struct waiting *first, **last;
    bool stopping;

    /* the worker's own */
    struct db *db;
    struct stop_curves *cache[CACHED_STUDIES]; /* newest use first */
};

/* --- the worker's cache --- */

static struct stop_curves *cached(struct judge *judge, int64_t study)
{
    size_t at = 0;
    while (at < CACHED_STUDIES - 1 && judge->cache[at] != NULL &&
           stop_curves_id(judge->cache[at]) != study)
        at++;
    struct stop_curves *found = judge->cache[at];
    if (found == NULL || stop_curves_id(found) != study) {
        stop_curves_free(found);
        found = stop_curves_new(study);
    }
    for (; at > 0; at--)
        judge->cache[at] = judge->cache[at - 1];
    judge->cache[0] = found;
    return found;
}

static void drop_newest(struct judge *judge)
{
    stop_curves_free(judge->cache[0]);
    for (size_t i = 1; i < CACHED_STUDIES; i++)
        judge->cache[i - 1] = judge->cache[i];
    judge->cache[CACHED_STUDIES - 1] = NULL;
}

/* --- judging --- */

static enum ht_status read_curves(struct judge *judge, int64_t study,
                                  struct stop_curves **curves,
                                  struct ht_error *err)
{
    enum ht_status status = HT_OK;
    if (judge->db == NULL)
        status = db_open_readonly(judge->path, &judge->db, err);
    if (status == HT_OK)
        status = db_begin(judge->db, err);
    if (status != HT_OK)
        return status;
    *curves = cached(judge, study);
    status = stop_curves_read(*curves, judge->db, err);
    db_rollback(judge->db);
    if (status != HT_OK)
        drop_newest(judge);
    return status;
}

static void decide(const struct stop_curves *curves, struct arena *arena,
                   struct stop_finding *finding)
{
    size_t current;
    const struct stop_study *study = stop_curves_study(curves);
    if (!stop_curves_find(curves, finding->trial, &current) ||
        study->curves[current].end != STOP_END_OPEN)
        return;
    early_stop_judge(study, current, &finding->verdict);
    finding->attempt = stop_curves_attempt(curves, current);
    if (finding->verdict.action == STOP_GO_ON)
        return;
    const struct job *job = stop_curves_job(curves);
    finding->record = stop_record_text(arena, job, &study->curves[current],
                                       &finding->verdict);
    finding->reason = stop_record_reason(arena, job, &finding->verdict);
}

/* --- answering --- */

static enum ht_status handle_judged(struct core *core, struct request *req,
                                    struct ht_error *err)
{
    text_puts(&req->reply, "{}");
    return early_stop_accept(core, req->owner, err);
}

struct finding_owner {
    struct stop_finding finding; /* first, so that handle_judged() sees it */
    struct core *core;
};

/* A verdict that could not be stored comes again with the next report. */
static void answer_judged(struct request *req)
{
    const struct finding_owner *owner = req->owner;
    if (req->status != HT_OK && core_is_here(owner->core))
        early_stop_give_up(owner->core, &owner->finding);
    request_free(req);
}

static void work(struct judge *judge, const struct waiting *asked)
{
    struct request *req = request_new();
    struct finding_owner *owner = arena_alloc(req->arena, 1, sizeof *owner);
    struct stop_curves *curves;
    struct ht_error err;
    owner->core = judge->core;
    owner->finding = (struct stop_finding){.study = asked->study,
                                           .trial = asked->trial,
                                           .verdict = {.rung = -1},
                                           .record = ""};
    req->owner = owner;
    req->handle = handle_judged;
    req->answer = answer_judged;
    const enum ht_status status =
        read_curves(judge, asked->study, &curves, &err);
    if (status == HT_OK)
        decide(curves, req->arena, &owner->finding);
    else if (status != HT_NOT_FOUND) /* the study was deleted */
        log_event(LOG_ERROR, "judge.failed", "study=%lld trial=%lld why=%s",
                  (long long)asked->study, (long long)asked->trial, err.text);
    core_post(judge->core, req);
}

/* --- the thread --- */

static struct waiting *next_waiting(struct judge *judge)
{
    pthread_mutex_lock(&judge->lock);
    while (judge->first == NULL && !judge->stopping)
        pthread_cond_wait(&judge->wake, &judge->lock);
    struct waiting *waiting = judge->stopping ? NULL : judge->first;
    if (waiting != NULL) {
        judge->first = waiting->next;
        if (judge->first == NULL)
            judge->last = &judge->first;
    }
    pthread_mutex_unlock(&judge->lock);
    return waiting;
}

static void rest(struct judge *judge, int64_t ms)
{
    struct timespec until;
    const int64_t rest_ms = ms < REST_MS ? ms : REST_MS;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const int64_t ns = until.tv_nsec + rest_ms * 1000000;
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    pthread_mutex_lock(&judge->lock);
    int code = 0;
    while (!judge->stopping && code == 0)
        code = pthread_cond_timedwait(&judge->wake, &judge->lock, &until);
    pthread_mutex_unlock(&judge->lock);
}

static void *run(void *argument)
{
    struct judge *judge = argument;
    struct waiting *waiting;
    while ((waiting = next_waiting(judge)) != NULL) {
        const int64_t begun_ms = clock_monotonic_ms();
        work(judge, waiting);
        free(waiting);
        rest(judge, REST_SHARE * (clock_monotonic_ms() - begun_ms));
    }
    return NULL;
}

/* --- life --- */

static void release(struct judge *judge)
{
    while (judge->first != NULL) {
        struct waiting *waiting = judge->first;
        judge->first = waiting->next;
        free(waiting);
    }
    for (size_t i = 0; i < CACHED_STUDIES; i++)
        stop_curves_free(judge->cache[i]);
    db_close(judge->db);
    pthread_cond_destroy(&judge->wake);
    pthread_mutex_destroy(&judge->lock);
    free(judge->path);
    free(judge);
}

enum ht_status judge_start(struct core *core, const char *path,
                           struct judge **out, struct ht_error *err)
{
    struct judge *judge = ht_xcalloc(1, sizeof *judge);
    judge->core = core;
    judge->path = ht_xstrdup(path);
    judge->last = &judge->first;
    pthread_mutex_init(&judge->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&judge->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    const int code = pthread_create(&judge->thread, NULL, run, judge);
    if (code != 0) {
        release(judge);
        return ht_fail_errno(err, code, "cannot start the judging thread");
    }
    *out = judge;
    return HT_OK;
}

void judge_stop(struct judge *judge)
{
    if (judge == NULL)
        return;
    pthread_mutex_lock(&judge->lock);
    judge->stopping = true;
    pthread_cond_signal(&judge->wake);
    pthread_mutex_unlock(&judge->lock);
    pthread_join(judge->thread, NULL);
    release(judge);
}

void judge_ask(struct judge *judge, int64_t study, int64_t trial)
{
    pthread_mutex_lock(&judge->lock);
    const struct waiting *known = judge->first;
    while (known != NULL && (known->study != study || known->trial != trial))
        known = known->next;
    if (known == NULL) {
        struct waiting *waiting = ht_xcalloc(1, sizeof *waiting);
        *waiting = (struct waiting){.study = study, .trial = trial};
        *judge->last = waiting;
        judge->last = &waiting->next;
        pthread_cond_signal(&judge->wake);
    }
    pthread_mutex_unlock(&judge->lock);
}
