#include "proto/job/attempt_parts.h"

#include "proto/doc/json.h"
#include "proto/job/command.h"
#include "proto/job/kubernetes_section.h"

void attempt_add_strings(cJSON *object, const char *key,
                         const struct strings *strings)
{
    cJSON *array = json_add_array(object, key);
    for (size_t i = 0; i < strings->n; i++)
        json_push_string(array, strings->items[i]);
}

void attempt_push_pairs(cJSON *array, const struct pairs *pairs)
{
    for (size_t i = 0; i < pairs->n; i++) {
        cJSON *item = cJSON_CreateArray();
        json_push_string(item, pairs->items[i].name);
        json_push_string(item, pairs->items[i].value);
        cJSON_AddItemToArray(array, item);
    }
}

void attempt_add_replica(const struct attempt_trial *trial,
                         const struct pool *pool, int index, cJSON *replica)
{
    const struct strings argv =
        command_line(trial->arena, trial->job, pool, trial->point, trial->seed);
    json_add_string(replica, "type", pool->type);
    json_add_int(replica, "index", index);
    json_add_string(replica, "image", pool->image);
    attempt_add_strings(replica, "argv", &argv);
    json_add_int(replica, "entryWords", (int64_t)pool->command.n);
}

void attempt_add_needs(const struct pool *pool,
                       const struct machine_type *needs, cJSON *replica)
{
    json_add_int(replica, "gpus", pool->gpu_part > 0 ? 0 : needs->gpus);
    json_add_double(replica, "cpus", needs->cpus);
    json_add_int(replica, "memory", needs->memory);
    if (pool->gpu_part > 0)
        json_add_double(replica, "gpuPart", pool->gpu_part);
    if (pool->gpu_memory > 0)
        json_add_int(replica, "gpuMemory", pool->gpu_memory);
}

static void add_secrets(const struct job *job, cJSON *out)
{
    cJSON *secrets = json_add_array(out, "secrets");
    for (size_t i = 0; i < job->n_secrets; i++) {
        const struct secret *secret = &job->secrets[i];
        cJSON *item = json_push_object(secrets);
        json_add_string(item, "name", secret->name);
        if (secret->file != NULL)
            json_add_string(item, "file", secret->file);
        else
            json_add_string(item, "env", secret->env);
    }
}

static const char *const pull_names[] = {[PULL_IF_NOT_PRESENT] = "ifNotPresent",
                                         [PULL_ALWAYS] = "always",
                                         [PULL_NEVER] = "never"};

/* Processes use little of it. */
static void add_container(const struct container_options *options, cJSON *out)
{
    cJSON *container = json_add_object(out, "container");
    json_add_string(container, "pull", pull_names[options->pull]);
    json_add_string(container, "user", options->user);
    json_add_bool(container, "readOnly", options->read_only);
    json_add_string(container, "network", options->network);
    json_add_int(container, "shm", options->shm_bytes);
    json_add_int(container, "pids", options->pids);
    json_add_bool(container, "privileged", options->privileged);
    json_add_bool(container, "hostPid", options->host_pid);
}

void attempt_add_surroundings(const struct attempt_trial *trial, cJSON *attempt)
{
    const struct job *job = trial->job;
    struct job_kubernetes kubernetes = job->kubernetes;
    json_add_int(attempt, "timeoutMs", job->trial_timeout_ms);
    json_add_int(attempt, "graceMs", job->grace_ms);
    add_container(&job->container, attempt);
    cJSON *captured = json_add_array(attempt, "captured");
    if (!job_needs_images(job)) /* else the job's own: what passEnv names */
        attempt_push_pairs(captured, &job->captured_env);
    attempt_add_strings(attempt, "volumes", &job->volumes);
    add_secrets(job, attempt);
    kubernetes.template = command_json(trial->arena, job, kubernetes.template,
                                       trial->point, trial->seed);
    job_kubernetes_write(attempt, &kubernetes);
    json_add_string(attempt, "serviceAccount", job->service_account);
    json_add_string(attempt, "reporter",
                    job->reporter == REPORTER_PYTHON ? "python" : "auto");
    json_add_bool(attempt, "rewriteGs", job->rewrite_gcs);
}
