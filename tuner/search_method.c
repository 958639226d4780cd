#include "tuner/search_method.h"

#include <stddef.h>

static const struct method {
    enum job_algorithm named; /* in a job */
    const struct algorithm *algorithm;
} methods[] = {
    {ALGORITHM_BAYESIAN, &bayesian_search},
    {ALGORITHM_GRID, &grid_search},
    {ALGORITHM_RANDOM, &random_search},
};
enum { N_METHODS = sizeof methods / sizeof *methods };

const struct algorithm *search_method(const struct job *job)
{
    for (size_t i = 0; i < N_METHODS; i++)
        if (methods[i].named == job->algorithm)
            return methods[i].algorithm;
    return algorithm_default();
}

void search_method_resolve(struct job *job)
{
    const struct algorithm *meant = search_method(job);
    for (size_t i = 0; i < N_METHODS; i++)
        if (methods[i].algorithm == meant)
            job->algorithm = methods[i].named;
}
