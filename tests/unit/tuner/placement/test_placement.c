/* Which trial a runner gets, and the words for the ones that wait. */
#include "tests/check.h"

#include "tuner/placement/placement.h"

enum { MOST = 8 };
#define GIB ((int64_t)1 << 30)

/* Two machines: "box" with two A100 of 40 GiB, "laptop" without a GPU. */
struct scene {
    struct arena *arena;
    struct placement_gpu gpus[2];
    struct placement_machine machines[2];
    struct placement_runner runners[3];
    struct placement_replica replicas[MOST];
    struct placement_needs needs[MOST];
    struct placement_study studies[MOST];
    struct placement_project projects[2];
    struct placement state;
};

static const size_t both[] = {0, 1};
static const struct pair fast[] = {{"disk", "fast"}};

static struct scene scene_new(void)
{
    return (struct scene){
        .arena = arena_new(),
        .gpus = {{"GPU-a", "NVIDIA A100-SXM4-40GB", 40 * GIB, 0, 0},
                 {"GPU-b", "NVIDIA A100-SXM4-40GB", 40 * GIB, 0, 0}},
        .machines =
            {{.id = "box", .slots = 4, .cpus = 16, .memory = 64 * GIB},
             {.id = "laptop", .slots = 2, .cpus = 4, .memory = 8 * GIB}},
        .runners = {{.name = "box-1",
                     .engine = "process",
                     .machine = 0,
                     .splits_gpus = true,
                     .n_gpus = 2,
                     .gpus = both,
                     .slots = 4,
                     .free = 4,
                     .labels = {1, fast}},
                    {.name = "pocket",
                     .engine = "process",
                     .machine = 1,
                     .slots = 2,
                     .free = 2},
                    {.name = "box-2",
                     .engine = "docker",
                     .machine = 0,
                     .splits_gpus = true,
                     .n_gpus = 2,
                     .gpus = both,
                     .slots = 4,
                     .free = 4}},
        .projects = {{.name = "red", .share = 1}, {.name = "blue", .share = 1}},
        .state = {
            .n_machines = 2, .n_runners = 3, .n_projects = 2, .trial_s = 60}};
}

/* Points the state at the copy's own arrays. */
static struct placement *state_of(struct scene *scene)
{
    scene->machines[0].gpus = scene->gpus;
    scene->machines[0].n_gpus = 2;
    scene->state.machines = scene->machines;
    scene->state.runners = scene->runners;
    scene->state.studies = scene->studies;
    scene->state.projects = scene->projects;
    return &scene->state;
}

static struct placement_needs *add(struct scene *scene, size_t project,
                                   int64_t waiting)
{
    const size_t n = scene->state.n_studies++;
    scene->studies[n] = (struct placement_study){.id = (int64_t)n + 1,
                                                 .project = project,
                                                 .needs = &scene->needs[n],
                                                 .waiting = waiting};
    return &scene->needs[n];
}

static struct placement_needs *add_gpus(struct scene *scene,
                                        struct placement_replica replica)
{
    struct placement_needs *needs = add(scene, 0, 10);
    scene->replicas[scene->state.n_studies] = replica;
    needs->n = 1;
    needs->replicas = &scene->replicas[scene->state.n_studies];
    return needs;
}

/* Gives the runner one trial; the index of its study, -1: none. */
static int give(struct scene *scene, size_t runner)
{
    struct placement *state = state_of(scene);
    const struct placement_choice choice =
        placement_next(state, scene->arena, runner);
    if (choice.study == PLACEMENT_NONE)
        return -1;
    placement_begin(state, runner, &choice);
    return (int)choice.study;
}

static const char *reason(struct scene *scene, size_t study)
{
    return placement_reason(state_of(scene), scene->arena, study);
}

static void the_project_with_the_least_claim_is_first(void)
{
    struct scene s = scene_new();
    add(&s, 0, 10);
    add(&s, 1, 10);
    s.projects[0].usage = 100;
    CHECK(give(&s, 0) == 1);
    CHECK(give(&s, 0) == 1); /* 60 of its own is still less than 100 */
    CHECK(give(&s, 0) == 0); /* 120 is not */
    s.projects[0].share = 100;
    CHECK(give(&s, 0) == 0);
    arena_free(s.arena);
}

