#include "tuner/placement/fit.h"

#include <ctype.h>
#include <string.h>

/* Parts such as 0.1 add up to 1 in binary only about. */
static const double slack = 1e-9;

static const struct placement_machine *machine_of(const struct placement *state,
                                                  size_t runner)
{
    return &state->machines[state->runners[runner].machine];
}

/* ---- what a runner is ---- */

bool fit_is_model(const char *model, const char *wanted)
{
    const size_t len = strlen(wanted);
    for (; *model != '\0'; model++) {
        size_t i = 0;
        while (i < len && tolower((unsigned char)model[i]) ==
                              tolower((unsigned char)wanted[i]))
            i++;
        if (i == len)
            return true;
    }
    return len == 0;
}

static bool has_label(const struct pairs *labels, const struct pair *wanted)
{
    for (size_t i = 0; i < labels->n; i++)
        if (strcmp(labels->items[i].name, wanted->name) == 0 &&
            strcmp(labels->items[i].value, wanted->value) == 0)
            return true;
    return false;
}

static bool has_labels(const struct pairs *labels, const struct pairs *wanted)
{
    for (size_t i = 0; i < wanted->n; i++)
        if (!has_label(labels, &wanted->items[i]))
            return false;
    return true;
}

/* ---- what a machine has ---- */

static bool is_wanted(const struct placement_gpu *gpu,
                      const struct placement_needs *needs)
{
    return needs->gpu == NULL || fit_is_model(gpu->model, needs->gpu);
}

static size_t count_gpus(const struct placement *state, size_t runner,
                         const struct placement_needs *needs, int64_t memory)
{
    const struct placement_runner *at = &state->runners[runner];
    const struct placement_machine *machine = machine_of(state, runner);
    size_t n = 0;
    for (size_t i = 0; i < at->n_gpus; i++)
        n += is_wanted(&machine->gpus[at->gpus[i]], needs) &&
             machine->gpus[at->gpus[i]].memory >= memory;
    return n;
}

static int64_t most_memory(const struct placement_needs *needs)
{
    int64_t most = 0;
    for (size_t i = 0; i < needs->n; i++)
        if (needs->replicas[i].memory > most)
            most = needs->replicas[i].memory;
    return most;
}

size_t fit_count_gpus(const struct placement *state, size_t runner,
                      const struct placement_needs *needs)
{
    return count_gpus(state, runner, needs, most_memory(needs));
}

/* Parts need GPUs as well, but how many depends on how they pack. */
static enum fit_runner suits_gpus(const struct placement *state, size_t runner,
                                  const struct placement_needs *needs)
{
    int64_t whole = 0;
    bool parts = false;
    for (size_t i = 0; i < needs->n; i++) {
        whole += needs->replicas[i].whole;
        parts |= needs->replicas[i].whole == 0;
    }
    const int64_t asked = whole + (parts && whole == 0);
    if (asked == 0 && needs->gpu == NULL)
        return FIT_SUITS;
    if (needs->gpu != NULL && count_gpus(state, runner, needs, 0) == 0)
        return FIT_MODEL;
    const size_t has = fit_count_gpus(state, runner, needs);
    if (has == 0 && most_memory(needs) > 0)
        return FIT_MEMORY;
    if (parts && !state->runners[runner].splits_gpus)
        return FIT_PARTS;
    return (int64_t)has < asked ? FIT_GPUS : FIT_SUITS;
}

enum fit_runner fit_suits(const struct placement *state, size_t runner,
                          const struct placement_needs *needs)
{
    const struct placement_runner *at = &state->runners[runner];
    const char *machine = state->machines[at->machine].id;
    if (needs->engine != NULL && strcmp(needs->engine, at->engine) != 0)
        return FIT_ENGINE;
    if (needs->machine != NULL && strcmp(needs->machine, machine) != 0 &&
        strcmp(needs->machine, at->name) != 0)
        return FIT_MACHINE;
    if (!has_labels(&at->labels, &needs->labels))
        return FIT_LABEL;
    const enum fit_runner gpus =
        at->elastic ? FIT_SUITS : suits_gpus(state, runner, needs);
    if (gpus != FIT_SUITS)
        return gpus;
    return at->draining ? FIT_DRAINS : FIT_SUITS;
}

bool fit_is_large_enough(const struct placement_machine *machine,
                         const struct placement_needs *needs)
{
    return (machine->cpus <= 0 || needs->cpus <= machine->cpus) &&
           (machine->memory <= 0 || needs->memory <= machine->memory);
}

/* ---- what is free ---- */

/* What no machine has is not waited for: the trial runs with what there is,
 * alone among the ones that ask. */
static bool has_room(const struct placement_machine *machine,
                     const struct placement_needs *needs,
                     const struct fit_reserved *reserved)
{
    const double cpus = machine->cpus_used + reserved->cpus;
    const int64_t memory = machine->memory_used + reserved->memory;
    const bool cpus_fit = machine->cpus <= 0 || needs->cpus <= 0 || cpus <= 0 ||
                          cpus + needs->cpus <= machine->cpus + slack;
    const bool memory_fits = machine->memory <= 0 || needs->memory == 0 ||
                             memory == 0 ||
                             needs->memory <= machine->memory - memory;
    return machine->slots_used < machine->slots && cpus_fit && memory_fits;
}

