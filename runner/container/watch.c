/* watch.c - running containers until their end: those without exit.json, limits
 * of the runner, removal. */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/limits.h"
#include "proto/job/job.h"
#include "runner/base/disk.h"
#include "runner/base/folder.h"
#include "runner/base/order.h"
#include "runner/base/procfs.h"
#include "runner/container/attempt.h"
#include "runner/container/container.h"
#include "runner/container/leftovers.h"
#include "runner/container/network.h"
#include "runner/docker/docker.h"

enum {
    LOOK_MS = 1000,      /* between checks of the folders */
    ASK_MS = 10000,      /* ... of the engine, when all is well */
    SIZE_MS = 5000,      /* ... of their sizes */
    MISSING_MS = 300000, /* an engine may be away after a replica died */
    CLEAR_MS = 10000,    /* for the removal, else leftovers.c does it */
    CLEAR_PAUSE_MS = 50,
    END_MS = 3000, /* for a container whose trainer has ended */
    MIB = 1024 * 1024,
    FOLDER_LIMIT_MIB = 1024, /* what a replica may write into its folder */
    SIGNAL_BASE = 128        /* exit codes above are signals */
};

struct watch {
    struct container_attempt *attempt;
    int64_t ask_at, size_at; /* monotonic */
    int64_t silent_since;    /* monotonic; 0: the engine answers */
};

/* ---- a replica that left no exit.json ---- */

static const char *limit_text(char text[32], int64_t bytes)
{
    const int64_t mib = bytes / MIB;
    if (mib >= 1024 && mib % 1024 == 0)
        (void)snprintf(text, 32, "%lld GiB", (long long)(mib / 1024));
    else
        (void)snprintf(text, 32, "%lld MiB", (long long)mib);
    return text;
}

/* Podman never reports it; there a kill that was not ordered is enough. */
static bool describe_memory(const struct container_attempt *attempt,
                            size_t replica, bool oom_killed, bool killed,
                            char reason[HT_MAX_REASON])
{
    const int64_t memory = attempt->order->replicas[replica].memory;
    const bool guessed =
        !oom_killed && killed && memory > 0 && attempt->engine->facts.podman;
    if (!oom_killed && !guessed)
        return false;
    char limit[32];
    (void)snprintf(reason, HT_MAX_REASON,
                   memory > 0 ? "%sout of memory (limit %s)"
                              : "%sout of memory",
                   guessed ? "probably " : "", limit_text(limit, memory));
    return true;
}

static bool was_machine_restarted(const struct container_attempt *attempt,
                                  size_t replica)
{
    struct process shim;
    char boot[PROCFS_BOOT_BYTES];
    return folder_read_shim(attempt->folders[replica], &shim, NULL) == HT_OK &&
           procfs_boot(boot) && strcmp(boot, shim.boot) != 0;
}

static void end_dead(struct container_attempt *attempt, size_t replica,
                     const struct container_state *state)
{
    enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127, KILLED = SIGNAL_BASE + 9 };
    struct ending ending = {.ended_ms = clock_wall_ms()};
    struct stop_order stop;
    const bool killed = state->exit == KILLED;
    if (folder_read_stop(attempt->folders[replica], &stop, NULL) == HT_OK) {
        folder_end(&ending, OUTCOME_STOPPED, "stopped: %.480s", stop.reason);
    } else if (describe_memory(attempt, replica, state->oom_killed, killed,
                               ending.reason)) {
        ending.outcome = OUTCOME_FAILED;
        ending.has_signal = true;
        ending.signal = 9;
    } else if (state->exit == NOT_EXECUTABLE || state->exit == NOT_FOUND ||
               state->error[0] != '\0') {
        folder_end(&ending, OUTCOME_FAILED,
                   "its container could not start: exit %d %.400s", state->exit,
                   state->error);
    } else if (was_machine_restarted(attempt, replica)) {
        folder_end(&ending, OUTCOME_LOST, "the machine was restarted");
    } else {
        folder_end(&ending, OUTCOME_LOST,
                   "its container %s (exit %d), and its supervisor reported no "
                   "end",
                   killed ? "was killed" : "ended", state->exit);
    }
    container_attempt_overwrite(attempt, replica, &ending);
}

/* ---- an engine that does not answer ---- */

static void note_answer(struct watch *watch, enum ht_status status)
{
    struct container_attempt *attempt = watch->attempt;
    if (attempt->abandoned)
        return;
    if (status != HT_UNAVAILABLE) {
        if (watch->silent_since != 0)
            container_attempt_log(attempt, 0,
                                  "the container engine answers again");
        watch->silent_since = 0;
    } else if (watch->silent_since == 0) {
        watch->silent_since = clock_monotonic_ms();
        container_attempt_log(
            attempt, 0,
            "the container engine does not answer; the container "
            "continues");
    }
}

/* ---- one replica ---- */

static void note_lost(struct container_attempt *attempt, size_t replica,
                      const char *reason)
{
    struct ending ending = {.ended_ms = clock_wall_ms()};
    folder_end(&ending, OUTCOME_LOST, "%s", reason);
    container_attempt_note(attempt, replica, &ending);
}

