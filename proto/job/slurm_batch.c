/* slurm_batch.c - the batch job that asks for a study's slots. */

#include "proto/job/slurm.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MINUTE_MS = 60000, SECOND_MS = 1000, MOST_SIGNAL_S = 65535 };

#define MIB (INT64_C(1) << 20)

/* ---- options ---- */

struct options {
    struct arena *arena;
    size_t n;
    struct slurm_option *items;
};

/* The last one of a name is the only one: sbatch takes it so, and slurmrestd
 * has one field for each. */
static void put(struct options *options, const char *name, const char *value)
{
    size_t n = 0;
    for (size_t i = 0; i < options->n; i++)
        if (strcmp(options->items[i].name, name) != 0)
            options->items[n++] = options->items[i];
    options->items =
        arena_grow(options->arena, options->items, n, sizeof *options->items);
    options->items[n] = (struct slurm_option){name, value};
    options->n = n + 1;
}

static void put_text(struct options *options, const char *name,
                     const char *value)
{
    if (value != NULL)
        put(options, name, value);
}

static void put_number(struct options *options, const char *name, int64_t value)
{
    put(options, name, arena_printf(options->arena, "%" PRId64, value));
}

static struct slurm_option own_option(struct arena *arena, const char *text)
{
    const char *name = text + strlen("--"), *equals = strchr(name, '=');
    if (equals == NULL)
        return (struct slurm_option){name, NULL};
    return (struct slurm_option){
        arena_strndup(arena, name, (size_t)(equals - name)), equals + 1};
}

/* Whether the section's own options begin with one of these words; the last
 * is NULL. */
static bool has_own(const struct job_slurm *section, const char *const names[])
{
    for (size_t i = 0; i < section->options.n; i++)
        for (const char *const *name = names; *name != NULL; name++)
            if (strncmp(section->options.items[i] + strlen("--"), *name,
                        strlen(*name)) == 0)
                return true;
    return false;
}

/* ---- resources ---- */

static int64_t rounded_up(int64_t n, int64_t unit)
{
    return n / unit + (n % unit != 0);
}

static int64_t cpus_of(const struct slurm_pool *pool)
{
    return pool->cpus > 1 ? (int64_t)ceil(pool->cpus) : 1;
}

/* sbatch refuses this option and the next one beside those others. */
static void put_cpus(struct options *options, const struct job_slurm *section,
                     int64_t cpus)
{
    static const char *const others[] = {"cpus-per-gpu", NULL};
    if (!has_own(section, others))
        put_number(options, "cpus-per-task", cpus);
}

static void put_memory(struct options *options, const struct job_slurm *section,
                       int64_t bytes)
{
    static const char *const others[] = {"mem-per-cpu", "mem-per-gpu", NULL};
    if (bytes > 0 && !has_own(section, others))
        put(options, "mem",
            arena_printf(options->arena, "%" PRId64 "M",
                         rounded_up(bytes, MIB)));
}

/* Slurm refuses parts of GPUs beside whole ones. */
static bool is_gpu(const char *gres)
{
    static const char *const names[] = {"gpu", "shard", "mps"};
    const size_t len = strcspn(gres, ":=,");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == len && strncmp(gres, names[i], len) == 0)
            return true;
    return false;
}

/* Of a list such as "gpu:a100:2", "license:1,gres/gpu:1". */
static bool names_gpus(const char *gres)
{
    while (gres != NULL && *gres != '\0') {
        const bool prefixed =
            strncmp(gres, "gres/", 5) == 0 || strncmp(gres, "gres:", 5) == 0;
        if (is_gpu(prefixed ? gres + 5 : gres))
            return true;
        gres += strcspn(gres, ",");
        gres += *gres == ',';
    }
    return false;
}

/* The section's own GPUs replace those of `resources`: they say more. */
static void put_gres(struct options *options, const struct job_slurm *section,
                     const struct slurm_pool *pool)
{
    static const char *const others[] = {"gpus", NULL};
    const char *gres = section->gres;
    if (pool->gpus > 0 && !names_gpus(gres) && !has_own(section, others)) {
        const bool any = pool->gpu_model == NULL;
        gres =
            arena_printf(options->arena, "gpu%s%s:%" PRId64 "%s%s",
                         any ? "" : ":", any ? "" : pool->gpu_model, pool->gpus,
                         gres != NULL ? "," : "", gres != NULL ? gres : "");
    }
    put_text(options, "gres", gres);
}

static int64_t minutes(int64_t time_ms, int64_t limit_ms)
{
    const int64_t asked = rounded_up(time_ms, MINUTE_MS);
    const int64_t most = limit_ms / MINUTE_MS;
    return most > 0 && asked > most ? most : asked;
}