static void a_higher_priority_is_first_and_then_the_fewest_running(void)
{
    struct scene s = scene_new();
    add(&s, 0, 10), add(&s, 0, 10), add(&s, 0, 1);
    s.studies[2].priority = 5;
    CHECK(give(&s, 0) == 2);
    CHECK(give(&s, 0) == 0);
    CHECK(give(&s, 0) == 1);
    arena_free(s.arena);
}

static void a_quota_limits_a_project_and_says_so(void)
{
    struct scene s = scene_new();
    add(&s, 0, 10);
    add_gpus(&s, (struct placement_replica){.whole = 1});
    s.projects[0].most_gpus = 1;
    s.studies[0].waiting = 0;
    CHECK(give(&s, 0) == 1);
    CHECK(give(&s, 0) == -1);
    CHECK_TEXT(reason(&s, 1), "project red has 1 of its 1 GPUs");
    s.projects[0].most_slots = 1;
    s.studies[0].waiting = 1;
    CHECK(give(&s, 1) == -1);
    CHECK_TEXT(reason(&s, 0), "project red has all its 1 slots");
    arena_free(s.arena);
}

static void a_machine_with_two_runners_counts_once(void)
{
    struct scene s = scene_new();
    add(&s, 0, 100);
    for (int i = 0; i < 2; i++)
        CHECK(give(&s, 0) == 0 && give(&s, 2) == 0);
    CHECK(give(&s, 0) == -1 && give(&s, 2) == -1); /* 4 slots, not 8 */
    CHECK_TEXT(reason(&s, 0), "6 slots");
    arena_free(s.arena);
}

static void gpus_of_two_engines_are_given_once(void)
{
    struct scene s = scene_new();
    add_gpus(&s, (struct placement_replica){.whole = 1});
    CHECK(give(&s, 0) == 0 && give(&s, 2) == 0);
    CHECK(s.gpus[0].used == 1 && s.gpus[1].used == 1);
    CHECK(give(&s, 0) == -1 && give(&s, 2) == -1);
    CHECK_TEXT(reason(&s, 0), "6 slots, 2 GPUs");
    arena_free(s.arena);
}

static void parts_of_a_gpu_are_packed_and_whole_ones_stay_free(void)
{
    struct scene s = scene_new();
    add_gpus(&s, (struct placement_replica){.part = 0.5});
    CHECK(give(&s, 0) == 0 && give(&s, 0) == 0);
    CHECK(s.gpus[0].used == 1 && s.gpus[1].used == 0);
    s.studies[0].waiting = 0;
    add_gpus(&s, (struct placement_replica){.whole = 1});
    CHECK(give(&s, 0) == 1);
    s.studies[0].waiting = 1;
    CHECK(give(&s, 0) == -1);
    arena_free(s.arena);
}

static void ten_tenths_fill_a_gpu(void)
{
    struct scene s = scene_new();
    s.machines[0].slots = s.runners[0].slots = s.runners[0].free = 100;
    add_gpus(&s, (struct placement_replica){.part = 0.1})->machine = "box";
    s.studies[0].waiting = 100;
    int n = 0;
    while (give(&s, 0) == 0)
        n++;
    CHECK(n == 20);
    arena_free(s.arena);
}

static void memory_of_a_gpu_is_a_limit(void)
{
    struct scene s = scene_new();
    add_gpus(&s, (struct placement_replica){.memory = 15 * GIB});
    for (int i = 0; i < 4; i++)
        CHECK(give(&s, 0) == 0); /* two on each of 40 GiB */
    s.runners[0].free = 4, s.machines[0].slots = 8;
    CHECK(give(&s, 0) == -1);
    add_gpus(&s, (struct placement_replica){.whole = 1, .memory = 80 * GIB});
    CHECK_TEXT(reason(&s, 1), "no runner has a GPU with 80 GiB");
    arena_free(s.arena);
}

static void memory_of_a_machine_is_shared_by_its_runners(void)
{
    struct scene s = scene_new();
    add(&s, 0, 10)->memory = 30 * GIB;
    CHECK(give(&s, 0) == 0 && give(&s, 2) == 0);
    CHECK(give(&s, 0) == -1);
    CHECK(give(&s, 1) == -1); /* a machine that has 8 GiB leaves it alone */
    arena_free(s.arena);
}

