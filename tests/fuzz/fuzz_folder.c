/* Any bytes as a file of a replica's folder, where a trainer may write: the
 * runner reads it, says that it is damaged, or that there is none. And as an
 * attempt from a server or from lease.json: what is accepted names no folder
 * outside its own, and its own text reads back to the same.
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
#include "runner/base/order.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In memory where it can be: what the runner syncs would take all the time. */
static char folder[64];

static void make_folder(void)
{
    (void)snprintf(folder, sizeof folder, "%s/fuzz-folder-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(folder) == NULL)
        abort();
}

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

static bool leaves_its_folder(const char *name)
{
    return name[0] == '\0' || name[0] == '.' || strchr(name, '/') != NULL;
}

static void check_order(const struct order *order)
{
    struct order *again;
    if (order->n_replicas < 1 || order->key.study < 1 || order->key.trial < 1 ||
        order->key.attempt < 1)
        abort();
    for (size_t i = 0; i < order->n_replicas; i++)
        if (leaves_its_folder(order->replicas[i].name))
            abort();
    if (order_parse(order->lease, strlen(order->lease), &again, NULL) != HT_OK)
        abort();
    if (!order_key_equal(&order->key, &again->key) ||
        order_gpus(order) != order_gpus(again) ||
        order->n_replicas != again->n_replicas)
        abort();
    order_free(again);
}

static void read_order(const uint8_t *data, size_t size)
{
    struct order *order;
    char *text = malloc(size > 0 ? size : 1); /* exact: overreads are seen */
    memcpy(text, data, size);
    if (order_parse(text, size, &order, NULL) == HT_OK) {
        check_order(order);
        order_free(order);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    json_init();
    if (!made) {
        make_folder();
        atexit(drop_folder);
    }
    made = true;
    read_exit(data, size);
    read_launch(data, size);
    read_others(data, size);
    read_order(data, size);
    return 0;
}
