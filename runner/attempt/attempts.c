#include "runner/attempt/attempts.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/base/log.h"
#include "runner/attempt/gpu_use.h"
#include "runner/attempt/prepare.h"
#include "runner/base/disk.h"
#include "runner/base/gpus.h"
#include "runner/base/procfs.h"
#include "runner/reports/records.h"
#include "runner/reports/results_file.h"

void attempts_init(struct attempts *attempts, const struct site *site,
                   const struct engine *engine)
{
    *attempts = (struct attempts){
        .site = site,
        .engine = engine,
        .watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK),
    };
}

static struct attempt *make(const struct attempts *attempts,
                            struct order *order)
{
    struct attempt *attempt =
        attempt_new(attempts->site, attempts->engine, attempts->trees, order);
    attempt->transfers = attempts->transfers;
    return attempt;
}

void attempts_fini(struct attempts *attempts)
{
    while (attempts->first != NULL) {
        struct attempt *next = attempts->first->next;
        attempt_free(attempts->first);
        attempts->first = next;
    }
    if (attempts->watch >= 0)
        close(attempts->watch);
}

struct attempt *attempts_find(const struct attempts *attempts,
                              const struct order_key *key)
{
    struct attempt *attempt = attempts->first;
    while (attempt != NULL && !order_key_equal(&attempt->order->key, key))
        attempt = attempt->next;
    return attempt;
}

static void add(struct attempts *attempts, struct attempt *attempt)
{
    struct attempt **last = &attempts->first;
    while (*last != NULL)
        last = &(*last)->next;
    *last = attempt;
    attempts->dirty = true;
}

static void watch(struct attempts *attempts, struct attempt *attempt)
{
    for (size_t i = 0; i < attempt->order->n_replicas && attempts->watch >= 0;
         i++)
        attempt->replicas[i].watch =
            inotify_add_watch(attempts->watch, attempt->replicas[i].folder,
                              IN_MODIFY | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR);
}

/* Attempts with the same folder share one watch. */
static void watch_file(struct attempts *attempts, struct attempt *attempt)
{
    const char *folder = records_file(attempt->replicas[0].records)->folder;
    if (attempts->watch >= 0 && attempt->watch < 0 && folder != NULL)
        attempt->watch = inotify_add_watch(attempts->watch, folder,
                                           IN_MODIFY | IN_MOVE | IN_CREATE |
                                               IN_DELETE | IN_ONLYDIR);
}

static void forget_watch(const struct attempts *attempts, int watch)
{
    const struct attempt *attempt = attempts->first;
    while (attempt != NULL && attempt->watch != watch)
        attempt = attempt->next;
    if (attempt == NULL && attempts->watch >= 0 && watch >= 0)
        inotify_rm_watch(attempts->watch, watch);
}

/* An attempt that still runs here although the server gave it up. */
static const struct attempt *find_disturbed(const struct attempts *attempts,
                                            const struct attempt *attempt)
{
    const struct attempt *other = attempts->first;
    while (other != NULL && !attempt_disturbs(attempt, other))
        other = other->next;
    return other;
}

void attempts_start(struct attempts *attempts, struct order *order)
{
    if (attempts_find(attempts, &order->key) != NULL) {
        order_free(order);
        return;
    }
    struct attempt *attempt = make(attempts, order);
    const struct gpu_rooms rooms = attempts_gpu_rooms(attempts, order->arena);
    const struct attempt *other = find_disturbed(attempts, attempt);
    if (other != NULL)
        attempt_refuse(attempt,
                       arena_printf(order->arena,
                                    "%s still writes the metrics file %s",
                                    other->order->name, order->metrics_file));
    else
        attempt_start(attempt, &rooms);
    add(attempts, attempt);
    watch(attempts, attempt);
}

void attempts_adopt(struct attempts *attempts, struct attempt *attempt)
{
    const struct gpu_rooms rooms =
        attempts_gpu_rooms(attempts, attempt->order->arena);
    attempt_adopt(attempt, &rooms);
    watch(attempts, attempt);
    attempts->dirty = true;
}

void attempts_drop(struct attempts *attempts, struct attempt *attempt)
{
    struct attempt **link = &attempts->first;
    while (*link != attempt)
        link = &(*link)->next;
    *link = attempt->next;
    for (size_t i = 0; i < attempt->order->n_replicas && attempts->watch >= 0;
         i++)
        inotify_rm_watch(attempts->watch, attempt->replicas[i].watch);
    forget_watch(attempts, attempt->watch);
    attempt_remove(attempt);
    attempt_free(attempt);
}

static void tick(struct attempts *attempts, struct attempt *attempt,
                 int64_t next_beat)
{
    const bool waited = attempt->waits;
    watch_file(attempts, attempt);
    gpu_use_tick(attempt, attempts->gpus, clock_monotonic_ms());
    attempt->touched = attempt_tick(attempt, next_beat);
    attempts->touched |= attempt->touched;
    attempt->unsent = true;
    if (waited && !attempt->waits)
        watch(attempts, attempt); /* its folders are there now */
}

void attempts_tick(struct attempts *attempts, int64_t next_beat, bool all)
{
    attempts->dirty &= !all;
    attempts->touched = false;
    for (struct attempt *attempt = attempts->first; attempt != NULL;
         attempt = attempt->next)
        if (all || attempt->touched)
            tick(attempts, attempt, next_beat);
}

static bool has_watch(const struct attempt *attempt, int watch)
{
    bool has = attempt->watch == watch;
    for (size_t i = 0; i < attempt->order->n_replicas; i++)
        has |= attempt->replicas[i].watch == watch;
    return has;
}

