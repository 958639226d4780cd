#include "tuner/runners/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "proto/doc/diag.h"
#include "proto/doc/json.h"
#include "proto/doc/node.h"
#include "tuner/core/core.h"
#include "tuner/db/fleet.h"
#include "tuner/placement/usage.h"
#include "tuner/runners/can_run.h"
#include "tuner/runners/machine_types.h"

enum {
    USUAL_TRIAL_S = 60, /* before any has ended */
    RECENT_TRIALS = 50  /* that the mean is of, about */
};

/* ---- machines ---- */

static const char *machine_id(struct arena *arena,
                              const struct live_runner *runner)
{
    /* Trials of an elastic runner run elsewhere and take nothing of its own. */
    return runner->rules.machine != NULL && !runner->rules.elastic
               ? runner->rules.machine
               : arena_printf(arena, "runner %s", runner->id);
}

static size_t find_machine(struct placement *state, const char *id)
{
    size_t i = 0;
    while (i < state->n_machines && strcmp(state->machines[i].id, id) != 0)
        i++;
    if (i == state->n_machines)
        state->machines[state->n_machines++] =
            (struct placement_machine){.id = id};
    return i;
}

/* By its id, or the name of one that a runner without its id has. */
static size_t find_gpu(const struct placement_machine *machine, const char *id)
{
    size_t i = 0;
    while (i < machine->n_gpus && strcmp(machine->gpus[i].id, id) != 0)
        i++;
    if (i < machine->n_gpus)
        return i;
    i = 0;
    while (i < machine->n_gpus && strcmp(machine->gpus[i].name, id) != 0)
        i++;
    return i;
}

/* One whose runner knows its number alone, as where nvidia-smi is missing. */
static bool has_only_number(const struct placement_gpu *gpu)
{
    return strcmp(gpu->id, gpu->name) == 0;
}

static size_t find_same(const struct placement_machine *machine,
                        const struct runner_gpu *gpu)
{
    size_t i = find_gpu(machine, gpu->id);
    if (i < machine->n_gpus)
        return i;
    /* Runners may number GPUs differently, where both know their ids. */
    i = find_gpu(machine, gpu->name);
    return i < machine->n_gpus && has_only_number(&machine->gpus[i])
               ? i
               : machine->n_gpus;
}

static size_t add_gpu(struct arena *arena, struct placement_machine *machine,
                      const struct runner_gpu *gpu)
{
    const struct placement_gpu known = {.id = gpu->id,
                                        .name = gpu->name,
                                        .model = gpu->model,
                                        .memory = gpu->memory};
    const size_t i = find_same(machine, gpu);
    if (i == machine->n_gpus) {
        machine->gpus = arena_grow(arena, machine->gpus, machine->n_gpus,
                                   sizeof *machine->gpus);
        machine->gpus[machine->n_gpus++] = known;
    } else if (has_only_number(&machine->gpus[i])) {
        machine->gpus[i] = known;
    }
    return i;
}

/* Names where a runner has said only how many it has. */
static struct runner_gpu gpu_of(struct arena *arena,
                                const struct live_runner *runner, size_t i)
{
    if (i < runner->rules.n_gpus)
        return runner->rules.gpus[i];
    const char *number = arena_printf(arena, "%zu", i);
    return (struct runner_gpu){.name = number, .id = number, .model = ""};
}

static void add_runner(struct fleet *fleet, const struct live_runner *runner)
{
    struct placement *state = &fleet->state;
    struct arena *arena = fleet->arena;
    const size_t at = find_machine(state, machine_id(arena, runner));
    struct placement_machine *machine = &state->machines[at];
    const size_t n = (size_t)runner->gpus;
    size_t *gpus = arena_alloc(arena, n + 1, sizeof *gpus);
    for (size_t i = 0; i < n; i++) {
        const struct runner_gpu gpu = gpu_of(arena, runner, i);
        gpus[i] = add_gpu(arena, machine, &gpu);
    }
    if (runner->slots > machine->slots)
        machine->slots = runner->slots;
    if (runner->rules.cpus > machine->cpus)
        machine->cpus = runner->rules.cpus;
    if (runner->rules.memory > machine->memory)
        machine->memory = runner->rules.memory;
    fleet->runners[state->n_runners] = runner;
    state->runners[state->n_runners++] =
        (struct placement_runner){.name = runner->id,
                                  .engine = runner->engine,
                                  .labels = runner->rules.labels,
                                  .machine = at,
                                  .draining = runner->drain != RUNNER_SERVES,
                                  .elastic = runner->rules.elastic,
                                  .shares_gpus = runner->rules.share_gpus,
                                  .splits_gpus = runner->rules.splits_gpus,
                                  .n_gpus = n,
                                  .gpus = gpus,
                                  .slots = runner->slots,
                                  .free = runner->slots};
}

