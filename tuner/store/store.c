#include "tuner/store/store.h"

#include <stdlib.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/memory.h"
#include "tuner/base/budget.h"
#include "tuner/store/arriving.h"
#include "tuner/store/sending.h"
#include "tuner/store/state.h"
#include "tuner/store/sweep.h"

enum { THREAD_STACK = 512 * 1024, EXPECTED_US = 1000 };

/* --- what waits; store->lock is held --- */

/* The places of one principal. */
static size_t places_of(const struct store *store, uint64_t owner)
{
    size_t n = 0;
    for (size_t i = 0; i < store->n_places; i++)
        n += store->places[i] == owner;
    return n;
}

static bool take_place(struct store *store, const struct store_job *job)
{
    const size_t most = (size_t)budget_of(BUDGET_TRANSFERS);
    if (store->n_places == most ||
        places_of(store, job->turn.owner) >= most / 2)
        return false;
    store->places[store->n_places++] = job->turn.owner;
    job->req->transfer->has_place = true;
    return true;
}

static void enqueue(struct store *store, struct store_job *job)
{
    fair_queue_push(store->queue, &job->turn);
    if (job->turn.slow)
        pthread_cond_broadcast(&store->work);
    else
        pthread_cond_signal(&store->work);
}

/* Those whose principal has a place left, in the order of coming. */
static void admit_waiting(struct store *store)
{
    struct store_job **at = &store->first_waiting;
    while (*at != NULL) {
        struct store_job *job = *at;
        if (!store->stopping && !take_place(store, job)) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        enqueue(store, job);
    }
    store->last_waiting = at;
}

static void give_place(struct store *store, uint64_t owner)
{
    size_t i = 0;
    while (i < store->n_places && store->places[i] != owner)
        i++;
    if (i == store->n_places)
        return;
    store->places[i] = store->places[--store->n_places];
    admit_waiting(store);
}

/* --- posting --- */

static bool is_slow(store_handler *handler)
{
    return handler == store_put_tree || handler == store_sweep;
}

static bool needs_place(store_handler *handler)
{
    return handler == store_begin || handler == store_get_chunk ||
           handler == store_get_tree || handler == store_list_files ||
           handler == store_get_file || handler == store_get_archive;
}

static struct transfer *new_transfer(const struct fair_item *turn)
{
    struct transfer *transfer = ht_xcalloc(1, sizeof *transfer);
    transfer->fd = -1;
    transfer->end.turn = *turn;
    transfer->end.ended = transfer;
    return transfer;
}

static struct fair_item turn_of(const struct request *req, bool slow)
{
    return (struct fair_item){.owner =
                                  fair_key(req != NULL ? req->from.name : ""),
                              .expected_us = EXPECTED_US,
                              .slow = slow};
}

bool store_admit(struct store *store, struct request *req)
{
    struct store_job job = {.turn = turn_of(req, false), .req = req};
    req->transfer = new_transfer(&job.turn);
    memory_lock(&store->lock);
    const bool admitted = !store->stopping && store->n_threads > 0 &&
                          store->first_waiting == NULL &&
                          take_place(store, &job);
    memory_unlock(&store->lock);
    if (admitted)
        transfer_begin(store, req->transfer);
    return admitted;
}

/* The request has a transfer of its own before it is handed over. */
struct making {
    struct request *req;
    store_handler *handler;
    struct store_job *job;
};

static void make_job(void *context)
{
    struct making *making = context;
    struct request *req = making->req;
    making->job = ht_xcalloc(1, sizeof *making->job);
    making->job->req = req;
    making->job->handler = making->handler;
    making->job->turn = turn_of(req, is_slow(making->handler));
    if (req != NULL && req->transfer == NULL && needs_place(making->handler))
        req->transfer = new_transfer(&making->job->turn);
}

static enum ht_status put(struct store *store, const struct making *making,
                          struct ht_error *err)
{
    struct store_job *job = making->job;
    enum ht_status status = HT_OK;
    memory_lock(&store->lock);
    const bool needs =
        needs_place(job->handler) && !job->req->transfer->has_place;
    if (store->stopping || store->n_threads == 0)
        status = ht_fail(err, HT_UNAVAILABLE, "the server is stopping");
    else if (needs && !take_place(store, job)) {
        *store->last_waiting = job;
        store->last_waiting = &job->next;
    } else {
        enqueue(store, job);
    }
    memory_unlock(&store->lock);
    return status;
}

void store_post(struct store *store, struct request *req,
                store_handler *handler)
{
    struct ht_error err;
    struct making making = {req, handler, NULL};
    const enum ht_status status =
        memory_try(make_job, &making)
            ? put(store, &making, &err)
            : ht_fail(&err, HT_UNAVAILABLE, MEMORY_REFUSAL);
    if (status == HT_OK)
        return;
    free(making.job);
    if (req == NULL)
        return;
    req->status = status;
    req->err = err;
    req->answer(req);
}

void store_sweep_soon(struct store *store)
{
    pthread_mutex_lock(&store->lock);
    const bool queued = store->sweep_queued;
    store->sweep_queued = true;
    pthread_mutex_unlock(&store->lock);
    if (!queued)
        store_post(store, NULL, store_sweep);
}

/* --- the threads --- */

/* Only the unlink waits for a disk. The store's lock is not held. */
static void end_transfer(struct store *store, struct transfer *transfer)
{
    struct transfer **at;
    sending_free(transfer->sending);
    if (transfer->fd >= 0)
        close(transfer->fd);
    if (transfer->part.text[0] != '\0')
        unlinkat(store->root, transfer->part.text, 0);
    transfer_end(store, transfer);
    memory_lock(&store->lock);
    for (at = &store->pending; *at != NULL; at = &(*at)->next_pending)
        if (*at == transfer) {
            *at = transfer->next_pending;
            break;
        }
    if (transfer->has_place)
        give_place(store, transfer->end.turn.owner);
    memory_unlock(&store->lock);
    free(transfer);
}

