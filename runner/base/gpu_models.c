#include "runner/base/gpu_models.h"

#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "runner/base/child.h"

enum {
    PATIENCE_MS = 20000,
    MOST_BYTES = 256 * 1024,
    MOST_MODELS = 1024,
    FIELDS = 4
};

#define MIB ((int64_t)1024 * 1024)

/* ---- its texts ---- */

/* The next line in the arena, without blanks around it; NULL: there is none. */
static const char *next_line(struct arena *arena, const char **text)
{
    if (**text == '\0')
        return NULL;
    size_t len = strcspn(*text, "\n");
    const char *line = *text;
    *text += len + (line[len] == '\n');
    while (len > 0 && isspace((unsigned char)*line)) {
        line++;
        len--;
    }
    while (len > 0 && isspace((unsigned char)line[len - 1]))
        len--;
    return arena_strndup(arena, line, len);
}

static bool read_query_line(struct arena *arena, const char *line,
                            struct gpu_model *model)
{
    const char *fields[FIELDS];
    for (size_t i = 0; i < FIELDS; i++) {
        const size_t len = strcspn(line, ",");
        fields[i] = arena_strndup(arena, line, len);
        line += len + (line[len] == ',');
        line += strspn(line, " ");
    }
    char *end;
    const long long mib = strtoll(fields[3], &end, 10);
    *model = (struct gpu_model){.index = fields[0],
                                .uuid = fields[1],
                                .name = fields[2],
                                .memory =
                                    end > fields[3] && mib > 0 ? mib * MIB : 0};
    return isdigit((unsigned char)*fields[0]) && *fields[1] != '\0' &&
           *fields[2] != '\0';
}

/* Of "3g.40gb": that behind the point, in GiB. */
static int64_t instance_memory(const char *profile)
{
    const char *point = strchr(profile, '.');
    const long gib = point != NULL ? strtol(point + 1, NULL, 10) : 0;
    return gib > 0 && gib < 100000 ? gib * 1024 * MIB : 0;
}

static const char *uuid_in(struct arena *arena, const char *line)
{
    static const char mark[] = "(UUID: ";
    const char *at = strstr(line, mark);
    if (at == NULL)
        return NULL;
    at += sizeof mark - 1;
    return arena_strndup(arena, at, strcspn(at, ")"));
}

static const struct gpu_model *find(const struct gpu_model *items, size_t n,
                                    const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(items[i].uuid, name) == 0 ||
            (items[i].index != NULL && strcmp(items[i].index, name) == 0))
            return &items[i];
    return NULL;
}

/* "MIG 3g.40gb     Device  0: (UUID: MIG-...)" below "GPU 0: ...". */
static bool read_instance(struct arena *arena, const char *line,
                          const struct gpu_model *parent,
                          struct gpu_model *model)
{
    const char *uuid = uuid_in(arena, line);
    if (parent == NULL || uuid == NULL || strncmp(line, "MIG ", 4) != 0)
        return false;
    const char *profile =
        arena_strndup(arena, line + 4, strcspn(line + 4, " \t"));
    *model = (struct gpu_model){
        .uuid = uuid,
        .name = arena_printf(arena, "%s MIG %s", parent->name, profile),
        .memory = instance_memory(profile),
        .parent = parent->index};
    return true;
}

struct gpu_models gpu_models_parse(struct arena *arena, const char *query,
                                   const char *list)
{
    struct gpu_model *items = arena_alloc(arena, MOST_MODELS, sizeof *items);
    const struct gpu_model *parent = NULL;
    const char *line;
    size_t n = 0;
    while (n < MOST_MODELS && (line = next_line(arena, &query)) != NULL)
        n += read_query_line(arena, line, &items[n]);
    while (n < MOST_MODELS && (line = next_line(arena, &list)) != NULL) {
        const char *uuid = uuid_in(arena, line);
        if (strncmp(line, "GPU ", 4) == 0)
            parent = uuid != NULL ? find(items, n, uuid) : NULL;
        else
            n += read_instance(arena, line, parent, &items[n]);
    }
    return (struct gpu_models){.n = n, .items = items};
}

const struct gpu_model *gpu_models_find(const struct gpu_models *models,
                                        const char *name)
{
    return find(models->items, models->n, name);
}

struct strings gpu_models_expand(struct arena *arena,
                                 const struct gpu_models *models,
                                 const struct strings *gpus)
{
    const char **items =
        arena_alloc(arena, gpus->n + models->n + 1, sizeof *items);
    size_t n = 0;
    for (size_t i = 0; i < gpus->n; i++) {
        const size_t before = n;
        const struct gpu_model *own = gpu_models_find(models, gpus->items[i]);
        for (size_t k = 0; own != NULL && k < models->n; k++)
            if (models->items[k].parent != NULL &&
                models->items[k].parent == own->index)
                items[n++] = models->items[k].uuid;
        if (n == before)
            items[n++] = gpus->items[i];
    }
    return (struct strings){.n = n, .items = items};
}

/* ---- the program ---- */

/* Until its end or the deadline; false: it did not end in time. */
static bool read_all(int fd, struct text *out, int64_t deadline)
{
    for (;;) {
        char bytes[4096];
        struct pollfd event = {.fd = fd, .events = POLLIN};
        const int64_t left = deadline - clock_monotonic_ms();
        if (left <= 0 || poll(&event, 1, (int)left) <= 0)
            return false;
        const ssize_t n = read(fd, bytes, sizeof bytes);
        if (n <= 0)
            return n == 0;
        if (out->len < MOST_BYTES)
            text_append(out, bytes, (size_t)n);
    }
}

static const char *run(struct arena *arena, const char *const argv[])
{
    struct text out = {0};
    int ends[2], status = 0;
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return "";
    const struct child child = {.argv = argv, .input = -1, .output = ends[1]};
    const int code = child_start(&child, &pid);
    close(ends[1]);
    if (code == 0) {
        const bool whole =
            read_all(ends[0], &out, clock_monotonic_ms() + PATIENCE_MS);
        if (!whole)
            kill(pid, SIGKILL);
        if (waitpid(pid, &status, 0) != pid || status != 0 || !whole) {
            log_event(LOG_WARN, "gpus.unknown",
                      "reason=\"nvidia-smi failed or took too long\"");
            text_clear(&out);
        }
    }
    close(ends[0]);
    const char *text = arena_strdup(arena, text_string(&out));
    text_free(&out);
    return text;
}

struct gpu_models gpu_models_ask(struct arena *arena)
{
    static const char *const query[] = {
        "nvidia-smi", "--query-gpu=index,uuid,name,memory.total",
        "--format=csv,noheader,nounits", NULL};
    static const char *const list[] = {"nvidia-smi", "-L", NULL};
    const char *models = run(arena, query);
    return gpu_models_parse(arena, models,
                            *models != '\0' ? run(arena, list) : "");
}
