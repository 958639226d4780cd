#include "runner/shim/image.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "runner/base/disk.h"
#include "runner/element/addresses.h"
#include "runner/shim/image_child.h"
#include "runner/shim/image_podman.h"
#include "runner/shim/image_words.h"

enum {
    EXIT_NOT_STARTED = 125,
    MOST_FILES = 1048576,  /* as podman takes at most */
    MOST_PROCESSES = 32768 /* the same, by the kernel's usual pid_max */
};

/* Of the container; the same as runner/container has them. */
static const char inside_shim[] = "/hypertune/kit/bin/hypertune-shim";
static const char inside_folder[] = "/hypertune/trial";

static const char tool_file[] = "tool";

/* ---- in the shim ---- */

static const char *own_program(struct arena *arena)
{
    char path[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    return n > 0 ? arena_strndup(arena, path, (size_t)n) : "hypertune-shim";
}

static void add(struct pair *items, size_t *n, const char *name,
                const char *value)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(items[i].name, name) == 0)
            return;
    items[(*n)++] = (struct pair){name, value};
}

/* The tool's environment is that of the node. Its processes are found by the
 * folder; charliecloud insists on USER. */
static struct pairs tool_environment(struct arena *arena, const char *folder)
{
    enum { OWN = 2 };
    size_t count = 0, n = 0;
    while (environ[count] != NULL)
        count++;
    struct pair *items = arena_alloc(arena, count + OWN, sizeof *items);
    add(items, &n, "HYPERTUNE_TRIAL_DIR", folder);
    for (size_t i = 0; i < count; i++) {
        const char *equal = strchr(environ[i], '=');
        if (equal != NULL)
            add(items, &n,
                arena_strndup(arena, environ[i], (size_t)(equal - environ[i])),
                equal + 1);
    }
    add(items, &n, "USER", "hypertune");
    return (struct pairs){.n = n, .items = items};
}

/* A site's own command mounts what it likes: paths are those of the node. */
static enum ht_status show_paths(struct arena *arena, const char *folder,
                                 struct launch *launch, struct ht_error *err)
{
    struct image_order order;
    const enum ht_status status = image_read(arena, folder, &order, err);
    if (status != HT_OK)
        return status;
    struct addresses paths = {
        .items = arena_alloc(arena, order.n_mounts + 1, sizeof *paths.items)};
    for (size_t i = 0; i < order.n_mounts; i++)
        paths.items[paths.n++] =
            (struct address){.name = "",
                             .placeholder = order.mounts[i].target,
                             .real = order.mounts[i].source};
    addresses_put(arena, &paths, launch);
    return HT_OK;
}

enum ht_status image_wrap(struct arena *arena, const char *folder,
                          const struct strings *way, struct launch *launch,
                          struct ht_error *err)
{
    const char *inside = image_inside(arena, folder);
    enum ht_status status = disk_make_folder(inside, err);
    if (status == HT_OK && chmod(inside, 0777) != 0) /* for its user there */
        status = ht_fail_errno(err, errno, "cannot open up %s", inside);
    if (status == HT_OK && way->n > 1)
        status = show_paths(arena, folder, launch, err);
    if (status == HT_OK)
        status = folder_write_launch(inside, launch, err);
    if (status != HT_OK)
        return status;
    const char **argv = arena_alloc(arena, way->n + 4, sizeof *argv);
    argv[0] = own_program(arena);
    argv[1] = "--enter";
    argv[2] = folder;
    for (size_t i = 0; i < way->n; i++)
        argv[3 + i] = way->items[i];
    launch->argv = (struct strings){.n = 3 + way->n, .items = argv};
    launch->env = tool_environment(arena, folder);
    launch->workdir = NULL;
    return HT_OK;
}

void image_describe(const char *folder, struct ending *ending)
{
    struct arena *arena = arena_new();
    const char *inside = image_inside(arena, folder);
    struct ending better;
    if (folder_read_exit(inside, &better, NULL) == HT_OK) {
        better.started_ms = ending->started_ms;
        better.ended_ms = ending->ended_ms;
        *ending = better;
    } else if (ending->outcome != OUTCOME_SUCCEEDED &&
               !disk_has(inside, "begun")) {
        char reason[HT_MAX_REASON];
        memcpy(reason, ending->reason, sizeof reason);
        folder_end(ending, OUTCOME_FAILED, "cannot start its container: %.400s",
                   reason);
    }
    arena_free(arena);
}

