#include "tuner/runners/machine_types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/log.h"
#include "proto/base/text.h"
#include "proto/doc/diag.h"
#include "proto/doc/node.h"
#include "tuner/core/core.h"

enum { LOOK_MS = 1000, MOST_BYTES = 1024 * 1024 };

#define GIB (1024.0 * 1024 * 1024)

/* ---- the admin's file ---- */

struct own { /* one type of the file */
    const char *name;
    struct machine_type machine;
};

struct machine_types {
    char *path;
    struct arena *arena; /* of the last good content */
    size_t n;
    struct own *own;
    int64_t look_at_ms; /* monotonic */
    struct timespec changed;
    off_t size;
};

struct machine_types *machine_types_new(const char *data_dir)
{
    struct machine_types *machines = ht_xcalloc(1, sizeof *machines);
    struct text path = {0};
    text_printf(&path, "%s/machines.json", data_dir);
    machines->path = path.data;
    machines->arena = arena_new();
    return machines;
}

void machine_types_free(struct machine_types *machines)
{
    if (machines == NULL)
        return;
    arena_free(machines->arena);
    free(machines->path);
    free(machines);
}

static bool read_memory(const struct node *node, int64_t *bytes)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"Ki", 1024}, {"Mi", 1024.0 * 1024},
                 {"Gi", GIB},  {"Ti", 1024 * GIB},
                 {"K", 1e3},   {"M", 1e6},
                 {"G", 1e9},   {"T", 1e12},
                 {"", 1}};
    const char *text = node_string(node);
    if (text == NULL)
        return node_int64(node, bytes) && *bytes >= 0;
    char *end;
    const double n = strtod(text, &end);
    for (size_t i = 0; end > text && i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].name) != 0)
            continue;
        const double value = n * units[i].bytes;
        if (!(value >= 0 && value < 9e18))
            return false;
        *bytes = (int64_t)value;
        return true;
    }
    return false;
}

static bool read_type(const struct node *node, struct own *own)
{
    enum { MOST_CPUS = 100000, MOST_GPUS = 1024 };
    struct machine_type *machine = &own->machine;
    own->name = node->key;
    if (node->kind != NODE_MAP)
        return false;
    for (const struct node *item = node->first; item; item = item->next) {
        bool fine = false;
        if (strcmp(item->key, "cpus") == 0)
            fine = node_double(item, &machine->cpus) && machine->cpus >= 0 &&
                   machine->cpus <= MOST_CPUS;
        else if (strcmp(item->key, "memory") == 0)
            fine = read_memory(item, &machine->memory);
        else if (strcmp(item->key, "gpus") == 0)
            fine = node_int64(item, &machine->gpus) && machine->gpus >= 0 &&
                   machine->gpus <= MOST_GPUS;
        if (!fine)
            return false;
    }
    return true;
}

/* Whole or not at all. */
static void take(struct machine_types *machines, struct arena *arena,
                 const struct node *root)
{
    struct own *own = arena_alloc(arena, root->count + 1, sizeof *own);
    size_t n = 0;
    for (const struct node *item = root->first; item; item = item->next) {
        if (!read_type(item, &own[n++])) {
            log_event(LOG_ERROR, "machines.wrong",
                      "file=%s line=%d type=\"%.64s\" reason=\"has other than "
                      "cpus, memory, gpus, or one is out of range\"",
                      machines->path, item->line, item->key);
            arena_free(arena);
            return;
        }
    }
    arena_free(machines->arena);
    machines->arena = arena;
    machines->own = own;
    machines->n = n;
    log_event(LOG_INFO, "machines.read", "file=%s types=%zu", machines->path,
              n);
}

static void parse(struct machine_types *machines, const char *bytes, size_t len)
{
    struct arena *arena = arena_new();
    struct diag diag;
    const char *text = arena_strndup(arena, bytes, len);
    diag_init(&diag, arena, "machines.json", text, len);
    const struct node *root = node_read_json(arena, text, len, &diag);
    if (root != NULL && root->kind == NODE_MAP) {
        take(machines, arena, root);
        return;
    }
    log_event(LOG_ERROR, "machines.wrong", "file=%s line=%d reason=\"%s\"",
              machines->path, diag.first != NULL ? diag.first->line : 1,
              diag.first != NULL ? diag.first->text : "is no JSON object");
    arena_free(arena);
}

static void read_file(struct machine_types *machines, int fd)
{
    char *bytes = ht_xcalloc(MOST_BYTES + 1, 1);
    size_t len = 0;
    ssize_t n = 1;
    while (len < MOST_BYTES && n > 0) {
        n = read(fd, bytes + len, MOST_BYTES - len);
        len += n > 0 ? (size_t)n : 0;
    }
    if (n < 0)
        log_event(LOG_ERROR, "machines.wrong", "file=%s reason=\"%s\"",
                  machines->path, strerror(errno));
    else
        parse(machines, bytes, len);
    free(bytes);
}

static void forget(struct machine_types *machines)
{
    arena_reset(machines->arena);
    machines->own = NULL;
    machines->n = 0;
    machines->size = 0;
    machines->changed = (struct timespec){0};
}

void machine_types_refresh(struct machine_types *machines, int64_t now_ms)
{
    if (now_ms < machines->look_at_ms)
        return;
    machines->look_at_ms = now_ms + LOOK_MS;
    struct stat info;
    const int fd =
        open(machines->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        if (fd >= 0)
            close(fd);
        else if (errno == ENOENT)
            forget(machines);
        return;
    }
    if (info.st_size != machines->size ||
        info.st_mtim.tv_sec != machines->changed.tv_sec ||
        info.st_mtim.tv_nsec != machines->changed.tv_nsec) {
        machines->size = info.st_size;
        machines->changed = info.st_mtim;
        read_file(machines, fd);
    }
    close(fd);
}

/* ---- asking ---- */

const struct machine_types *machine_types_now(struct core *core)
{
    struct machine_types *machines = core_part(core, CORE_MACHINE_TYPES);
    machine_types_refresh(machines, core_now_ms(core));
    return machines;
}

bool machine_types_find(const struct machine_types *machines, const char *name,
                        struct machine_type *machine)
{
    for (size_t i = 0; machines != NULL && i < machines->n; i++) {
        if (strcmp(machines->own[i].name, name) != 0)
            continue;
        *machine = machines->own[i].machine;
        return true;
    }
    return machine_type_find(name, machine);
}

struct machine_type machine_types_needs(const struct machine_types *machines,
                                        const struct job *job,
                                        const struct pool *pool)
{
    struct machine_type type;
    const bool known = pool->machine != NULL &&
                       machine_types_find(machines, pool->machine, &type);
    return machine_type_needs(job, pool, known ? &type : NULL);
}

/* --- GPUs --- */

int64_t machine_types_gpus_needed(struct core *core, const struct job *job)
{
    const struct machine_types *machines = machine_types_now(core);
    int64_t n = 0;
    for (size_t i = 0; i < job->n_pools; i++)
        n += job->pools[i].count *
             machine_types_needs(machines, job, &job->pools[i]).gpus;
    return n;
}
