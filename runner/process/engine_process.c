/* engine_process.c - the engine of local processes, with one shim for each
 * replica. Only the pids of the runner's children are in memory: the rest is in
 * shim.json and exit.json. */

#include "runner/attempt/engine.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "runner/attempt/prepare.h"
#include "runner/attempt/prepare_processes.h"
#include "runner/attempt/replica_view.h"
#include "runner/attempt/replicas.h"
#include "runner/base/child.h"
#include "runner/base/disk.h"
#include "runner/base/placement.h"
#include "runner/base/procfs.h"
#include "runner/process/isolation.h"
#include "runner/shim/shim.h"

enum { LEFTOVER_BOUND_MS = 5000 };

/* In the attempt's folder: all files were there, a trainer may have begun. */
static const char mark_prepared[] = "prepared";

struct processes { /* of one attempt */
    struct replicas replicas;
    pid_t
        *shims; /* a child of this process while > 0; 0: of another, or none */
};

static struct processes *processes_of(struct engine_place *place)
{
    if (place->data == NULL) {
        struct arena *arena = place->order->arena;
        struct processes *processes = arena_alloc(arena, 1, sizeof *processes);
        replicas_init(&processes->replicas, place);
        processes->shims =
            arena_alloc(arena, processes->replicas.n, sizeof(pid_t));
        place->data = processes;
    }
    return place->data;
}

/* Not reaped yet, so no other process can have its pid. */
static bool is_our_child(pid_t pid)
{
    return pid > 0 && waitpid(pid, NULL, WNOHANG) == 0;
}

/* From shim.json, which a trial of the runner's user can exchange: what it
 * names must not be killed in the runner's name. A shim that has ended cannot
 * be told from another process; then its session is not looked for. */
static const struct process *
known_shim(const struct site *site, const char *folder, struct process *shim)
{
    if (folder_read_shim(folder, shim, NULL) != HT_OK)
        return NULL;
    const bool ours = procfs_is_alive(shim)
                          ? procfs_has_argument(shim->pid, folder)
                          : site->guest.sandbox == SANDBOX_NONE;
    return ours ? shim : NULL;
}