static void more_than_any_machine_has_runs_alone_on_what_there_is(void)
{
    struct scene s = scene_new();
    add(&s, 0, 10)->memory = 100 * GIB;
    CHECK(give(&s, 0) == 0);
    CHECK(give(&s, 0) == -1);
    CHECK(give(&s, 1) == 0);
    arena_free(s.arena);
}

static void a_big_trial_keeps_what_is_free_for_itself(void)
{
    struct scene s = scene_new();
    add_gpus(&s, (struct placement_replica){.whole = 1});
    CHECK(give(&s, 0) == 0);
    add_gpus(&s, (struct placement_replica){.whole = 2});
    s.studies[0].priority = -1;
    add(&s, 0, 1);
    s.studies[2].priority = -2;
    CHECK(give(&s, 0) == 2); /* needs no GPU, so it may pass */
    CHECK(give(&s, 0) == -1);
    s.studies[1].waiting = 0;
    CHECK(give(&s, 0) == 0);
    arena_free(s.arena);
}

static void a_trial_runs_on_what_it_names_only(void)
{
    struct scene s = scene_new();
    add(&s, 0, 1)->engine = "docker";
    CHECK(give(&s, 0) == -1 && give(&s, 1) == -1 && give(&s, 2) == 0);
    add(&s, 0, 1)->labels = (struct pairs){1, fast};
    CHECK(give(&s, 1) == -1 && give(&s, 2) == -1 && give(&s, 0) == 1);
    add(&s, 0, 1)->machine = "pocket";
    CHECK(give(&s, 0) == -1 && give(&s, 1) == 2);
    add(&s, 0, 1)->gpu = "a100";
    CHECK(give(&s, 1) == -1 && give(&s, 0) == 3);
    arena_free(s.arena);
}

static void a_draining_runner_gets_nothing(void)
{
    struct scene s = scene_new();
    add_gpus(&s, (struct placement_replica){.whole = 1})->gpu = "a100";
    s.runners[0].draining = true;
    CHECK(give(&s, 0) == -1);
    CHECK(give(&s, 2) == 0 && give(&s, 2) == 0 && give(&s, 2) == -1);
    CHECK_TEXT(reason(&s, 0), "for an a100, 2 of 2 in use; box-1 is draining");
    s.runners[2].draining = true;
    CHECK_TEXT(reason(&s, 0), "box-1 and box-2 are draining");
    arena_free(s.arena);
}

static bool refuses(void *context, size_t runner, size_t study,
                    const char **why)
{
    (void)runner, (void)study;
    *why = context;
    return false;
}

static void words_name_what_is_missing(void)
{
    struct scene s = scene_new();
    add_gpus(&s, (struct placement_replica){.whole = 1})->gpu = "h100";
    CHECK_TEXT(reason(&s, 0), "no runner has a h100");
    add_gpus(&s, (struct placement_replica){.whole = 3});
    CHECK_TEXT(reason(&s, 1), "each needs 3 GPUs, no runner has more than 2");
    add(&s, 0, 1)->engine = "slurm";
    CHECK_TEXT(reason(&s, 2), "no runner with the engine slurm is connected");
    static const struct pair slow[] = {{"disk", "slow"}};
    add(&s, 0, 1)->labels = (struct pairs){1, slow};
    CHECK_TEXT(reason(&s, 3), "no runner has the label disk=slow");
    add(&s, 0, 1)->machine = "moon";
    CHECK_TEXT(reason(&s, 4), "no runner on the machine moon is connected");
    add_gpus(&s, (struct placement_replica){.part = 0.5});
    s.runners[0].splits_gpus = s.runners[2].splits_gpus = false;
    CHECK_TEXT(reason(&s, 5),
               "no runner that may run them can give a part of a GPU");
    char why[] = "forbidden here";
    s.state.allows = refuses;
    s.state.context = why;
    CHECK_TEXT(reason(&s, 0), "forbidden here");
    CHECK(give(&s, 0) == -1);
    s.state.n_runners = 0;
    CHECK_TEXT(reason(&s, 0), "no runner is connected");
    arena_free(s.arena);
}

