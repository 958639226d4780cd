/* Any bytes as a file of a replica's folder, where a trainer may write: the
 * runner reads it, says that it is damaged, or that there is none.
 *
 * fuzz-with: runner */
#include "runner/base/folder.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/doc/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/fuzz-folder-XXXXXX";

static void put(const char *name, const uint8_t *data, size_t size)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
}

static void drop(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

static void drop_folder(void)
{
    static const char *const names[] = {"exit.json", "launch.json", "shim.json",
                                        "stop"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        drop(names[i]);
    rmdir(folder);
}

static void read_exit(const uint8_t *data, size_t size)
{
    struct ending ending;
    put("exit.json", data, size);
    if (folder_read_exit(folder, &ending, NULL) != HT_OK)
        return;
    if (folder_outcome_name(ending.outcome) == NULL ||
        (ending.has_exit && ending.has_signal) ||
        strlen(ending.reason) >= HT_MAX_REASON)
        abort();
    if (folder_write_exit(folder, &ending, NULL) != HT_OK ||
        folder_read_exit(folder, &ending, NULL) != HT_OK)
        abort();
}

static void read_launch(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    struct launch launch;
    put("launch.json", data, size);
    if (folder_read_launch(arena, folder, &launch, NULL) == HT_OK &&
        launch.argv.n == 0)
        abort();
    arena_free(arena);
}

static void read_others(const uint8_t *data, size_t size)
{
    struct process process;
    struct stop_order order;
    put("shim.json", data, size);
    if (folder_read_shim(folder, &process, NULL) == HT_OK && process.pid <= 0)
        abort();
    put("stop", data, size);
    if (folder_read_stop(folder, &order, NULL) == HT_OK &&
        strlen(order.reason) >= HT_MAX_REASON)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    json_init();
    if (!made && mkdtemp(folder) == NULL)
        abort();
    if (!made)
        atexit(drop_folder);
    made = true;
    read_exit(data, size);
    read_launch(data, size);
    read_others(data, size);
    return 0;
}