static void add_runners(struct fleet *fleet)
{
    struct placement *state = &fleet->state;
    struct live_runner *first = live_runners(core_live(fleet->core));
    size_t n = 0;
    for (const struct live_runner *at = first; at != NULL; at = at->next)
        n += at->online;
    state->machines = arena_alloc(fleet->arena, n + 1, sizeof *state->machines);
    state->runners = arena_alloc(fleet->arena, n + 1, sizeof *state->runners);
    fleet->runners = arena_alloc(fleet->arena, n + 1, sizeof(void *));
    for (const struct live_runner *at = first; at != NULL; at = at->next)
        if (at->online)
            add_runner(fleet, at);
}

size_t fleet_find(const struct fleet *fleet, const struct live_runner *runner)
{
    for (size_t i = 0; i < fleet->state.n_runners; i++)
        if (fleet->runners[i] == runner)
            return i;
    return PLACEMENT_NONE;
}

/* It knows best what of its own slots is free. */
void fleet_offer(struct fleet *fleet, size_t runner, int64_t free_slots)
{
    struct placement_runner *at = &fleet->state.runners[runner];
    struct placement_machine *machine = &fleet->state.machines[at->machine];
    const int64_t used = at->slots - at->free;
    at->free = free_slots;
    if (machine->slots < used + free_slots)
        machine->slots = used + free_slots;
}

/* ---- needs ---- */

static void add_replicas(struct arena *arena, struct placement_needs *needs,
                         const struct pool *pool, int64_t whole)
{
    struct placement_replica *replicas =
        arena_alloc(arena, needs->n + (size_t)pool->count, sizeof *replicas);
    if (needs->n > 0)
        memcpy(replicas, needs->replicas, needs->n * sizeof *replicas);
    for (int i = 0; i < pool->count; i++)
        replicas[needs->n++] = (struct placement_replica){
            .whole = whole, .part = pool->gpu_part, .memory = pool->gpu_memory};
    needs->replicas = replicas;
}

static bool asks_for_gpus(const struct pool *pool, int64_t whole)
{
    return whole > 0 || pool->gpu_part > 0 || pool->gpu_memory > 0;
}

/* A machine type's cores and memory are limits, not needs. */
struct placement_needs fleet_needs(struct core *core, struct arena *arena,
                                   const struct job *job)
{
    const struct machine_types *machines = machine_types_now(core);
    struct placement_needs needs = {.engine = job->run_on.engine,
                                    .machine = job->run_on.machine,
                                    .gpu = job->run_on.gpu,
                                    .labels = job->run_on.labels};
    for (size_t i = 0; i < job->n_pools; i++) {
        const struct pool *pool = &job->pools[i];
        const int64_t whole =
            pool->gpu_part > 0 ? 0
                               : machine_types_needs(machines, job, pool).gpus;
        needs.cpus += pool->count * (pool->cpus > 0 ? pool->cpus : job->cpus);
        needs.memory +=
            pool->count *
            (pool->memory_bytes > 0 ? pool->memory_bytes : job->memory_bytes);
        if (asks_for_gpus(pool, whole))
            add_replicas(arena, &needs, pool, whole);
    }
    return needs;
}

/* ---- projects ---- */

static size_t find_project(struct fleet *fleet, const char *name)
{
    struct placement *state = &fleet->state;
    size_t i = 0;
    while (i < state->n_projects && strcmp(state->projects[i].name, name) != 0)
        i++;
    if (i < state->n_projects)
        return i;
    state->projects =
        arena_grow(fleet->arena, state->projects, i, sizeof *state->projects);
    state->projects[state->n_projects++] =
        (struct placement_project){.name = name, .share = 1};
    return i;
}

static double seconds_since(struct core *core, int64_t ms)
{
    return (double)(core_wall_ms(core) - ms) / 1000;
}

