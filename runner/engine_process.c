/* Local processes, one shim a replica. Nothing but pids of our own children is
 * kept in memory: shim.json and exit.json tell the rest. */
#include "runner/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/clock.h"
#include "runner/disk.h"
#include "runner/prepare.h"
#include "runner/procfs.h"
#include "runner/shim.h"
#include "runner/verdict.h"

enum { LEFTOVER_BOUND_MS = 5000 };

struct replica {
    const char *folder;
    pid_t shim; /* our child while > 0; 0: another's, or not there */
    bool ended;
    struct ending ending; /* once ended */
};

struct crew { /* an attempt's replicas, in the order's order */
    struct replica *replicas;
    const struct ending **endings; /* NULL while it runs */
};

static const struct crew *crew_of(struct engine_place *place)
{
    const struct order *order = place->order;
    if (place->memory == NULL) {
        struct crew *crew = arena_alloc(order->arena, 1, sizeof *crew);
        const size_t n = order->n_replicas;
        crew->replicas = arena_alloc(order->arena, n, sizeof *crew->replicas);
        crew->endings = arena_alloc(order->arena, n, sizeof(void *));
        for (size_t i = 0; i < n; i++)
            crew->replicas[i].folder = prepare_replica_folder(
                order->arena, place->folder, &order->replicas[i]);
        place->memory = crew;
    }
    return place->memory;
}

static struct replica *replicas_of(struct engine_place *place)
{
    return crew_of(place)->replicas;
}

/* ---- start ---- */

static int add_null_streams(posix_spawn_file_actions_t *actions)
{
    int code = 0;
    for (int fd = 0; fd < 3 && code == 0; fd++)
        code = posix_spawn_file_actions_addopen(actions, fd, "/dev/null",
                                                O_RDWR, 0);
    if (code == 0)
        code = posix_spawn_file_actions_addclosefrom_np(actions, 3);
    return code;
}

static void set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID |
                                             POSIX_SPAWN_SETSIGMASK |
                                             POSIX_SPAWN_SETSIGDEF);
}

static enum ht_status spawn_shim(const struct site *site,
                                 struct replica *replica, struct ht_error *err)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    set_attributes(&attributes);
    struct arena *arena = arena_new();
    char *argv[] = {arena_strdup(arena, site->shim),
                    arena_strdup(arena, replica->folder), NULL};
    /* A shim that a killed runner left behind is found by this. */
    char *variable =
        arena_printf(arena, "HYPERTUNE_TRIAL_DIR=%s", replica->folder);
    char *env[] = {variable, NULL};
    pid_t pid = 0;
    int code = add_null_streams(&actions);
    if (code == 0)
        code = posix_spawn(&pid, site->shim, &actions, &attributes, argv, env);
    arena_free(arena);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (code != 0)
        return ht_fail_errno(err, code, "cannot start %s", site->shim);
    replica->shim = pid;
    return HT_OK;
}

/* Arguments for the entry point of an image are no command. */
static enum ht_status check_commands(const struct order *order,
                                     struct ht_error *err)
{
    for (size_t i = 0; i < order->n_replicas; i++) {
        const struct replica_order *replica = &order->replicas[i];
        if (replica->image != NULL && replica->entry_words == 0)
            return ht_fail(err, HT_PRECONDITION,
                           "image %.128s needs a container engine; this runner "
                           "starts processes: give a command",
                           replica->image);
    }
    return HT_OK;
}

static enum ht_status process_start(struct engine_place *place,
                                    struct ht_error *err)
{
    if (check_commands(place->order, err) != HT_OK)
        return HT_PRECONDITION;
    struct replica *replicas = replicas_of(place);
    for (size_t i = 0; i < place->order->n_replicas; i++) {
        const enum ht_status status =
            spawn_shim(place->site, &replicas[i], err);
        if (status != HT_OK)
            return status;
    }
    return HT_OK;
}

/* A shim that was spawned but has not yet written shim.json holds the folder's
 * lock, so a second one gives up: spawning again is always safe. */
static enum ht_status process_adopt(struct engine_place *place,
                                    struct ht_error *err)
{
    if (check_commands(place->order, err) != HT_OK)
        return HT_PRECONDITION;
    struct replica *replicas = replicas_of(place);
    for (size_t i = 0; i < place->order->n_replicas; i++) {
        const char *folder = replicas[i].folder;
        if (disk_has(folder, "exit.json") || disk_has(folder, "shim.json"))
            continue;
        const enum ht_status status =
            spawn_shim(place->site, &replicas[i], err);
        if (status != HT_OK)
            return status;
    }
    return HT_OK;
}

/* ---- poll ---- */

static void end_lost(struct replica *replica, const struct process *shim,
                     const char *reason)
{
    procfs_kill_leftovers(replica->folder, shim, LEFTOVER_BOUND_MS);
    replica->ending =
        (struct ending){.outcome = OUTCOME_LOST, .ended_ms = clock_wall_ms()};
    (void)snprintf(replica->ending.reason, sizeof replica->ending.reason, "%s",
                   reason);
    replica->ended = true;
    /* Without the file a later runner comes to the same verdict. */
    folder_write_exit(replica->folder, &replica->ending, NULL);
}