static void what_ends_is_free_again(void)
{
    struct scene s = scene_new();
    add_gpus(&s, (struct placement_replica){.whole = 2, .memory = GIB});
    struct placement *state = state_of(&s);
    const struct placement_choice choice = placement_next(state, s.arena, 0);
    CHECK(choice.study == 0 && choice.replicas[0].n == 2);
    placement_begin(state, 0, &choice);
    CHECK(s.projects[0].gpus == 2 && s.machines[0].slots_used == 1);
    CHECK(give(&s, 0) == -1);
    placement_end(state, 0, &choice);
    CHECK(s.projects[0].gpus == 0 && s.gpus[0].memory_used == 0);
    CHECK(s.runners[0].free == 4 && s.machines[0].slots_used == 0);
    CHECK(give(&s, 0) == 0);
    arena_free(s.arena);
}

static void a_quota_has_room_for_so_many_trials(void)
{
    const struct placement_replica part = {.part = 0.25};
    const struct placement_needs none = {0}, some = {.n = 1, .replicas = &part};
    struct placement_project project = {.name = "red", .share = 1};
    CHECK(placement_quota(&project, &some) == INT64_MAX);
    project.most_gpus = 1.5;
    project.gpus = 0.5;
    CHECK(placement_quota(&project, &none) == INT64_MAX);
    CHECK(placement_quota(&project, &some) == 4);
    project.most_slots = 5;
    project.slots = 2;
    CHECK(placement_quota(&project, &none) == 3);
    CHECK(placement_quota(&project, &some) == 3);
    project.slots = 7; /* the quota was more before */
    CHECK(placement_quota(&project, &none) == 0);
}

static int64_t startable(struct scene *scene, int64_t most)
{
    return placement_startable(state_of(scene), scene->arena, 0, most);
}

static void what_could_start_is_counted_and_nothing_begun(void)
{
    struct scene s = scene_new();
    add(&s, 0, 0);
    CHECK(startable(&s, 100) == 6); /* box-1 and box-2 share four */
    CHECK(startable(&s, 5) == 5);
    CHECK(startable(&s, 100) == 6);
    CHECK(s.runners[0].free == 4 && s.runners[1].free == 2);
    CHECK(s.studies[0].running == 0 && s.projects[0].slots == 0);
    s.runners[1].elastic = true;
    CHECK(startable(&s, 100) == 4);
    s.runners[0].draining = s.runners[2].draining = true;
    CHECK(startable(&s, 100) == 0);
    arena_free(s.arena);
}

static void what_could_start_needs_gpus(void)
{
    struct scene s = scene_new();
    add_gpus(&s, (struct placement_replica){.part = 0.5})->machine = "box";
    CHECK(startable(&s, 100) == 4);
    s.studies[0].waiting = 10;
    CHECK(give(&s, 0) == 0);
    CHECK(startable(&s, 100) == 3);
    CHECK(s.gpus[0].used == 0.5 && s.gpus[1].used == 0);
    arena_free(s.arena);
}

int main(void)
{
    RUN(the_project_with_the_least_claim_is_first);
    RUN(a_higher_priority_is_first_and_then_the_fewest_running);
    RUN(a_quota_limits_a_project_and_says_so);
    RUN(a_machine_with_two_runners_counts_once);
    RUN(gpus_of_two_engines_are_given_once);
    RUN(parts_of_a_gpu_are_packed_and_whole_ones_stay_free);
    RUN(ten_tenths_fill_a_gpu);
    RUN(memory_of_a_gpu_is_a_limit);
    RUN(memory_of_a_machine_is_shared_by_its_runners);
    RUN(more_than_any_machine_has_runs_alone_on_what_there_is);
    RUN(a_big_trial_keeps_what_is_free_for_itself);
    RUN(a_trial_runs_on_what_it_names_only);
    RUN(a_draining_runner_gets_nothing);
    RUN(words_name_what_is_missing);
    RUN(what_ends_is_free_again);
    RUN(a_quota_has_room_for_so_many_trials);
    RUN(what_could_start_is_counted_and_nothing_begun);
    RUN(what_could_start_needs_gpus);
    return check_done();
}