/* `shim`: from known_shim(). */
static void kill_replica(struct processes *processes, size_t i,
                         const struct process *shim)
{
    if (shim != NULL)
        procfs_kill(shim);
    if (is_our_child(processes->shims[i])) {
        kill(processes->shims[i], SIGKILL);
        while (waitpid(processes->shims[i], NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    processes->shims[i] = 0;
    procfs_kill_leftovers(processes->replicas.items[i].folder, shim,
                          LEFTOVER_BOUND_MS);
}

/* ---- start ---- */

static enum ht_status spawn_shim(const struct site *site,
                                 struct processes *processes, size_t i,
                                 struct ht_error *err)
{
    const char *folder = processes->replicas.items[i].folder;
    struct arena *arena = arena_new();
    const char *const argv[] = {site->shim, folder, NULL};
    /* By this the shim of a killed runner is found. */
    const char *const env[] = {
        arena_printf(arena, "HYPERTUNE_TRIAL_DIR=%s", folder), NULL};
    const struct child shim = {.argv = argv,
                               .env = env,
                               .input = -1,
                               .output = -1,
                               .group = POSIX_SPAWN_SETSID};
    pid_t pid = 0;
    const int code = child_start(&shim, &pid);
    arena_free(arena);
    if (code != 0)
        return ht_fail_errno(err, code, "cannot start %s", site->shim);
    processes->shims[i] = pid;
    return HT_OK;
}

static void apply_isolation(const struct engine_place *place,
                            struct arena *arena, size_t replica,
                            struct replica_view *view)
{
    isolation_apply(arena, place->site, place->order, replica, view);
}

static enum ht_status prepare(const struct engine_place *place,
                              struct ht_error *err)
{
    const enum ht_status status =
        prepare_processes(place, apply_isolation, err);
    return status == HT_OK ? disk_mark(place->folder, mark_prepared, err)
                           : status;
}

/* Files of a prepared attempt are missing: preparing it again could start a
 * second trainer beside one that still runs. */
static void end_emptied(struct engine_place *place)
{
    struct processes *processes = processes_of(place);
    for (size_t i = 0; i < processes->replicas.n; i++) {
        if (disk_has(processes->replicas.items[i].folder, "launch.json"))
            continue;
        replicas_end_without_folder(&processes->replicas, i, folder_removed);
        kill_replica(processes, i, NULL);
    }
}

/* A shim that was spawned but has not yet written shim.json holds the folder's
 * lock, so a second one gives up: spawning again is always safe. */
static enum ht_status process_start(struct engine_place *place,
                                    struct ht_error *err)
{
    if (disk_has(place->folder, mark_prepared) &&
        !prepare_is_complete(place->order, place->folder)) {
        end_emptied(place);
        return HT_OK;
    }
    enum ht_status status = prepare(place, err);
    struct processes *processes = processes_of(place);
    for (size_t i = 0; status == HT_OK && i < processes->replicas.n; i++) {
        const char *folder = processes->replicas.items[i].folder;
        if (!disk_has(folder, "exit.json") && !disk_has(folder, "shim.json"))
            status = spawn_shim(place->site, processes, i, err);
    }
    return status;
}

/* ---- poll ---- */

static void end_lost(struct replicas *replicas, size_t i,
                     const struct process *shim, const char *reason)
{
    procfs_kill_leftovers(replicas->items[i].folder, shim, LEFTOVER_BOUND_MS);
    struct ending ending = {.ended_ms = clock_wall_ms()};
    folder_end(&ending, OUTCOME_LOST, "%s", reason);
    replicas_end(replicas, i, &ending);
}

/* The child ended without exit.json. */
static void check_dead_child(const struct site *site,
                             struct processes *processes, size_t i, int status)
{
    struct replicas *replicas = &processes->replicas;
    const char *folder = replicas->items[i].folder;
    struct process shim;
    const bool known = folder_read_shim(folder, &shim, NULL) == HT_OK;
    if (WIFEXITED(status) && WEXITSTATUS(status) == SHIM_TAKEN) {
        if (!known) /* the other shim may have ended before it wrote the file */
            (void)spawn_shim(site, processes, i, NULL);
        return;
    }
    end_lost(replicas, i, known_shim(site, folder, &shim),
             WIFSIGNALED(status) ? "its supervisor process was killed"
             : known ? "its supervisor process could not write down its end"
                     : "its supervisor process could not start");
}

static void check_adopted(const struct site *site, struct processes *processes,
                          size_t i)
{
    struct replicas *replicas = &processes->replicas;
    const char *folder = replicas->items[i].folder;
    struct process shim, kept;
    const enum ht_status status = folder_read_shim(folder, &shim, NULL);
    if (status == HT_NOT_FOUND) {
        (void)spawn_shim(site, processes, i, NULL);
    } else if (status != HT_OK) {
        end_lost(replicas, i, NULL, "its shim.json is damaged");
    } else if ((!procfs_is_alive(&shim) ||
                !procfs_has_argument(shim.pid, folder)) &&
               !replicas_read_exit(replicas, i)) {
        struct process self = {.boot = ""};
        (void)procfs_identify(getpid(), &self, NULL);
        end_lost(replicas, i, known_shim(site, folder, &kept),
                 strcmp(self.boot, shim.boot) == 0
                     ? "its supervisor process was killed"
                     : "the machine was restarted");
    }
}

static void poll_replica(const struct site *site, struct processes *processes,
                         size_t i)
{
    struct replicas *replicas = &processes->replicas;
    if (replicas->items[i].ended)
        return;
    if (replicas_has_lost_folder(replicas, i)) {
        kill_replica(processes, i, NULL);
        return;
    }
    if (processes->shims[i] <= 0) {
        if (!replicas_read_exit(replicas, i))
            check_adopted(site, processes, i);
        return;
    }
    int status = 0;
    const pid_t pid = waitpid(processes->shims[i], &status, WNOHANG);
    if (pid == 0) {
        replicas_read_exit(replicas, i); /* it ends a moment later */
        return;
    }
    processes->shims[i] = 0;
    if (!replicas_read_exit(replicas, i) && pid > 0)
        check_dead_child(site, processes, i, status);
}

static enum engine_state process_poll(struct engine_place *place,
                                      struct ending *ending)
{
    struct processes *processes = processes_of(place);
    for (size_t i = 0; i < processes->replicas.n; i++)
        poll_replica(place->site, processes, i);
    return replicas_state(&processes->replicas, place, ending);
}

static void process_stop(struct engine_place *place,
                         const struct stop_order *order)
{
    replicas_stop(&processes_of(place)->replicas, order);
}

/* ---- removal ---- */

static void process_remove(struct engine_place *place)
{
    struct processes *processes = processes_of(place);
    for (size_t i = 0; i < processes->replicas.n; i++) {
        const char *folder = processes->replicas.items[i].folder;
        struct process shim;
        const bool lost = replicas_has_lost_folder(&processes->replicas, i);
        kill_replica(processes, i,
                     lost ? NULL : known_shim(place->site, folder, &shim));
        isolation_forget(place->site, place->order, i);
    }
    place->data = NULL;
}

/* ---- the rest ---- */

static enum ht_status process_open(const struct site *site,
                                   struct ht_error *err)
{
    if (access(site->shim, X_OK) != 0)
        return ht_fail_errno(err, errno, "cannot run %s", site->shim);
    return HT_OK;
}

static enum ht_status process_address(const struct site *site,
                                      const struct order *order, size_t replica,
                                      const char **address, int *claim,
                                      struct ht_error *err)
{
    (void)site;
    (void)replica;
    int port;
    const enum ht_status status = placement_find_port(&port, claim, err);
    if (status == HT_OK)
        *address = arena_printf(order->arena, "127.0.0.1:%d", port);
    return status;
}

/* A shim runs as soon as it was spawned. */
static bool process_is_started(const struct engine_place *place)
{
    (void)place;
    return true;
}

static struct engine_facts process_facts(const struct engine_place *place)
{
    (void)place;
    return (struct engine_facts){.known = true};
}

const struct engine engine_process = {
    .name = "process",
    .open = process_open,
    .address = process_address,
    .start = process_start,
    .poll = process_poll,
    .stop = process_stop,
    .remove = process_remove,
    .is_started = process_is_started,
    .facts = process_facts,
};
