/* Suggestions a second of each algorithm that needs no model, and the time of
 * one by a model: as results come in, from a history read at once, and with
 * trials pending. Processor time, so that what else runs does not count. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "algorithms/base/algorithm.h"
#include "algorithms/base/rng.h"
#include "proto/base/limits.h"

static bool has_none(void *context, const struct value point[])
{
    (void)context, (void)point;
    return false;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int measure(const char *name, const struct space *space)
{
    const struct algorithm *algorithm = algorithm_find(name);
    const struct taken nothing = {has_none, NULL, 0};
    struct value point[HT_MAX_PARAMETERS];
    struct ht_error err;
    void *state;
    const struct setting setting = {.space = space, .seed = 1, .n_goals = 1};
    struct reason reason;
    if (algorithm->new (&setting, &state, &err) != HT_OK) {
        fprintf(stderr, "bench_search: %s\n", err.text);
        return -1;
    }
    const uint64_t rounds = 500000;
    const double start = now_s();
    for (uint64_t k = 0; k < rounds; k++) {
        const struct suggest_request request = {.ordinal = k,
                                                .taken = &nothing};
        if (algorithm->suggest(state, &request, point, &reason, &err) != HT_OK)
            break;
    }
    printf("suggest_%s_per_s=%.0f\n", name, (double)rounds / (now_s() - start));
    algorithm->free(state);
    return 0;
}

enum { MOST_DIM = 20, PENDING = 8 };

/* Result k of a study: a random point and a bowl around 0.3. */
static void observe(const struct algorithm *algorithm, void *state, size_t dim,
                    uint64_t k)
{
    const struct rng_place place = {1, k, 0};
    struct value point[MOST_DIM];
    double objective = 0;
    for (uint64_t i = 0; i < dim; i++) {
        const double u = rng_unit(&place, i);
        point[i] = (struct value){.real = u};
        objective -= (u - 0.3) * (u - 0.3) * (double)(i + 1);
    }
    const struct observation seen = {
        .point = point, .feasible = true, .values = &objective};
    algorithm->observe(state, &seen, NULL);
}

static double suggest_ms(const struct algorithm *algorithm, void *state,
                         uint64_t ordinal, size_t n_pending)
{
    static struct value points[PENDING][MOST_DIM];
    const struct value *pending[PENDING];
    const struct taken nothing = {has_none, NULL, 0};
    struct value point[MOST_DIM];
    for (size_t j = 0; j < n_pending; j++) {
        const struct rng_place place = {2, ordinal, j};
        for (uint64_t i = 0; i < MOST_DIM; i++)
            points[j][i].real = rng_unit(&place, i);
        pending[j] = points[j];
    }
    const struct suggest_request request = {.ordinal = ordinal,
                                            .taken = &nothing,
                                            .n_pending = n_pending,
                                            .pending = pending};
    struct reason reason;
    const double start = now_s();
    algorithm->suggest(state, &request, point, &reason, NULL);
    return 1e3 * (now_s() - start);
}

/* The first suggestion of a state that was just built, the mean and the most of
 * those after each of more results, on which some of the fits fall, and one
 * with as many pending trials as a busy study has. */
static int measure_size(const struct space *space, uint64_t size)
{
    enum { ROUNDS = 10 };
    const struct algorithm *algorithm = algorithm_find("BAYESIAN_SEARCH");
    const unsigned long long n = size;
    double ms = 0, most = 0;
    void *state;
    const struct setting setting = {.space = space, .seed = 1, .n_goals = 1};
    if (algorithm->new (&setting, &state, NULL) != HT_OK)
        return -1;
    for (uint64_t k = 0; k < size; k++)
        observe(algorithm, state, space->n, k);
    printf("suggest_d%zu_first_of_%llu_ms=%.1f\n", space->n, n,
           suggest_ms(algorithm, state, size, 0));
    for (uint64_t k = size; k < size + ROUNDS; k++) {
        observe(algorithm, state, space->n, k);
        const double one = suggest_ms(algorithm, state, k + 1, 0);
        ms += one / ROUNDS;
        most = fmax(most, one);
    }
    printf("suggest_d%zu_after_%llu_ms=%.1f\n", space->n, n, ms);
    printf("suggest_d%zu_after_%llu_most_ms=%.1f\n", space->n, n, most);
    printf("suggest_d%zu_after_%llu_pending_%d_ms=%.1f\n", space->n, n, PENDING,
           suggest_ms(algorithm, state, size + ROUNDS, PENDING));
    fflush(stdout);
    algorithm->free(state);
    return 0;
}

static int measure_model(void)
{
    static const uint64_t sizes[] = {10, 30, 100, 300, 1000, 10000};
    static const size_t dims[] = {6, MOST_DIM};
    struct param params[MOST_DIM];
    for (size_t i = 0; i < MOST_DIM; i++)
        params[i] = (struct param){.name = "x", .type = PARAM_DOUBLE, .max = 1};
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++) {
        const struct space space = {.n = dims[d], .params = params};
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            if (measure_size(&space, sizes[s]) != 0)
                return -1;
    }
    return 0;
}

int main(void)
{
    static const double sizes[] = {8, 16, 32, 64, 128};
    struct param params[] = {
        {.name = "units",
         .type = PARAM_INTEGER,
         .scale = SCALE_LOG,
         .int_min = 16,
         .int_max = 256,
         .int_step = 1},
        {.name = "batch",
         .type = PARAM_DISCRETE,
         .n_values = 5,
         .numbers = sizes},
        {.name = "dropout", .type = PARAM_DOUBLE, .max = 0.5, .step = 0.01},
        {.name = "rate",
         .type = PARAM_DOUBLE,
         .scale = SCALE_LOG,
         .min = 1e-5,
         .max = 0.1},
    };
    const struct space whole = {.n = 4, .params = params},
                       levels = {.n = 3, .params = params};
    algorithm_init();
    return measure("RANDOM_SEARCH", &whole) != 0 ||
           measure("GRID_SEARCH", &levels) != 0 || measure_model() != 0;
}