static bool read_exit(struct replica *replica)
{
    replica->ended =
        folder_read_exit(replica->folder, &replica->ending, NULL) == HT_OK;
    return replica->ended;
}

/* Our child is gone without exit.json: did it never get to work? */
static void judge_dead_child(const struct site *site, struct replica *replica,
                             int status)
{
    struct process shim;
    const bool known = folder_read_shim(replica->folder, &shim, NULL) == HT_OK;
    if (WIFEXITED(status) && WEXITSTATUS(status) == SHIM_TAKEN) {
        if (!known) /* the other one may have died before it wrote the file */
            (void)spawn_shim(site, replica, NULL);
        return;
    }
    end_lost(replica, known ? &shim : NULL,
             WIFSIGNALED(status) || known
                 ? "its supervisor process was killed"
                 : "its supervisor process could not start");
}

static void judge_stranger(const struct site *site, struct replica *replica)
{
    struct process shim;
    const enum ht_status status =
        folder_read_shim(replica->folder, &shim, NULL);
    if (status == HT_NOT_FOUND) {
        (void)spawn_shim(site, replica, NULL);
    } else if (status != HT_OK) {
        end_lost(replica, NULL, "the note of its supervisor is damaged");
    } else if (!procfs_is_alive(&shim) && !read_exit(replica)) {
        struct process self = {.boot = ""};
        (void)procfs_identify(getpid(), &self, NULL);
        end_lost(replica, &shim,
                 strcmp(self.boot, shim.boot) == 0
                     ? "its supervisor process was killed"
                     : "the machine was restarted");
    }
}

static void poll_replica(const struct site *site, struct replica *replica)
{
    if (replica->ended)
        return;
    if (replica->shim <= 0) {
        if (!read_exit(replica))
            judge_stranger(site, replica);
        return;
    }
    int status = 0;
    const pid_t pid = waitpid(replica->shim, &status, WNOHANG);
    if (pid == 0) {
        read_exit(replica); /* it may need a moment to end itself */
        return;
    }
    replica->shim = 0;
    if (!read_exit(replica) && pid > 0)
        judge_dead_child(site, replica, status);
}

static void process_stop(struct engine_place *place,
                         const struct stop_order *order)
{
    struct replica *replicas = replicas_of(place);
    for (size_t i = 0; i < place->order->n_replicas; i++) {
        if (!replicas[i].ended)
            folder_write_stop(replicas[i].folder, order, NULL);
    }
}

static void stop_after(struct engine_place *place, size_t decisive,
                       const struct ending *ending)
{
    struct stop_order stop = {.kill = false};
    if (decisive == 0 && ending->outcome == OUTCOME_SUCCEEDED)
        (void)snprintf(stop.reason, sizeof stop.reason, "the %s has ended",
                       place->order->replicas[0].type);
    else
        (void)snprintf(stop.reason, sizeof stop.reason, "%s", ending->reason);
    process_stop(place, &stop);
}

static enum engine_state process_poll(struct engine_place *place,
                                      struct ending *ending)
{
    const struct order *order = place->order;
    const struct crew *crew = crew_of(place);
    size_t ended = 0;
    for (size_t i = 0; i < order->n_replicas; i++) {
        struct replica *replica = &crew->replicas[i];
        poll_replica(place->site, replica);
        crew->endings[i] = replica->ended ? &replica->ending : NULL;
        ended += replica->ended;
    }
    const size_t decisive = verdict_find(order, crew->endings);
    if (decisive == order->n_replicas)
        return ENGINE_RUNNING;
    const struct ending verdict =
        verdict_make(order, decisive, crew->endings[decisive]);
    if (ended == order->n_replicas) {
        *ending = verdict;
        return ENGINE_ENDED;
    }
    stop_after(place, decisive, &verdict);
    return ENGINE_RUNNING;
}

/* ---- removal ---- */

/* Not reaped yet, so its pid cannot belong to anybody else. */
static bool is_our_child(pid_t pid)
{
    return pid > 0 && waitpid(pid, NULL, WNOHANG) == 0;
}

static void process_remove(struct engine_place *place)
{
    struct replica *replicas = replicas_of(place);
    for (size_t i = 0; i < place->order->n_replicas; i++) {
        struct process shim;
        const bool known =
            folder_read_shim(replicas[i].folder, &shim, NULL) == HT_OK;
        if (known)
            procfs_kill(&shim);
        if (is_our_child(replicas[i].shim)) {
            kill(replicas[i].shim, SIGKILL);
            while (waitpid(replicas[i].shim, NULL, 0) < 0 && errno == EINTR)
                continue;
        }
        replicas[i].shim = 0;
        procfs_kill_leftovers(replicas[i].folder, known ? &shim : NULL,
                              LEFTOVER_BOUND_MS);
    }
}

const struct engine engine_process = {
    .name = "process",
    .start = process_start,
    .adopt = process_adopt,
    .poll = process_poll,
    .stop = process_stop,
    .remove = process_remove,
};
