/* What jobs would have consumed, against Google's archived price list. */
#include "tuner/view/ml_units.h"

#include <math.h>

#include "tests/check.h"

/* Of a job with one replica. */
static double units_of(const char *machine, const char *accelerator,
                       int64_t gpus)
{
    struct pool pool = {.type = "master",
                        .count = 1,
                        .machine = machine,
                        .accelerator = accelerator,
                        .gpus = gpus};
    const struct job job = {.n_pools = 1, .pools = &pool};
    return ml_units_per_hour(&job);
}

/* The list has four digits, and sums of some of them are compared. */
static bool is_near(double got, double want)
{
    if (fabs(got - want) < 3e-4)
        return true;
    printf("# %.6f, want %.4f\n", got, want);
    return false;
}

static void compute_engine_types_have_the_published_units(void)
{
    CHECK(is_near(units_of("n1-standard-4", NULL, 0), 0.3878));
    CHECK(is_near(units_of("n1-standard-8", NULL, 0), 0.7755));
    CHECK(is_near(units_of("n1-standard-96", NULL, 0), 9.3061));
    CHECK(is_near(units_of("n1-highmem-2", NULL, 0), 0.2416));
    CHECK(is_near(units_of("n1-highcpu-16", NULL, 0), 1.1576));
}

static void the_service_s_own_types_have_the_published_units(void)
{
    CHECK(is_near(units_of("standard", NULL, 0), 0.3878));
    CHECK(is_near(units_of("large_model", NULL, 0), 0.9665));
    CHECK(is_near(units_of("complex_model_s", NULL, 0), 0.5788));
    CHECK(is_near(units_of("complex_model_m", NULL, 0), 1.1576));
    CHECK(is_near(units_of("complex_model_l", NULL, 0), 2.3151));
}

/* These have their accelerators with them. */
static void types_with_accelerators_cost_what_their_parts_do(void)
{
    CHECK(is_near(units_of("standard_gpu", NULL, 0), 1.6939));
    CHECK(is_near(units_of("complex_model_m_gpu", NULL, 0), 5.2245));
    CHECK(is_near(units_of("standard_p100", NULL, 0), 3.7551));
    CHECK(is_near(units_of("complex_model_m_p100", NULL, 0), 13.4694));
    CHECK(is_near(units_of("standard_v100", NULL, 0), 5.8367));
    CHECK(is_near(units_of("large_model_v100", NULL, 0), 6.0278));
    CHECK(is_near(units_of("complex_model_l_v100", NULL, 0), 43.5918));
}

static void accelerators_are_added(void)
{
    CHECK(is_near(units_of("n1-standard-4", "NVIDIA_TESLA_K80", 2),
                  0.3878 + 2 * 0.9184));
    CHECK(is_near(units_of("n1-standard-4", "NVIDIA_TESLA_T4", 1),
                  0.3878 + 0.7143));
    CHECK(is_near(units_of("n1-standard-4", "NVIDIA_TESLA_P4", 1),
                  0.3878 + 1.2245));
    CHECK(is_near(units_of("n1-standard-4", "NVIDIA_TESLA_P100", 1),
                  0.3878 + 2.9796));
    CHECK(is_near(units_of("a2-highgpu-1g", "NVIDIA_TESLA_A100", 1),
                  12 * 0.0475 / 0.49 + 5.9876));
}

static void what_is_chosen_replaces_what_comes_with_the_type(void)
{
    CHECK(is_near(units_of("standard_gpu", NULL, 2), 0.7755 + 2 * 0.9184));
    CHECK(is_near(units_of("standard_v100", NULL, 2), 0.7755 + 2 * 5.0612));
    CHECK(is_near(units_of("standard_gpu", "NVIDIA_TESLA_P100", 0), 0.7755));
    CHECK(is_near(units_of("a2-highgpu-2g", NULL, 0),
                  24 * 0.0475 / 0.49 + 2 * 5.9876));
}

static void without_a_type_it_is_a_basic_machine(void)
{
    CHECK(is_near(units_of(NULL, NULL, 0), 0.3878)); /* BASIC */
    CHECK(is_near(units_of(NULL, NULL, 1), 1.6939)); /* BASIC_GPU */
    CHECK(is_near(units_of("nobody-knows-4", NULL, 0), 0.3878));
    CHECK(is_near(units_of(NULL, "NVIDIA_H100_80GB", 1), 1.6939));
}

static void asked_cores_count_where_no_type_says_more(void)
{
    struct pool pool = {.type = "master", .count = 1, .cpus = 2};
    struct job job = {.n_pools = 1, .pools = &pool, .cpus = 16};
    CHECK(is_near(ml_units_per_hour(&job), 0.1939));
    pool.cpus = 0;
    CHECK(is_near(ml_units_per_hour(&job), 1.5510));
    pool.machine = "n1-standard-4";
    CHECK(is_near(ml_units_per_hour(&job), 0.3878));
}

static void all_replicas_of_all_pools_count(void)
{
    struct pool pools[] = {
        {.type = "master", .count = 1, .machine = "n1-standard-4"},
        {.type = "worker", .count = 9, .machine = "n1-standard-8"},
        {.type = "ps", .count = 3, .machine = "large_model"}};
    const struct job job = {.n_pools = 3, .pools = pools};
    CHECK(is_near(ml_units_per_hour(&job), 0.3878 + 9 * 0.7755 + 3 * 0.9665));
    const struct job none = {.n_pools = 0};
    CHECK(ml_units(&none, 3600000) == 0);
}

static void hours_are_multiplied_and_rounded(void)
{
    struct pool pool = {.type = "master", .count = 1};
    const struct job job = {.n_pools = 1, .pools = &pool};
    CHECK(ml_units(&job, 0) == 0);
    CHECK(ml_units(&job, 3600000) == 0.3878);
    CHECK(ml_units(&job, 5400000) == 0.5816);
    CHECK(ml_units(&job, 1000) == 0.0001);
}

int main(void)
{
    RUN(compute_engine_types_have_the_published_units);
    RUN(the_service_s_own_types_have_the_published_units);
    RUN(types_with_accelerators_cost_what_their_parts_do);
    RUN(accelerators_are_added);
    RUN(what_is_chosen_replaces_what_comes_with_the_type);
    RUN(without_a_type_it_is_a_basic_machine);
    RUN(asked_cores_count_where_no_type_says_more);
    RUN(all_replicas_of_all_pools_count);
    RUN(hours_are_multiplied_and_rounded);
    return check_done();
}
