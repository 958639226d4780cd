#include "runner/shim/launch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/element/addresses.h"
#include "runner/element/modules.h"

struct pairs launch_environment(struct arena *arena,
                                bool (*is_wanted)(const char *entry),
                                const struct pair *more)
{
    struct pair *items = NULL;
    size_t n = 0;
    for (char **entry = environ; *entry != NULL; entry++) {
        const char *equal = strchr(*entry, '=');
        if (equal == NULL || equal == *entry ||
            (is_wanted != NULL && !is_wanted(*entry)))
            continue;
        items = arena_grow(arena, items, n, sizeof *items);
        items[n++] = (struct pair){
            .name = arena_strndup(arena, *entry, (size_t)(equal - *entry)),
            .value = equal + 1};
    }
    if (more != NULL) {
        items = arena_grow(arena, items, n, sizeof *items);
        items[n++] = *more;
    }
    return (struct pairs){.n = n, .items = items};
}

/* Adds the variables; one that is there is replaced or stays. */
static void add_variables(struct arena *arena, struct launch *launch,
                          const struct pairs *added, bool replaced)
{
    const size_t room = launch->env.n + added->n + 1;
    struct pair *items = arena_alloc(arena, room, sizeof *items);
    size_t n = 0;
    for (; n < launch->env.n; n++)
        items[n] = launch->env.items[n];
    for (size_t i = 0; i < added->n; i++) {
        size_t k = 0;
        while (k < launch->env.n &&
               strcmp(items[k].name, added->items[i].name) != 0)
            k++;
        if (k == launch->env.n)
            items[n++] = added->items[i];
        else if (replaced)
            items[k] = added->items[i];
    }
    launch->env = (struct pairs){.n = n, .items = items};
}

void launch_inherit(struct arena *arena, struct launch *launch)
{
    const struct strings *names = &launch->inherited;
    struct pair *items = arena_alloc(arena, names->n + 1, sizeof *items);
    size_t n = 0;
    for (size_t i = 0; i < names->n; i++) {
        const char *value = getenv(names->items[i]);
        if (value != NULL)
            items[n++] = (struct pair){.name = names->items[i], .value = value};
    }
    const struct pairs found = {.n = n, .items = items};
    add_variables(arena, launch, &found, false);
}

/* A container has no folder and no module of the node. */
static struct pairs given_to_image(struct arena *arena,
                                   const struct pairs *given)
{
    struct pair *items = arena_alloc(arena, given->n + 1, sizeof *items);
    size_t n = 0;
    for (size_t i = 0; i < given->n; i++)
        if (strcmp(given->items[i].name, "TMPDIR") != 0)
            items[n++] = given->items[i];
    return (struct pairs){.n = n, .items = items};
}

void launch_fit(struct arena *arena, struct launch *launch,
                const struct shim_batch *batch, bool in_image)
{
    if (batch->addresses.n > 0)
        addresses_put(arena, &batch->addresses, launch);
    if (!in_image)
        modules_put(arena, &batch->modules, launch);
    const struct pairs given =
        in_image ? given_to_image(arena, &batch->given) : batch->given;
    add_variables(arena, launch, &given, true);
    add_variables(arena, launch, &batch->defaults, false);
    if (batch->workdir != NULL && launch->workdir == NULL)
        launch->workdir = batch->workdir;
    launch->boot = NULL; /* of the runner's machine */
    launch->in_batch = !batch->in_pod;
}
