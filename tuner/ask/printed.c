#include "tuner/ask/printed.h"

#include <stdbool.h>
#include <string.h>

static bool has(const struct strings *list, const char *text)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

struct strings printed_patterns(struct arena *arena, const struct strings *old,
                                const struct strings *added)
{
    const char **items =
        arena_alloc(arena, old->n + added->n + 1, sizeof *items);
    size_t n = 0;
    const struct strings *const lists[] = {added, old};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            if (!has(&(struct strings){n, items}, lists[k]->items[i]))
                items[n++] = lists[k]->items[i];
    return (struct strings){n, items};
}
