#include "tests/lib/fleet_sim.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/placement/usage.h"

enum { SLOTS = 8, LOOK_S = 5 };

struct run { /* a trial that runs */
    double end_s, begin_s;
    size_t runner;
    struct placement_choice choice;
    struct placement_gpus gpus;
    size_t indexes[SLOTS];
};

struct sim {
    const struct sim_fleet *fleet;
    struct placement state;
    struct placement_needs *needs;
    struct placement_replica *replicas;
    struct arena *arena, *scratch;
    struct run **heap; /* by end_s */
    size_t n;
    double now_s, from_s, *last_start;
    uint64_t random;
    struct sim_result *result;
};

static double draw(struct sim *sim)
{
    sim->random ^= sim->random << 13;
    sim->random ^= sim->random >> 7;
    sim->random ^= sim->random << 17;
    return (double)(sim->random >> 11) / 9007199254740992.0;
}

/* ---- the heap of ends ---- */

static void push(struct sim *sim, struct run *run)
{
    size_t i = sim->n++;
    while (i > 0 && sim->heap[(i - 1) / 2]->end_s > run->end_s) {
        sim->heap[i] = sim->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    sim->heap[i] = run;
}

static struct run *pop(struct sim *sim)
{
    struct run *first = sim->heap[0], *last = sim->heap[--sim->n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < sim->n; i = child) {
        if (child + 1 < sim->n &&
            sim->heap[child + 1]->end_s < sim->heap[child]->end_s)
            child++;
        if (sim->heap[child]->end_s >= last->end_s)
            break;
        sim->heap[i] = sim->heap[child];
    }
    sim->heap[i] = last;
    return first;
}

/* ---- the fleet ---- */

static void make_machines(struct sim *sim)
{
    const size_t n = sim->fleet->gpu_machines + sim->fleet->cpu_machines;
    struct placement *state = &sim->state;
    static const size_t all[SLOTS] = {0, 1, 2, 3, 4, 5, 6, 7};
    state->n_machines = state->n_runners = n;
    state->machines = arena_alloc(sim->arena, n, sizeof *state->machines);
    state->runners = arena_alloc(sim->arena, n, sizeof *state->runners);
    for (size_t i = 0; i < n; i++) {
        const bool gpus = i < sim->fleet->gpu_machines;
        struct placement_gpu *own = arena_alloc(sim->arena, SLOTS, sizeof *own);
        for (size_t k = 0; k < SLOTS; k++)
            own[k] = (struct placement_gpu){.id = "", .model = "A100"};
        state->machines[i] = (struct placement_machine){
            .id = "", .slots = SLOTS, .n_gpus = gpus ? SLOTS : 0, .gpus = own};
        state->runners[i] =
            (struct placement_runner){.name = "",
                                      .engine = "process",
                                      .machine = i,
                                      .splits_gpus = true,
                                      .n_gpus = gpus ? SLOTS : 0,
                                      .gpus = all,
                                      .slots = SLOTS,
                                      .free = SLOTS};
    }
    sim->heap = arena_alloc(sim->arena, n * SLOTS, sizeof *sim->heap);
    sim->result->slots = n * SLOTS;
}

static void make_studies(struct sim *sim)
{
    const struct sim_fleet *fleet = sim->fleet;
    struct placement *state = &sim->state;
    state->n_studies = fleet->n_kinds;
    state->n_projects = fleet->n_projects;
    state->studies =
        arena_alloc(sim->arena, fleet->n_kinds, sizeof *state->studies);
    state->projects =
        arena_alloc(sim->arena, fleet->n_projects, sizeof *state->projects);
    sim->needs = arena_alloc(sim->arena, fleet->n_kinds, sizeof *sim->needs);
    sim->replicas =
        arena_alloc(sim->arena, fleet->n_kinds, sizeof *sim->replicas);
    for (size_t i = 0; i < fleet->n_projects; i++)
        state->projects[i] =
            (struct placement_project){.name = "", .share = fleet->shares[i]};
    for (size_t i = 0; i < fleet->n_kinds; i++) {
        const struct sim_kind *kind = &fleet->kinds[i];
        sim->replicas[i] = (struct placement_replica){.whole = kind->whole,
                                                      .part = kind->part};
        sim->needs[i] = (struct placement_needs){
            .n = kind->whole > 0 || kind->part > 0 ? 1 : 0,
            .replicas = &sim->replicas[i]};
        state->studies[i] = (struct placement_study){
            .id = (int64_t)i + 1,
            .project = fleet->unfair ? 0 : kind->project,
            .needs = &sim->needs[i]};
        state->trial_s += kind->mean_s / (double)fleet->n_kinds;
    }
}

/* ---- time ---- */

/* Use of the projects up to now, and all that could start waits. */
static void look(struct sim *sim, double seconds)
{
    struct placement *state = &sim->state;
    const double half_life = placement_half_life(state->trial_s);
    for (size_t i = 0; i < state->n_projects; i++) {
        struct placement_project *project = &state->projects[i];
        const double weight =
            (double)project->slots + PLACEMENT_GPU_SLOTS * project->gpus;
        project->usage = project->usage * placement_decay(seconds, half_life) +
                         placement_use(weight, seconds, half_life);
    }
    for (size_t i = 0; i < state->n_studies; i++) {
        const struct sim_kind *kind = &sim->fleet->kinds[i];
        const int64_t room = kind->most - state->studies[i].running;
        if (!sim->fleet->forgets)
            state->studies[i].waited_s = sim->now_s - sim->last_start[i];
        state->studies[i].waiting = kind->from_s > sim->now_s ? 0
                                    : kind->most == 0         ? (int64_t)1 << 40
                                                              : room;
    }
}

static double counted(const struct sim *sim, const struct run *run,
                      double until_s)
{
    const double from = run->begin_s > sim->from_s ? run->begin_s : sim->from_s;
    return until_s > from ? until_s - from : 0;
}

static void settle(struct sim *sim, const struct run *run, double until_s)
{
    const size_t kind = run->choice.study;
    sim->result->used[sim->fleet->kinds[kind].project] +=
        counted(sim, run, until_s) * placement_weight(&sim->needs[kind]);
}

static void note_wait(struct sim *sim, size_t kind)
{
    const double waited = sim->now_s - sim->last_start[kind];
    if (waited > sim->result->waited[kind])
        sim->result->waited[kind] = waited;
    sim->last_start[kind] = sim->now_s;
    sim->state.studies[kind].waited_s = 0;
}

static void begin(struct sim *sim, size_t runner,
                  const struct placement_choice *choice)
{
    const size_t kind = choice->study;
    struct run *run = calloc(1, sizeof *run);
    if (run == NULL)
        abort();
    *run = (struct run){.begin_s = sim->now_s,
                        .end_s = sim->now_s + sim->fleet->kinds[kind].mean_s *
                                                  (0.5 + draw(sim)),
                        .runner = runner,
                        .choice = *choice};
    if (sim->needs[kind].n > 0) {
        run->gpus = choice->replicas[0];
        memcpy(run->indexes, run->gpus.gpus,
               run->gpus.n * sizeof *run->indexes);
        run->gpus.gpus = run->indexes;
        run->choice.replicas = &run->gpus;
    }
    placement_begin(&sim->state, runner, &run->choice);
    push(sim, run);
    note_wait(sim, kind);
    sim->result->starts[kind]++;
}

static void fill(struct sim *sim, size_t runner)
{
    while (sim->state.runners[runner].free > 0) {
        const struct placement_choice choice =
            placement_next(&sim->state, sim->scratch, runner);
        sim->result->decisions++;
        if (choice.study != PLACEMENT_NONE)
            begin(sim, runner, &choice);
        arena_reset(sim->scratch);
        if (choice.study == PLACEMENT_NONE)
            return;
    }
}

static void run_until(struct sim *sim, double end_s)
{
    double looked_s = 0;
    while (sim->n > 0 && sim->heap[0]->end_s <= end_s) {
        struct run *run = pop(sim);
        sim->now_s = run->end_s;
        if (sim->now_s - looked_s >= LOOK_S) {
            look(sim, sim->now_s - looked_s);
            looked_s = sim->now_s;
        }
        settle(sim, run, run->end_s);
        placement_end(&sim->state, run->runner, &run->choice);
        if (sim->fleet->kinds[run->choice.study].most > 0)
            sim->state.studies[run->choice.study].waiting++;
        fill(sim, run->runner);
        free(run);
    }
}

void fleet_sim_run(const struct sim_fleet *fleet, double from_s, double end_s,
                   struct sim_result *result)
{
    struct sim sim = {.fleet = fleet,
                      .arena = arena_new(),
                      .scratch = arena_new(),
                      .from_s = from_s,
                      .random = 88172645463325252,
                      .result = result};
    make_machines(&sim);
    make_studies(&sim);
    sim.last_start =
        arena_alloc(sim.arena, fleet->n_kinds, sizeof *sim.last_start);
    for (size_t i = 0; i < fleet->n_kinds; i++)
        sim.last_start[i] = fleet->kinds[i].from_s;
    look(&sim, 0);
    for (size_t i = 0; i < sim.state.n_runners; i++)
        fill(&sim, i);
    run_until(&sim, end_s);
    sim.now_s = end_s;
    for (size_t i = 0; i < fleet->n_kinds; i++)
        if (fleet->kinds[i].from_s < end_s)
            note_wait(&sim, i);
    for (size_t i = 0; i < sim.n; i++) {
        settle(&sim, sim.heap[i], end_s);
        free(sim.heap[i]);
    }
    arena_free(sim.scratch);
    arena_free(sim.arena);
}
