/* reason.c - why trials of a study wait, in words. */

#include <string.h>

#include "tuner/placement/fit.h"

/* Of the runners that rules allow. */
struct survey {
    size_t n;                  /* runners */
    size_t of[FIT_DRAINS + 1]; /* by what keeps them from it */
    size_t gpus, gpus_used;    /* of the ones that suit, as asked for */
    int64_t slots;             /* of all runners */
    size_t most_gpus;          /* that one has of what is asked for */
    struct text draining;      /* their names */
    const char *refusal;       /* the first rule that forbids one */
    const char *elastic;       /* name of the first such one that suits */
};

static bool gives(const struct placement_runner *runner, size_t machine,
                  size_t gpu)
{
    for (size_t i = 0; runner->machine == machine && i < runner->n_gpus; i++)
        if (runner->gpus[i] == gpu)
            return true;
    return false;
}

/* One that several runners give counts at the first of them. */
static bool is_counted(const struct placement *state, size_t runner, size_t gpu,
                       const struct placement_needs *needs)
{
    const size_t machine = state->runners[runner].machine;
    for (size_t i = 0; i < runner; i++)
        if (gives(&state->runners[i], machine, gpu) &&
            fit_suits(state, i, needs) == FIT_SUITS)
            return true;
    return false;
}

static void add_gpus(const struct placement *state, size_t runner,
                     const struct placement_needs *needs, struct survey *survey)
{
    const struct placement_runner *at = &state->runners[runner];
    const struct placement_machine *machine = &state->machines[at->machine];
    for (size_t i = 0; i < at->n_gpus; i++) {
        const struct placement_gpu *gpu = &machine->gpus[at->gpus[i]];
        if (is_counted(state, runner, at->gpus[i], needs) ||
            (needs->gpu != NULL && !fit_is_model(gpu->model, needs->gpu)))
            continue;
        survey->gpus++;
        survey->gpus_used += gpu->used > 0 || gpu->memory_used > 0;
    }
}

static void look_at(const struct placement *state, size_t runner, size_t study,
                    struct survey *survey)
{
    const struct placement_needs *needs = state->studies[study].needs;
    const char *why = NULL;
    if (state->allows != NULL &&
        !state->allows(state->context, runner, study, &why)) {
        if (survey->refusal == NULL)
            survey->refusal = why;
        return;
    }
    const enum fit_runner fit = fit_suits(state, runner, needs);
    survey->n++;
    survey->of[fit]++;
    const size_t has = fit_count_gpus(state, runner, needs);
    if (has > survey->most_gpus)
        survey->most_gpus = has;
    if (fit == FIT_SUITS)
        add_gpus(state, runner, needs, survey);
    if (fit == FIT_SUITS && state->runners[runner].elastic &&
        survey->elastic == NULL)
        survey->elastic = state->runners[runner].name;
    if (fit == FIT_DRAINS)
        text_printf(&survey->draining, "%s%s",
                    survey->draining.len > 0 ? " and " : "",
                    state->runners[runner].name);
}

/* Machines with several runners have their slots once. */
static int64_t count_slots(const struct placement *state)
{
    int64_t slots = 0;
    for (size_t i = 0; i < state->n_machines; i++)
        slots += state->machines[i].slots;
    return slots;
}

static const char *labels_of(struct arena *arena, const struct pairs *labels)
{
    struct text out = {0};
    for (size_t i = 0; i < labels->n; i++)
        text_printf(&out, "%s%s=%s", i > 0 ? ", " : "", labels->items[i].name,
                    labels->items[i].value);
    return text_take(&out, arena);
}

/* What is asked for of GPUs: "an a100 with 10 GiB". */
static const char *gpu_words(struct arena *arena,
                             const struct placement_needs *needs)
{
    const char *name = needs->gpu != NULL ? needs->gpu : "GPU";
    int64_t memory = 0;
    for (size_t i = 0; i < needs->n; i++)
        if (needs->replicas[i].memory > memory)
            memory = needs->replicas[i].memory;
    const bool vowel = strchr("aeiouAEIOU", name[0]) != NULL;
    const char *article = vowel ? "an" : "a";
    if (memory == 0)
        return arena_printf(arena, "%s %s", article, name);
    return arena_printf(arena, "%s %s with %.3g GiB", article, name,
                        (double)memory / (1024.0 * 1024 * 1024));
}

