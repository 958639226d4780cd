#include "tuner/read/reader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "tuner/base/meter.h"
#include "tuner/search/models.h"

enum { THREAD_STACK = 512 * 1024 };

/* What a reader may be asked; the request carries the answer. */
struct job_link {
    struct request *req; /* NULL: check the file */
    reader_handler *handler;
    struct job_link *next;
};

struct reader_pool {
    struct reader_options options;
    char *path;
    pthread_mutex_t lock; /* guards the queue, stopping and finding */
    pthread_cond_t work;
    struct job_link *first, **last;
    bool stopping;
    size_t n_threads;
    pthread_t threads[READERS_MOST];
    struct ht_error finding;      /* never changes once `damage` is set */
    _Atomic(const char *) damage; /* NULL or finding.text */
};

bool reader_is_late(const struct reader *reader)
{
    return clock_monotonic_ms() >= reader->deadline_ms;
}

static struct job_link *take(struct reader_pool *readers)
{
    pthread_mutex_lock(&readers->lock);
    while (readers->first == NULL && !readers->stopping)
        pthread_cond_wait(&readers->work, &readers->lock);
    struct job_link *link = readers->first;
    if (link != NULL) {
        readers->first = link->next;
        if (readers->first == NULL)
            readers->last = &readers->first;
    }
    pthread_mutex_unlock(&readers->lock);
    return link;
}

static void put(struct reader_pool *readers, struct request *req,
                reader_handler *handler)
{
    struct job_link *link = ht_xcalloc(1, sizeof *link);
    link->req = req;
    link->handler = handler;
    pthread_mutex_lock(&readers->lock);
    bool accepted = !readers->stopping;
    if (accepted) {
        meter_add(METER_READER_POSTED, req != NULL);
        *readers->last = link;
        readers->last = &link->next;
        pthread_cond_signal(&readers->work);
    }
    pthread_mutex_unlock(&readers->lock);
    if (accepted)
        return;
    free(link);
    if (req == NULL)
        return;
    req->status = ht_fail(&req->err, HT_UNAVAILABLE, "the server is stopping");
    req->answer(req);
}

void reader_post(struct reader_pool *readers, struct request *req,
                 reader_handler *handler)
{
    put(readers, req, handler);
}

void reader_check(struct reader_pool *readers)
{
    put(readers, NULL, NULL);
}

const char *reader_damage(struct reader_pool *readers)
{
    return atomic_load(&readers->damage);
}

/* The first damage found makes the server read-only until it is restarted. */
static void note_damage(struct reader_pool *readers, const struct ht_error *err)
{
    pthread_mutex_lock(&readers->lock);
    bool first = reader_damage(readers) == NULL;
    if (first) {
        readers->finding = *err;
        atomic_store(&readers->damage, readers->finding.text);
    }
    pthread_mutex_unlock(&readers->lock);
    if (first)
        log_event(LOG_ERROR, "database.damaged", "reason=\"%s\"", err->text);
}

/* What a thread keeps from one answer to the next. */
struct thread_state {
    struct db *db;
    struct models *models;
    struct replay *replay;
};

static enum ht_status answer_in_snapshot(struct reader_pool *readers,
                                         struct thread_state *state,
                                         const struct job_link *link)
{
    struct ht_error *err = &link->req->err;
    enum ht_status status = db_begin(state->db, err);
    if (status != HT_OK)
        return status;
    struct reader reader = {
        .db = state->db,
        .logs = readers->options.logs,
        .publish = readers->options.publish,
        .stream = readers->options.stream,
        .facts = readers->options.facts,
        .damage = reader_damage(readers),
        .deadline_ms = clock_monotonic_ms() + READER_SLICE_MS,
        .models = &state->models,
        .replay = &state->replay,
    };
    status = link->handler(&reader, link->req, err);
    db_rollback(state->db);
    if (status == HT_CORRUPT)
        note_damage(readers, err);
    return status;
}

static void check_file(struct reader_pool *readers, struct db *db)
{
    int64_t started_ms = clock_monotonic_ms();
    struct ht_error err;
    if (db_check(db, &err) == HT_CORRUPT ||
        db_measurement_check(db, &err) == HT_CORRUPT)
        note_damage(readers, &err);
    log_event(LOG_DEBUG, "database.checked", "ms=%lld",
              (long long)(clock_monotonic_ms() - started_ms));
}

static void *run(void *context)
{
    struct reader_pool *readers = context;
    struct thread_state state = {0};
    struct job_link *link;
    while ((link = take(readers)) != NULL) {
        struct ht_error err = {0};
        enum ht_status status = HT_OK;
        if (state.db == NULL)
            status = db_open_readonly(readers->path, &state.db, &err);
        if (status == HT_OK && link->req == NULL)
            check_file(readers, state.db);
        else if (status == HT_OK)
            link->req->status = answer_in_snapshot(readers, &state, link);
        else if (link->req != NULL)
            link->req->status =
                ht_fail(&link->req->err, status, "%s", err.text);
        if (link->req != NULL) {
            meter_add(METER_READER_ANSWERED, 1);
            link->req->answer(link->req);
        }
        free(link);
    }
    read_replay_free(state.replay);
    models_free(state.models);
    db_close(state.db);
    return NULL;
}

enum ht_status reader_start(const struct reader_options *options,
                            struct reader_pool **out, struct ht_error *err)
{
    struct reader_pool *readers = ht_xcalloc(1, sizeof *readers);
    readers->options = *options;
    readers->path = ht_xstrdup(options->path);
    readers->last = &readers->first;
    pthread_mutex_init(&readers->lock, NULL);
    pthread_cond_init(&readers->work, NULL);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, THREAD_STACK);
    int failed = 0;
    for (size_t i = 0; failed == 0 && i < options->threads; i++) {
        failed = pthread_create(&readers->threads[i], &attr, run, readers);
        readers->n_threads += failed == 0;
    }
    pthread_attr_destroy(&attr);
    if (failed != 0) {
        reader_stop(readers);
        return ht_fail_errno(err, failed, "cannot start a reader thread");
    }
    *out = readers;
    return HT_OK;
}

void reader_stop(struct reader_pool *readers)
{
    if (readers == NULL)
        return;
    pthread_mutex_lock(&readers->lock);
    readers->stopping = true;
    pthread_cond_broadcast(&readers->work);
    pthread_mutex_unlock(&readers->lock);
    for (size_t i = 0; i < readers->n_threads; i++)
        pthread_join(readers->threads[i], NULL);
    pthread_mutex_destroy(&readers->lock);
    pthread_cond_destroy(&readers->work);
    free(readers->path);
    free(readers);
}