static void check_unanswered(struct watch *watch, size_t replica)
{
    if (watch->silent_since != 0 &&
        clock_monotonic_ms() - watch->silent_since > MISSING_MS)
        note_lost(watch->attempt, replica,
                  "its container ended while the engine did not answer");
}

static void check_running(struct container_attempt *attempt, size_t replica)
{
    if (!container_attempt_has_begun(attempt, replica) &&
        clock_monotonic_ms() > attempt->begin_by)
        note_lost(attempt, replica, "its supervisor did not begin in time");
}

/* The replica has no shim: not yet, or no longer. */
static void ask_about(struct watch *watch, size_t replica)
{
    struct container_attempt *attempt = watch->attempt;
    struct arena *arena = arena_new();
    struct container_state state;
    const enum ht_status status = container_look(
        attempt->connections[0], arena, attempt->names[replica], &state, NULL);
    note_answer(watch, status);
    /* exit.json may have come meanwhile. */
    if (container_attempt_has_exit(attempt, replica))
        ;
    else if (status == HT_NOT_FOUND || (status == HT_OK && state.being_removed))
        note_lost(attempt, replica,
                  "its container was removed by another program");
    else if (status != HT_OK)
        check_unanswered(watch, replica);
    else if (state.running || (state.is_new && state.exit == 0))
        check_running(attempt, replica);
    else
        end_dead(attempt, replica, &state);
    arena_free(arena);
}

static bool is_settled(struct container_attempt *attempt, size_t replica)
{
    return container_attempt_has_exit(attempt, replica) ||
           container_attempt_has_finding(attempt, replica);
}

static void look_at_replica(struct watch *watch, size_t replica)
{
    struct container_attempt *attempt = watch->attempt;
    if (!is_settled(attempt, replica) &&
        !(container_attempt_has_begun(attempt, replica) &&
          container_attempt_is_alive(attempt, replica)))
        ask_about(watch, replica);
}

/* ---- limits ---- */

static void write_overfull(char reason[HT_MAX_REASON])
{
    (void)snprintf(reason, HT_MAX_REASON,
                   "wrote more than %d GiB into its trial folder",
                   FOLDER_LIMIT_MIB / 1024);
}

static void check_size(struct container_attempt *attempt, size_t replica)
{
    const int64_t limit = (int64_t)FOLDER_LIMIT_MIB * MIB;
    if (attempt->overfull[replica] || is_settled(attempt, replica) ||
        disk_usage(attempt->folders[replica], limit) <= limit)
        return;
    struct stop_order stop = {.kill = true};
    write_overfull(stop.reason);
    attempt->overfull[replica] = true;
    if (container_attempt_begin_writing(attempt)) {
        folder_write_stop(attempt->folders[replica], &stop, NULL);
        container_attempt_end_writing(attempt);
    }
}

/* The shim had the time to do it. */
static void kill_overdue(struct container_attempt *attempt)
{
    pthread_mutex_lock(&attempt->lock);
    const bool due =
        attempt->stopped && clock_monotonic_ms() >= attempt->kill_at;
    pthread_mutex_unlock(&attempt->lock);
    for (size_t i = 0; due && i < attempt->order->n_replicas; i++) {
        if (!is_settled(attempt, i))
            (void)container_kill(attempt->connections[0], attempt->names[i],
                                 NULL);
    }
}

/* ---- the engine, when all is well ---- */

static void find_network(struct container_attempt *attempt)
{
    struct ht_error err;
    if (network_make(attempt->connections[0], attempt->order->arena,
                     &attempt->request, &attempt->network, &err) == HT_OK &&
        container_attempt_open_relay(attempt, &err) != HT_OK)
        container_attempt_log(attempt, 0, "reports go by file only: %s",
                              err.text);
}

/* A replica whose shim runs needs no engine; this is for the log. */
static void ask_engine(struct watch *watch)
{
    struct container_attempt *attempt = watch->attempt;
    struct arena *arena = arena_new();
    struct container_state state;
    note_answer(watch, container_look(attempt->connections[0], arena,
                                      attempt->names[0], &state, NULL));
    arena_free(arena);
}

static bool is_ended(struct container_attempt *attempt)
{
    return attempt->ended || attempt->abandoned;
}

static void look(struct watch *watch)
{
    struct container_attempt *attempt = watch->attempt;
    const int64_t now = clock_monotonic_ms();
    for (size_t i = 0; i < attempt->order->n_replicas; i++)
        look_at_replica(watch, i);
    kill_overdue(attempt);
    if (now >= watch->size_at) {
        watch->size_at = now + SIZE_MS;
        for (size_t i = 0; i < attempt->order->n_replicas; i++)
            check_size(attempt, i);
    }
    if (now >= watch->ask_at) {
        watch->ask_at = now + ASK_MS;
        ask_engine(watch);
    }
}

