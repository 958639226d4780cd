/* loop.c - the core thread's loop: one transaction for all waiting requests, a
 * savepoint for each. */

#include "tuner/core/internal.h"

#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "tuner/base/budget.h"
#include "tuner/base/damage.h"
#include "tuner/base/heap.h"
#include "tuner/base/meter.h"
#include "tuner/core/audit.h"
#include "tuner/core/core.h"
#include "tuner/core/database.h"
#include "tuner/core/live.h"
#include "tuner/db/checkpoint.h"
#include "tuner/db/write.h"

enum {
    GROUP_REQUESTS = 1000, /* knee of the measured group-commit curve */
    GROUP_MS = 5,
    IDLE_MS = 5000,   /* without a write for so long: truncate the WAL */
    WAL_PAGES = 8192, /* 32 MB */
    REOPEN_MS = 1000, /* between attempts to open a broken database again, and
                         to settle a study */
};

/* --- one transaction --- */

static void answer(struct core *core, struct request *req)
{
    failpoint_reach(&core->failpoint, "before_answer");
    req->held_until_ms = 0;
    meter_add(METER_CORE_ANSWERED, 1);
    req->answer(req);
}

void core_refuse(struct request *req, const struct ht_error *err)
{
    req->status = HT_UNAVAILABLE;
    req->err = *err;
    text_clear(&req->reply);
}

/* Runs `work` in its own savepoint: its failure takes back only what it
 * did, in the file and in memory. */
typedef enum ht_status core_work(struct core *core, void *data,
                                 struct ht_error *err);

/* Its input and its result. */
struct job_of_core {
    struct core *core;
    core_work *work;
    void *data;
    enum ht_status status;
    struct ht_error *err;
};

static void do_work(void *context)
{
    struct job_of_core *job = context;
    job->status = job->work(job->core, job->data, job->err);
}

static enum ht_status in_savepoint(struct core *core, core_work *work,
                                   void *data, struct ht_error *err)
{
    const struct transaction_mark mark = transaction_mark(&core->transaction);
    const int64_t changes = db_total_changes(core->db);
    enum ht_status status = db_savepoint(core->db, err);
    if (status != HT_OK)
        return status;
    struct job_of_core job = {core, work, data, HT_OK, err};
    status = memory_try(do_work, &job)
                 ? job.status
                 : ht_fail(err, HT_UNAVAILABLE, MEMORY_REFUSAL);
    if (status == HT_OK)
        status = db_release(core->db, err);
    if (status == HT_OK)
        return HT_OK;
    db_rollback_to(core->db);
    transaction_back_to(&core->transaction, mark);
    if (db_total_changes(core->db) != changes)
        live_forget_rows(core->live, 0);
    return status;
}

static size_t count_held(const struct request_queue *queue,
                         const struct request *like)
{
    size_t n = 0;
    for (const struct request *req = queue->first; req != NULL; req = req->next)
        n += req->held_until_ms > 0 && req->held_for != 0 &&
             strcmp(req->from.name, like->from.name) == 0;
    return n;
}

/* A principal has only so many requests held. */
static enum ht_status check_held(const struct core *core,
                                 const struct request *req,
                                 struct ht_error *err)
{
    const int64_t most = budget_of(BUDGET_HELD);
    const size_t held =
        count_held(&core->held, req) + count_held(&core->done, req);
    if (req->held_for == 0 || (int64_t)held < most)
        return HT_OK;
    budget_exceeded(BUDGET_HELD);
    return ht_fail(err, HT_LIMIT,
                   "%lld requests of %.64s wait for suggestions or rules "
                   "already; ask again when some are answered",
                   (long long)most, req->from.name);
}

static enum ht_status work_request(struct core *core, void *data,
                                   struct ht_error *err)
{
    struct request *req = data;
    const bool first = req->held_until_ms == 0;
    text_clear(&req->reply);
    if (!first && atomic_load(&req->abandoned))
        return ht_fail(err, HT_UNAVAILABLE, "the client has gone");
    enum ht_status status = req->handle(core, req, err);
    if (status == HT_OK && first && req->held_until_ms > 0)
        status = check_held(core, req, err);
    if (status == HT_OK && req->reply.len == 0 && req->found == NULL &&
        req->held_until_ms == 0)
        return ht_fail(err, HT_INTERNAL, "the handler gave no answer");
    return status == HT_OK ? audit_write(core, req, HT_OK, err) : status;
}

