#include "tuner/core.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/clock.h"
#include "proto/token.h"
#include "tuner/checkpoint.h"
#include "tuner/control.h"
#include "tuner/db_write.h"
#include "tuner/failpoint.h"
#include "tuner/group.h"
#include "tuner/log.h"
#include "tuner/memory.h"
#include "tuner/report.h"
#include "tuner/search.h"
#include "tuner/study_life.h"

enum {
    GROUP_REQUESTS = 1000, /* knee of the measured group-commit curve */
    GROUP_MS = 5,
    IDLE_MS = 5000,    /* quiet that long: truncate the WAL */
    REOPEN_MS = 1000,  /* between attempts to get a broken database back */
    SERVER_ID_BYTES = 9
};

struct queue {
    struct request *first, **last;
};

struct core {
    struct core_options options;
    char *path, *runner_token, *report_url, *data_dir;
    char server_id[SERVER_ID_BYTES];
    struct failpoint failpoint;

    pthread_t thread;
    pthread_mutex_t lock; /* guards queue, stopping, report_url */
    pthread_cond_t wake;
    struct queue queue;
    bool stopping;
    atomic_bool busy, no_holding;

    /* the core thread's own */
    struct db *db; /* NULL: broken, to be opened again */
    struct checkpoint *checkpoint;
    struct memory *memory;
    struct search *search;
    struct group group;
    int64_t group_number;
    struct queue held; /* answered polls that wait for news */
    int64_t now_ms, wall_ms;
    int64_t quiet_since_ms; /* of the last write; 0: WAL is truncated */
    int64_t reopen_at_ms;
    int64_t tick_after_ms; /* a tick that failed is not repeated before */
};

/* --- queues --- */

static void queue_init(struct queue *queue)
{
    queue->first = NULL;
    queue->last = &queue->first;
}

static void queue_push(struct queue *queue, struct request *req)
{
    req->next = NULL;
    *queue->last = req;
    queue->last = &req->next;
}

static struct request *queue_pop(struct queue *queue)
{
    struct request *req = queue->first;
    if (req == NULL)
        return NULL;
    queue->first = req->next;
    if (queue->first == NULL)
        queue->last = &queue->first;
    req->next = NULL;
    return req;
}

/* Puts all of `from` before what `to` holds. */
static void queue_prepend(struct queue *to, struct queue *from)
{
    if (from->first == NULL)
        return;
    *from->last = to->first;
    if (to->first == NULL)
        to->last = from->last;
    to->first = from->first;
    queue_init(from);
}

/* --- what handlers see --- */

struct db *core_db(struct core *core)
{
    return core->db;
}

int64_t core_now_ms(const struct core *core)
{
    return core->now_ms;
}

int64_t core_wall_ms(const struct core *core)
{
    return core->wall_ms;
}

const struct core_options *core_options_of(const struct core *core)
{
    return &core->options;
}

const char *core_report_url(const struct core *core)
{
    return core->report_url;
}

struct memory *core_memory(struct core *core)
{
    return core->memory;
}

struct search *core_search(struct core *core)
{
    return core->search;
}

int64_t core_group_number(const struct core *core)
{
    return core->group_number;
}

bool core_is_here(const struct core *core)
{
    return pthread_equal(core->thread, pthread_self()) != 0;
}

const char *core_server_id(const struct core *core)
{
    return core->server_id;
}

void core_defer(struct core *core, core_deferred *apply, const void *data,
                size_t size)
{
    group_add_step(&core->group, apply, data, size);
}

void core_touch(struct core *core, int64_t study)
{
    group_add_touched(&core->group, study);
}

void core_note_revision(struct core *core, int64_t study, int64_t revision)
{
    group_add_revision(&core->group, study, revision);
}

void core_wake(struct core *core)
{
    core->group.wake = true;
}

bool core_is_busy(struct core *core)
{
    return atomic_load(&core->busy);
}

/* --- one transaction --- */

