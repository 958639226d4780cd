/* Ten thousand slots in virtual time: each project gets its share, and no study
 * waits for ever. */
#include "tests/check.h"

#include <math.h>
#include <stdio.h>

#include "tests/lib/fleet_sim.h"

enum { PROJECTS = 3, KINDS = 8 };

static const double shares[PROJECTS] = {1, 2, 3};

/* Short and long trials, on cores, on a part of a GPU, on one, two and eight.
 */
static const struct sim_kind kinds[KINDS] = {
    {.project = 0, .mean_s = 30},
    {.project = 0, .mean_s = 120, .whole = 1},
    {.project = 1, .mean_s = 300},
    {.project = 1, .mean_s = 60, .part = 0.5},
    {.project = 1, .mean_s = 90, .whole = 8},
    {.project = 2, .mean_s = 45},
    {.project = 2, .mean_s = 200, .whole = 2},
    {.project = 2, .mean_s = 100, .whole = 1}};

static const struct sim_fleet fleet = {.gpu_machines = 250,
                                       .cpu_machines = 1000,
                                       .n_projects = PROJECTS,
                                       .n_kinds = KINDS,
                                       .shares = shares,
                                       .kinds = kinds};

struct outcome {
    double used[PROJECTS], waited[KINDS];
    int64_t starts[KINDS];
    struct sim_result result;
};

static void run(const struct sim_fleet *of, double from_s, double end_s,
                struct outcome *out)
{
    *out = (struct outcome){0};
    out->result = (struct sim_result){
        .used = out->used, .waited = out->waited, .starts = out->starts};
    fleet_sim_run(of, from_s, end_s, &out->result);
    printf("# slots=%zu decisions=%zu\n", out->result.slots,
           out->result.decisions);
    for (size_t i = 0; i < of->n_kinds; i++)
        printf("# study=%zu starts=%lld waited_s=%.0f\n", i,
               (long long)out->starts[i], out->waited[i]);
}

/* The worst relative difference of a project's part of all slot-seconds from
 * its share. */
static double error_of(const struct outcome *out)
{
    double all = 0, weights = 0, worst = 0;
    for (size_t i = 0; i < PROJECTS; i++) {
        all += out->used[i];
        weights += shares[i];
    }
    for (size_t i = 0; i < PROJECTS; i++) {
        const double want = shares[i] / weights;
        const double error = fabs(out->used[i] / all - want) / want;
        worst = error > worst ? error : worst;
    }
    printf("# error=%.4f\n", worst);
    return worst;
}

static void each_project_gets_its_share_and_no_study_waits_long(void)
{
    struct outcome out;
    run(&fleet, 0, 1800, &out);
    CHECK(out.result.slots == 10000);
    CHECK(error_of(&out) <= 0.05);
    for (size_t i = 0; i < KINDS; i++)
        CHECK(out.starts[i] > 0 && out.waited[i] < 450); /* longest trial */
}

/* A small fleet where the last project's work comes later. */
static void run_later(bool forgets, struct outcome *out)
{
    struct sim_kind later[KINDS];
    struct sim_fleet with = fleet;
    memcpy(later, kinds, sizeof later);
    for (size_t i = 0; i < KINDS; i++)
        if (later[i].project == 2)
            later[i].from_s = 1200;
    with.kinds = later;
    with.forgets = forgets;
    with.gpu_machines = 25, with.cpu_machines = 100;
    run(&with, 1200, 14400, out);
}

/* What the others used before gives it more at first, for less than the half
 * life of ten trials. */
static void a_project_that_comes_later_starves_no_other(void)
{
    struct outcome out;
    run_later(false, &out);
    CHECK(error_of(&out) <= 0.05);
    for (size_t i = 0; i < KINDS; i++)
        CHECK(out.waited[i] < 1200);
}

/* Each machine has trials that need little, so eight GPUs are never free at
 * once. */
static void trials_that_need_a_whole_machine_starve_without_their_turn(void)
{
    struct outcome out;
    run_later(true, &out);
    CHECK(out.waited[4] > 3600);
}

/* Eight slots, and trials as long as an hour. */
static void a_small_machine_is_shared_as_well(void)
{
    static const struct sim_kind few[PROJECTS] = {
        {.project = 0, .mean_s = 3600},
        {.project = 1, .mean_s = 600},
        {.project = 2, .mean_s = 60}};
    const struct sim_fleet small = {.cpu_machines = 1,
                                    .n_projects = PROJECTS,
                                    .n_kinds = PROJECTS,
                                    .shares = shares,
                                    .kinds = few};
    struct outcome out;
    run(&small, 0, 30 * 86400.0, &out);
    CHECK(error_of(&out) <= 0.05);
}

/* The rule before there were projects: the fewest running first. */
static void without_fair_share_the_error_is_large(void)
{
    struct sim_fleet unfair = fleet;
    struct outcome out;
    unfair.unfair = true;
    run(&unfair, 0, 600, &out);
    CHECK(error_of(&out) > 0.05);
}

int main(void)
{
    RUN(each_project_gets_its_share_and_no_study_waits_long);
    RUN(a_project_that_comes_later_starves_no_other);
    RUN(trials_that_need_a_whole_machine_starve_without_their_turn);
    RUN(a_small_machine_is_shared_as_well);
    RUN(without_fair_share_the_error_is_large);
    return check_done();
}
