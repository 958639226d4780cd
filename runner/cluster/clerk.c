#include "runner/cluster/clerk.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "runner/far/far.h"

enum {
    GAP_MS = 1000, /* between two requests */
    STEADY_MS = 10000,
    BUSY_MS = 2000,
    STOP_MS = 2000,          /* for the request under way at the end */
    FIRST_BACKOFF_MS = 2000, /* after an error */
    LAST_BACKOFF_MS = 60000
};

struct tasks { /* first in, first out */
    struct clerk_task *first, **last;
};

struct clerk {
    struct slurm *slurm;
    struct arena *arena; /* of the prefix and the limits */
    const char *prefix;
    pthread_t thread;
    pthread_mutex_t lock; /* of everything down to `fault` */
    pthread_cond_t changed;
    bool stopping, ended;
    struct tasks wanted, done;
    uint64_t numbers;
    enum clerk_pace pace;
    struct clerk_listing listing; /* arena NULL: none */
    bool has_limits;
    char fault[CLERK_FAULT_BYTES];
    struct slurm_limits limits; /* constant once has_limits */
    uint64_t last_done;         /* from here on the thread's own */
    bool listed;                /* its last request was a listing */
    int64_t listed_at;          /* monotonic: when it asked last; 0: never */
    int64_t quiet_until;        /* monotonic: after an error */
    int backoff_ms;             /* 0: the last request was answered */
};

/* ---- tasks ---- */

struct clerk_task *clerk_task_new(void)
{
    struct arena *arena = arena_new();
    struct clerk_task *task = arena_alloc(arena, 1, sizeof *task);
    task->arena = arena;
    return task;
}

void clerk_task_free(struct clerk_task *task)
{
    if (task != NULL)
        arena_free(task->arena);
}

static void push(struct tasks *tasks, struct clerk_task *task)
{
    if (tasks->first == NULL)
        tasks->last = &tasks->first;
    task->next = NULL;
    *tasks->last = task;
    tasks->last = &task->next;
}

static struct clerk_task *pop(struct tasks *tasks)
{
    struct clerk_task *task = tasks->first;
    if (task != NULL)
        tasks->first = task->next;
    return task;
}

static void free_tasks(struct tasks *tasks)
{
    struct clerk_task *task;
    while ((task = pop(tasks)) != NULL)
        clerk_task_free(task);
}

uint64_t clerk_do(struct clerk *clerk, struct clerk_task *task)
{
    pthread_mutex_lock(&clerk->lock);
    const uint64_t number = task->number = ++clerk->numbers;
    push(&clerk->wanted, task);
    pthread_cond_signal(&clerk->changed);
    pthread_mutex_unlock(&clerk->lock);
    return number;
}

struct clerk_task *clerk_take(struct clerk *clerk)
{
    pthread_mutex_lock(&clerk->lock);
    struct clerk_task *task = pop(&clerk->done);
    pthread_mutex_unlock(&clerk->lock);
    return task;
}

/* ---- the rest of the supervising thread's side ---- */

void clerk_set_pace(struct clerk *clerk, enum clerk_pace pace)
{
    pthread_mutex_lock(&clerk->lock);
    if (clerk->pace != pace) {
        clerk->pace = pace;
        pthread_cond_signal(&clerk->changed);
    }
    pthread_mutex_unlock(&clerk->lock);
}

bool clerk_take_listing(struct clerk *clerk, struct clerk_listing *listing)
{
    pthread_mutex_lock(&clerk->lock);
    const bool is_new = clerk->listing.arena != NULL;
    if (is_new)
        *listing = clerk->listing;
    clerk->listing = (struct clerk_listing){.arena = NULL};
    pthread_mutex_unlock(&clerk->lock);
    return is_new;
}

const struct slurm_limits *clerk_limits(struct clerk *clerk)
{
    pthread_mutex_lock(&clerk->lock);
    const bool known = clerk->has_limits;
    pthread_mutex_unlock(&clerk->lock);
    return known ? &clerk->limits : NULL;
}

