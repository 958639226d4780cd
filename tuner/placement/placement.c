#include "tuner/placement/placement.h"

#include <stdlib.h>

#include "tuner/placement/fit.h"

/* ---- counts ---- */

double placement_gpus_of(const struct placement_needs *needs)
{
    double n = 0;
    for (size_t i = 0; i < needs->n; i++)
        n += needs->replicas[i].whole > 0 ? (double)needs->replicas[i].whole
                                          : needs->replicas[i].part;
    return n;
}

double placement_weight(const struct placement_needs *needs)
{
    return 1 + PLACEMENT_GPU_SLOTS * placement_gpus_of(needs);
}

/* `sign` 1: it begins, -1: it ends. */
static void count(struct placement *state, size_t runner,
                  const struct placement_choice *choice, int sign)
{
    struct placement_study *study = &state->studies[choice->study];
    struct placement_project *project = &state->projects[study->project];
    struct placement_machine *machine =
        &state->machines[state->runners[runner].machine];
    const struct placement_needs *needs = study->needs;
    study->running += sign;
    project->slots += sign;
    project->gpus += sign * placement_gpus_of(needs);
    machine->slots_used += sign;
    machine->cpus_used += sign * needs->cpus;
    machine->memory_used += sign * needs->memory;
    state->runners[runner].free -= sign;
    for (size_t i = 0; i < needs->n; i++) {
        const struct placement_replica *replica = &needs->replicas[i];
        for (size_t k = 0; k < choice->replicas[i].n; k++) {
            struct placement_gpu *gpu =
                &machine->gpus[choice->replicas[i].gpus[k]];
            gpu->used += sign * (replica->whole > 0 ? 1 : replica->part);
            gpu->memory_used += sign * replica->memory;
        }
    }
}

void placement_begin(struct placement *state, size_t runner,
                     const struct placement_choice *choice)
{
    state->studies[choice->study].waiting--;
    count(state, runner, choice, 1);
}

void placement_end(struct placement *state, size_t runner,
                   const struct placement_choice *choice)
{
    count(state, runner, choice, -1);
}

/* ---- turns ---- */

struct turn {
    double claim;
    size_t project, study;
    int64_t priority, running, id;
};

static double claim_of(const struct placement *state,
                       const struct placement_project *project)
{
    const double running =
        (double)project->slots + PLACEMENT_GPU_SLOTS * project->gpus;
    return (project->usage + running * state->trial_s) / project->share;
}

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_turns(const void *left, const void *right)
{
    const struct turn *a = left, *b = right;
    if (a->claim != b->claim)
        return a->claim < b->claim ? -1 : 1;
    if (a->project != b->project)
        return a->project < b->project ? -1 : 1;
    if (a->priority != b->priority)
        return order(b->priority, a->priority);
    return a->running != b->running ? order(a->running, b->running)
                                    : order(a->id, b->id);
}

bool placement_has_quota(const struct placement_project *project,
                         const struct placement_needs *needs)
{
    return (project->most_slots == 0 || project->slots < project->most_slots) &&
           (project->most_gpus <= 0 || needs->n == 0 ||
            project->gpus + placement_gpus_of(needs) <=
                project->most_gpus + 1e-9);
}

static int64_t room_for(double most, double used, double each)
{
    const double room = (most - used + 1e-9) / each;
    return room > 0 ? (int64_t)room : 0;
}

int64_t placement_quota(const struct placement_project *project,
                        const struct placement_needs *needs)
{
    int64_t n = INT64_MAX;
    if (project->most_slots > 0)
        n = room_for((double)project->most_slots, (double)project->slots, 1);
    const double gpus = placement_gpus_of(needs);
    if (project->most_gpus <= 0 || gpus <= 0)
        return n;
    const int64_t by_gpus = room_for(project->most_gpus, project->gpus, gpus);
    return by_gpus < n ? by_gpus : n;
}

static struct turn *list_turns(const struct placement *state,
                               struct arena *arena, size_t *n)
{
    struct turn *turns =
        arena_alloc(arena, state->n_studies + 1, sizeof *turns);
    *n = 0;
    for (size_t i = 0; i < state->n_studies; i++) {
        const struct placement_study *study = &state->studies[i];
        const struct placement_project *project =
            &state->projects[study->project];
        if (study->waiting > 0 && placement_has_quota(project, study->needs))
            turns[(*n)++] = (struct turn){.claim = claim_of(state, project),
                                          .project = study->project,
                                          .study = i,
                                          .priority = study->priority,
                                          .running = study->running,
                                          .id = study->id};
    }
    qsort(turns, *n, sizeof *turns, compare_turns);
    return turns;
}

/* ---- where a study may run ---- */

bool placement_may_run(const struct placement *state, size_t runner,
                       size_t study)
{
    const char *why;
    return fit_suits(state, runner, state->studies[study].needs) == FIT_SUITS &&
           (state->allows == NULL ||
            state->allows(state->context, runner, study, &why));
}

static bool is_large_enough(const struct placement *state, size_t runner,
                            size_t study)
{
    return fit_is_large_enough(&state->machines[state->runners[runner].machine],
                               state->studies[study].needs);
}

/* A machine that has less than the trial asks for is left alone while another
 * one has it. */
static bool is_left(const struct placement *state, size_t runner, size_t study)
{
    if (is_large_enough(state, runner, study))
        return false;
    for (size_t i = 0; i < state->n_runners; i++)
        if (i != runner && is_large_enough(state, i, study) &&
            placement_may_run(state, i, study))
            return true;
    return false;
}

