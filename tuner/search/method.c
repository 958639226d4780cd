#include "tuner/search/method.h"

#include <stddef.h>
#include <string.h>

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

/* "random" is RANDOM_SEARCH. */
static bool is_called(const struct algorithm *algorithm, const char *name)
{
    static const char suffix[] = "_SEARCH";
    const size_t len = strlen(name);
    return strcmp(algorithm->name, name) == 0 ||
           (strncasecmp(algorithm->name, name, len) == 0 &&
            strcmp(algorithm->name + len, suffix) == 0);
}

const struct algorithm *search_method_by_name(const char *name)
{
    for (size_t i = 0; i < N_METHODS; i++)
        if (is_called(methods[i].algorithm, name))
            return methods[i].algorithm;
    return NULL;
}

void search_method_resolve(struct job *job)
{
    const struct algorithm *meant = search_method(job);
    for (size_t i = 0; i < N_METHODS; i++)
        if (methods[i].algorithm == meant)
            job->algorithm = methods[i].named;
}

struct setting search_setting(const struct job *job, uint64_t seed)
{
    static const enum noise noises[] = {
        [JOB_NOISE_UNKNOWN] = NOISE_UNKNOWN,
        [JOB_NOISE_LOW] = NOISE_LOW,
        [JOB_NOISE_HIGH] = NOISE_HIGH,
    };
    struct setting setting = {.space = &job->space,
                              .seed = seed,
                              .n_goals = job->n_metrics,
                              .noise = noises[job->noise]};
    for (size_t i = 0; i < job->n_metrics && i < SETTING_METRICS; i++) {
        const struct metric_goal *metric = &job->metrics[i];
        setting.goals[i] =
            (struct goal){.safety = metric->safety,
                          .threshold = metric->maximize ? metric->threshold
                                                        : -metric->threshold,
                          .safe_share = metric->safe_share};
    }
    return setting;
}

enum ht_status search_method_check(const struct job *job, struct ht_error *err)
{
    const struct algorithm *algorithm = search_method(job);
    const struct setting setting = search_setting(job, 0);
    void *state;
    const enum ht_status status = algorithm->new (&setting, &state, err);
    if (status == HT_OK)
        algorithm->free(state);
    return status;
}
