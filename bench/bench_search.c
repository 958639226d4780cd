/* Suggestions a second of each algorithm that needs no model. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "algorithms/algorithm.h"
#include "proto/limits.h"

static bool has_none(void *context, const struct value point[])
{
    (void)context, (void)point;
    return false;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int measure(const char *name, const struct space *space)
{
    const struct algorithm *algorithm = algorithm_find(name);
    const struct taken nothing = {has_none, NULL, 0};
    struct value point[HT_MAX_PARAMETERS];
    struct ht_error err;
    void *state;
    if (algorithm->new (space, 1, &state, &err) != HT_OK) {
        fprintf(stderr, "bench_search: %s\n", err.text);
        return -1;
    }
    const uint64_t rounds = 500000;
    const double start = now_s();
    for (uint64_t k = 0; k < rounds; k++) {
        const struct suggest_request request = {.ordinal = k,
                                                .taken = &nothing};
        if (algorithm->suggest(state, &request, point, &err) != HT_OK)
            break;
    }
    printf("suggest_%s_per_s=%.0f\n", name, (double)rounds / (now_s() - start));
    algorithm->free(state);
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
    const struct space whole = {4, params}, levels = {3, params};
    return measure("RANDOM_SEARCH", &whole) != 0 ||
           measure("GRID_SEARCH", &levels) != 0;
}
