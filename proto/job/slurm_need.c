/* slurm_need.c - what the slots of a study need, from its job, and its text. */

#include "proto/doc/json.h"
#include "proto/job/job.h"

static struct slurm_pool pool_of(const struct job *job, const struct pool *pool)
{
    return (struct slurm_pool){
        .count = pool->count,
        .cpus = pool->cpus > 0 ? pool->cpus : job->cpus,
        .memory_bytes =
            pool->memory_bytes > 0 ? pool->memory_bytes : job->memory_bytes,
        .gpus = pool->gpus,
        .gpu_model =
            job->run_on.gpu != NULL ? job->run_on.gpu : pool->accelerator,
        .image = pool->image};
}

struct slurm_need slurm_need_of(struct arena *arena, const struct job *job)
{
    struct slurm_pool *pools =
        arena_alloc(arena, job->n_pools + 1, sizeof *pools);
    for (size_t i = 0; i < job->n_pools; i++)
        pools[i] = pool_of(job, &job->pools[i]);
    return (struct slurm_need){.section = job->slurm,
                               .n_pools = job->n_pools,
                               .pools = pools,
                               .trial_timeout_ms = job->trial_timeout_ms,
                               .grace_ms = job->grace_ms};
}

static void add_section(cJSON *map, const struct job_slurm *section)
{
    json_add_text(map, "account", section->account);
    json_add_text(map, "partition", section->partition);
    json_add_text(map, "qos", section->qos);
    json_add_text(map, "constraint", section->constraint);
    json_add_text(map, "reservation", section->reservation);
    json_add_text(map, "gres", section->gres);
    json_add_flag(map, "exclusive", section->exclusive);
    json_add_count(map, "timeMs", section->time_ms);
    json_add_count(map, "trialsPerJob", section->trials_per_job);
    json_add_strings(map, "modules", &section->modules);
    json_add_text(map, "container", section->container);
    json_add_strings(map, "options", &section->options);
}

static void add_pool(cJSON *map, const struct slurm_pool *pool)
{
    json_add_int(map, "count", pool->count);
    if (pool->cpus > 0)
        json_add_double(map, "cpus", pool->cpus);
    json_add_count(map, "memory", pool->memory_bytes);
    json_add_count(map, "gpus", pool->gpus);
    json_add_text(map, "gpuModel", pool->gpu_model);
    json_add_text(map, "image", pool->image);
}

const char *slurm_need_write(struct arena *arena, const struct slurm_need *need)
{
    cJSON *map = cJSON_CreateObject();
    add_section(json_add_object(map, "slurm"), &need->section);
    cJSON *pools = json_add_array(map, "pools");
    for (size_t i = 0; i < need->n_pools; i++)
        add_pool(json_push_object(pools), &need->pools[i]);
    json_add_count(map, "timeoutMs", need->trial_timeout_ms);
    json_add_count(map, "graceMs", need->grace_ms);
    return json_text(arena, map);
}