void clerk_fault(struct clerk *clerk, char text[CLERK_FAULT_BYTES])
{
    pthread_mutex_lock(&clerk->lock);
    memcpy(text, clerk->fault, sizeof clerk->fault);
    pthread_mutex_unlock(&clerk->lock);
}

/* ---- the thread's own side ---- */

/* Whether it was answered, even if it was refused. */
static bool is_answered(enum ht_status status)
{
    return status == HT_OK || status == HT_PRECONDITION;
}

/* What a request came to. */
static void note(struct clerk *clerk, bool failed, const struct ht_error *err)
{
    if (failed)
        clerk->backoff_ms = clerk->backoff_ms == 0 ? FIRST_BACKOFF_MS
                            : 2 * clerk->backoff_ms < LAST_BACKOFF_MS
                                ? 2 * clerk->backoff_ms
                                : LAST_BACKOFF_MS;
    else
        clerk->backoff_ms = 0;
    clerk->quiet_until =
        clock_monotonic_ms() + (failed ? clerk->backoff_ms : GAP_MS);
    pthread_mutex_lock(&clerk->lock);
    const bool same = failed == (clerk->fault[0] != '\0') || clerk->stopping;
    (void)snprintf(clerk->fault, sizeof clerk->fault, "%s",
                   failed ? err->text : "");
    pthread_mutex_unlock(&clerk->lock);
    if (failed && !same)
        log_event(LOG_WARN, "slurm.away", "reason=\"%s\"", err->text);
    else if (!same)
        log_event(LOG_INFO, "slurm.back", "way=\"%s\"",
                  slurm_way(clerk->slurm));
}

/* Where it is refused, it would be again: then they stay unknown. */
static void ask_limits(struct clerk *clerk)
{
    struct ht_error err;
    struct slurm_limits limits;
    const enum ht_status status =
        slurm_limits(clerk->slurm, clerk->arena, &limits, &err);
    note(clerk, !is_answered(status), &err);
    if (!is_answered(status))
        return;
    if (status == HT_OK) {
        log_event(LOG_INFO, "slurm.limits",
                  "version=%s most_array=%d partitions=%zu", limits.version,
                  limits.most_array, limits.n_partitions);
    } else {
        log_event(LOG_WARN, "slurm.no_limits", "reason=\"%s\"", err.text);
        limits = (struct slurm_limits){.version = ""};
    }
    pthread_mutex_lock(&clerk->lock);
    clerk->limits = limits;
    clerk->has_limits = true;
    pthread_mutex_unlock(&clerk->lock);
}

static void list(struct clerk *clerk)
{
    struct ht_error err;
    struct clerk_listing listing = {.arena = arena_new(),
                                    .done = clerk->last_done};
    clerk->listed_at = clock_monotonic_ms();
    const enum ht_status status = slurm_list(
        clerk->slurm, clerk->prefix, listing.arena, &listing.rows, &err);
    note(clerk, status != HT_OK, &err);
    if (status != HT_OK) {
        arena_free(listing.arena);
        return;
    }
    pthread_mutex_lock(&clerk->lock);
    arena_free(clerk->listing.arena);
    clerk->listing = listing;
    pthread_mutex_unlock(&clerk->lock);
}

static enum ht_status submit(struct clerk *clerk, struct clerk_task *task,
                             struct ht_error *err)
{
    const enum ht_status status = far_settle(task->far, err);
    return status != HT_OK
               ? status
               : slurm_submit(clerk->slurm, &task->batch, &task->job, err);
}

static void carry_out(struct clerk *clerk, struct clerk_task *task)
{
    struct ht_error err = {.status = HT_OK};
    const enum ht_status status =
        task->submits ? submit(clerk, task, &err)
                      : slurm_cancel(clerk->slurm, task->job, task->first,
                                     task->last, task->waiting, &err);
    note(clerk, !is_answered(status), &err);
    if (status != HT_OK)
        task->err = err;
    task->err.status = status;
    clerk->last_done = task->number;
    pthread_mutex_lock(&clerk->lock);
    push(&clerk->done, task);
    pthread_mutex_unlock(&clerk->lock);
}

