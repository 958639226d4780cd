#include "tuner/read/reader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "tuner/base/budget.h"
#include "tuner/base/damage.h"
#include "tuner/base/meter.h"
#include "tuner/core/fair_queue.h"
#include "tuner/search/models.h"

enum {
    THREAD_STACK = 512 * 1024,
    SLOW_US = 20000, /* expected longer: a slow question */
    COSTS = 512      /* remembered */
};

/* What a reader may be asked; the request carries the answer. */
struct job_link {
    struct fair_item turn; /* must be first */
    struct request *req;   /* NULL: check the file */
    reader_handler *handler;
    size_t cost; /* its place among the costs */
};

struct reader_pool {
    struct reader_options options;
    char *path;
    pthread_mutex_t lock; /* guards the queue and stopping */
    pthread_cond_t work;
    struct fair_queue *queue;
    size_t slow_running;
    int64_t costs_us[COSTS]; /* means of such questions; two may share one */
    bool stopping;
    size_t n_threads, n_taken;
    struct db *dbs[READERS_MOST]; /* for threads that begin; NULL: they open
                                     one when it is needed */
    pthread_t threads[READERS_MOST];
};

bool reader_is_late(const struct reader *reader)
{
    return atomic_load_explicit(&reader->req->abandoned,
                                memory_order_relaxed) ||
           clock_monotonic_ms() >= reader->deadline_ms;
}

/* Slow questions leave one thread to quick ones. */
static bool may_be_slow(const struct reader_pool *readers)
{
    return readers->options.threads == 1 ||
           readers->slow_running + 1 < readers->options.threads;
}

static struct job_link *take(struct reader_pool *readers)
{
    struct fair_item *turn;
    memory_lock(&readers->lock);
    while ((turn = fair_queue_pop(readers->queue, may_be_slow(readers))) ==
               NULL &&
           !(readers->stopping && fair_queue_length(readers->queue) == 0))
        pthread_cond_wait(&readers->work, &readers->lock);
    if (turn != NULL)
        readers->slow_running += turn->slow;
    memory_unlock(&readers->lock);
    return (struct job_link *)turn;
}

static int64_t thread_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Notes what the answer took, for its owner's turns and for such questions: a
 * busy machine makes none slow, and one left unanswered says nothing. */
static void note_cost(struct reader_pool *readers, const struct job_link *link,
                      int64_t cost_us)
{
    memory_lock(&readers->lock);
    int64_t *mean_us = &readers->costs_us[link->cost];
    if (link->req == NULL || !atomic_load(&link->req->abandoned))
        *mean_us += (cost_us - *mean_us) / 2;
    fair_queue_charge(readers->queue, &link->turn, cost_us);
    readers->slow_running -= link->turn.slow;
    if (link->turn.slow || readers->stopping)
        pthread_cond_broadcast(&readers->work);
    memory_unlock(&readers->lock);
}

/* Fills in whose turn it takes; the lock is held. */
static void rank(struct reader_pool *readers, struct job_link *link)
{
    const struct request *req = link->req;
    uint64_t asked = (uint64_t)(uintptr_t)link->handler;
    if (req != NULL) {
        link->turn.owner = fair_key(req->from.name);
        link->turn.study = fair_key(req->study);
        asked = (asked ^ link->turn.study) * UINT64_C(1099511628211);
        asked ^= fair_key(req->trial);
    }
    link->cost = (size_t)((asked ^ asked >> 32) % COSTS);
    link->turn.expected_us = readers->costs_us[link->cost];
    link->turn.slow = req == NULL || readers->options.threads == 1 ||
                      link->turn.expected_us > SLOW_US;
}

static enum ht_status enqueue(struct reader_pool *readers,
                              struct job_link *link, struct ht_error *err)
{
    if (readers->stopping)
        return ht_fail(err, HT_UNAVAILABLE, "the server is stopping");
    rank(readers, link);
    if (link->req != NULL && link->turn.slow &&
        fair_queue_slow_of(readers->queue, link->turn.owner) >=
            (size_t)budget_of(BUDGET_QUESTIONS)) {
        budget_exceeded(BUDGET_QUESTIONS);
        return ht_fail(err, HT_LIMIT,
                       "%lld slow questions of %.64s wait already; ask again "
                       "when some are answered",
                       (long long)budget_of(BUDGET_QUESTIONS),
                       link->req->from.name);
    }
    meter_add(METER_READER_POSTED, link->req != NULL);
    fair_queue_push(readers->queue, &link->turn);
    /* A thread that may take no slow one leaves it to the others. */
    if (link->turn.slow)
        pthread_cond_broadcast(&readers->work);
    else
        pthread_cond_signal(&readers->work);
    return HT_OK;
}

static void make_link(void *context)
{
    struct job_link **link = context;
    *link = ht_xcalloc(1, sizeof **link);
}

