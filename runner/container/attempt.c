/* An attempt's thread, and the state that it shares with the supervising
 * one. */

#include "runner/container/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/net/relay.h"
#include "runner/attempt/prepare.h"
#include "runner/base/disk.h"
#include "runner/base/folder.h"
#include "runner/base/order.h"
#include "runner/container/container.h"
#include "runner/container/leftovers.h"

enum { KILL_EXTRA_MS = 10000 }; /* for the shim, after the trainer's grace */

/* ---- the folder ---- */

bool container_attempt_begin_writing(struct container_attempt *attempt)
{
    pthread_mutex_lock(&attempt->lock);
    const bool may = !attempt->abandoned;
    attempt->writers += may;
    pthread_mutex_unlock(&attempt->lock);
    return may;
}

void container_attempt_end_writing(struct container_attempt *attempt)
{
    pthread_mutex_lock(&attempt->lock);
    attempt->writers--;
    pthread_cond_broadcast(&attempt->changed);
    pthread_mutex_unlock(&attempt->lock);
}

bool container_attempt_has_exit(const struct container_attempt *attempt,
                                size_t replica)
{
    return disk_has(attempt->folders[replica], "exit.json");
}

bool container_attempt_has_begun(const struct container_attempt *attempt,
                                 size_t replica)
{
    return disk_has(attempt->folders[replica], "shim.json");
}

bool container_attempt_is_alive(const struct container_attempt *attempt,
                                size_t replica)
{
    const int fd =
        open(attempt->folders[replica], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool alive =
        flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return alive;
}

void container_attempt_log(struct container_attempt *attempt, size_t replica,
                           const char *format, ...)
{
    char line[HT_MAX_REASON + 128];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (!container_attempt_begin_writing(attempt))
        return;
    folder_log_line(attempt->folders[replica], "%s", line);
    container_attempt_end_writing(attempt);
}

/* ---- findings ---- */

void container_attempt_overwrite(struct container_attempt *attempt,
                                 size_t replica, const struct ending *ending)
{
    pthread_mutex_lock(&attempt->lock);
    attempt->findings[replica] =
        (struct finding){.known = true, .ending = *ending};
    pthread_mutex_unlock(&attempt->lock);
    /* A new file in the folder wakes the supervising thread. */
    if (container_attempt_begin_writing(attempt)) {
        (void)disk_mark(attempt->folders[replica], "found", NULL);
        container_attempt_end_writing(attempt);
    }
}

bool container_attempt_has_finding(struct container_attempt *attempt,
                                   size_t replica)
{
    pthread_mutex_lock(&attempt->lock);
    const bool known = attempt->findings[replica].known;
    pthread_mutex_unlock(&attempt->lock);
    return known;
}

void container_attempt_note(struct container_attempt *attempt, size_t replica,
                            const struct ending *ending)
{
    if (!container_attempt_has_finding(attempt, replica))
        container_attempt_overwrite(attempt, replica, ending);
}

/* ---- several at once ---- */

struct round {
    struct container_attempt *attempt;
    container_attempt_step *step;
    void *context;
    atomic_size_t next;
};

struct worker {
    struct round *round;
    struct docker *docker;
    pthread_t thread;
    bool busy;
};

static void *work(void *context)
{
    struct worker *worker = context;
    struct round *round = worker->round;
    const size_t n = round->attempt->order->n_replicas;
    size_t i;
    while ((i = atomic_fetch_add(&round->next, 1)) < n &&
           !round->attempt->abandoned)
        round->step(round->attempt, worker->docker, i, round->context);
    return NULL;
}

void container_attempt_each(struct container_attempt *attempt,
                            container_attempt_step *step, void *context)
{
    struct round round = {.attempt = attempt, .step = step, .context = context};
    struct worker connections[ATTEMPT_CONNECTIONS];
    atomic_init(&round.next, 0);
    for (size_t k = 0; k < ATTEMPT_CONNECTIONS; k++) {
        connections[k] =
            (struct worker){.round = &round, .docker = attempt->connections[k]};
        connections[k].busy = k > 0 && k < attempt->order->n_replicas &&
                              pthread_create(&connections[k].thread, NULL, work,
                                             &connections[k]) == 0;
    }
    work(&connections[0]);
    for (size_t k = 1; k < ATTEMPT_CONNECTIONS; k++) {
        if (connections[k].busy)
            pthread_join(connections[k].thread, NULL);
    }
}

/* ---- the thread ---- */

static void *run_thread(void *context)
{
    struct container_attempt *attempt = context;
    container_attempt_start(attempt);
    container_attempt_watch(attempt);
    if (!attempt->abandoned)
        container_attempt_clear(attempt);
    if (attempt->relayed)
        relay_close(attempt->engine->relay, attempt->network.gateway,
                    attempt->placement.relay_port);
    /* A call that was cancelled may still have made something. */
    if (attempt->abandoned)
        leftovers_wake(attempt->engine->leftovers);
    attempt->over = true;
    return NULL;
}

/* ---- by the supervising thread ---- */

static enum ht_status read_again(const struct engine_place *place,
                                 struct container_attempt *attempt,
                                 struct ht_error *err)
{
    const char *lease = place->order->lease;
    const enum ht_status status =
        order_parse(lease, strlen(lease), &attempt->order, err);
    return status == HT_OK ? placement_read(place->folder, attempt->order,
                                            &attempt->placement, err)
                           : status;
}

/* The runner watches the replicas' folders, so they exist from the start. */
static enum ht_status make_folders(struct container_attempt *attempt,
                                   struct ht_error *err)
{
    struct arena *arena = attempt->order->arena;
    const size_t n = attempt->order->n_replicas;
    attempt->folder = prepare_attempt_folder(arena, attempt->engine->site,
                                             &attempt->order->key);
    attempt->folders = arena_alloc(arena, n, sizeof *attempt->folders);
    attempt->names = arena_alloc(arena, n, sizeof *attempt->names);
    attempt->findings = arena_alloc(arena, n, sizeof *attempt->findings);
    attempt->digests = arena_alloc(arena, n, sizeof *attempt->digests);
    attempt->overfull = arena_alloc(arena, n, sizeof *attempt->overfull);
    enum ht_status status = HT_OK;
    for (size_t i = 0; i < n && status == HT_OK; i++) {
        attempt->folders[i] = prepare_replica_folder(
            arena, attempt->folder, &attempt->order->replicas[i]);
        attempt->names[i] = container_name(arena, attempt->order, i);
        status = disk_make_folder(attempt->folders[i], err);
    }
    return status;
}

static void init_lock(struct container_attempt *attempt)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&attempt->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&attempt->lock, NULL);
}

