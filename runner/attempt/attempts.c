#include "runner/attempt/attempts.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/limits.h"
#include "runner/attempt/prepare.h"
#include "runner/base/disk.h"
#include "runner/base/log.h"
#include "runner/base/procfs.h"

void attempts_init(struct attempts *fleet, const struct site *site,
                   const struct engine *engine)
{
    *fleet = (struct attempts){
        .site = site,
        .engine = engine,
        .watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK),
    };
}

void attempts_fini(struct attempts *fleet)
{
    while (fleet->first != NULL) {
        struct attempt *next = fleet->first->next;
        attempt_free(fleet->first);
        fleet->first = next;
    }
    if (fleet->watch >= 0)
        close(fleet->watch);
}

struct attempt *attempts_find(const struct attempts *fleet,
                              const struct order_key *key)
{
    struct attempt *run = fleet->first;
    while (run != NULL && !order_key_equal(&run->order->key, key))
        run = run->next;
    return run;
}

static void add(struct attempts *fleet, struct attempt *run)
{
    struct attempt **last = &fleet->first;
    while (*last != NULL)
        last = &(*last)->next;
    *last = run;
    fleet->dirty = true;
}

static void watch(struct attempts *fleet, struct attempt *run)
{
    for (size_t i = 0; i < run->order->n_replicas && fleet->watch >= 0; i++)
        run->replicas[i].watch =
            inotify_add_watch(fleet->watch, run->replicas[i].folder,
                              IN_MODIFY | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR);
}

/* A folder that several attempts have is watched once for all of them. */
static void watch_file(struct attempts *fleet, struct attempt *run)
{
    const char *folder = records_file(run->replicas[0].records)->folder;
    if (fleet->watch >= 0 && run->watch < 0 && folder != NULL)
        run->watch = inotify_add_watch(fleet->watch, folder,
                                       IN_MODIFY | IN_MOVE | IN_CREATE |
                                           IN_DELETE | IN_ONLYDIR);
}

static void forget_watch(const struct attempts *fleet, int watch)
{
    const struct attempt *run = fleet->first;
    while (run != NULL && run->watch != watch)
        run = run->next;
    if (run == NULL && fleet->watch >= 0 && watch >= 0)
        inotify_rm_watch(fleet->watch, watch);
}

/* An attempt that was given up here, which the server knows already. */
static const struct attempt *find_disturbed(const struct attempts *fleet,
                                            const struct attempt *run)
{
    const struct attempt *other = fleet->first;
    while (other != NULL && !attempt_disturbs(run, other))
        other = other->next;
    return other;
}

void attempts_start(struct attempts *fleet, struct order *order)
{
    if (attempts_find(fleet, &order->key) != NULL) {
        order_free(order);
        return;
    }
    struct attempt *run = attempt_new(fleet->site, fleet->engine, order);
    const struct strings free_gpus = attempts_free_gpus(fleet, order->arena);
    const struct attempt *other = find_disturbed(fleet, run);
    if (other != NULL)
        attempt_refuse(run,
                       arena_printf(order->arena,
                                    "%s still writes the metrics file %s",
                                    other->order->name, order->metrics_file));
    else
        attempt_start(run, &free_gpus);
    add(fleet, run);
    watch(fleet, run);
}

void attempts_adopt(struct attempts *fleet, struct attempt *run)
{
    const struct strings free_gpus =
        attempts_free_gpus(fleet, run->order->arena);
    attempt_adopt(run, &free_gpus);
    watch(fleet, run);
    fleet->dirty = true;
}

void attempts_drop(struct attempts *fleet, struct attempt *run)
{
    struct attempt **link = &fleet->first;
    while (*link != run)
        link = &(*link)->next;
    *link = run->next;
    for (size_t i = 0; i < run->order->n_replicas && fleet->watch >= 0; i++)
        inotify_rm_watch(fleet->watch, run->replicas[i].watch);
    forget_watch(fleet, run->watch);
    attempt_remove(run);
    attempt_free(run);
}