/* The net below the shim's own clock; Slurm sends it up to a minute early. */
static const char *signal_of(struct arena *arena, int64_t grace_ms)
{
    int64_t seconds = rounded_up(grace_ms, SECOND_MS);
    if (seconds < 1)
        seconds = 1;
    if (seconds > MOST_SIGNAL_S)
        seconds = MOST_SIGNAL_S;
    return arena_printf(arena, "B:USR1@%" PRId64, seconds);
}

/* Slurm replaces %j and the like in the name of a file. */
static const char *output_of(struct arena *arena, const char *folder,
                             const char *element)
{
    struct text path = {0};
    for (const char *c = folder; *c != '\0'; c++)
        if (*c == '%')
            text_puts(&path, "%%");
        else
            text_append(&path, c, 1);
    text_printf(&path, "/%s.out", element);
    return text_take(&path, arena);
}

static void put_section(struct options *options,
                        const struct job_slurm *section)
{
    put_text(options, "account", section->account);
    put_text(options, "partition", section->partition);
    put_text(options, "qos", section->qos);
    put_text(options, "constraint", section->constraint);
    put_text(options, "reservation", section->reservation);
    if (section->exclusive)
        put(options, "exclusive", NULL);
}

static void put_own(struct options *options, const struct job_slurm *section)
{
    for (size_t i = 0; i < section->options.n; i++) {
        const struct slurm_option own =
            own_option(options->arena, section->options.items[i]);
        put(options, own.name, own.value);
    }
}

/* ---- components ---- */

/* Neighbouring pools that need the same: an allocation of its own. They are in
 * the order of the pools, so that the tasks of all are in that of the
 * replicas. */
struct component {
    const struct slurm_pool *pool; /* the first one */
    int tasks;
};

static bool need_same(const struct slurm_pool *a, const struct slurm_pool *b)
{
    return cpus_of(a) == cpus_of(b) && a->memory_bytes == b->memory_bytes &&
           a->gpus == b->gpus;
}

bool slurm_is_heterogeneous(const struct slurm_need *need)
{
    size_t i = 1;
    while (i < need->n_pools && need_same(&need->pools[0], &need->pools[i]))
        i++;
    return i < need->n_pools;
}

static const struct component *
find_components(struct arena *arena, const struct slurm_need *need, size_t *n)
{
    struct component *all = arena_alloc(arena, need->n_pools, sizeof *all);
    *n = 0;
    for (size_t i = 0; i < need->n_pools; i++) {
        const struct slurm_pool *pool = &need->pools[i];
        if (*n == 0 || !need_same(all[*n - 1].pool, pool))
            all[(*n)++].pool = pool;
        all[*n - 1].tasks += pool->count;
    }
    return all;
}

static struct slurm_options options_of(struct arena *arena,
                                       const struct slurm_need *need,
                                       const struct slurm_site *site,
                                       const struct component *component)
{
    struct options options = {.arena = arena};
    const struct job_slurm *section = &need->section;
    const struct slurm_pool *pool = component->pool;
    const bool alone = slurm_is_heterogeneous(need);
    put(&options, "job-name", site->name);
    if (!alone)
        put(&options, "array", arena_printf(arena, "0-%d", site->elements - 1));
    put(&options, "chdir", site->folder);
    if (pool == need->pools) { /* its first node runs the script */
        put(&options, "output",
            output_of(arena, site->folder, alone ? "0" : "%a"));
        put(&options, "signal", signal_of(arena, need->grace_ms));
    }
    put(&options, "no-requeue", NULL);
    put_section(&options, section);
    if (section->time_ms > 0)
        put_number(&options, "time", minutes(section->time_ms, site->limit_ms));
    put_number(&options, "nodes", component->tasks);
    put_number(&options, "ntasks", component->tasks);
    put_cpus(&options, section, cpus_of(pool));
    put_memory(&options, section, pool->memory_bytes);
    put_gres(&options, section, pool);
    put_own(&options, section);
    return (struct slurm_options){options.n, options.items};
}

/* ---- the script ---- */

/* Slurm can start an element again that it has lost sight of, without counting
 * it: the tasks of one start have the same word (runner/element/element.h). */
static const char name_launch[] =
    "read -r HYPERTUNE_LAUNCH </proc/sys/kernel/random/uuid\n"
    "export HYPERTUNE_LAUNCH\n";

/* sh has the function `module` only after the site's own file was read. What
 * all of it changes is for trainers, too (runner/element/modules.h). */
static void add_modules(struct text *script, const struct strings *modules)
{
    if (modules->n == 0)
        return;
    text_puts(script, "export HYPERTUNE_ENV_BEFORE=\"$(env)\"\n"
                      "for file in /etc/profile.d/*lmod*.sh "
                      "/etc/profile.d/*modules*.sh \\\n"
                      "    \"$MODULESHOME/init/sh\" \"$LMOD_PKG/init/sh\"; do\n"
                      "    command -v module >/dev/null && break\n"
                      "    [ -r \"$file\" ] && . \"$file\"\n"
                      "done\n");
    for (size_t i = 0; i < modules->n; i++) {
        text_puts(script, "module load ");
        text_shell_word(script, modules->items[i]);
        text_puts(script, " || exit\n");
    }
}