/* Where no runner suits: what most of them lack, checked in this order. */
static const char *nowhere(const struct placement *state, struct arena *arena,
                           size_t study, const struct survey *survey)
{
    const struct placement_needs *needs = state->studies[study].needs;
    const double gpus = placement_gpus_of(needs);
    if (survey->of[FIT_DRAINS] > 0)
        return arena_printf(arena, "%s %s draining", survey->draining.data,
                            survey->of[FIT_DRAINS] > 1 ? "are" : "is");
    if (survey->of[FIT_GPUS] > 0 && needs->gpu == NULL)
        return arena_printf(arena,
                            "each needs %g GPU%s, no runner has more than %zu",
                            gpus, gpus == 1 ? "" : "s", survey->most_gpus);
    if (survey->of[FIT_GPUS] > 0)
        return arena_printf(arena,
                            "each needs %g of %s, no runner has more than %zu",
                            gpus, needs->gpu, survey->most_gpus);
    if (survey->of[FIT_PARTS] > 0)
        return "no runner that may run them can give a part of a GPU";
    if (survey->of[FIT_MEMORY] + survey->of[FIT_MODEL] > 0)
        return arena_printf(arena, "no runner has %s", gpu_words(arena, needs));
    if (survey->of[FIT_LABEL] > 0)
        return arena_printf(arena, "no runner has the label %s",
                            labels_of(arena, &needs->labels));
    if (survey->of[FIT_MACHINE] > 0)
        return arena_printf(arena, "no runner on the machine %s is connected",
                            needs->machine);
    return arena_printf(arena, "no runner with the engine %s is connected",
                        needs->engine);
}

static const char *quota_words(struct arena *arena,
                               const struct placement_project *project,
                               const struct placement_needs *needs)
{
    if (project->most_slots > 0 && project->slots >= project->most_slots)
        return arena_printf(arena, "project %s has all its %lld slots",
                            project->name, (long long)project->most_slots);
    if (project->most_gpus > 0 && needs->n > 0 &&
        project->gpus + placement_gpus_of(needs) > project->most_gpus + 1e-9)
        return arena_printf(arena, "project %s has %g of its %g GPUs",
                            project->name, project->gpus, project->most_gpus);
    return NULL;
}

/* Some runner suits, so they wait for others to end. */
static const char *full(const struct placement *state, struct arena *arena,
                        size_t study, const struct survey *survey)
{
    const struct placement_study *row = &state->studies[study];
    const struct placement_needs *needs = row->needs;
    const char *quota =
        quota_words(arena, &state->projects[row->project], needs);
    if (quota != NULL)
        return quota;
    if (survey->elastic != NULL)
        return row->refused != NULL
                   ? row->refused
                   : arena_printf(arena, "for slots of %s", survey->elastic);
    if (needs->n == 0 && needs->gpu == NULL)
        return arena_printf(arena, "%lld slots", (long long)survey->slots);
    if (needs->gpu == NULL)
        return arena_printf(arena, "%lld slots, %zu GPU%s",
                            (long long)survey->slots, survey->gpus,
                            survey->gpus == 1 ? "" : "s");
    return arena_printf(arena, "for %s, %zu of %zu in use",
                        gpu_words(arena, needs), survey->gpus_used,
                        survey->gpus);
}

const char *placement_reason(const struct placement *state, struct arena *arena,
                             size_t study)
{
    struct survey survey = {.slots = count_slots(state)};
    for (size_t i = 0; i < state->n_runners; i++)
        look_at(state, i, study, &survey);
    const char *words = "no runner is connected";
    if (survey.n == 0 && survey.refusal != NULL)
        words = survey.refusal;
    else if (survey.n > 0 && survey.of[FIT_SUITS] == 0)
        words = nowhere(state, arena, study, &survey);
    else if (survey.n > 0)
        words = full(state, arena, study, &survey);
    if (survey.of[FIT_SUITS] > 0 && survey.of[FIT_DRAINS] > 0)
        words = arena_printf(arena, "%s; %s %s draining", words,
                             survey.draining.data,
                             survey.of[FIT_DRAINS] > 1 ? "are" : "is");
    text_free(&survey.draining);
    return words;
}