void store_release(struct store *store, struct transfer *transfer)
{
    if (transfer == NULL)
        return;
    memory_lock(&store->lock);
    const bool later = !store->stopping && store->n_threads > 0;
    if (later)
        enqueue(store, &transfer->end);
    memory_unlock(&store->lock);
    if (!later)
        end_transfer(store, transfer);
}

static struct store_job *take(struct store *store)
{
    struct fair_item *turn;
    memory_lock(&store->lock);
    while ((turn = fair_queue_pop(store->queue, !store->slow_running)) ==
               NULL &&
           !(store->stopping && fair_queue_length(store->queue) == 0))
        pthread_cond_wait(&store->work, &store->lock);
    if (turn != NULL)
        store->slow_running |= turn->slow;
    memory_unlock(&store->lock);
    return (struct store_job *)turn;
}

static void note_cost(struct store *store, const struct fair_item *turn,
                      int64_t cost_us)
{
    memory_lock(&store->lock);
    fair_queue_charge(store->queue, turn, cost_us);
    if (turn->slow) {
        store->slow_running = false;
        pthread_cond_broadcast(&store->work);
    }
    memory_unlock(&store->lock);
}

struct turn {
    struct store *store;
    const struct store_job *job;
};

static void work(void *context)
{
    const struct turn *turn = context;
    struct request *req = turn->job->req;
    struct ht_error err;
    if (req == NULL)
        (void)turn->job->handler(turn->store, NULL, &err);
    else if (atomic_load(&req->abandoned))
        req->status = ht_fail(&req->err, HT_UNAVAILABLE, "the client has gone");
    else if (needs_place(turn->job->handler) && !req->transfer->has_place)
        req->status =
            ht_fail(&req->err, HT_UNAVAILABLE, "the server is stopping");
    else
        req->status = turn->job->handler(turn->store, req, &req->err);
}

static void run_job(struct store *store, struct store_job *job)
{
    const struct fair_item copy = job->turn;
    const int64_t begun_us = clock_monotonic_ms() * 1000;
    struct turn turn = {store, job};
    if (job->ended != NULL) { /* it is a part of what is freed */
        end_transfer(store, job->ended);
        note_cost(store, &copy, 0);
        return;
    }
    const bool whole = memory_try(work, &turn);
    if (!whole && job->req != NULL) {
        text_free(&job->req->reply);
        job->req->more = false;
        job->req->status =
            ht_fail(&job->req->err, HT_UNAVAILABLE, MEMORY_REFUSAL);
    }
    if (job->handler == store_sweep)
        sweep_end(store);
    note_cost(store, &copy, clock_monotonic_ms() * 1000 - begun_us);
    if (job->req != NULL)
        job->req->answer(job->req);
    free(job);
}

static void *run(void *context)
{
    struct store *store = context;
    struct store_job *job;
    while ((job = take(store)) != NULL)
        run_job(store, job);
    return NULL;
}

/* --- life --- */

struct store *store_new(struct store_board *board, const char *fail)
{
    struct store *store = ht_xcalloc(1, sizeof *store);
    store->board = board;
    store->root = -1;
    store->queue = fair_queue_new();
    store->last_waiting = &store->first_waiting;
    store->places =
        ht_xcalloc((size_t)budget_of(BUDGET_TRANSFERS), sizeof *store->places);
    failpoint_arm(&store->failpoint, fail);
    pthread_mutex_init(&store->lock, NULL);
    pthread_mutex_init(&store->projects_lock, NULL);
    pthread_cond_init(&store->work, NULL);
    return store;
}

void store_free(struct store *store)
{
    if (store == NULL)
        return;
    while (store->projects != NULL) {
        struct project *project = store->projects;
        store->projects = project->next;
        project_close(project);
    }
    while (store->n_spare > 0)
        free(store->spare[--store->n_spare]);
    if (store->root >= 0)
        close(store->root);
    fair_queue_free(store->queue);
    pthread_mutex_destroy(&store->lock);
    pthread_mutex_destroy(&store->projects_lock);
    pthread_cond_destroy(&store->work);
    free(store->places);
    free(store->data);
    free(store->database);
    free(store);
}

static int start_threads(struct store *store)
{
    int failed = 0;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, THREAD_STACK);
    pthread_mutex_lock(&store->lock);
    for (size_t i = 0; failed == 0 && i < STORE_THREADS; i++) {
        failed = pthread_create(&store->threads[i], &attr, run, store);
        store->n_threads += failed == 0;
    }
    pthread_mutex_unlock(&store->lock);
    pthread_attr_destroy(&attr);
    return failed;
}

enum ht_status store_start(struct store *store, const char *data,
                           const char *database, struct ht_error *err)
{
    store->data = ht_xstrdup(data);
    store->database = ht_xstrdup(database);
    enum ht_status status = project_open_root(data, &store->root, err);
    if (status == HT_OK)
        status = arriving_empty(store->root, err);
    if (status != HT_OK)
        return status;
    const int failed = start_threads(store);
    if (failed != 0) {
        store_stop(store);
        return ht_fail_errno(err, failed, "cannot start a thread of the store");
    }
    store_sweep_soon(store);
    return HT_OK;
}

void store_stop(struct store *store)
{
    if (store == NULL)
        return;
    memory_lock(&store->lock);
    store->stopping = true;
    admit_waiting(store);
    pthread_cond_broadcast(&store->work);
    memory_unlock(&store->lock);
    for (size_t i = 0; i < store->n_threads; i++)
        pthread_join(store->threads[i], NULL);
    store->n_threads = 0;
}