/* Monotonic; INT64_MAX: not at all. The lock is held. */
static int64_t list_at(const struct clerk *clerk)
{
    if (clerk->pace == CLERK_IDLE)
        return INT64_MAX;
    return clerk->listed_at == 0
               ? 0
               : clerk->listed_at +
                     (clerk->pace == CLERK_BUSY ? BUSY_MS : STEADY_MS);
}

static int64_t work_at(const struct clerk *clerk)
{
    const int64_t at =
        !clerk->has_limits || clerk->wanted.first != NULL ? 0 : list_at(clerk);
    return at > clerk->quiet_until ? at : clerk->quiet_until;
}

static void wait_until(struct clerk *clerk, int64_t at, int64_t now)
{
    if (at == INT64_MAX) {
        pthread_cond_wait(&clerk->changed, &clerk->lock);
        return;
    }
    const struct timespec until = clock_in_ms(at - now);
    pthread_cond_timedwait(&clerk->changed, &clerk->lock, &until);
}

/* One request; the lock is held and let go meanwhile. A listing that is due
 * comes before tasks, of which there may always be more; but one may take so
 * long that the next is due at its end. */
static void work(struct clerk *clerk, int64_t now)
{
    const bool limits = !clerk->has_limits;
    const bool lists = !limits && list_at(clerk) <= now &&
                       (!clerk->listed || clerk->wanted.first == NULL);
    clerk->listed = lists;
    struct clerk_task *task = limits || lists ? NULL : pop(&clerk->wanted);
    pthread_mutex_unlock(&clerk->lock);
    if (limits)
        ask_limits(clerk);
    else if (lists)
        list(clerk);
    else if (task != NULL)
        carry_out(clerk, task);
    pthread_mutex_lock(&clerk->lock);
}

static void *run(void *context)
{
    struct clerk *clerk = context;
    pthread_mutex_lock(&clerk->lock);
    while (!clerk->stopping) {
        const int64_t now = clock_monotonic_ms();
        const int64_t at = work_at(clerk);
        if (at > now)
            wait_until(clerk, at, now);
        else
            work(clerk, now);
    }
    clerk->ended = true;
    pthread_cond_signal(&clerk->changed);
    pthread_mutex_unlock(&clerk->lock);
    return NULL;
}

static void free_clerk(struct clerk *clerk)
{
    slurm_close(clerk->slurm);
    free_tasks(&clerk->wanted);
    free_tasks(&clerk->done);
    arena_free(clerk->listing.arena);
    arena_free(clerk->arena);
    pthread_cond_destroy(&clerk->changed);
    pthread_mutex_destroy(&clerk->lock);
    free(clerk);
}

enum ht_status clerk_start(struct slurm *slurm, const char *prefix,
                           struct clerk **clerk, struct ht_error *err)
{
    struct clerk *made = ht_xcalloc(1, sizeof *made);
    made->slurm = slurm;
    made->arena = arena_new();
    made->prefix = arena_strdup(made->arena, prefix);
    pthread_mutex_init(&made->lock, NULL);
    clock_cond_init(&made->changed);
    const int code = pthread_create(&made->thread, NULL, run, made);
    if (code != 0) {
        free_clerk(made);
        return ht_fail_errno(err, code, "cannot start a thread");
    }
    *clerk = made;
    return HT_OK;
}

void clerk_stop(struct clerk *clerk)
{
    if (clerk == NULL)
        return;
    pthread_mutex_lock(&clerk->lock);
    clerk->stopping = true;
    pthread_cond_signal(&clerk->changed);
    const struct timespec until = clock_in_ms(STOP_MS);
    int code = 0;
    while (!clerk->ended && code == 0)
        code = pthread_cond_timedwait(&clerk->changed, &clerk->lock, &until);
    /* As if the runner was killed: a job of which nothing is known is looked
     * for by its name at the next start. */
    if (!clerk->ended)
        slurm_abort(clerk->slurm);
    pthread_mutex_unlock(&clerk->lock);
    pthread_join(clerk->thread, NULL);
    free_clerk(clerk);
}
