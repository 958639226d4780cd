#include "tuner/search_method.h"

#include <stddef.h>

const struct algorithm *search_method(const struct job *job)
{
    const struct algorithm *found = NULL;
    switch (job->algorithm) {
    case ALGORITHM_DEFAULT:
    case ALGORITHM_BAYESIAN: /* Vertex calls it ALGORITHM_UNSPECIFIED */
        break;
    case ALGORITHM_GRID:
        found = algorithm_find("GRID_SEARCH");
        break;
    case ALGORITHM_RANDOM:
        found = algorithm_find("RANDOM_SEARCH");
        break;
    }
    return found == NULL ? algorithm_default() : found;
}