/* Whether no other machine lacks less for a trial of the study. */
static bool waits_here(const struct placement *state, struct arena *arena,
                       size_t runner, size_t study)
{
    const struct placement_needs *needs = state->studies[study].needs;
    const size_t machine = state->runners[runner].machine;
    const double here = fit_lacks(state, arena, runner, needs);
    for (size_t i = 0; i < state->n_runners; i++) {
        const size_t other = state->runners[i].machine;
        if (other == machine || !placement_may_run(state, i, study))
            continue;
        const double there = fit_lacks(state, arena, i, needs);
        if (there < here || (there == here && other < machine))
            return false;
    }
    return true;
}

/* ---- reserving ---- */

static const struct fit_reserved nothing;

static bool could_start(const struct placement *state, struct arena *arena,
                        size_t runner, size_t study)
{
    const struct placement_gpus *gpus;
    return placement_may_run(state, runner, study) &&
           fit_now(state, arena, runner, state->studies[study].needs, &nothing,
                   &gpus);
}

static bool asks_for_more(const struct placement_needs *needs)
{
    return needs->n > 0 || needs->cpus > 0 || needs->memory > 0;
}

/* Whether the project's turn is now, or would be but for one such trial. */
static bool is_near(const struct placement *state, const struct turn *turns,
                    const struct turn *turn)
{
    const double own =
        placement_weight(state->studies[turn->study].needs) * state->trial_s;
    return turn->claim - own / state->projects[turn->project].share <=
           turns[0].claim;
}

static void reserve(struct fit_reserved *reserved,
                    const struct placement_needs *needs)
{
    reserved->cpus += needs->cpus;
    reserved->memory += needs->memory;
    reserved->gpus |= needs->n > 0;
}

/* Whether the study may start here now, or asks for more than is free and
 * waits for it here. */
static bool stays_here(const struct placement *state, struct arena *arena,
                       size_t runner, size_t study)
{
    return placement_may_run(state, runner, study) &&
           !is_left(state, runner, study) &&
           (could_start(state, arena, runner, study) ||
            (asks_for_more(state->studies[study].needs) &&
             waits_here(state, arena, runner, study)));
}

/* Of the projects' first studies that stay here, among the ones that ask for
 * more than a slot and are near their turn, the one that waits for the longest
 * time; by index of its turn, n: there is none. */
static size_t find_asking(const struct placement *state, struct arena *arena,
                          const struct turn *turns, size_t n, size_t runner)
{
    size_t best = n, settled = PLACEMENT_NONE; /* the project that has one */
    double most = -1;
    for (size_t i = 0; i < n; i++) {
        const struct placement_study *study = &state->studies[turns[i].study];
        if (turns[i].project == settled ||
            !stays_here(state, arena, runner, turns[i].study))
            continue;
        settled = turns[i].project;
        if (study->waited_s > most && asks_for_more(study->needs) &&
            is_near(state, turns, &turns[i])) {
            best = i;
            most = study->waited_s;
        }
    }
    return best;
}

/* ---- choosing ---- */

static bool takes(const struct placement *state, struct arena *arena,
                  size_t runner, size_t study,
                  const struct fit_reserved *reserved,
                  struct placement_choice *choice)
{
    const struct placement_needs *needs = state->studies[study].needs;
    if (!placement_may_run(state, runner, study) ||
        is_left(state, runner, study) ||
        !fit_now(state, arena, runner, needs, reserved, &choice->replicas))
        return false;
    choice->study = study;
    return true;
}

struct placement_choice placement_next(const struct placement *state,
                                       struct arena *arena, size_t runner)
{
    struct placement_choice choice = {.study = PLACEMENT_NONE};
    struct fit_reserved reserved = {0};
    size_t n;
    if (state->runners[runner].draining || state->runners[runner].elastic ||
        state->runners[runner].free <= 0)
        return choice;
    const struct turn *turns = list_turns(state, arena, &n);
    const size_t asking = find_asking(state, arena, turns, n, runner);
    if (asking < n &&
        takes(state, arena, runner, turns[asking].study, &reserved, &choice))
        return choice;
    if (asking < n)
        reserve(&reserved, state->studies[turns[asking].study].needs);
    for (size_t i = 0; i < n; i++)
        if (i != asking &&
            takes(state, arena, runner, turns[i].study, &reserved, &choice))
            return choice;
    return choice;
}

static bool could_take(const struct placement *state, struct arena *arena,
                       size_t runner, size_t study,
                       struct placement_choice *choice)
{
    return !state->runners[runner].elastic &&
           takes(state, arena, runner, study, &nothing, choice);
}

int64_t placement_startable(struct placement *state, struct arena *arena,
                            size_t study, int64_t most)
{
    struct placement_choice *choices = NULL;
    size_t *runners = NULL, n = 0;
    for (size_t i = 0; i < state->n_runners; i++) {
        struct placement_choice choice;
        while ((int64_t)n < most &&
               could_take(state, arena, i, study, &choice)) {
            choices = arena_grow(arena, choices, n, sizeof *choices);
            runners = arena_grow(arena, runners, n, sizeof *runners);
            choices[n] = choice;
            runners[n++] = i;
            count(state, i, &choice, 1);
        }
    }
    for (size_t i = n; i-- > 0;)
        count(state, runners[i], &choices[i], -1);
    return (int64_t)n;
}

struct placement_choice placement_next_of(const struct placement *state,
                                          struct arena *arena, size_t runner,
                                          size_t study)
{
    struct placement_choice choice = {.study = PLACEMENT_NONE};
    const struct placement_study *row = &state->studies[study];
    if (row->waiting > 0 && state->runners[runner].elastic &&
        placement_may_run(state, runner, study) &&
        placement_has_quota(&state->projects[row->project], row->needs) &&
        fit_now(state, arena, runner, row->needs, &nothing, &choice.replicas))
        choice.study = study;
    return choice;
}
