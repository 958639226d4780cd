#include <string.h>

#include <gsl/gsl_errno.h>

#include "algorithms/base/algorithm.h"

/* Of every OpenBLAS; its own header cannot stand beside GSL's. */
void openblas_set_num_threads(int n);

void algorithm_init(void)
{
    gsl_set_error_handler_off();
    openblas_set_num_threads(1);
}

bool algorithm_request_allows(const struct suggest_request *request,
                              const struct value point[])
{
    const struct taken *taken = request->taken;
    return subspace_has(request->within, point) &&
           constraint_set_holds(request->constraints, point) &&
           !taken->has(taken->context, point);
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