static enum ht_status add_projects(struct fleet *fleet, struct ht_error *err)
{
    struct project_list list;
    double trials = 0, ran_s = 0;
    const enum ht_status status =
        db_project_list(core_db(fleet->core), fleet->arena, &list, err);
    if (status != HT_OK)
        return status;
    for (size_t i = 0; i < list.n; i++) {
        trials += list.rows[i].trials;
        ran_s += list.rows[i].trial_s;
    }
    fleet->state.trial_s =
        trials > 0 && ran_s > 0 ? ran_s / trials : USUAL_TRIAL_S;
    fleet->half_life = placement_half_life(fleet->state.trial_s);
    for (size_t i = 0; i < list.n; i++) {
        const struct project_row *row = &list.rows[i];
        const size_t at = find_project(fleet, row->name);
        struct placement_project *project = &fleet->state.projects[at];
        project->share = row->share;
        project->most_slots = row->most_slots;
        project->most_gpus = row->most_gpus;
        project->usage =
            row->usage *
            placement_decay(seconds_since(fleet->core, row->usage_ms),
                            fleet->half_life);
    }
    return HT_OK;
}

/* ---- what attempts take ---- */

static size_t find_runner(const struct fleet *fleet, const char *id)
{
    for (size_t i = 0; i < fleet->state.n_runners; i++)
        if (strcmp(fleet->runners[i]->id, id) == 0)
            return i;
    return PLACEMENT_NONE;
}

static void take_gpus(struct fleet *fleet, struct placement_machine *machine,
                      const char *text)
{
    struct diag diag;
    diag_init(&diag, fleet->arena, "gpus", NULL, 0);
    const struct node *list =
        node_read_json(fleet->arena, text, strlen(text), &diag);
    for (const struct node *item = list != NULL ? list->first : NULL;
         item != NULL; item = item->next) {
        const struct node *gpus = node_find(item, "gpus");
        for (const struct node *gpu = gpus != NULL ? gpus->first : NULL;
             gpu != NULL; gpu = gpu->next) {
            const char *id = node_string(gpu);
            const size_t at =
                id != NULL ? find_gpu(machine, id) : machine->n_gpus;
            if (at == machine->n_gpus)
                continue; /* the runner came back without it */
            machine->gpus[at].used += node_get_double(item, "part", 1);
            machine->gpus[at].memory_used += node_get_int(item, "memory", 0);
        }
    }
}

static void take(struct fleet *fleet, const struct fleet_attempt *attempt,
                 const struct placement_needs *needs)
{
    struct placement *state = &fleet->state;
    const size_t at = find_project(fleet, attempt->project);
    struct placement_project *project = &state->projects[at];
    project->slots++;
    project->gpus += placement_gpus_of(needs);
    project->usage += placement_use(
        placement_weight(needs),
        seconds_since(fleet->core, attempt->created_ms), fleet->half_life);
    const size_t runner = find_runner(fleet, attempt->runner);
    if (runner == PLACEMENT_NONE)
        return;
    struct placement_machine *machine =
        &state->machines[state->runners[runner].machine];
    state->runners[runner].free--;
    machine->slots_used++;
    machine->cpus_used += needs->cpus;
    machine->memory_used += needs->memory;
    take_gpus(fleet, machine, attempt->gpus);
}

static enum ht_status take_all(struct fleet *fleet, struct ht_error *err)
{
    struct fleet_attempt_list *list = &fleet->attempts;
    struct placement_needs needs = {0};
    const struct job *job;
    int64_t study = 0;
    enum ht_status status =
        db_fleet_attempts(core_db(fleet->core), fleet->arena, list, err);
    for (size_t i = 0; status == HT_OK && i < list->n; i++) {
        if (list->rows[i].study != study) {
            status = core_job(fleet->core, list->rows[i].study, &job, err);
            if (status != HT_OK)
                return status;
            needs = fleet_needs(fleet->core, fleet->arena, job);
            study = list->rows[i].study;
        }
        take(fleet, &list->rows[i], &needs);
    }
    return status;
}

/* ---- the whole ---- */

static bool allows(void *context, size_t runner, size_t study, const char **why)
{
    const struct fleet *fleet = context;
    const struct live_runner *at = fleet->runners[runner];
    const struct job *job = fleet->jobs[study];
    struct can_run_lack lack = {0};
    const bool does = can_run_is_for(at, job, &lack) &&
                      can_run_allows(fleet->arena, &at->rules, job, &lack);
    *why = lack.text;
    return does && !can_run_leaves(fleet->core, fleet->arena, at, job);
}

static void read_runners(struct core *core, struct arena *arena,
                         struct fleet *fleet)
{
    *fleet = (struct fleet){.core = core, .arena = arena};
    fleet->state.allows = allows;
    fleet->state.context = fleet;
    add_runners(fleet);
}