bool attempts_tick(struct attempts *fleet, int64_t next_beat)
{
    bool more = false;
    fleet->dirty = false;
    for (struct attempt *run = fleet->first; run != NULL; run = run->next) {
        watch_file(fleet, run);
        more |= attempt_tick(run, next_beat);
    }
    return more;
}

void attempts_read_watch(struct attempts *fleet)
{
    char events[4096];
    while (read(fleet->watch, events, sizeof events) > 0)
        fleet->dirty = true;
}

int attempts_free_slots(const struct attempts *fleet)
{
    int free_slots = fleet->site->slots;
    for (const struct attempt *run = fleet->first; run != NULL; run = run->next)
        free_slots -= !run->ended;
    return free_slots > 0 ? free_slots : 0;
}

static bool has_gpu(const struct attempt *run, const char *gpu)
{
    for (size_t i = 0; i < run->placement.n; i++) {
        const struct strings *gpus = &run->placement.seats[i].gpus;
        for (size_t k = 0; k < gpus->n; k++) {
            if (strcmp(gpus->items[k], gpu) == 0)
                return true;
        }
    }
    return false;
}

static int count_users(const struct attempts *fleet, const char *gpu)
{
    int users = 0;
    for (const struct attempt *run = fleet->first; run != NULL; run = run->next)
        users += !run->ended && has_gpu(run, gpu);
    return users;
}

struct strings attempts_free_gpus(const struct attempts *fleet,
                                  struct arena *arena)
{
    const struct strings *all = &fleet->site->gpus;
    const char **items = arena_alloc(arena, all->n + 1, sizeof *items);
    struct strings found = {.items = items};
    int most = 0; /* users of one that is still to be given */
    for (size_t i = 0; fleet->site->share_gpus && i < all->n; i++) {
        const int users = count_users(fleet, all->items[i]);
        most = users > most ? users : most;
    }
    for (int users = 0; users <= most; users++) {
        for (size_t i = 0; i < all->n; i++) {
            if (count_users(fleet, all->items[i]) == users)
                items[found.n++] = all->items[i];
        }
    }
    return found;
}

size_t attempts_count(const struct attempts *fleet)
{
    size_t n = 0;
    for (const struct attempt *run = fleet->first; run != NULL; run = run->next)
        n++;
    return n;
}

/* ---- what lies on disk ---- */

static int64_t number_of(const char *name)
{
    const size_t len = strlen(name);
    if (len == 0 || len > 18 || name[0] == '0' ||
        strspn(name, "0123456789") != len)
        return 0;
    return strtoll(name, NULL, 10);
}

/* A link leads to what is not the attempt's. */
static bool is_folder(DIR *dir, const char *name)
{
    struct stat status;
    return fstatat(dirfd(dir), name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(status.st_mode);
}

/* Kills by folder name what has no lease to tell its replicas. */
static void clear_debris(const char *folder)
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

static void take_in(struct attempts *fleet, const struct order_key *key)
{
    struct arena *arena = arena_new();
    const char *folder = prepare_attempt_folder(arena, fleet->site, key);
    struct disk_bytes lease;
    struct order *order = NULL;
    struct ht_error err;
    enum ht_status status =
        disk_read(arena, folder, "lease.json", HT_MAX_MESSAGE, &lease, &err);
    if (status == HT_OK)
        status = order_parse(lease.data, lease.len, &order, &err);
    if (status == HT_OK && order_key_equal(&order->key, key)) {
        add(fleet, attempt_new(fleet->site, fleet->engine, order));
    } else {
        runner_log(RUNNER_WARN, "attempt.debris", "folder=%s", folder);
        order_free(order);
        clear_debris(folder);
        prepare_remove(fleet->site, key);
    }
    arena_free(arena);
}

static void scan_level(struct attempts *fleet, const char *path,
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
            take_in(fleet, key);
            continue;
        }
        struct arena *arena = arena_new();
        scan_level(fleet, arena_printf(arena, "%s/%s", path, entry->d_name),
                   key, depth + 1);
        arena_free(arena);
    }
    closedir(dir);
}

void attempts_scan(struct attempts *fleet)
{
    struct order_key key = {0};
    scan_level(fleet, fleet->site->state, &key, 0);
}