static void answer(struct core *core, struct request *req)
{
    failpoint_reach(&core->failpoint, "before_answer");
    req->held_until_ms = 0;
    req->answer(req);
}

static void refuse(struct request *req, const struct ht_error *err)
{
    req->status = HT_UNAVAILABLE;
    req->err = *err;
    text_clear(&req->reply);
}

/* Runs `work` in a savepoint of its own: its failure takes back only what it
 * did, in the file and in memory. */
typedef enum ht_status core_work(struct core *core, void *data,
                                 struct ht_error *err);

static enum ht_status attempt(struct core *core, core_work *work, void *data,
                              struct ht_error *err)
{
    const struct group_mark mark = group_mark(&core->group);
    const int64_t changes = db_total_changes(core->db);
    enum ht_status status = db_savepoint(core->db, err);
    if (status != HT_OK)
        return status;
    status = work(core, data, err);
    if (status == HT_OK)
        status = db_release(core->db, err);
    if (status == HT_OK)
        return HT_OK;
    db_rollback_to(core->db);
    group_back_to(&core->group, mark);
    if (db_total_changes(core->db) != changes)
        memory_forget_rows(core->memory, 0);
    return status;
}

static enum ht_status work_request(struct core *core, void *data,
                                   struct ht_error *err)
{
    struct request *req = data;
    text_clear(&req->reply);
    const enum ht_status status = req->handle(core, req, err);
    if (status == HT_OK && req->reply.len == 0 && req->held_until_ms == 0)
        return ht_fail(err, HT_INTERNAL, "the handler gave no answer");
    return status;
}

static enum ht_status work_settle(struct core *core, void *data,
                                  struct ht_error *err)
{
    const int64_t *study = data;
    return study_settle(core, *study, err);
}

/* Settling may touch further studies; they are appended and settled too. */
static void settle_touched(struct core *core)
{
    for (size_t i = 0; i < core->group.n_touched; i++) {
        struct ht_error err;
        int64_t study = core->group.touched[i];
        const enum ht_status status =
            attempt(core, work_settle, &study, &err);
        if (status != HT_OK && status != HT_NOT_FOUND)
            log_event(LOG_ERROR, "study.settle", "study=%lld why=%s",
                    (long long)study, err.text);
        if (!db_in_transaction(core->db))
            return;
    }
}

static void apply_group(struct core *core)
{
    struct group *group = &core->group;
    for (size_t i = 0; i < group->n_steps; i++)
        group->steps[i].apply(core, group->steps[i].data);
    for (size_t i = 0;
         core->options.on_revision != NULL && i < group->n_revisions; i++)
        core->options.on_revision(core->options.context,
                                  group->revisions[i].study,
                                  group->revisions[i].revision);
}

/* After a failed write or sync the connection's view of the file cannot be
 * trusted any more: it is closed and the file read again. */
static void give_up_database(struct core *core)
{
    db_close(core->db);
    core->db = NULL;
    core->reopen_at_ms = core->now_ms;
}

static void abandon_group(struct core *core)
{
    db_rollback(core->db);
    memory_forget_rows(core->memory, core->group_number);
    give_up_database(core);
}

static void update_busy(struct core *core)
{
    bool busy;
    if (db_is_busy(core->db, &busy, NULL) == HT_OK)
        atomic_store(&core->busy, busy);
}

static enum ht_status commit_group(struct core *core, int64_t changes,
                                   struct ht_error *err)
{
    settle_touched(core);
    if (!db_in_transaction(core->db))
        return ht_fail(err, HT_UNAVAILABLE, "the database cannot store now");
    const bool wrote = db_total_changes(core->db) != changes;
    if (wrote)
        failpoint_reach(&core->failpoint, "before_commit");
    const enum ht_status status = db_commit(core->db, err);
    if (status != HT_OK)
        return ht_fail(err, HT_UNAVAILABLE, "the database cannot store now");
    if (wrote) {
        failpoint_reach(&core->failpoint, "after_commit");
        checkpoint_note_commit(core->checkpoint);
        core->quiet_since_ms = core->now_ms;
        update_busy(core);
    }
    return HT_OK;
}

