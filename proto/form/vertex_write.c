/* vertex_write.c - a job in the Vertex form, which is how it is stored. */

#include <assert.h>
#include <string.h>

#include "proto/doc/field.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/form/vertex.h"
#include "proto/job/command.h"
#include "proto/job/draft.h"
#include "proto/job/job.h"
#include "proto/job/kubernetes_section.h"
#include "proto/job/notify.h"
#include "proto/job/run_on.h"
#include "proto/job/slurm_section.h"
#include "proto/job/trackers.h"

/* ---- small parts ---- */

static void add_variables(cJSON *object, const char *key,
                          const struct pairs *pairs)
{
    if (pairs->n == 0)
        return;
    cJSON *array = json_add_array(object, key);
    for (size_t i = 0; i < pairs->n; i++) {
        cJSON *variable = json_push_object(array);
        json_add_string(variable, "name", pairs->items[i].name);
        json_add_string(variable, "value", pairs->items[i].value);
    }
}

/* ---- what each trial runs ---- */

static void add_task(cJSON *spec, const struct pool *pool)
{
    json_add_strings(spec, "args", &pool->args);
    add_variables(spec, "env", &pool->env);
}

/* Was the pool a Python package, and is it still run as one? */
static bool is_package(const struct job *job, const struct pool *pool,
                       const char *path)
{
    const size_t len = strlen(path);
    if (!command_is_module(pool))
        return false;
    for (const struct kept *kept = job->kept; kept; kept = kept->next)
        if (strncmp(kept->path, path, len) == 0 && kept->path[len] == '.')
            return true;
    return false;
}

static void add_machine(cJSON *object, const struct pool *pool)
{
    cJSON *machine = cJSON_CreateObject();
    json_add_text(machine, "machineType", pool->machine);
    json_add_text(machine, "acceleratorType", pool->accelerator);
    json_add_count(machine, "acceleratorCount", pool->gpus);
    json_add_filled(object, "machineSpec", machine);
}

static void add_pool(cJSON *array, const struct job *job,
                     const struct pool *pool, const char *spec)
{
    struct text path = {0};
    text_printf(&path, "%s.workerPoolSpecs[%d].pythonPackageSpec", spec,
                cJSON_GetArraySize(array));
    cJSON *object = json_push_object(array);
    if (is_package(job, pool, path.data)) {
        cJSON *package = json_add_object(object, "pythonPackageSpec");
        json_add_string(package, "pythonModule", pool->command.items[2]);
        add_task(package, pool);
    } else {
        cJSON *container = json_add_object(object, "containerSpec");
        json_add_text(container, "imageUri", pool->image);
        json_add_strings(container, "command", &pool->command);
        add_task(container, pool);
    }
    json_add_int_text(object, "replicaCount", pool->count);
    add_machine(object, pool);
    text_free(&path);
}

static void add_pools(cJSON *spec, const struct job *job, const char *name)
{
    cJSON *pools = json_add_array(spec, "workerPoolSpecs");
    size_t position = 0;
    for (size_t i = 0; i < job->n_pools; i++, position++) {
        assert(position < JOB_POOLS);
        /* An empty pool keeps the place of a type that is not used; pools
         * that are not in Google's order would be our own bug. */
        const char *type = job->pools[i].type;
        for (; strcmp(job_pool_types[position], type) != 0; position++) {
            assert(position + 1 < JOB_POOLS);
            json_push_object(pools);
        }
        add_pool(pools, job, &job->pools[i], name);
    }
}

const char *vertex_job_spec_member(const struct job *job)
{
    return job->kind == JOB_CUSTOM ? "jobSpec" : "trialJobSpec";
}

static void add_job_spec(cJSON *root, const struct job *job)
{
    const char *name = vertex_job_spec_member(job);
    cJSON *spec = json_add_object(root, name);
    add_pools(spec, job, name);
    cJSON *scheduling = cJSON_CreateObject();
    json_add_span(scheduling, "timeout", job->trial_timeout_ms);
    json_add_flag(scheduling, "disableRetries", job->retries == 0);
    json_add_filled(spec, "scheduling", scheduling);
    if (job->output_dir)
        json_add_string(json_add_object(spec, "baseOutputDirectory"),
                        "outputUriPrefix", job->output_dir);
    json_add_text(spec, "serviceAccount", job->service_account);
}

/* ---- hypertune: what Vertex has no field for ---- */

static void add_need(cJSON *object, double cpus, int64_t memory_bytes,
                     const struct pool *pool)
{
    if (cpus > 0)
        json_add_double(object, "cpus", cpus);
    if (memory_bytes > 0)
        json_add_int_text(object, "memoryBytes", memory_bytes);
    if (pool != NULL && pool->gpu_part > 0)
        json_add_double(object, "gpu", pool->gpu_part);
    if (pool != NULL && pool->gpu_memory > 0)
        json_add_int_text(object, "gpuMemoryBytes", pool->gpu_memory);
}

/* What later pools need apart from the job's. */
static void add_needs(cJSON *hypertune, const struct job *job)
{
    cJSON *replicas = cJSON_CreateObject();
    for (size_t i = 1; i < job->n_pools; i++) {
        const struct pool *pool = &job->pools[i];
        cJSON *needs = cJSON_CreateObject();
        add_need(needs, pool->cpus, pool->memory_bytes, pool);
        json_add_filled(replicas, pool->type, needs);
    }
    json_add_filled(hypertune, "replicas", replicas);
}

