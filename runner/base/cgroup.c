#include "runner/base/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runner/base/disk.h"

enum {
    PERIOD_US = 100000,
    /* A process that was killed leaves its group a moment later. */
    PAUSE_NS = 2000000,
    REMOVALS = 1000
};

const char *const cgroup_controllers[CGROUP_CONTROLLERS] = {"memory", "pids",
                                                            "cpu"};

/* The kernel's files have no size. False: it cannot be read. */
static bool read_file(const char *path, char *text, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n >= 0;
}

/* ---- where ---- */

static bool has_word(const char *list, size_t len, const char *word)
{
    const size_t wanted = strlen(word);
    for (size_t at = 0; at < len; at += strcspn(list + at, ",: \n") + 1) {
        if (strcspn(list + at, ",: \n") == wanted &&
            strncmp(list + at, word, wanted) == 0)
            return true;
    }
    return false;
}

/* The path of the line "N:LIST:PATH" whose list has the word; "" finds that of
 * version 2. NULL: there is none. */
static const char *find_path(struct arena *arena, const char *self,
                             const char *word)
{
    for (const char *line = self; line != NULL && *line != '\0';
         line = strchr(line, '\n'), line = line != NULL ? line + 1 : NULL) {
        const char *list = strchr(line, ':');
        const char *path = list != NULL ? strchr(list + 1, ':') : NULL;
        if (path == NULL)
            return NULL;
        const size_t len = (size_t)(path - list) - 1;
        if (*word == '\0' ? len == 0 : has_word(list + 1, len, word))
            return arena_strndup(arena, path + 1, strcspn(path + 1, "\n"));
    }
    return NULL;
}

/* A group with processes cannot have groups with limits, so this process moves
 * into one of its own. NULL: the group does not belong to it. */
static const char *take_unified(struct arena *arena, const char *folder)
{
    const char *own = arena_printf(arena, "%s/runner", folder);
    if (mkdir(own, 0755) != 0 && errno != EEXIST)
        return NULL;
    if (!disk_write_kernel(arena_printf(arena, "%s/cgroup.procs", own), "0") ||
        !disk_write_kernel(
            arena_printf(arena, "%s/cgroup.subtree_control", folder),
            "+memory +pids +cpu"))
        return NULL;
    return folder;
}

static void find_unified(struct arena *arena, const char *mount,
                         const char *self, struct cgroup_places *places)
{
    char known[256];
    const char *path = find_path(arena, self, "");
    if (path == NULL)
        return;
    const char *folder = arena_printf(arena, "%s%s", mount, path);
    if (!read_file(arena_printf(arena, "%s/cgroup.controllers", folder), known,
                   sizeof known))
        return;
    for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
        if (!has_word(known, strlen(known), cgroup_controllers[i]))
            return;
    }
    folder = take_unified(arena, folder);
    for (int i = 0; i < CGROUP_CONTROLLERS; i++)
        places->folders[i] = folder;
    places->unified = folder != NULL;
}

void cgroup_find(struct arena *arena, const char *mount, const char *self,
                 struct cgroup_places *places)
{
    *places = (struct cgroup_places){.unified = false};
    find_unified(arena, mount, self, places);
    for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
        const char *path = find_path(arena, self, cgroup_controllers[i]);
        if (places->unified || path == NULL)
            continue;
        const char *folder =
            arena_printf(arena, "%s/%s%s", mount, cgroup_controllers[i],
                         strcmp(path, "/") == 0 ? "" : path);
        if (access(folder, W_OK) == 0)
            places->folders[i] = folder;
    }
}

/* ---- what ---- */

struct plan {
    struct arena *arena;
    struct guest *guest;
    const char *name;
    const char **groups;
    struct pair *files;
};

static void add_file(struct plan *plan, const char *group, const char *file,
                     const char *value)
{
    plan->files[plan->guest->cgroup_files.n++] =
        (struct pair){arena_printf(plan->arena, "%s/%s", group, file), value};
}

