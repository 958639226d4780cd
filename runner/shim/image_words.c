#include "runner/shim/image_words.h"

#include <string.h>

#include "runner/element/image.h"

struct words {
    struct arena *arena;
    size_t n;
    const char **items;
};

static void put(struct words *words, const char *word)
{
    words->items =
        arena_grow(words->arena, words->items, words->n, sizeof *words->items);
    words->items[words->n++] = word;
}

static void put_pair(struct words *words, const char *option, const char *value)
{
    put(words, option);
    put(words, value);
}

static void put_all(struct words *words, const struct strings *more)
{
    for (size_t i = 0; i < more->n; i++)
        put(words, more->items[i]);
}

/* ---- podman ---- */

static void put_podman_mounts(struct words *words,
                              const struct image_order *order)
{
    for (size_t i = 0; i < order->n_mounts; i++) {
        const struct image_mount *mount = &order->mounts[i];
        put_pair(words, "--mount",
                 arena_printf(words->arena, "type=bind,src=%s,dst=%s%s",
                              mount->source, mount->target,
                              mount->read_only ? ",ro=true" : ""));
    }
}

static void put_podman_options(struct words *words,
                               const struct image_call *call)
{
    const struct image_order *order = call->order;
    put_pair(words, "--name", order->name);
    put_pair(words, "--label",
             arena_printf(words->arena, IMAGE_LABEL "=%s", call->label));
    put_pair(words, "--pull", "never"); /* that was done */
    put_pair(words, "--ulimit", call->files);
    put_pair(words, "--ulimit", call->processes);
    if (call->in_cgroup)
        put_pair(words, "--cgroups", "disabled");
    if (order->read_only)
        put(words, "--read-only");
    if (order->user != NULL)
        put_pair(words, "--user", order->user);
    if (order->shm_bytes > 0)
        put_pair(
            words, "--shm-size",
            arena_printf(words->arena, "%lldb", (long long)order->shm_bytes));
    if (call->gpus)
        put_pair(words, "--device", "nvidia.com/gpu=all");
    put_podman_mounts(words, order);
}

/* The rights of the runner's own containers. */
static void put_podman(struct words *words, const struct image_call *call)
{
    static const char *const usual[] = {"run",
                                        "--rm",
                                        "--network",
                                        "host",
                                        "--log-driver",
                                        "none",
                                        "--cap-drop",
                                        "all",
                                        "--security-opt",
                                        "no-new-privileges",
                                        "--security-opt",
                                        "label=disable",
                                        "--http-proxy=false"};
    const struct strings first = {sizeof usual / sizeof *usual, usual};
    put(words, call->program);
    put_all(words, &first);
    put_podman_options(words, call);
    put_pair(words, "--entrypoint", call->command.items[0]);
    put(words, call->order->image);
    for (size_t i = 1; i < call->command.n; i++)
        put(words, call->command.items[i]);
}

/* ---- apptainer ---- */

/* A name without a scheme is one of a registry. */
static const char *apptainer_image(struct arena *arena, const char *image)
{
    const size_t len = strlen(image);
    const bool is_file = image[0] == '/' || image[0] == '.' ||
                         (len > 4 && strcmp(image + len - 4, ".sif") == 0);
    return is_file || strstr(image, "://") != NULL
               ? image
               : arena_printf(arena, "docker://%s", image);
}

static void put_apptainer(struct words *words, const struct image_call *call)
{
    static const char *const usual[] = {"exec",      "--cleanenv", "--contain",
                                        "--no-home", "--pwd",      "/"};
    const struct strings first = {sizeof usual / sizeof *usual, usual};
    const struct image_order *order = call->order;
    put(words, call->program);
    put_all(words, &first);
    if (call->gpus)
        put(words, "--nv");
    for (size_t i = 0; i < order->n_mounts; i++)
        put_pair(words, "--bind",
                 arena_printf(words->arena, "%s:%s%s", order->mounts[i].source,
                              order->mounts[i].target,
                              order->mounts[i].read_only ? ":ro" : ""));
    put(words, apptainer_image(words->arena, order->image));
    put_all(words, &call->command);
}

/* ---- charliecloud ---- */

static void put_charliecloud(struct words *words, const struct image_call *call)
{
    const struct image_order *order = call->order;
    put(words, call->program);
    put(words, "--unset-env=*");
    if (call->has_own_environment)
        put(words, "--set-env");
    for (size_t i = 0; i < order->n_mounts; i++)
        put(words,
            arena_printf(words->arena, "--bind=%s:%s", order->mounts[i].source,
                         order->mounts[i].target));
    put_pair(words, order->image, "--");
    put_all(words, &call->command);
}

/* ---- a site's own words ---- */

static const char *with_image(struct arena *arena, const char *word,
                              const char *image)
{
    static const char place[] = "{image}";
    struct text out = {0};
    const char *at = word, *next;
    while ((next = strstr(at, place)) != NULL) {
        text_append(&out, at, (size_t)(next - at));
        text_puts(&out, image);
        at = next + sizeof place - 1;
    }
    text_puts(&out, at);
    return text_take(&out, arena);
}

static void put_template(struct words *words, const struct image_call *call)
{
    for (size_t i = 0; i < call->words.n; i++)
        if (strcmp(call->words.items[i], "{command}") == 0)
            put_all(words, &call->command);
        else
            put(words, with_image(words->arena, call->words.items[i],
                                  call->order->image));
}

struct strings image_words(struct arena *arena, const struct image_call *call)
{
    struct words words = {.arena = arena};
    switch (call->tool) {
    case IMAGE_APPTAINER:
        put_apptainer(&words, call);
        break;
    case IMAGE_PODMAN:
        put_podman(&words, call);
        break;
    case IMAGE_CHARLIECLOUD:
        put_charliecloud(&words, call);
        break;
    case IMAGE_TEMPLATE:
        put_template(&words, call);
        break;
    }
    return (struct strings){.n = words.n, .items = words.items};
}