/* Several may read one file of metrics. */
static void touch(struct attempts *attempts, const struct inotify_event *event)
{
    if ((event->mask & IN_Q_OVERFLOW) != 0)
        attempts->dirty = true;
    for (struct attempt *attempt = attempts->first; attempt != NULL;
         attempt = attempt->next) {
        attempt->touched |= has_watch(attempt, event->wd);
        attempts->touched |= attempt->touched;
    }
}

void attempts_read_watch(struct attempts *attempts)
{
    _Alignas(struct inotify_event) char events[4096];
    ssize_t n;
    while ((n = read(attempts->watch, events, sizeof events)) > 0)
        for (const char *at = events; at < events + n;) {
            const struct inotify_event *event =
                (const struct inotify_event *)(const void *)at;
            touch(attempts, event);
            at += sizeof *event + event->len;
        }
}

int attempts_free_slots(const struct attempts *attempts)
{
    int free_slots = attempts->site->slots;
    for (const struct attempt *attempt = attempts->first; attempt != NULL;
         attempt = attempt->next)
        free_slots -= !attempt->ended;
    return free_slots > 0 ? free_slots : 0;
}

/* What the attempt has of the GPU. */
static double part_of(const struct attempt *attempt, const char *gpu)
{
    double part = 0;
    for (size_t i = 0; i < attempt->placement.n; i++)
        if (gpus_has(&attempt->placement.replicas[i].gpus, gpu))
            part += placement_part(&attempt->order->replicas[i]);
    return part;
}

static double used_of(const struct attempts *attempts, const char *gpu)
{
    double used = 0;
    for (const struct attempt *attempt = attempts->first; attempt != NULL;
         attempt = attempt->next)
        used += attempt->ended ? 0 : part_of(attempt, gpu);
    return used;
}

struct gpu_rooms attempts_gpu_rooms(const struct attempts *attempts,
                                    struct arena *arena)
{
    const struct strings *all = &attempts->site->gpus;
    const bool shared = attempts->site->share_gpus;
    struct gpu_room *items = arena_alloc(arena, all->n + 1, sizeof *items);
    double *used = arena_alloc(arena, all->n + 1, sizeof *used);
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) {
        const double of = used_of(attempts, all->items[i]);
        if (!shared && of >= 1 - 1e-9)
            continue;
        size_t at = n++;
        for (; shared && at > 0 && used[at - 1] > of; at--) {
            items[at] = items[at - 1];
            used[at] = used[at - 1];
        }
        items[at] = (struct gpu_room){all->items[i], shared ? 1 : 1 - of};
        used[at] = of;
    }
    return (struct gpu_rooms){.n = n, .items = items};
}

size_t attempts_count(const struct attempts *attempts)
{
    size_t n = 0;
    for (const struct attempt *attempt = attempts->first; attempt != NULL;
         attempt = attempt->next)
        n++;
    return n;
}

/* ---- attempts on disk ---- */

static int64_t number_of(const char *name)
{
    const size_t len = strlen(name);
    if (len == 0 || len > 18 || name[0] == '0' ||
        strspn(name, "0123456789") != len)
        return 0;
    return strtoll(name, NULL, 10);
}

/* A link is not followed: its target is not the attempt's. */
static bool is_folder(DIR *dir, const char *name)
{
    struct stat status;
    return fstatat(dirfd(dir), name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(status.st_mode);
}

/* Kills the replicas of a folder that has no lease, by their folders' names. */
static void kill_leftovers(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.' || !is_folder(dir, entry->d_name))
            continue;
        struct arena *arena = arena_new();
        const char *path = arena_printf(arena, "%s/%s", folder, entry->d_name);
        struct process shim;
        const bool known = folder_read_shim(path, &shim, NULL) == HT_OK;
        if (known)
            procfs_kill(&shim);
        procfs_kill_leftovers(path, known ? &shim : NULL, 1000);
        arena_free(arena);
    }
    if (dir != NULL)
        closedir(dir);
}

static void add_found(struct attempts *attempts, const struct order_key *key)
{
    struct arena *arena = arena_new();
    const char *folder = prepare_attempt_folder(arena, attempts->site, key);
    struct disk_bytes lease;
    struct order *order = NULL;
    struct ht_error err;
    enum ht_status status =
        disk_read(arena, folder, "lease.json", HT_MAX_MESSAGE, &lease, &err);
    if (status == HT_OK)
        status = order_parse(lease.data, lease.len, &order, &err);
    if (status == HT_OK && order_key_equal(&order->key, key)) {
        add(attempts, make(attempts, order));
    } else {
        log_event(LOG_WARN, "attempt.debris", "folder=%s", folder);
        order_free(order);
        kill_leftovers(folder);
        prepare_remove(attempts->site, key);
    }
    arena_free(arena);
}

static void scan_level(struct attempts *attempts, const char *path,
                       struct order_key *key, int depth)
{
    int64_t *const level[] = {&key->study, &key->trial, &key->attempt};
    DIR *dir = opendir(path);
    if (dir == NULL)
        return;
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        *level[depth] = number_of(entry->d_name);
        if (*level[depth] == 0 || !is_folder(dir, entry->d_name))
            continue;
        if (depth == 2) {
            add_found(attempts, key);
            continue;
        }
        struct arena *arena = arena_new();
        scan_level(attempts, arena_printf(arena, "%s/%s", path, entry->d_name),
                   key, depth + 1);
        arena_free(arena);
    }
    closedir(dir);
}

void attempts_scan(struct attempts *attempts)
{
    struct order_key key = {0};
    scan_level(attempts, attempts->site->state, &key, 0);
}