enum ht_status fleet_read(struct core *core, struct arena *arena,
                          struct fleet *fleet, struct ht_error *err)
{
    read_runners(core, arena, fleet);
    const enum ht_status status = add_projects(fleet, err);
    return status == HT_OK ? take_all(fleet, err) : status;
}

/* Why an elastic runner cannot have slots for the study, in the words of its
 * cluster; NULL: none says so. */
static const char *refusal_of(const struct fleet *fleet, int64_t study)
{
    for (size_t i = 0; i < fleet->state.n_runners; i++) {
        const struct live_runner *runner = fleet->runners[i];
        for (size_t k = 0; k < runner->n_refusals; k++)
            if (runner->refusals[k].study == study)
                return arena_printf(fleet->arena, "%s: %s", runner->id,
                                    runner->refusals[k].reason);
    }
    return NULL;
}

void fleet_add_study(struct fleet *fleet, const struct study_row *row,
                     const struct job *job, int64_t waiting, int64_t running)
{
    struct placement *state = &fleet->state;
    struct live_study *live = live_study(core_live(fleet->core), row->id);
    const int64_t now_ms = core_now_ms(fleet->core);
    struct placement_needs *needs = arena_alloc(fleet->arena, 1, sizeof *needs);
    *needs = fleet_needs(fleet->core, fleet->arena, job);
    if (live->waits_since_ms == 0 && waiting > 0)
        live->waits_since_ms = now_ms;
    const int64_t since_ms =
        live->waits_since_ms > 0 ? live->waits_since_ms : now_ms;
    const size_t n = state->n_studies;
    state->studies =
        arena_grow(fleet->arena, state->studies, n, sizeof *state->studies);
    fleet->jobs = arena_grow(fleet->arena, fleet->jobs, n, sizeof(void *));
    fleet->jobs[n] = job;
    state->studies[state->n_studies++] =
        (struct placement_study){.id = row->id,
                                 .project = find_project(fleet, row->project),
                                 .priority = job->priority,
                                 .needs = needs,
                                 .waiting = waiting,
                                 .running = running,
                                 .waited_s = (double)(now_ms - since_ms) / 1000,
                                 .refused = refusal_of(fleet, row->id)};
}

bool fleet_has_other(const struct fleet *fleet, size_t study,
                     const char *runner)
{
    const struct placement *state = &fleet->state;
    for (size_t i = 0; i < state->n_runners; i++)
        if (strcmp(fleet->runners[i]->id, runner) != 0 &&
            placement_may_run(state, i, study))
            return true;
    return false;
}

/* A fleet of the runners alone, with that study. */
static void read_for(struct core *core, struct arena *arena,
                     const struct job **job, struct placement_study *study,
                     struct placement_needs *needs, struct fleet *fleet)
{
    *needs = fleet_needs(core, arena, *job);
    *study = (struct placement_study){.needs = needs, .waiting = 1};
    read_runners(core, arena, fleet);
    fleet->state.studies = study;
    fleet->state.n_studies = 1;
    fleet->jobs = job;
}

bool fleet_is_elastic(struct core *core)
{
    const struct live_runner *runner = live_runners(core_live(core));
    while (runner != NULL && !(runner->online && runner->rules.elastic))
        runner = runner->next;
    return runner != NULL;
}

struct fleet_serving fleet_find_serving(struct core *core, struct arena *arena,
                                        const struct job *job)
{
    struct fleet fleet;
    struct placement_study study;
    struct placement_needs needs;
    struct fleet_serving serving = {0};
    read_for(core, arena, &job, &study, &needs, &fleet);
    const struct placement *state = &fleet.state;
    bool *counted = arena_alloc(arena, state->n_machines + 1, sizeof *counted);
    serving.elastic = arena_alloc(arena, state->n_runners + 1, sizeof(void *));
    for (size_t i = 0; i < state->n_runners; i++) {
        const size_t machine = state->runners[i].machine;
        if (!placement_may_run(state, i, 0))
            continue;
        if (state->runners[i].elastic)
            serving.elastic[serving.n_elastic++] = fleet.runners[i];
        else if (!counted[machine])
            serving.slots += state->machines[machine].slots;
        counted[machine] = true;
    }
    return serving;
}

/* What the rules of all runners forbid, can_run_check() has said. */
void fleet_check(struct core *core, const struct job *job,
                 struct diag *warnings)
{
    struct fleet fleet;
    struct arena *arena = warnings->arena;
    struct placement_needs needs;
    struct placement_study study;
    const char *why;
    size_t allowed = 0;
    read_for(core, arena, &job, &study, &needs, &fleet);
    for (size_t i = 0; i < fleet.state.n_runners; i++)
        allowed += allows(&fleet, i, 0, &why);
    if (job->kind != JOB_STUDY && allowed > 0 &&
        !fleet_has_other(&fleet, 0, ""))
        diag_warning(warnings, 0, 0, "", "no trial can begin yet: %s",
                     placement_reason(&fleet.state, arena, 0));
}