static void look_at_clocks(struct core *core)
{
    core->now_ms = clock_monotonic_ms();
    core->wall_ms = clock_wall_ms();
}

static enum ht_status open_group(struct core *core, struct ht_error *err)
{
    look_at_clocks(core);
    group_reset(&core->group);
    core->group_number++;
    if (core->db == NULL && core->now_ms >= core->reopen_at_ms) {
        core->reopen_at_ms = core->now_ms + REOPEN_MS;
        db_open(core->path, &core->db, NULL);
    }
    if (core->db == NULL)
        return ht_fail(err, HT_UNAVAILABLE, "the database cannot be opened");
    return db_begin(core->db, err);
}

/* Commits the open group; afterwards memory and file agree, whatever the
 * outcome. */
static enum ht_status close_group(struct core *core, int64_t changes,
                                  struct ht_error *err)
{
    const enum ht_status status = commit_group(core, changes, err);
    if (status != HT_OK) {
        abandon_group(core);
        log_event(LOG_ERROR, "core.commit", "why=%s", err->text);
        return status;
    }
    apply_group(core);
    return HT_OK;
}

static void handle_one(struct core *core, struct request *req)
{
    req->status = attempt(core, work_request, req, &req->err);
    if (req->status != HT_OK)
        req->held_until_ms = 0;
}

/* Handles requests until the queue is empty or the group is full. */
static void handle_queue(struct core *core, struct queue *todo,
                         struct queue *done)
{
    const int64_t end_ms = clock_monotonic_ms() + GROUP_MS;
    struct request *req;
    for (int n = 0; n < GROUP_REQUESTS && db_in_transaction(core->db); n++) {
        req = queue_pop(todo);
        if (req == NULL)
            return;
        handle_one(core, req);
        queue_push(done, req);
        if (clock_monotonic_ms() >= end_ms)
            return;
    }
}

