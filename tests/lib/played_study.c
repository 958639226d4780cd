#include "tests/lib/played_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/searching.h"

bool study_has(const struct study *study, const struct value point[])
{
    for (size_t k = 0; k < study->n; k++)
        if (same_point(study->space, study->points[k], point))
            return true;
    for (size_t k = 0; k < study->n_pending; k++)
        if (same_point(study->space, study->pending[k], point))
            return true;
    return false;
}

static bool is_taken(void *context, const struct value point[])
{
    return study_has(context, point);
}

/* After a search that takes no result nothing else makes sense. */
static void must(enum ht_status status)
{
    if (status != HT_OK)
        abort();
}

void study_open(struct study *study, const struct space *space, uint64_t seed)
{
    study->space = space;
    study->seed = seed;
    study->n = study->n_pending = 0;
    must(search_new(&bayesian_search, space, seed, &study->state, NULL));
    study->taken = (struct taken){is_taken, study, 0};
}

enum ht_status study_ask(struct study *study, uint64_t ordinal,
                         struct value point[])
{
    const struct suggest_request request = {.ordinal = ordinal,
                                            .taken = &study->taken,
                                            .n_pending = study->n_pending,
                                            .pending = study->pending};
    study->taken.n = study->n + study->n_pending;
    return search_ask(&bayesian_search, study->state, &request, point, NULL);
}

void study_tell(struct study *study, const struct value point[], bool feasible,
                double objective)
{
    struct value *kept = study->points[study->n];
    memcpy(kept, point, study->space->n * sizeof *kept);
    study->feasible[study->n] = feasible;
    study->objective[study->n++] = objective;
    must(
        search_tell(&bayesian_search, study->state, kept, feasible, objective));
}

void study_close(struct study *study)
{
    bayesian_search.free(study->state);
}

static const char *const labels[] = {"a", "b", "c"};
static const struct value on[] = {{.whole = 1}, {.whole = 2}};
static struct condition when_on = {.parent = 2, .n = 2, .values = on};
static struct param mixed_params[] = {
    {.name = "rate",
     .type = PARAM_DOUBLE,
     .scale = SCALE_LOG,
     .min = 1e-6,
     .max = 1},
    {.name = "units",
     .type = PARAM_INTEGER,
     .int_min = 1,
     .int_max = 12,
     .int_step = 1},
    {.name = "opt", .type = PARAM_CATEGORICAL, .n_values = 3, .labels = labels},
    {.name = "momentum", .type = PARAM_DOUBLE, .max = 1, .when = &when_on},
};
const struct space mixed_space = {.n = 4, .params = mixed_params};

double mixed_value(const struct value point[])
{
    const double rate = (log10(point[0].real) + 3) / 3;
    const double units = ((double)point[1].whole - 5) / 6;
    const double momentum = point[3].absent ? 0.6 : point[3].real - 0.9;
    return 1 - rate * rate - units * units - momentum * momentum -
           0.2 * (point[2].whole != 2);
}