/* ---- a choice ---- */

const char *fleet_gpus_text(const struct fleet *fleet, size_t runner,
                            const struct placement_choice *choice)
{
    const struct placement_needs *needs =
        fleet->state.studies[choice->study].needs;
    const struct placement_machine *machine =
        &fleet->state.machines[fleet->state.runners[runner].machine];
    if (needs->n == 0)
        return "";
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < needs->n; i++) {
        cJSON *item = json_push_object(list);
        cJSON *gpus = json_add_array(item, "gpus");
        for (size_t k = 0; k < choice->replicas[i].n; k++)
            json_push_string(gpus,
                             machine->gpus[choice->replicas[i].gpus[k]].id);
        json_add_double(item, "part",
                        needs->replicas[i].whole > 0 ? 1
                                                     : needs->replicas[i].part);
        json_add_int(item, "memory", needs->replicas[i].memory);
    }
    return json_text(fleet->arena, list);
}

/* The place of the replica among the ones that ask for GPUs; PLACEMENT_NONE: it
 * does not. */
static size_t place_of(const struct fleet *fleet, const struct job *job,
                       size_t replica)
{
    const struct machine_types *machines = machine_types_now(fleet->core);
    size_t first = 0, asking = 0;
    for (size_t i = 0; i < job->n_pools; i++) {
        const struct pool *pool = &job->pools[i];
        const size_t count = (size_t)pool->count;
        const bool asks =
            asks_for_gpus(pool, machine_types_needs(machines, job, pool).gpus);
        if (replica < first + count)
            return asks ? asking + replica - first : PLACEMENT_NONE;
        first += count;
        asking += asks ? count : 0;
    }
    return PLACEMENT_NONE;
}

struct strings fleet_gpu_names(const struct fleet *fleet, size_t runner,
                               const struct placement_choice *choice,
                               size_t replica)
{
    const size_t place = place_of(fleet, fleet->jobs[choice->study], replica);
    if (place == PLACEMENT_NONE)
        return (struct strings){0};
    const struct placement_runner *at = &fleet->state.runners[runner];
    const struct placement_gpus *chosen = &choice->replicas[place];
    const char **names =
        arena_alloc(fleet->arena, chosen->n + 1, sizeof *names);
    for (size_t k = 0; k < chosen->n; k++)
        for (size_t i = 0; i < at->n_gpus; i++)
            if (at->gpus[i] == chosen->gpus[k])
                names[k] = gpu_of(fleet->arena, fleet->runners[runner], i).name;
    return (struct strings){.n = chosen->n, .items = names};
}

/* ---- use ---- */

static enum ht_status note_use(struct core *core, struct arena *arena,
                               const struct attempt_row *attempt,
                               struct ht_error *err)
{
    struct db *db = core_db(core);
    struct study_row study;
    struct project_row project;
    const struct job *job;
    enum ht_status status =
        db_study_get(db, arena, attempt->study, &study, err);
    if (status == HT_OK)
        status = live_job(core_live(core), &study, &job, err);
    if (status == HT_OK)
        status = db_project_get(db, arena, study.project, &project, err);
    if (status != HT_OK)
        return status;
    const struct placement_needs needs = fleet_needs(core, arena, job);
    const double ran_s = seconds_since(core, attempt->created_ms);
    const double half_life = placement_half_life(
        project.trials > 0 ? project.trial_s / project.trials : USUAL_TRIAL_S);
    project.usage =
        project.usage *
            placement_decay(seconds_since(core, project.usage_ms), half_life) +
        placement_use(placement_weight(&needs), ran_s, half_life);
    project.usage_ms = core_wall_ms(core);
    const double keep = 1 - 1.0 / RECENT_TRIALS;
    project.trials = project.trials * keep + 1;
    project.trial_s = project.trial_s * keep + (ran_s > 0 ? ran_s : 0);
    return db_project_save(db, &project, err);
}

enum ht_status fleet_note_end(struct core *core,
                              const struct attempt_row *attempt,
                              struct ht_error *err)
{
    struct arena *arena = arena_new();
    const enum ht_status status = note_use(core, arena, attempt, err);
    arena_free(arena);
    return status;
}
