#include <string.h>

#include "algorithms/algorithm.h"

static const struct algorithm *const algorithms[] = {
    &random_search,
    &grid_search,
    NULL,
};

const struct algorithm *algorithm_find(const char *name)
{
    const struct algorithm *const *at = algorithms;
    while (*at != NULL && strcmp((*at)->name, name) != 0)
        at++;
    return *at;
}

const struct algorithm *algorithm_default(void)
{
    return &random_search;
}
