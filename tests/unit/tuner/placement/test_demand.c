/* How many slots each study could use at a runner that makes them on demand. */
#include "tests/check.h"

#include "tuner/placement/demand.h"
#include "tuner/placement/placement.h"

enum { MOST = 4 };

struct scene {
    struct arena *arena;
    struct placement_needs needs;
    struct placement_replica replica;
    struct placement_project projects[2];
    struct demand_study studies[MOST];
    struct demand demand;
};

static const int64_t none[MOST] = {0};

static struct scene scene_new(void)
{
    return (struct scene){
        .arena = arena_new(),
        .projects = {{.name = "red", .share = 1}, {.name = "blue", .share = 1}},
        .demand = {.n_projects = 2, .most = 100}};
}

/* A study of which so many trials could run, at one runner alone. */
static struct demand_study *add(struct scene *scene, size_t project,
                                int64_t most)
{
    struct demand_study *study = &scene->studies[scene->demand.n++];
    *study = (struct demand_study){.id = (int64_t)scene->demand.n,
                                   .project = project,
                                   .needs = &scene->needs,
                                   .most = most,
                                   .n = 1,
                                   .asking = none};
    return study;
}

static void divide(struct scene *scene)
{
    scene->demand.studies = scene->studies;
    scene->demand.projects = scene->projects;
    demand_divide(scene->arena, &scene->demand);
    arena_free(scene->arena);
}

static void a_study_gets_as_many_as_could_run(void)
{
    struct scene scene = scene_new();
    add(&scene, 0, 7);
    add(&scene, 0, 0);
    divide(&scene);
    CHECK(scene.studies[0].slots == 7 && scene.studies[1].slots == 0);
}

static void slots_that_run_are_kept_unless_too_many_do(void)
{
    struct scene scene = scene_new();
    *add(&scene, 0, 5) = (struct demand_study){.id = 1,
                                               .needs = &scene.needs,
                                               .most = 5,
                                               .running = 3,
                                               .here = 2,
                                               .n = 1,
                                               .asking = none};
    *add(&scene, 0, 2) = (struct demand_study){.id = 2,
                                               .needs = &scene.needs,
                                               .most = 2,
                                               .running = 3,
                                               .here = 3,
                                               .n = 1,
                                               .asking = none};
    divide(&scene);
    CHECK(scene.studies[0].slots == 4); /* one runs elsewhere */
    CHECK(scene.studies[1].slots == 2);
}

static void the_rest_is_divided_evenly_among_runners(void)
{
    static const int64_t asking[] = {1, 0};
    static const int64_t want[] = {4, 3};
    for (size_t at = 0; at < 2; at++) {
        struct scene scene = scene_new();
        struct demand_study *study = add(&scene, 0, 7);
        study->n = 2;
        study->at = at;
        study->asking = asking;
        divide(&scene);
        CHECK(scene.studies[0].slots == want[at]);
    }
}

static void what_asks_beyond_the_rest_gets_nothing(void)
{
    static const int64_t asking[] = {3, 3};
    static const int64_t want[] = {3, 1};
    for (size_t at = 0; at < 2; at++) {
        struct scene scene = scene_new();
        struct demand_study *study = add(&scene, 0, 4);
        study->n = 2;
        study->at = at;
        study->asking = asking;
        divide(&scene);
        CHECK(scene.studies[0].slots == want[at]);
    }
}

/* Slots that are up come before those of other runners. */
static void what_is_free_elsewhere_is_not_asked_for(void)
{
    static const int64_t asking[] = {2};
    struct scene scene = scene_new();
    add(&scene, 0, 5)->elsewhere = 3;
    add(&scene, 0, 3)->elsewhere = 3;
    scene.studies[1].asking = asking;
    divide(&scene);
    CHECK(scene.studies[0].slots == 2 && scene.studies[1].slots == 2);
}

static void projects_get_by_their_shares(void)
{
    struct scene scene = scene_new();
    scene.demand.most = 8;
    scene.projects[1].share = 3;
    add(&scene, 0, 50);
    add(&scene, 1, 50);
    divide(&scene);
    CHECK(scene.studies[0].slots == 2 && scene.studies[1].slots == 6);
}

static void studies_of_a_project_get_by_priority_then_evenly(void)
{
    struct scene scene = scene_new();
    scene.demand.most = 7;
    add(&scene, 0, 50);
    add(&scene, 0, 50);
    add(&scene, 0, 2)->priority = 1;
    divide(&scene);
    CHECK(scene.studies[0].slots == 3 && scene.studies[1].slots == 2 &&
          scene.studies[2].slots == 2);
}

static void slots_that_ask_come_before_further_ones(void)
{
    static const int64_t asking[] = {2};
    struct scene scene = scene_new();
    scene.demand.most = 3;
    add(&scene, 0, 50);
    add(&scene, 0, 50)->asking = asking;
    divide(&scene);
    CHECK(scene.studies[0].slots == 1 && scene.studies[1].slots == 2);
}

static void quotas_hold(void)
{
    struct scene scene = scene_new();
    scene.replica.whole = 2;
    scene.needs.n = 1;
    scene.needs.replicas = &scene.replica;
    scene.projects[0].most_slots = 3;
    scene.projects[0].slots = 1;
    scene.projects[1].most_gpus = 5;
    add(&scene, 0, 50);
    add(&scene, 1, 50);
    divide(&scene);
    CHECK(scene.studies[0].slots == 2 && scene.studies[1].slots == 2);
}

int main(void)
{
    RUN(a_study_gets_as_many_as_could_run);
    RUN(slots_that_run_are_kept_unless_too_many_do);
    RUN(the_rest_is_divided_evenly_among_runners);
    RUN(what_asks_beyond_the_rest_gets_nothing);
    RUN(what_is_free_elsewhere_is_not_asked_for);
    RUN(projects_get_by_their_shares);
    RUN(studies_of_a_project_get_by_priority_then_evenly);
    RUN(slots_that_ask_come_before_further_ones);
    RUN(quotas_hold);
    return check_done();
}