static enum ht_status work_settle(struct core *core, void *data,
                                  struct ht_error *err)
{
    const int64_t *study = data;
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < CORE_PARTS; i++)
        if (core->options.parts[i].settle != NULL)
            status = core->options.parts[i].settle(core, *study, err);
    return status;
}

static void settle_later(struct core *core, int64_t study)
{
    struct live_study *entry = live_study(core->live, study);
    if (entry->look_at_ms > core->now_ms + REOPEN_MS)
        entry->look_at_ms = core->now_ms + REOPEN_MS;
}

/* Settling may touch further studies; they are appended and settled too. */
static void settle_touched(struct core *core)
{
    for (size_t i = 0; i < core->transaction.n_touched; i++) {
        struct ht_error err;
        int64_t study = core->transaction.touched[i];
        const enum ht_status status =
            in_savepoint(core, work_settle, &study, &err);
        if (status != HT_OK && status != HT_NOT_FOUND) {
            log_event(LOG_ERROR, "study.settle", "study=%lld why=%s",
                      (long long)study, err.text);
            settle_later(core, study);
        }
        live_trim(core->live, false);
        if (!db_in_transaction(core->db))
            return;
    }
}

static void apply_transaction(struct core *core)
{
    struct transaction *transaction = &core->transaction;
    for (size_t i = 0; i < transaction->n_steps; i++)
        transaction->steps[i].apply(core, transaction->steps[i].data);
    if (core->options.on_revision == NULL)
        return;
    /* The newest first, since it makes older ones needless. */
    for (size_t i = transaction->n_revisions; i-- > 0;)
        core->options.on_revision(core->options.context,
                                  transaction->revisions[i].study,
                                  transaction->revisions[i].revision);
}

/* After a failed write or sync the connection's view of the file may be wrong:
 * it is closed and the file read again. */
static void give_up_database(struct core *core)
{
    db_close(core->db);
    core->db = NULL;
    core->reopen_at_ms = core->now_ms;
}

static void abandon_transaction(struct core *core)
{
    db_rollback(core->db);
    live_forget_rows(core->live, core->transaction_number);
    give_up_database(core);
}

void core_update_busy(struct core *core)
{
    bool busy;
    if (db_is_busy(core->db, &busy, NULL) == HT_OK)
        atomic_store(&core->busy, busy);
}

static enum ht_status commit_transaction(struct core *core, int64_t changes,
                                         struct ht_error *err)
{
    settle_touched(core);
    if (!db_in_transaction(core->db) && memory_misses() != core->misses)
        return ht_fail(err, HT_UNAVAILABLE, MEMORY_REFUSAL);
    if (!db_in_transaction(core->db))
        return ht_fail(err, HT_UNAVAILABLE,
                       "the database cannot store now: its disk is full or "
                       "fails");
    const bool wrote = db_total_changes(core->db) != changes;
    if (wrote)
        failpoint_reach(&core->failpoint, "before_commit");
    struct ht_error why;
    const int64_t rows = db_total_changes(core->db) - changes;
    const int64_t begun_us = clock_monotonic_us();
    if (database_commit(core, wrote, &why) != HT_OK)
        return ht_fail(err, HT_UNAVAILABLE, "%s", why.text);
    if (wrote) {
        meter_observe_since(METER_COMMIT_SECONDS, begun_us);
        meter_observe(METER_COMMIT_ROWS, (double)rows);
        failpoint_reach(&core->failpoint, "after_commit");
        checkpoint_note_commit(core->checkpoint);
        core->quiet_since_ms = core->now_ms;
        core_update_busy(core);
    }
    return HT_OK;
}

void core_look_at_clocks(struct core *core)
{
    core->now_ms = clock_monotonic_ms();
    core->wall_ms = clock_wall_ms();
}

static enum ht_status open_transaction(struct core *core, struct ht_error *err)
{
    core_look_at_clocks(core);
    transaction_reset(&core->transaction);
    core->transaction_number++;
    core->misses = memory_misses();
    if (damage_found() != NULL) {
        database_save_log(core);
        return ht_fail(err, HT_UNAVAILABLE, DAMAGE_REFUSAL, damage_found());
    }
    if (core->db == NULL && core->now_ms >= core->reopen_at_ms) {
        core->reopen_at_ms = core->now_ms + REOPEN_MS;
        struct ht_error why;
        if (database_open(core, &why) != HT_OK)
            log_event(LOG_ERROR, "core.reopen", "why=%s", why.text);
    }
    if (core->db == NULL)
        return ht_fail(err, HT_UNAVAILABLE, "the database cannot be opened");
    return db_begin(core->db, err);
}