void image_clean(const char *folder)
{
    struct arena *arena = arena_new();
    struct image_order order;
    struct disk_bytes program;
    if (disk_read(arena, image_inside(arena, folder), tool_file, PATH_MAX,
                  &program, NULL) == HT_OK &&
        image_read(arena, folder, &order, NULL) == HT_OK)
        image_podman_remove(arena, program.data, order.name);
    arena_free(arena);
}

/* ---- in the trainer's place ---- */

struct entry {
    struct arena *arena;
    const char *folder, *inside;
    struct image_order order;
    struct image_call call;
    struct ending ending;
};

static const struct way {
    const char *name, *program;
    enum image_tool tool;
} ways[] = {
    {"apptainer", "apptainer", IMAGE_APPTAINER},
    {"apptainer", "singularity", IMAGE_APPTAINER},
    {"podman", "podman", IMAGE_PODMAN},
    {"charliecloud", "ch-run", IMAGE_CHARLIECLOUD},
};

/* `way` NULL: the first that is there. */
static bool find_tool(struct entry *entry, const char *way)
{
    char host[HOST_NAME_MAX + 1] = "";
    struct text names = {0};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (way != NULL && strcmp(way, ways[i].name) != 0)
            continue;
        text_printf(&names, "%s%s", names.len > 0 ? ", " : "", ways[i].program);
        const char *program = image_find_tool(entry->arena, ways[i].program);
        if (program == NULL)
            continue;
        entry->call.program = program;
        entry->call.tool = ways[i].tool;
        text_free(&names);
        return true;
    }
    (void)gethostname(host, sizeof host - 1);
    folder_end(&entry->ending, OUTCOME_FAILED,
               "image %.128s: no program that runs it is in the PATH of %s: %s",
               entry->order.image, host, text_string(&names));
    text_free(&names);
    return false;
}

static bool refuse(struct entry *entry, const struct ht_error *err)
{
    folder_end(&entry->ending, OUTCOME_LOST, "%s", err->text);
    return false;
}

/* The folders must be in the image, which stays read-only. */
static void make_targets(const struct entry *entry)
{
    const struct image_order *order = &entry->order;
    for (size_t i = 0; i < order->n_mounts; i++) {
        char *path = arena_printf(entry->arena, "%s%s", order->image,
                                  order->mounts[i].target);
        struct stat status;
        const bool is_file = stat(order->mounts[i].source, &status) == 0 &&
                             !S_ISDIR(status.st_mode);
        for (char *at = path + strlen(order->image) + 1; *at != '\0'; at++) {
            if (*at != '/')
                continue;
            *at = '\0';
            (void)mkdir(path, 0755);
            *at = '/';
        }
        if (is_file)
            (void)disk_mark(order->image, order->mounts[i].target + 1, NULL);
        else
            (void)mkdir(path, 0755);
    }
}

static bool prepare_charliecloud(struct entry *entry)
{
    const char *image = entry->order.image;
    struct stat status;
    if (image[0] == '/' && stat(image, &status) != 0) {
        folder_end(&entry->ending, OUTCOME_FAILED, "image %.128s: %s", image,
                   strerror(errno));
        return false;
    }
    entry->call.has_own_environment =
        access(arena_printf(entry->arena, "%s/ch/environment", image), R_OK) ==
        0;
    if (image[0] == '/')
        make_targets(entry);
    return true;
}

static bool prepare_podman(struct entry *entry)
{
    struct image_call *call = &entry->call;
    struct ht_error err;
    const char *program = call->program;
    if (disk_write(entry->inside, tool_file, program, strlen(program), 0600,
                   &err) != HT_OK)
        return refuse(entry, &err);
    image_podman_remove_left(entry->arena, program);
    if (!image_podman_pull(entry->arena, program, &entry->order,
                           &entry->ending))
        return false;
    call->in_cgroup = image_podman_in_cgroup(entry->arena, program);
    call->label = image_podman_label(entry->arena);
    call->files =
        image_podman_limit(entry->arena, "nofile", RLIMIT_NOFILE, MOST_FILES);
    call->processes =
        image_podman_limit(entry->arena, "nproc", RLIMIT_NPROC, MOST_PROCESSES);
    return true;
}

static bool prepare(struct entry *entry)
{
    switch (entry->call.tool) {
    case IMAGE_PODMAN:
        return prepare_podman(entry);
    case IMAGE_CHARLIECLOUD:
        return prepare_charliecloud(entry);
    case IMAGE_APPTAINER:
    case IMAGE_TEMPLATE:
        break;
    }
    return true;
}