static bool gpu_has_room(const struct placement_gpu *gpu, double part,
                         int64_t memory, bool shared)
{
    if (memory > 0 && memory > gpu->memory - (shared ? 0 : gpu->memory_used))
        return false;
    return shared ||
           (part >= 1 ? gpu->used <= slack && gpu->memory_used == 0
                      : gpu->used + part <= 1 + slack && gpu->used < 1 - slack);
}

/* Copies of the machine's GPUs, as earlier replicas of the trial leave them. */
struct packing {
    const struct placement_runner *at;
    const struct placement_needs *needs;
    struct placement_gpu *gpus;
    bool *own; /* whole ones of the trial */
};

/* The GPU for one whole or part: the fullest that has room, so that whole ones
 * stay free; where a runner shares all, the emptiest. */
static size_t find_gpu(const struct packing *packing, double part,
                       int64_t memory)
{
    const struct placement_runner *at = packing->at;
    const struct placement_gpu *gpus = packing->gpus;
    size_t best = PLACEMENT_NONE;
    for (size_t i = 0; i < at->n_gpus; i++) {
        const struct placement_gpu *gpu = &gpus[at->gpus[i]];
        if (packing->own[at->gpus[i]] || !is_wanted(gpu, packing->needs) ||
            !gpu_has_room(gpu, part, memory, at->shares_gpus))
            continue;
        if (best == PLACEMENT_NONE ||
            (at->shares_gpus ? gpu->used < gpus[best].used
                             : gpu->used > gpus[best].used))
            best = at->gpus[i];
    }
    return best;
}

static struct packing begin_packing(const struct placement *state,
                                    struct arena *arena, size_t runner,
                                    const struct placement_needs *needs)
{
    const struct placement_machine *machine = machine_of(state, runner);
    const struct packing packing = {
        .at = &state->runners[runner],
        .needs = needs,
        .gpus = arena_alloc(arena, machine->n_gpus + 1, sizeof *packing.gpus),
        .own = arena_alloc(arena, machine->n_gpus + 1, sizeof *packing.own)};
    if (machine->n_gpus > 0)
        memcpy(packing.gpus, machine->gpus,
               machine->n_gpus * sizeof *packing.gpus);
    return packing;
}

/* How many found a GPU; all that are asked for when every replica did. */
static size_t place_gpus(const struct placement *state, struct arena *arena,
                         size_t runner, const struct placement_needs *needs,
                         struct placement_gpus *out)
{
    const struct packing packing = begin_packing(state, arena, runner, needs);
    size_t found = 0;
    for (size_t i = 0; i < needs->n; i++) {
        const struct placement_replica *replica = &needs->replicas[i];
        const bool whole = replica->whole > 0;
        const size_t n = whole ? (size_t)replica->whole : 1;
        const double part = whole ? 1 : replica->part;
        size_t *own = arena_alloc(arena, n, sizeof *own);
        for (size_t k = 0; k < n; k++) {
            own[k] = find_gpu(&packing, part, replica->memory);
            if (own[k] == PLACEMENT_NONE)
                return found;
            packing.gpus[own[k]].used += part;
            packing.gpus[own[k]].memory_used += replica->memory;
            packing.own[own[k]] = whole;
            found++;
        }
        out[i] = (struct placement_gpus){.n = n, .gpus = own};
    }
    return found;
}

static size_t count_asked(const struct placement_needs *needs)
{
    size_t n = 0;
    for (size_t i = 0; i < needs->n; i++)
        n +=
            needs->replicas[i].whole > 0 ? (size_t)needs->replicas[i].whole : 1;
    return n;
}

bool fit_now(const struct placement *state, struct arena *arena, size_t runner,
             const struct placement_needs *needs,
             const struct fit_reserved *reserved,
             const struct placement_gpus **gpus)
{
    const bool elastic = state->runners[runner].elastic;
    if (!elastic && (state->runners[runner].free <= 0 ||
                     !has_room(machine_of(state, runner), needs, reserved)))
        return false;
    *gpus = NULL;
    if (needs->n == 0)
        return true;
    if (!elastic && reserved->gpus)
        return false;
    struct placement_gpus *out = arena_alloc(arena, needs->n, sizeof *out);
    *gpus = out;
    return elastic ||
           place_gpus(state, arena, runner, needs, out) == count_asked(needs);
}

/* 0 to 1: how much of `all` is missing for `needed` beside `used`. */
static double share_lacking(double needed, double used, double all)
{
    const double missing =
        needed > 0 && all > 0 && used > 0 ? (used + needed - all) / all : 0;
    return missing > slack ? missing : 0;
}

double fit_lacks(const struct placement *state, struct arena *arena,
                 size_t runner, const struct placement_needs *needs)
{
    const struct placement_machine *machine = machine_of(state, runner);
    if (state->runners[runner].elastic)
        return 0;
    double lacks =
        machine->slots_used < machine->slots && state->runners[runner].free > 0
            ? 0
            : 1;
    lacks += share_lacking(needs->cpus, machine->cpus_used, machine->cpus);
    lacks += share_lacking((double)needs->memory, (double)machine->memory_used,
                           (double)machine->memory);
    if (needs->n == 0)
        return lacks;
    struct placement_gpus *out = arena_alloc(arena, needs->n, sizeof *out);
    lacks += (double)(count_asked(needs) -
                      place_gpus(state, arena, runner, needs, out));
    return lacks;
}
