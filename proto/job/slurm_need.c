/* slurm_need.c - what a study's slots need, and its text. */

#include "proto/job/slurm.h"

#include <stddef.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "proto/job/container_words.h"
#include "proto/job/machine_type.h"
#include "proto/job/slurm_section.h"

#define NEED(member) offsetof(struct slurm_need, member)
#define POOL(member) offsetof(struct slurm_pool, member)

/* ---- of a job ---- */

/* Slurm's names of GPUs have "_" where those of their makers have blanks. */
static const char *gres_name(struct arena *arena, const char *model)
{
    char *name = arena_strdup(arena, model);
    for (char *c = name; *c != '\0'; c++)
        if (*c == ' ')
            *c = '_';
    return name;
}

static struct slurm_pool pool_of(struct arena *arena, const struct job *job,
                                 const struct pool *pool)
{
    struct machine_type type;
    const bool known =
        pool->machine != NULL && machine_type_find(pool->machine, &type);
    const struct machine_type needs =
        machine_type_needs(job, pool, known ? &type : NULL);
    const char *model = job->run_on.gpu;
    return (struct slurm_pool){
        .count = pool->count,
        .cpus = needs.cpus,
        .memory_bytes = needs.memory,
        .gpus = pool->gpu_part > 0 ? 0 : needs.gpus,
        .gpu_detail = pool->gpu_part > 0 || pool->gpu_memory > 0,
        .gpu_model = model != NULL ? gres_name(arena, model) : NULL,
        .image = pool->image};
}

struct slurm_need slurm_need_of(struct arena *arena, const struct job *job)
{
    struct slurm_pool *pools =
        arena_alloc(arena, job->n_pools + 1, sizeof *pools);
    for (size_t i = 0; i < job->n_pools; i++)
        pools[i] = pool_of(arena, job, &job->pools[i]);
    return (struct slurm_need){.section = job->slurm,
                               .n_pools = job->n_pools,
                               .pools = pools,
                               .trial_timeout_ms = job->trial_timeout_ms,
                               .grace_ms = job->grace_ms};
}

/* ---- its text ---- */

const char *slurm_need_write(struct arena *arena, const struct slurm_need *need)
{
    cJSON *root = cJSON_CreateObject();
    job_slurm_write(root, &need->section);
    cJSON *pools = json_add_array(root, "pools");
    for (size_t i = 0; i < need->n_pools; i++) {
        const struct slurm_pool *pool = &need->pools[i];
        cJSON *object = json_push_object(pools);
        json_add_int(object, "count", pool->count);
        if (pool->cpus > 0)
            json_add_double(object, "cpus", pool->cpus);
        json_add_count(object, "memoryBytes", pool->memory_bytes);
        json_add_count(object, "gpus", pool->gpus);
        json_add_flag(object, "gpuDetail", pool->gpu_detail);
        json_add_text(object, "gpuModel", pool->gpu_model);
        json_add_text(object, "image", pool->image);
    }
    json_add_count(root, "trialTimeoutMs", need->trial_timeout_ms);
    json_add_count(root, "graceMs", need->grace_ms);
    return json_text(arena, root);
}

static void read_section(const struct field_reader *reader, struct place at,
                         const struct field *field, void *into)
{
    (void)field;
    struct slurm_need *need = into;
    need->section.said = true;
    field_read_map(reader, at, job_slurm_rows, &need->section);
}

static void read_count(const struct field_reader *reader, struct place at,
                       const struct field *field, void *into)
{
    int64_t count = 0;
    field_whole(reader, at, field, &count);
    *(int *)into = (int)count;
}

static const char *model_fault(const char *word)
{
    return word[0] != '\0' && strlen(word) <= HT_MAX_NAME ? NULL
                                                          : "is no model";
}

static const struct field pool_rows[] = {
    {"count", read_count, POOL(count), .min = 1, .max = HT_MAX_REPLICAS},
    {"cpus", field_real, POOL(cpus), .max = 1000000},
    {"memoryBytes", field_whole, POOL(memory_bytes), .max = INT64_MAX},
    {"gpus", field_whole, POOL(gpus), .max = 1024},
    {"gpuDetail", field_flag, .offset = POOL(gpu_detail)},
    {"gpuModel", field_word, POOL(gpu_model), .fault = model_fault},
    {"image", field_word, POOL(image), .fault = container_image_fault},
    {0}};

static void read_pools(const struct field_reader *reader, struct place at,
                       const struct field *field, void *into)
{
    (void)field;
    struct slurm_need *need = into;
    if (at.node->kind != NODE_LIST || at.node->count > JOB_POOLS) {
        field_error(reader, at, "must be a list of at most %d", JOB_POOLS);
        return;
    }
    struct slurm_pool *pools =
        arena_alloc(reader->arena, at.node->count + 1, sizeof *pools);
    for (const struct place *item = field_items(reader, at); item->node; item++)
        field_read_map(reader, *item, pool_rows, &pools[need->n_pools++]);
    need->pools = pools;
}

static const struct field need_rows[] = {
    {.name = "slurm", .read = read_section},
    {.name = "pools", .read = read_pools},
    {"trialTimeoutMs", field_whole, NEED(trial_timeout_ms), .max = INT64_MAX},
    {"graceMs", field_whole, NEED(grace_ms), .max = INT64_MAX},
    {0}};

enum ht_status slurm_need_read(struct arena *arena, const struct node *map,
                               struct slurm_need *need, struct ht_error *err)
{
    struct diag diag;
    const struct field_reader reader = {
        .diag = &diag, .arena = arena, .null_is_absent = true};
    struct slurm_need read = {0};
    diag_init(&diag, arena, "need", NULL, 0);
    field_read_map(&reader, (struct place){map, "need"}, need_rows, &read);
    for (size_t i = 0; i < read.n_pools && diag.errors == 0; i++)
        if (read.pools[i].count == 0)
            diag_error(&diag, 0, 0, "need.pools", "one has no replicas");
    if (diag.errors == 0 && read.n_pools == 0)
        diag_error(&diag, 0, 0, "need.pools", "there are none");
    if (diag.errors > 0)
        return ht_fail(err, HT_INVALID, "%s: %s", diag.first->path,
                       diag.first->text);
    *need = read;
    return HT_OK;
}