static void add_resources(cJSON *hypertune, const struct job *job)
{
    add_need(hypertune, job->cpus, job->memory_bytes,
             job->n_pools > 0 ? &job->pools[0] : NULL);
    job_run_on_write(hypertune, job);
    job_kubernetes_write(hypertune, &job->kubernetes);
    job_slurm_write(hypertune, &job->slurm);
    add_needs(hypertune, job);
    job_container_write(hypertune, job);
}

static void add_cancel_after(cJSON *hypertune, const struct cancelling *after)
{
    cJSON *object = cJSON_CreateObject();
    json_add_span(object, "running", after->running_ms);
    json_add_span(object, "waiting", after->waiting_ms);
    json_add_filled(hypertune, "cancelAfter", object);
}

static void add_code(cJSON *hypertune, const struct job_code *code)
{
    cJSON *object = cJSON_CreateObject();
    if (code->way != CODE_AUTO)
        json_add_string(object, "way", job_code_ways[code->way].name);
    json_add_text(object, "tree", code->tree);
    json_add_text(object, "machine", code->machine);
    json_add_text(object, "folder", code->folder);
    json_add_filled(hypertune, "code", object);
}

static void add_run(cJSON *hypertune, const struct job *job)
{
    if (job->retries != JOB_RETRIES)
        json_add_int(hypertune, "retries", job->retries);
    if (job->grace_ms != JOB_GRACE_MS)
        json_add_int(hypertune, "graceMs", job->grace_ms);
    json_add_count(hypertune, "silenceMs", job->silence_ms);
    if (job->on_silence != SILENCE_WARN)
        json_add_string(hypertune, "onSilence", "stop");
    if (job->args_mode != ARGS_AUTO)
        json_add_string(hypertune, "argsMode",
                        job_args_modes[job->args_mode].name);
    json_add_flag(hypertune, "substitute", job->substitute);
    json_add_flag(hypertune, "chief", job->chief);
    json_add_text(hypertune, "jobDir", job->job_dir);
    json_add_text(hypertune, "workdir", job->workdir);
    json_add_flag(hypertune, "ownWorkdir", job->own_workdir);
    add_code(hypertune, &job->code);
    json_add_strings(hypertune, "passEnv", &job->pass_env);
    add_variables(hypertune, "capturedEnv", &job->captured_env);
    add_resources(hypertune, job);
    json_add_strings(hypertune, "stdoutPatterns", &job->stdout_patterns);
    json_add_text(hypertune, "metricsFile", job->metrics_file);
    json_add_text(hypertune, "metricsEvents", job->metrics_events);
    if (job->metric_doctor == DOCTOR_WARN)
        json_add_string(hypertune, "metricDoctor", "warn");
}

/* What Vertex has a place for goes there, the rest is listed by its path. */
static void add_kept(cJSON *root, cJSON *hypertune, const struct job *job)
{
    cJSON *others = cJSON_CreateObject();
    for (const struct kept *kept = job->kept; kept; kept = kept->next) {
        if (vertex_has_place(kept->path))
            kept_put(root, kept);
        else
            cJSON_AddItemToObject(others, kept->path,
                                  cJSON_CreateRaw(kept->json));
    }
    json_add_filled(hypertune, "kept", others);
}

static void add_hypertune(cJSON *root, const struct job *job)
{
    cJSON *hypertune = cJSON_CreateObject();
    json_add_text(hypertune, "name", job->name);
    if (job->form != JOB_VERTEX)
        json_add_string(hypertune, "form", form_dialect_name(job->form));
    if (job->kind == JOB_STUDY)
        json_add_pairs(hypertune, "labels", &job->labels);
    if (job->algorithm == ALGORITHM_BAYESIAN)
        json_add_string(hypertune, "algorithm", "bayesian");
    if (!vertex_says_early_stop(&job->early_stop))
        job_early_stop_write(hypertune, &job->early_stop);
    if (job->has_seed)
        json_add_int_text(hypertune, "seed", job->seed);
    if (job->until.has_target)
        json_add_double(hypertune, "target", job->until.target);
    add_cancel_after(hypertune, &job->cancel_after);
    add_run(hypertune, job);
    json_add_strings(hypertune, "constraints", &job->constraints);
    json_add_strings(hypertune, "warmStart", &job->warm_start);
    json_add_flag(hypertune, "openSpace", job->space.open);
    vertex_add_extras(hypertune, &job->space);
    job_notify_write(hypertune, &job->notify);
    job_trackers_write(hypertune, &job->trackers);
    add_kept(root, hypertune, job);
    json_add_filled(root, "hypertune", hypertune);
}

/* ---- the resource ---- */

static void add_counts(cJSON *root, const struct job *job)
{
    json_add_int(root, "maxTrialCount", job->max_trials);
    json_add_int(root, "parallelTrialCount", job->parallel);
    json_add_count(root, "maxFailedTrialCount", job->max_failed);
}

cJSON *vertex_write(const struct job *job)
{
    cJSON *root = cJSON_CreateObject();
    json_add_text(root, "displayName", job->display);
    if (job->kind != JOB_STUDY) /* Google's Study has none */
        json_add_pairs(root, "labels", &job->labels);
    if (job->kind != JOB_CUSTOM)
        vertex_add_study(root, job);
    if (job->kind == JOB_TUNING)
        add_counts(root, job);
    if (job->kind == JOB_STUDY)
        json_add_count(root, "parallelTrialCount", job->parallel);
    else
        add_job_spec(root, job);
    add_hypertune(root, job);
    return root;
}