static void finish_all(struct core *core, struct queue *done,
                       enum ht_status status, const struct ht_error *err)
{
    struct request *req;
    while ((req = queue_pop(done)) != NULL) {
        if (status != HT_OK)
            refuse(req, err);
        if (status == HT_OK && req->held_until_ms > 0)
            queue_push(&core->held, req);
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

/* One pass: some of `todo` in one transaction, then their answers. */
static void run_group(struct core *core, struct queue *todo)
{
    struct ht_error err = {0};
    struct queue done;
    queue_init(&done);
    enum ht_status status = open_group(core, &err);
    if (status != HT_OK) {
        finish_all(core, todo, status, &err);
        return;
    }
    const int64_t changes = db_total_changes(core->db);
    handle_queue(core, todo, &done);
    status = close_group(core, changes, &err);
    const bool wake = status == HT_OK && core->group.wake;
    finish_all(core, &done, status, &err);
    /* Those held by this very group may have come before its news. */
    if (wake)
        queue_prepend(todo, &core->held);
}

/* --- tick --- */

static enum ht_status work_tick(struct core *core, void *data,
                                struct ht_error *err)
{
    core_tick_part *const *part = data;
    return (*part)(core, err);
}

static void tick_in_group(struct core *core)
{
    static core_tick_part *const parts[] = {study_tick, control_tick,
                                            report_tick};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct ht_error err;
        core_tick_part *part = parts[i];
        if (!db_in_transaction(core->db))
            return;
        if (attempt(core, work_tick, &part, &err) != HT_OK)
            log_event(LOG_ERROR, "core.tick", "why=%s", err.text);
    }
}

static int64_t earliest(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t next_deadline(struct core *core)
{
    int64_t next = earliest(control_deadline(core), report_deadline(core));
    next = earliest(next, study_deadline(core));
    for (const struct request *req = core->held.first; req != NULL;
         req = req->next)
        next = earliest(next, req->held_until_ms);
    if (core->quiet_since_ms > 0)
        next = earliest(next, core->quiet_since_ms + IDLE_MS);
    if (core->db == NULL)
        next = earliest(next, core->reopen_at_ms);
    return next < core->tick_after_ms ? core->tick_after_ms : next;
}

/* Every due thing, in one transaction. */
static void tick(struct core *core)
{
    struct ht_error err = {0};
    enum ht_status status = open_group(core, &err);
    if (status == HT_OK) {
        const int64_t changes = db_total_changes(core->db);
        tick_in_group(core);
        status = close_group(core, changes, &err);
    }
    if (status != HT_OK)
        core->tick_after_ms = core->now_ms + REOPEN_MS;
}

static void truncate_when_idle(struct core *core)
{
    if (core->db == NULL || core->quiet_since_ms == 0 ||
        core->now_ms < core->quiet_since_ms + IDLE_MS)
        return;
    core->quiet_since_ms = 0;
    db_checkpoint(core->db, true, NULL);
}

/* Held polls whose time is over, and all after a wake, are handled again. */
static void requeue_held(struct core *core, struct queue *todo)
{
    struct queue due, rest;
    queue_init(&due);
    queue_init(&rest);
    struct request *req;
    while ((req = queue_pop(&core->held)) != NULL)
        queue_push(core->group.wake || req->held_until_ms <= core->now_ms
                       ? &due
                       : &rest,
                   req);
    queue_prepend(&core->held, &rest);
    queue_prepend(todo, &due);
}

/* --- the loop --- */

static void wait_until(struct core *core, int64_t deadline_ms)
{
    if (deadline_ms == MEMORY_NEVER) {
        pthread_cond_wait(&core->wake, &core->lock);
        return;
    }
    const int64_t wait_ms = deadline_ms - clock_monotonic_ms();
    if (wait_ms <= 0)
        return;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const int64_t ns = until.tv_nsec + wait_ms % 1000 * 1000000;
    until.tv_sec += (time_t)(wait_ms / 1000 + ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    pthread_cond_timedwait(&core->wake, &core->lock, &until);
}

/* Takes the queue, waiting for it or the deadline; false at the end. */
static bool take(struct core *core, struct queue *todo, int64_t deadline_ms)
{
    pthread_mutex_lock(&core->lock);
    const bool release =
        atomic_load(&core->no_holding) && core->held.first != NULL;
    if (core->queue.first == NULL && todo->first == NULL && !core->stopping &&
        !release)
        wait_until(core, deadline_ms);
    struct queue taken = core->queue;
    if (taken.first == NULL)
        taken.last = &taken.first;
    queue_init(&core->queue);
    const bool more =
        !core->stopping || taken.first != NULL || todo->first != NULL;
    pthread_mutex_unlock(&core->lock);
    if (taken.first != NULL) {
        queue_prepend(&taken, todo);
        *todo = taken;
    }
    return more;
}

static void *run(void *argument)
{
    struct core *core = argument;
    struct queue todo;
    queue_init(&todo);
    tick(core);
    while (take(core, &todo, next_deadline(core))) {
        if (todo.first != NULL)
            run_group(core, &todo);
        if (atomic_load(&core->no_holding))
            release_held(core);
        look_at_clocks(core);
        if (next_deadline(core) <= core->now_ms) {
            tick(core);
            requeue_held(core, &todo);
            truncate_when_idle(core);
        }
    }
    release_held(core);
    return NULL;
}

/* --- life --- */

static enum ht_status choose_server_id(struct core *core, struct ht_error *err)
{
    struct arena *arena = arena_new();
    const char *stored = NULL;
    enum ht_status status =
        db_meta_get(core->db, arena, "server_id", &stored, err);
    const char *given = core->options.server_id;
    if (status == HT_OK && given == NULL)
        given = stored;
    if (status == HT_OK && given != NULL)
        snprintf(core->server_id, sizeof core->server_id, "%s", given);
    if (status == HT_OK && given == NULL) {
        char token[TOKEN_TEXT_BYTES];
        token_make(token, (SERVER_ID_BYTES - 1) / 2);
        memcpy(core->server_id, token, SERVER_ID_BYTES);
    }
    if (status == HT_OK && (stored == NULL || strcmp(stored, given) != 0))
        status = db_meta_set(core->db, "server_id", core->server_id, err);
    arena_free(arena);
    return status;
}

static void release(struct core *core)
{
    search_stop(core->search);
    checkpoint_stop(core->checkpoint);
    if (core->db != NULL)
        db_checkpoint(core->db, true, NULL);
    db_close(core->db);
    memory_free(core->memory);
    group_fini(&core->group);
    pthread_cond_destroy(&core->wake);
    pthread_mutex_destroy(&core->lock);
    free(core->path);
    free(core->data_dir);
    free(core->runner_token);
    free(core->report_url);
    free(core);
}

static struct core *make(const struct core_options *options)
{
    struct core *core = ht_xcalloc(1, sizeof *core);
    struct text path = {0};
    text_printf(&path, "%s/hypertune.db", options->data_dir);
    core->path = path.data;
    core->data_dir = ht_xstrdup(options->data_dir);
    core->runner_token = ht_xstrdup(options->runner_token);
    core->options = *options;
    core->options.data_dir = core->data_dir;
    core->options.runner_token = core->runner_token;
    core->memory = memory_new();
    group_init(&core->group);
    queue_init(&core->queue);
    queue_init(&core->held);
    pthread_mutex_init(&core->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&core->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    return core;
}

static enum ht_status prepare(struct core *core, struct ht_error *err)
{
    if (!failpoint_arm(&core->failpoint, core->options.fail))
        return ht_fail(err, HT_INVALID, "failpoint %s is not name:n",
                       core->options.fail);
    enum ht_status status = db_open(core->path, &core->db, err);
    if (status == HT_OK)
        status = choose_server_id(core, err);
    if (status == HT_OK)
        status = checkpoint_start(core->path, &core->checkpoint, err);
    if (status == HT_OK)
        status = search_start(core, core->path, &core->search, err);
    look_at_clocks(core);
    core->quiet_since_ms = core->now_ms;
    if (status == HT_OK)
        status = control_recover(core, err);
    if (status == HT_OK)
        status = study_recover(core, err);
    if (status == HT_OK)
        update_busy(core);
    return status;
}

enum ht_status core_start(const struct core_options *options,
                          struct core **out, struct ht_error *err)
{
    struct core *core = make(options);
    enum ht_status status = prepare(core, err);
    if (status == HT_OK) {
        const int code = pthread_create(&core->thread, NULL, run, core);
        if (code != 0)
            status = ht_fail_errno(err, code, "cannot start the core thread");
    }
    if (status != HT_OK) {
        release(core);
        return status;
    }
    *out = core;
    return HT_OK;
}

void core_stop(struct core *core)
{
    if (core == NULL)
        return;
    pthread_mutex_lock(&core->lock);
    core->stopping = true;
    pthread_cond_signal(&core->wake);
    pthread_mutex_unlock(&core->lock);
    pthread_join(core->thread, NULL);
    release(core);
}

void core_stop_holding(struct core *core)
{
    pthread_mutex_lock(&core->lock);
    atomic_store(&core->no_holding, true);
    pthread_cond_signal(&core->wake);
    pthread_mutex_unlock(&core->lock);
}

void core_post(struct core *core, struct request *req)
{
    pthread_mutex_lock(&core->lock);
    const bool stopping = core->stopping;
    if (!stopping) {
        queue_push(&core->queue, req);
        pthread_cond_signal(&core->wake);
    }
    pthread_mutex_unlock(&core->lock);
    if (!stopping)
        return;
    struct ht_error err;
    ht_fail(&err, HT_UNAVAILABLE, "the server is stopping");
    refuse(req, &err);
    req->answer(req);
}

void core_set_report_url(struct core *core, const char *url)
{
    pthread_mutex_lock(&core->lock);
    free(core->report_url);
    core->report_url = ht_xstrdup(url);
    pthread_mutex_unlock(&core->lock);
}