/* Commits the open transaction; afterwards memory and file agree, whatever the
 * outcome. */
static enum ht_status close_transaction(struct core *core, int64_t changes,
                                        struct ht_error *err)
{
    const enum ht_status status = commit_transaction(core, changes, err);
    if (status != HT_OK) {
        meter_add(METER_COMMIT_FAILURES, 1);
        abandon_transaction(core);
        log_event(LOG_ERROR, "core.commit", "why=%s", err->text);
        return status;
    }
    apply_transaction(core);
    return HT_OK;
}

/* Nothing of it has begun, so nothing is to be taken back. */
static bool is_dropped(struct request *req)
{
    if (!atomic_load(&req->abandoned))
        return false;
    struct ht_error err;
    ht_fail(&err, HT_UNAVAILABLE, "the client has gone");
    core_refuse(req, &err);
    req->held_until_ms = 0;
    return true;
}

static enum ht_status work_audit(struct core *core, void *data,
                                 struct ht_error *err)
{
    const struct request *req = data;
    return audit_write(core, req, req->status, err);
}

static void handle_one(struct core *core, struct request *req)
{
    if (is_dropped(req))
        return;
    if (req->from.name[0] != '\0')
        core_act_for(core, req->from.name);
    req->status = in_savepoint(core, work_request, req, &req->err);
    struct ht_error why;
    if (req->status != HT_OK && db_in_transaction(core->db) &&
        in_savepoint(core, work_audit, req, &why) != HT_OK)
        log_event(LOG_ERROR, "core.audit", "why=%s", why.text);
    core_act_for(core, CORE_ACTOR);
    if (req->status != HT_OK)
        req->held_until_ms = 0;
}

/* Handles requests until the queue is empty or the transaction is full. */
static void handle_queue(struct core *core, struct request_queue *todo)
{
    const int64_t end_ms = clock_monotonic_ms() + GROUP_MS;
    struct request *req;
    for (int n = 0; n < GROUP_REQUESTS && db_in_transaction(core->db); n++) {
        req = request_queue_pop(todo);
        if (req == NULL)
            return;
        handle_one(core, req);
        request_queue_push(&core->done, req);
        if (clock_monotonic_ms() >= end_ms)
            return;
    }
}

static void finish_all(struct core *core, struct request_queue *done,
                       enum ht_status status, const struct ht_error *err)
{
    struct request *req;
    while ((req = request_queue_pop(done)) != NULL) {
        if (status != HT_OK)
            core_refuse(req, err);
        if (status == HT_OK && req->held_until_ms > 0)
            request_queue_push(&core->held, req);
        else
            answer(core, req);
    }
}

static void release_held(struct core *core)
{
    struct ht_error err;
    ht_fail(&err, HT_UNAVAILABLE, "the server is stopping");
    finish_all(core, &core->held, HT_UNAVAILABLE, &err);
}

/* Held requests that the last transaction wakes are handled again, and with
 * `late` also those whose time is over. */
static void requeue_held(struct core *core, struct request_queue *todo,
                         bool late)
{
    struct request_queue due, rest;
    request_queue_init(&due);
    request_queue_init(&rest);
    struct request *req;
    while ((req = request_queue_pop(&core->held)) != NULL)
        request_queue_push(transaction_wakes(&core->transaction, req) ||
                                   (late && req->held_until_ms <= core->now_ms)
                               ? &due
                               : &rest,
                           req);
    request_queue_prepend(&core->held, &rest);
    request_queue_prepend(todo, &due);
}

static void drop_abandoned(struct core *core)
{
    struct request_queue rest;
    struct request *req;
    request_queue_init(&rest);
    while ((req = request_queue_pop(&core->held)) != NULL)
        if (is_dropped(req))
            answer(core, req);
        else
            request_queue_push(&rest, req);
    request_queue_prepend(&core->held, &rest);
}

/* One pass: some of `todo` in one transaction, then their answers. */
static void run_transaction(struct core *core, struct request_queue *todo)
{
    struct ht_error err = {0};
    enum ht_status status = open_transaction(core, &err);
    if (status != HT_OK) {
        finish_all(core, todo, status, &err);
        return;
    }
    const int64_t changes = db_total_changes(core->db);
    handle_queue(core, todo);
    status = close_transaction(core, changes, &err);
    finish_all(core, &core->done, status, &err);
    /* Requests held by this transaction may have come before its changes. */
    if (status == HT_OK)
        requeue_held(core, todo, false);
}

/* --- tick --- */