static void release(struct container_attempt *attempt)
{
    for (size_t k = 0; k < ATTEMPT_CONNECTIONS; k++)
        docker_free(attempt->connections[k]);
    pthread_cond_destroy(&attempt->changed);
    pthread_mutex_destroy(&attempt->lock);
    placement_release(&attempt->placement);
    order_free(attempt->order);
    free(attempt);
}

enum ht_status container_attempt_launch(struct container_engine *engine,
                                        const struct engine_place *place,
                                        struct container_attempt **attempt,
                                        struct ht_error *err)
{
    struct container_attempt *made = ht_xcalloc(1, sizeof *made);
    made->engine = engine;
    init_lock(made);
    enum ht_status status = read_again(place, made, err);
    made->request = (struct network_request){
        .site = engine->site, .facts = &engine->facts, .order = made->order};
    if (status == HT_OK)
        status = make_folders(made, err);
    for (size_t k = 0; k < ATTEMPT_CONNECTIONS && status == HT_OK; k++)
        made->connections[k] = docker_new(engine->address);
    const int code = status == HT_OK
                         ? pthread_create(&made->thread, NULL, run_thread, made)
                         : 0;
    if (code != 0)
        status = ht_fail_errno(err, code, "no thread for the attempt");
    if (status != HT_OK) {
        release(made);
        return status;
    }
    *attempt = made;
    return HT_OK;
}

void container_attempt_abandon(struct container_attempt *attempt)
{
    pthread_mutex_lock(&attempt->lock);
    attempt->abandoned = true;
    pthread_cond_broadcast(&attempt->changed);
    for (size_t k = 0; k < ATTEMPT_CONNECTIONS; k++)
        docker_cancel(attempt->connections[k]);
    while (attempt->writers > 0)
        pthread_cond_wait(&attempt->changed, &attempt->lock);
    pthread_mutex_unlock(&attempt->lock);
}

void container_attempt_stop(struct container_attempt *attempt,
                            const struct stop_order *order)
{
    const int64_t grace = order->kill ? 0 : attempt->order->grace_ms;
    const int64_t kill_at = clock_monotonic_ms() + grace + KILL_EXTRA_MS;
    pthread_mutex_lock(&attempt->lock);
    if (!attempt->stopped || kill_at < attempt->kill_at)
        attempt->kill_at = kill_at;
    attempt->stopped = true;
    if (attempt->pulling)
        docker_cancel(attempt->connections[0]);
    pthread_cond_broadcast(&attempt->changed);
    pthread_mutex_unlock(&attempt->lock);
}

void container_attempt_end(struct container_attempt *attempt)
{
    pthread_mutex_lock(&attempt->lock);
    attempt->ended = true;
    pthread_cond_broadcast(&attempt->changed);
    pthread_mutex_unlock(&attempt->lock);
}

void container_attempt_free(struct container_attempt *attempt)
{
    pthread_join(attempt->thread, NULL);
    release(attempt);
}