/* Waits for a change, at most that long. */
static void wait_ms(struct container_attempt *attempt, int ms)
{
    const struct timespec until = clock_in_ms(ms);
    pthread_mutex_lock(&attempt->lock);
    if (!attempt->abandoned && !attempt->ended)
        pthread_cond_timedwait(&attempt->changed, &attempt->lock, &until);
    pthread_mutex_unlock(&attempt->lock);
}

void container_attempt_watch(struct container_attempt *attempt)
{
    struct watch watch = {
        .attempt = attempt,
        .ask_at = clock_monotonic_ms() + ASK_MS,
        .size_at = clock_monotonic_ms() + SIZE_MS,
    };
    /* An adopted attempt was not started here. */
    if (attempt->network.name == NULL && !is_ended(attempt))
        find_network(attempt);
    for (;;) {
        wait_ms(attempt, LOOK_MS);
        if (is_ended(attempt))
            return;
        look(&watch);
    }
}

/* ---- removal ---- */

/* Docker reports memory when the container has ended, a moment after the shim
 * wrote exit.json. */
static struct container_state
wait_for_end(struct docker *docker, struct arena *arena, const char *name)
{
    struct container_state state = {.running = true};
    const int64_t give_up_at = clock_monotonic_ms() + END_MS;
    while (container_look(docker, arena, name, &state, NULL) == HT_OK &&
           state.running && clock_monotonic_ms() < give_up_at &&
           docker_pause(docker, CLEAR_PAUSE_MS))
        continue;
    return state;
}

static void amend_memory(struct container_attempt *attempt,
                         struct docker *docker, size_t replica,
                         struct ending *ending)
{
    const bool killed = (ending->has_signal && ending->signal == 9) ||
                        (ending->has_exit && ending->exit == SIGNAL_BASE + 9);
    if (!killed && attempt->order->replicas[replica].memory == 0)
        return;
    struct arena *arena = arena_new();
    const struct container_state state =
        wait_for_end(docker, arena, attempt->names[replica]);
    if (describe_memory(attempt, replica, state.oom_killed, killed,
                        ending->reason))
        container_attempt_overwrite(attempt, replica, ending);
    arena_free(arena);
}

/* Corrects an end by what the shim could not know when it wrote exit.json. */
static void amend(struct container_attempt *attempt, struct docker *docker,
                  size_t replica)
{
    struct ending ending;
    if (container_attempt_has_finding(attempt, replica) ||
        folder_read_exit(attempt->folders[replica], &ending, NULL) != HT_OK)
        return;
    if (attempt->overfull[replica] && ending.outcome == OUTCOME_STOPPED) {
        ending.outcome = OUTCOME_FAILED;
        write_overfull(ending.reason);
        container_attempt_overwrite(attempt, replica, &ending);
    } else if (ending.outcome == OUTCOME_STOPPED &&
               !disk_has(attempt->folders[replica], "stop")) {
        folder_end(&ending, OUTCOME_LOST,
                   "its container was stopped by another program");
        container_attempt_overwrite(attempt, replica, &ending);
    } else if (ending.outcome == OUTCOME_FAILED) {
        amend_memory(attempt, docker, replica, &ending);
    }
}

static void clear_replica(struct container_attempt *attempt,
                          struct docker *docker, size_t replica, void *context)
{
    bool *left = context;
    struct arena *arena = arena_new();
    amend(attempt, docker, replica);
    const char *name = attempt->names[replica];
    struct container_state state;
    enum ht_status status = container_look(docker, arena, name, &state, NULL);
    /* The name may be another program's, which is why the attempt ended. */
    struct order_key key;
    if (status == HT_OK && network_read_attempt(state.labels, &key) &&
        order_key_equal(&key, &attempt->order->key))
        status = container_remove(docker, name, NULL);
    left[replica] = status != HT_OK && status != HT_NOT_FOUND;
    arena_free(arena);
}

static bool try_to_clear(struct container_attempt *attempt)
{
    struct arena *arena = arena_new();
    const size_t n = attempt->order->n_replicas;
    bool *left = arena_alloc(arena, n, sizeof *left);
    bool clear = true;
    container_attempt_each(attempt, clear_replica, left);
    for (size_t i = 0; i < n; i++)
        clear &= !left[i];
    arena_free(arena);
    if (clear && attempt->order->container.network == NULL)
        clear = network_remove_own(attempt->connections[0], &attempt->request,
                                   NULL) == HT_OK;
    return clear;
}

void container_attempt_clear(struct container_attempt *attempt)
{
    const int64_t give_up_at = clock_monotonic_ms() + CLEAR_MS;
    bool clear = try_to_clear(attempt);
    while (!clear && clock_monotonic_ms() < give_up_at &&
           docker_pause(attempt->connections[0], CLEAR_PAUSE_MS))
        clear = try_to_clear(attempt);
    if (attempt->abandoned)
        return;
    if (!clear)
        leftovers_give_up(attempt->engine->leftovers, &attempt->order->key);
    attempt->cleared = true;
    /* A new file in a folder wakes the supervising thread. */
    if (container_attempt_begin_writing(attempt)) {
        (void)disk_mark(attempt->folders[0], "cleared", NULL);
        container_attempt_end_writing(attempt);
    }
}
