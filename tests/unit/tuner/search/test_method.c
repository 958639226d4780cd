/* Which algorithm a job means, and the setting of its searches. */
#include "tuner/search/method.h"

#include <string.h>

#include "tests/check.h"

static void every_algorithm_is_found_by_both_of_its_names(void)
{
    CHECK(search_method_by_name("GRID_SEARCH") == &grid_search);
    CHECK(search_method_by_name("grid") == &grid_search);
    CHECK(search_method_by_name("Random") == &random_search);
    CHECK(search_method_by_name("RANDOM_SEARCH") == &random_search);
    CHECK(strcmp(search_method_by_name("bayesian")->name,
                 bayesian_search.name) == 0);
}

static void other_names_are_not(void)
{
    static const char *const names[] = {"",       "r",      "grid_search",
                                        "GRID_",  "gridx",  "RANDOM_SEARCHX",
                                        "search", "_SEARCH"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK(search_method_by_name(names[i]) == NULL);
}

static void a_job_that_names_none_is_stored_with_the_default(void)
{
    struct job job = {.algorithm = ALGORITHM_DEFAULT};
    CHECK(search_method(&job) == algorithm_default());
    search_method_resolve(&job);
    CHECK(job.algorithm != ALGORITHM_DEFAULT);
    CHECK(search_method(&job) == algorithm_default());
    job.algorithm = ALGORITHM_GRID;
    search_method_resolve(&job);
    CHECK(job.algorithm == ALGORITHM_GRID);
}

static void thresholds_are_negated_with_their_metrics(void)
{
    struct metric_goal goals[] = {
        {.name = "accuracy", .maximize = true},
        {.name = "size", .safety = true, .threshold = 20, .safe_share = 0.5},
        {.name = "gain", .maximize = true, .safety = true, .threshold = 3}};
    const struct job job = {
        .n_metrics = 3, .metrics = goals, .noise = JOB_NOISE_LOW};
    const struct setting setting = search_setting(&job, 7);
    CHECK(setting.space == &job.space && setting.seed == 7);
    CHECK(setting.n_goals == 3 && setting.noise == NOISE_LOW);
    CHECK(!setting.goals[0].safety);
    CHECK(setting.goals[1].safety && setting.goals[1].threshold == -20);
    CHECK(setting.goals[1].safe_share == 0.5);
    CHECK(setting.goals[2].threshold == 3);
}

int main(void)
{
    RUN(every_algorithm_is_found_by_both_of_its_names);
    RUN(other_names_are_not);
    RUN(a_job_that_names_none_is_stored_with_the_default);
    RUN(thresholds_are_negated_with_their_metrics);
    return check_done();
}