static void put(struct reader_pool *readers, struct request *req,
                reader_handler *handler)
{
    struct ht_error err;
    struct job_link *link = NULL;
    enum ht_status status = HT_OK;
    /* Its connection waits already, so the request has to be answered. */
    if (!memory_try(make_link, &link))
        status = ht_fail(&err, HT_UNAVAILABLE, MEMORY_REFUSAL);
    if (status == HT_OK) {
        link->req = req;
        link->handler = handler;
        memory_lock(&readers->lock);
        status = enqueue(readers, link, &err);
        memory_unlock(&readers->lock);
    }
    if (status == HT_OK)
        return;
    free(link);
    if (req == NULL)
        return;
    req->status = status;
    req->err = err;
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
    if (atomic_load(&link->req->abandoned))
        return ht_fail(err, HT_UNAVAILABLE, "the client has gone");
    enum ht_status status = db_begin(state->db, err);
    if (status != HT_OK)
        return status;
    struct reader reader = {
        .db = state->db,
        .req = link->req,
        .logs = readers->options.logs,
        .publish = readers->options.publish,
        .stream = readers->options.stream,
        .facts = readers->options.facts,
        .damage = damage_found(),
        .deadline_ms = clock_monotonic_ms() + READER_SLICE_MS,
        .models = &state->models,
        .replay = &state->replay,
    };
    status = link->handler(&reader, link->req, err);
    db_rollback(state->db);
    if (status == HT_CORRUPT)
        damage_note(err->text);
    return status;
}

/* What a thread is at. */
struct turn {
    struct reader_pool *readers;
    struct thread_state *state;
    const struct job_link *link;
};

static void check_file(struct db *db)
{
    int64_t started_ms = clock_monotonic_ms();
    struct ht_error err;
    if (db_check(db, &err) == HT_CORRUPT ||
        db_measurement_check(db, &err) == HT_CORRUPT)
        damage_note(err.text);
    log_event(LOG_DEBUG, "database.checked", "ms=%lld",
              (long long)(clock_monotonic_ms() - started_ms));
}

/* Answers the question, or checks the file. */
static void work(void *context)
{
    const struct turn *turn = context;
    struct reader_pool *readers = turn->readers;
    struct thread_state *state = turn->state;
    const struct job_link *link = turn->link;
    struct ht_error err = {0};
    enum ht_status status = HT_OK;
    if (state->db == NULL)
        status = db_open_readonly(readers->path, &state->db, &err);
    if (status == HT_OK && link->req == NULL)
        check_file(state->db);
    else if (status == HT_OK)
        link->req->status = answer_in_snapshot(readers, state, link);
    else if (link->req != NULL)
        link->req->status = ht_fail(&link->req->err, status, "%s", err.text);
}

/* Models may be half made, and are left where they are. */
static void give_up(const struct turn *turn)
{
    struct request *req = turn->link->req;
    db_close(turn->state->db);
    *turn->state = (struct thread_state){0};
    if (req == NULL)
        return;
    text_free(&req->reply);
    req->more = false;
    req->status = ht_fail(&req->err, HT_UNAVAILABLE, MEMORY_REFUSAL);
}

static void *run(void *context)
{
    struct reader_pool *readers = context;
    struct thread_state state = {0};
    struct job_link *link;
    pthread_mutex_lock(&readers->lock);
    state.db = readers->dbs[readers->n_taken++];
    pthread_mutex_unlock(&readers->lock);
    while ((link = take(readers)) != NULL) {
        const int64_t begun_us = thread_us();
        struct turn turn = {readers, &state, link};
        if (!memory_try(work, &turn))
            give_up(&turn);
        note_cost(readers, link, thread_us() - begun_us);
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
    readers->queue = fair_queue_new();
    pthread_mutex_init(&readers->lock, NULL);
    pthread_cond_init(&readers->work, NULL);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, THREAD_STACK);
    int failed = 0;
    for (size_t i = 0; failed == 0 && i < options->threads; i++) {
        /* Now, so that reading continues if the file vanishes. */
        if (db_open_readonly(readers->path, &readers->dbs[i], NULL) != HT_OK)
            readers->dbs[i] = NULL;
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
    memory_lock(&readers->lock);
    readers->stopping = true;
    pthread_cond_broadcast(&readers->work);
    memory_unlock(&readers->lock);
    for (size_t i = 0; i < readers->n_threads; i++)
        pthread_join(readers->threads[i], NULL);
    for (size_t i = readers->n_taken; i < READERS_MOST; i++)
        db_close(readers->dbs[i]);
    pthread_mutex_destroy(&readers->lock);
    pthread_cond_destroy(&readers->work);
    fair_queue_free(readers->queue);
    free(readers->path);
    free(readers);
}