static enum ht_status work_tick(struct core *core, void *data,
                                struct ht_error *err)
{
    core_tick_part *const *part = data;
    return (*part)(core, err);
}

static void tick_in_transaction(struct core *core)
{
    for (size_t i = 0; i < CORE_PARTS; i++) {
        struct ht_error err;
        core_tick_part *part = core->options.parts[i].tick;
        if (part == NULL)
            continue;
        if (!db_in_transaction(core->db))
            return;
        if (in_savepoint(core, work_tick, &part, &err) != HT_OK)
            log_event(LOG_ERROR, "core.tick", "why=%s", err.text);
        core_act_for(core, CORE_ACTOR);
    }
}

static int64_t earliest(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t next_deadline(struct core *core)
{
    int64_t next = LIVE_NEVER;
    for (size_t i = 0; i < CORE_PARTS; i++)
        if (core->options.parts[i].deadline != NULL)
            next = earliest(next, core->options.parts[i].deadline(core));
    for (const struct request *req = core->held.first; req != NULL;
         req = req->next)
        next = earliest(next, req->held_until_ms);
    if (core->quiet_since_ms > 0)
        next = earliest(next, core->quiet_since_ms + IDLE_MS);
    if (core->db == NULL)
        next = earliest(next, core->reopen_at_ms);
    return next < core->tick_after_ms ? core->tick_after_ms : next;
}

/* All due parts, in one transaction. */
static void tick(struct core *core)
{
    struct ht_error err = {0};
    enum ht_status status = open_transaction(core, &err);
    if (status == HT_OK) {
        const int64_t changes = db_total_changes(core->db);
        tick_in_transaction(core);
        status = close_transaction(core, changes, &err);
    }
    if (status != HT_OK)
        core->tick_after_ms = core->now_ms + REOPEN_MS;
}

/* Under a steady load the checkpoint thread never catches up with the end of
 * the WAL, which only then may start again; so the core waits for it here. A
 * reader delays it. */
static void bound_wal(struct core *core)
{
    if (core->db == NULL || db_wal_pages(core->db) < core->wal_limit)
        return;
    database_empty_log(core);
    const int64_t left = db_wal_pages(core->db);
    core->wal_limit = left == 0 ? WAL_PAGES : left + WAL_PAGES / 16;
}

static void truncate_when_idle(struct core *core)
{
    if (core->db == NULL || core->quiet_since_ms == 0 ||
        core->now_ms < core->quiet_since_ms + IDLE_MS)
        return;
    core->quiet_since_ms = 0;
    database_empty_log(core);
}

/* --- the loop --- */

static void wait_until(struct core *core, int64_t deadline_ms)
{
    if (deadline_ms == LIVE_NEVER) {
        pthread_cond_wait(&core->wake, &core->lock);
        return;
    }
    const int64_t wait_ms = deadline_ms - clock_monotonic_ms();
    if (wait_ms <= 0)
        return;
    const struct timespec until = clock_in_ms(wait_ms);
    pthread_cond_timedwait(&core->wake, &core->lock, &until);
}

/* Takes the queue, waiting for it or the deadline; false at the end. */
static bool take(struct core *core, struct request_queue *todo,
                 int64_t deadline_ms)
{
    pthread_mutex_lock(&core->lock);
    const bool release = (atomic_load(&core->no_holding) ||
                          atomic_load(&core->some_abandoned)) &&
                         core->held.first != NULL;
    if (core->queue.first == NULL && todo->first == NULL && !core->stopping &&
        !release)
        wait_until(core, deadline_ms);
    request_queue_append(todo, &core->queue);
    const bool more = !core->stopping || todo->first != NULL;
    pthread_mutex_unlock(&core->lock);
    return more;
}

void *core_run(void *argument)
{
    struct core *core = argument;
    struct request_queue todo;
    request_queue_init(&todo);
    core->wal_limit = WAL_PAGES;
    tick(core);
    while (take(core, &todo, next_deadline(core))) {
        if (todo.first != NULL)
            run_transaction(core, &todo);
        bound_wal(core);
        if (atomic_load(&core->no_holding))
            release_held(core);
        if (atomic_exchange(&core->some_abandoned, false))
            drop_abandoned(core);
        core_look_at_clocks(core);
        if (next_deadline(core) <= core->now_ms) {
            tick(core);
            requeue_held(core, &todo, true);
            truncate_when_idle(core);
            heap_settle(core->now_ms);
        }
        /* A request that waits to be handled again was given a stock. */
        live_trim(core->live, todo.first == NULL);
    }
    release_held(core);
    return NULL;
}
