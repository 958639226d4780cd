#include <string.h>

#include "algorithms/algorithm.h"

static const struct algorithm *const algorithms[] = {
    &random_search,
    &grid_search,
};

const struct algorithm *algorithm_find(const char *name)
{
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        if (strcmp(algorithms[i]->name, name) == 0)
            return algorithms[i];
    }
    return NULL;
}

const struct algorithm *algorithm_default(void)
{
    return &random_search;
}
