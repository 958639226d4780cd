/* registry.c - all search methods by name, and what their settings have in
 * common. */

#include <string.h>

#include <gsl/gsl_errno.h>

#include "algorithms/base/algorithm.h"
#include "proto/base/limits.h"

/* Of every OpenBLAS; its own header conflicts with GSL's. */
void openblas_set_num_threads(int n);

void algorithm_init(void)
{
    gsl_set_error_handler_off();
    openblas_set_num_threads(1);
}

size_t setting_objectives(const struct setting *setting)
{
    size_t n = 0;
    for (size_t k = 0; k < setting->n_goals; k++)
        n += !setting->goals[k].safety;
    return n;
}

bool algorithm_request_allows(const struct suggest_request *request,
                              const struct value point[])
{
    const struct taken *taken = request->taken;
    return subspace_has(request->within, point) &&
           constraint_set_holds(request->constraints, point) &&
           !taken->has(taken->context, point);
}

uint64_t algorithm_request_next(const struct space *space,
                                const struct suggest_request *request,
                                uint64_t from, uint64_t to)
{
    struct value point[HT_MAX_PARAMETERS];
    for (uint64_t i = from; i < to; i++) {
        subspace_point(space, request->within, i, point);
        if (algorithm_request_allows(request, point))
            return i;
    }
    return to;
}

static const struct algorithm *const algorithms[] = {
    &bayesian_search,
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
    return &bayesian_search;
}