/* What srun does not take over by itself: --cpus-per-task from 22.05 on, and
 * what modules have set where the options say export=NONE. */
static const char run_options[] = "--kill-on-bad-exit=0 --export=ALL";
static const char run_cpus[] =
    " ${SLURM_CPUS_PER_TASK:+--cpus-per-task=$SLURM_CPUS_PER_TASK} ";

static void add_shim(struct text *script, const struct slurm_site *site)
{
    text_shell_word(script, site->shim);
    text_puts(script, " --slurm ");
    text_shell_word(script, site->folder);
}

/* What the variables of the first component would say of all others, of which
 * slurmrestd sets none of their own. */
static const char unset_first[] =
    "unset SLURM_MEM_PER_NODE SLURM_MEM_PER_CPU SLURM_TRES_PER_TASK\n";

static const char *find_value(const struct slurm_options *options,
                              const char *name)
{
    for (size_t i = 0; i < options->n; i++)
        if (strcmp(options->items[i].name, name) == 0)
            return options->items[i].value;
    return NULL;
}

/* The tasks of all components get the variables of the last one; a trainer
 * takes its number of threads from its own. */
static void add_component(struct text *script, const struct slurm_site *site,
                          const struct slurm_options *options, size_t i)
{
    static const char *const names[] = {"nodes", "ntasks", "mem",
                                        "cpus-per-task"};
    const char *value = NULL;
    text_printf(script, "%s --het-group=%zu", run_options, i);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        value = find_value(options, names[k]);
        if (value != NULL) {
            text_printf(script, " --%s=", names[k]);
            text_shell_word(script, value);
        }
    }
    text_puts(script, " \\\n    ");
    if (value != NULL) {
        text_puts(script, "env SLURM_CPUS_PER_TASK=");
        text_shell_word(script, value);
        text_puts(script, " ");
    }
    add_shim(script, site);
}

static void add_components(struct text *script, const struct slurm_site *site,
                           const struct slurm_batch *batch)
{
    const struct slurm_options first = {batch->n_options, batch->options};
    text_puts(script, unset_first);
    text_puts(script, "exec srun ");
    add_component(script, site, &first, 0);
    for (size_t i = 0; i < batch->n_others; i++) {
        text_puts(script, " : \\\n    ");
        add_component(script, site, &batch->others[i], i + 1);
    }
}

static const char *script_of(struct arena *arena, const struct slurm_need *need,
                             const struct slurm_site *site,
                             const struct slurm_batch *batch)
{
    struct text script = {0};
    text_puts(&script, "#!/bin/sh\n");
    text_puts(&script, name_launch);
    add_modules(&script, &need->section.modules);
    if (batch->n_others > 0) {
        add_components(&script, site, batch);
    } else {
        text_puts(&script, "exec ");
        if (batch->tasks > 1)
            text_printf(&script, "srun %s%s", run_options, run_cpus);
        add_shim(&script, site);
    }
    text_puts(&script, "\n");
    return text_take(&script, arena);
}

/* ---- what Slurm cannot give ---- */

static enum ht_status check(const struct slurm_need *need, struct ht_error *err)
{
    for (size_t i = 0; i < need->n_pools; i++) {
        if (need->pools[i].gpu_detail && need->section.gres == NULL)
            return ht_fail(err, HT_PRECONDITION,
                           "Slurm gives whole GPUs of a model, no part and no "
                           "amount of their memory: leave gpu and gpuMemory "
                           "out, or say slurm.gres, such as shard:1");
    }
    return HT_OK;
}

enum ht_status slurm_batch(struct arena *arena, const struct slurm_need *need,
                           const struct slurm_site *site,
                           struct slurm_batch *batch, struct ht_error *err)
{
    const enum ht_status status = check(need, err);
    if (status != HT_OK)
        return status;
    size_t n;
    const struct component *all = find_components(arena, need, &n);
    const struct slurm_options first = options_of(arena, need, site, all);
    struct slurm_options *others = arena_alloc(arena, n, sizeof *others);
    int tasks = all[0].tasks;
    for (size_t i = 1; i < n; i++) {
        others[i - 1] = options_of(arena, need, site, &all[i]);
        tasks += all[i].tasks;
    }
    *batch = (struct slurm_batch){.name = site->name,
                                  .folder = site->folder,
                                  .elements = n > 1 ? 1 : site->elements,
                                  .tasks = tasks,
                                  .n_options = first.n,
                                  .options = first.items,
                                  .n_others = n - 1,
                                  .others = others};
    batch->script = script_of(arena, need, site, batch);
    return HT_OK;
}