static const char *add_group(struct plan *plan, const char *folder)
{
    struct strings *groups = &plan->guest->cgroups;
    const char *group = arena_printf(plan->arena, "%s/%s", folder, plan->name);
    for (size_t i = 0; i < groups->n; i++) {
        if (strcmp(groups->items[i], group) == 0)
            return group;
    }
    plan->groups[groups->n++] = group;
    return group;
}

static const char *whole(struct plan *plan, int64_t value)
{
    return arena_printf(plan->arena, "%lld", (long long)value);
}

static void plan_cpus(struct plan *plan, const char *group, bool unified,
                      double cpus)
{
    const int64_t quota = (int64_t)(cpus * PERIOD_US);
    if (unified) {
        add_file(
            plan, group, "cpu.max",
            arena_printf(plan->arena, "%lld %d", (long long)quota, PERIOD_US));
        return;
    }
    add_file(plan, group, "cpu.cfs_period_us", whole(plan, PERIOD_US));
    add_file(plan, group, "cpu.cfs_quota_us", whole(plan, quota));
}

void cgroup_plan(struct arena *arena, const struct cgroup_places *places,
                 const struct cgroup_limits *limits, const char *name,
                 struct guest *guest)
{
    enum { FILES = 4 };
    struct plan plan = {
        .arena = arena,
        .guest = guest,
        .name = name,
        .groups = arena_alloc(arena, CGROUP_CONTROLLERS, sizeof(char *)),
        .files = arena_alloc(arena, FILES, sizeof(struct pair))};
    guest->cgroups = (struct strings){.items = plan.groups};
    guest->cgroup_files = (struct pairs){.items = plan.files};
    const bool unified = places->unified;
    const char *const *folders = places->folders;
    if (limits->memory > 0 && folders[CGROUP_MEMORY] != NULL)
        add_file(&plan, add_group(&plan, folders[CGROUP_MEMORY]),
                 unified ? "memory.max" : "memory.limit_in_bytes",
                 whole(&plan, limits->memory));
    if (limits->pids > 0 && folders[CGROUP_PIDS] != NULL)
        add_file(&plan, add_group(&plan, folders[CGROUP_PIDS]), "pids.max",
                 whole(&plan, limits->pids));
    if (limits->cpus > 0 && folders[CGROUP_CPU] != NULL)
        plan_cpus(&plan, add_group(&plan, folders[CGROUP_CPU]), unified,
                  limits->cpus);
}

/* ---- in the shim ---- */

enum ht_status cgroup_make(const struct guest *guest, struct ht_error *err)
{
    for (size_t i = 0; i < guest->cgroups.n; i++) {
        const char *group = guest->cgroups.items[i];
        if (mkdir(group, 0755) != 0 && errno != EEXIST)
            return ht_fail_errno(err, errno, "cannot make %s", group);
    }
    for (size_t i = 0; i < guest->cgroup_files.n; i++) {
        const struct pair *file = &guest->cgroup_files.items[i];
        if (!disk_write_kernel(file->name, file->value))
            return ht_fail_errno(err, errno, "cannot write %s to %s",
                                 file->value, file->name);
    }
    return HT_OK;
}

void cgroup_remove(const struct guest *guest)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    for (size_t i = 0; i < guest->cgroups.n; i++) {
        for (int tries = 0; tries < REMOVALS; tries++) {
            if (rmdir(guest->cgroups.items[i]) == 0 || errno != EBUSY)
                break;
            nanosleep(&pause, NULL);
        }
    }
}

/* Version 2 counts in memory.events, version 1 in memory.oom_control, in a line
 * of the same form. */
static bool has_kills(const char *group, const char *name)
{
    char text[1024];
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", group, name);
    if (!read_file(path, text, sizeof text))
        return false;
    const char *kills = strstr(text, "oom_kill ");
    return kills != NULL && strtoll(kills + strlen("oom_kill "), NULL, 10) > 0;
}

bool cgroup_was_full(const struct guest *guest)
{
    for (size_t i = 0; i < guest->cgroups.n; i++) {
        const char *group = guest->cgroups.items[i];
        if (has_kills(group, "memory.events") ||
            has_kills(group, "memory.oom_control"))
            return true;
    }
    return false;
}