/* Apptainer's images have a script for their entry point. */
static struct strings entry_of(struct entry *entry, struct strings *command)
{
    static const char *const script[] = {"/.singularity.d/runscript"};
    *command = (struct strings){0};
    if (entry->call.tool == IMAGE_APPTAINER)
        return (struct strings){1, script};
    if (entry->call.tool == IMAGE_PODMAN)
        return image_podman_entry(entry->arena, entry->call.program,
                                  entry->order.image, command);
    return (struct strings){0};
}

/* Puts the image's own command where the job has none. */
static bool complete_launch(struct entry *entry)
{
    struct ht_error err;
    struct launch launch;
    if (folder_read_launch(entry->arena, entry->inside, &launch, &err) != HT_OK)
        return refuse(entry, &err);
    if (strcmp(launch.argv.items[0], IMAGE_ENTRY) != 0)
        return true;
    struct strings more, first = entry_of(entry, &more);
    if (launch.argv.n > 1)
        more = (struct strings){launch.argv.n - 1, launch.argv.items + 1};
    if (first.n + more.n == 0 ||
        (first.n == 0 && entry->call.tool != IMAGE_PODMAN)) {
        folder_end(&entry->ending, OUTCOME_FAILED,
                   "image %.128s has no entry point%s: give a command",
                   entry->order.image,
                   entry->call.tool == IMAGE_PODMAN ? ""
                                                    : " that can be found");
        return false;
    }
    const char **argv =
        arena_alloc(entry->arena, first.n + more.n, sizeof *argv);
    for (size_t i = 0; i < first.n; i++)
        argv[i] = first.items[i];
    for (size_t i = 0; i < more.n; i++)
        argv[first.n + i] = more.items[i];
    launch.argv = (struct strings){.n = first.n + more.n, .items = argv};
    if (folder_write_launch(entry->inside, &launch, &err) != HT_OK)
        return refuse(entry, &err);
    return true;
}

static void set_command(struct entry *entry)
{
    const bool here = entry->call.tool == IMAGE_TEMPLATE;
    const char **words = arena_alloc(entry->arena, 3, sizeof *words);
    words[0] = here ? own_program(entry->arena) : inside_shim;
    words[1] = "--inside";
    words[2] = here ? entry->folder : inside_folder;
    entry->call.command = (struct strings){.n = 3, .items = words};
}

static bool choose(struct entry *entry, char *const way[])
{
    if (way[0] == NULL || way[1] == NULL)
        return find_tool(entry, way[0]);
    size_t n = 0;
    while (way[n] != NULL)
        n++;
    const char **words = arena_alloc(entry->arena, n, sizeof *words);
    for (size_t i = 0; i < n; i++)
        words[i] = way[i];
    entry->call.tool = IMAGE_TEMPLATE;
    entry->call.words = (struct strings){.n = n, .items = words};
    return true;
}

static void become_tool(struct entry *entry)
{
    const char *gpus = getenv("CUDA_VISIBLE_DEVICES");
    entry->call.gpus =
        gpus != NULL && gpus[0] != '\0' && strcmp(gpus, "NoDevFiles") != 0;
    set_command(entry);
    const struct strings words = image_words(entry->arena, &entry->call);
    char **argv = arena_alloc(entry->arena, words.n + 1, sizeof *argv);
    for (size_t i = 0; i < words.n; i++)
        argv[i] = arena_strdup(entry->arena, words.items[i]);
    execvp(argv[0], argv);
    folder_end(&entry->ending, OUTCOME_FAILED,
               "cannot start its container: %.200s: %s", argv[0],
               strerror(errno));
}

int image_enter(const char *folder, char *const way[])
{
    struct arena *arena = arena_new();
    struct ht_error err;
    struct entry entry = {.arena = arena,
                          .folder = folder,
                          .inside = image_inside(arena, folder)};
    entry.call.order = &entry.order;
    if (image_read(arena, folder, &entry.order, &err) != HT_OK)
        (void)refuse(&entry, &err);
    else if (choose(&entry, way) && prepare(&entry) && complete_launch(&entry))
        become_tool(&entry);
    entry.ending.started_ms = entry.ending.ended_ms = clock_wall_ms();
    (void)folder_write_exit(entry.inside, &entry.ending, NULL);
    arena_free(arena);
    return EXIT_NOT_STARTED;
}
