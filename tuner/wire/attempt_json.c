#include "tuner/wire/attempt_json.h"

#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/job/attempt_parts.h"
#include "proto/job/command.h"
#include "tuner/db/trial_checkpoints.h"
#include "tuner/runners/machine_types.h"
#include "tuner/study/outputs.h"
#include "tuner/study/trial.h"
#include "tuner/view/aip.h"
#include "tuner/wire/envelope.h"

static const char *trial_folder(const struct lease_facts *facts,
                                const char *folder)
{
    return outputs_folder(facts->arena, facts->job, folder,
                          facts->pair->trial.id);
}

/* Behind the words. */
static void add_job_dir(const struct lease_facts *facts, cJSON *replica)
{
    const char *job_dir = trial_folder(facts, facts->job->job_dir);
    if (job_dir != NULL)
        json_push_string(cJSON_GetObjectItemCaseSensitive(replica, "argv"),
                         arena_printf(facts->arena, "--job-dir=%s", job_dir));
}

/* A machine type never asks for more than the runner's machine has. Values of
 * the job itself are not changed. */
static void add_needs(const struct lease_facts *facts, const struct pool *pool,
                      cJSON *replica)
{
    const struct job *job = facts->job;
    const struct runner_rules *rules = facts->rules;
    struct machine_type needs = machine_types_needs(facts->machines, job, pool);
    const bool own_cpus = pool->cpus > 0 || job->cpus > 0;
    const bool own_memory = pool->memory_bytes > 0 || job->memory_bytes > 0;
    if (!own_cpus && rules->cpus > 0 && needs.cpus > rules->cpus)
        needs.cpus = rules->cpus;
    if (!own_memory && rules->memory > 0 && needs.memory > rules->memory)
        needs.memory = rules->memory;
    attempt_add_needs(pool, &needs, replica);
}

/* The seed of trainers: it differs between repetitions of a point, and is the
 * same for all points. */
static void add_seed(const struct lease_facts *facts, cJSON *variables)
{
    const struct pair seed = {
        "HYPERTUNE_SEED",
        arena_printf(facts->arena, "%lld",
                     (long long)facts->pair->trial.replicate)};
    if (facts->job->kind == JOB_TUNING)
        attempt_push_pairs(variables, &(struct pairs){1, &seed});
}

static bool has_variable(const struct pairs *pairs, const char *name)
{
    for (size_t i = 0; i < pairs->n; i++)
        if (strcmp(pairs->items[i].name, name) == 0)
            return true;
    return false;
}

/* What a trainer's own calls of W&B and MLflow go by: a run that says which
 * trial it is, the same in each attempt, so that a retry continues it. Every
 * replica has a run of its own. What the job or its shell set stays. */
static void add_trackers(const struct lease_facts *facts,
                         const struct pairs *env, const char *replica,
                         cJSON *variables)
{
    const struct study_row *study = facts->study;
    const long long trial = (long long)facts->pair->trial.id;
    const struct pair all[] = {
        {"WANDB_RUN_GROUP", study->name},
        {"WANDB_NAME",
         arena_printf(facts->arena, "%s-%lld%s", study->name, trial, replica)},
        {"WANDB_RUN_ID",
         arena_printf(facts->arena, "ht-%s-%lld-%lld%s", facts->server_id,
                      (long long)study->id, trial, replica)},
        {"WANDB_RESUME", "allow"},
        {"MLFLOW_RUN_NAME",
         arena_printf(facts->arena, "%s-%lld%s", study->name, trial, replica)}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (facts->job->kind == JOB_TUNING &&
            !has_variable(&facts->job->captured_env, all[i].name) &&
            !has_variable(env, all[i].name))
            attempt_push_pairs(variables, &(struct pairs){1, &all[i]});
}

/* The runner gives these if they are free, else others. */
static void add_gpus(const struct lease_facts *facts, size_t number,
                     cJSON *replica)
{
    if (facts->gpus != NULL && facts->gpus[number].n > 0)
        attempt_add_strings(replica, "gpuNames", &facts->gpus[number]);
}

static void add_replicas(const struct lease_facts *facts, cJSON *out,
                         const struct attempt_trial *trial)
{
    cJSON *replicas = json_add_array(out, "replicas");
    size_t number = 0;
    for (size_t i = 0; i < facts->job->n_pools; i++) {
        const struct pool *pool = &facts->job->pools[i];
        const struct pairs env = command_env(facts->arena, facts->job, pool,
                                             trial->point, trial->seed);
        for (int index = 0; index < pool->count; index++) {
            cJSON *replica = json_push_object(replicas);
            attempt_add_replica(trial, pool, index, replica);
            add_job_dir(facts, replica);
            cJSON *variables = json_add_array(replica, "env");
            if (pool->image)
                attempt_push_pairs(variables, &facts->job->captured_env);
            attempt_push_pairs(variables, &env);
            add_seed(facts, variables);
            add_trackers(facts, &env,
                         i == 0 ? ""
                                : arena_printf(facts->arena, "-%s-%d",
                                               pool->type, index),
                         variables);
            json_add_string(replica, "workdir", facts->job->workdir);
            add_needs(facts, pool, replica);
            add_gpus(facts, number++, replica);
        }
    }
}

static void add_metrics(const struct lease_facts *facts, cJSON *out)
{
    const struct job *job = facts->job;
    cJSON *metrics = json_add_array(out, "metrics");
    for (size_t i = 0; i < job->n_metrics; i++)
        json_push_string(metrics, job->metrics[i].name);
    attempt_add_strings(out, "stdoutPatterns", &job->stdout_patterns);
    json_add_string(out, "metricsFile", job->metrics_file);
    json_add_text(out, "metricsEvents", job->metrics_events);
}

/* What a runner on another machine makes the working folders from. */
static void add_code(const struct job *job, cJSON *out)
{
    if (!job_code_travels(job))
        return;
    cJSON *code = json_add_object(out, "code");
    json_add_string(code, "tree", job->code.tree);
    json_add_string(code, "machine", job->code.machine);
    json_add_string(code, "folder", job->code.folder);
}

static void add_identity(const struct lease_facts *facts, cJSON *out)
{
    const struct attempt_row *attempt = &facts->pair->attempt;
    const struct trial_name name = {attempt->study, attempt->trial, attempt->n};
    wire_add_name(out, &name);
    json_add_string(out, "name",
                    arena_printf(facts->arena, "ht-%s-%lld-%lld-%lld",
                                 facts->server_id, (long long)name.study,
                                 (long long)name.trial,
                                 (long long)name.attempt));
    json_add_string(out, "token", facts->token);
    json_add_string(out, "reportUrl", facts->report_url);
    json_add_string(out, "project", facts->study->project);
    json_add_string(out, "location", facts->study->location);
    json_add_string(out, "jobName", facts->study->name);
    json_add_string(out, "kind",
                    facts->job->kind == JOB_CUSTOM ? "custom" : "tuning");
    json_add_bool(out, "chief", facts->job->chief);
    json_add_bool(out, "substitute", facts->job->substitute);
    json_add_bool(out, "ownWorkdir", facts->job->own_workdir);
    add_code(facts->job, out);
    json_add_bool(out, "begun", facts->begun);
    json_add_string(out, "outputDir",
                    trial_folder(facts, facts->job->output_dir));
}

static void add_resume(const struct trial_checkpoint *from, cJSON *out)
{
    if (from == NULL)
        return;
    cJSON *resume = json_add_object(out, "resume");
    json_add_string(resume, "tree", from->tree);
    json_add_int(resume, "attempt", from->attempt);
    json_add_int(resume, "step", from->step);
}

static const char *written_spec(const struct lease_facts *facts)
{
    cJSON *job = vertex_write(facts->job);
    const char *text =
        json_text(facts->arena, cJSON_DetachItemFromObjectCaseSensitive(
                                    job, vertex_job_spec_member(facts->job)));
    cJSON_Delete(job);
    return text;
}

/* Replicas are shown the job as it was sent, else as its form has it: Vertex's
 * CustomJobSpec or AI Platform's TrainingInput, which is used for the native
 * form, too. */
static const char *shown_job(const struct lease_facts *facts)
{
    const struct study_row *study = facts->study;
    if (facts->job->form == JOB_VERTEX)
        return study->job_spec[0] != '\0' ? study->job_spec
                                          : written_spec(facts);
    return study->submitted[0] != '\0'
               ? study->submitted
               : json_text(facts->arena,
                           view_aip_input(facts->arena, study, facts->job));
}

/* No variable could hold a longer one. */
static void add_job(const struct lease_facts *facts, cJSON *out)
{
    const char *job = shown_job(facts);
    const size_t bytes = strlen(job);
    json_add_string(out, "form", form_dialect_name(facts->job->form));
    json_add_int(out, "jobBytes", (int64_t)bytes);
    if (bytes <= HT_MAX_WORD)
        cJSON_AddItemToObject(out, "job", cJSON_CreateRaw(job));
}

enum ht_status attempt_json(const struct lease_facts *facts, cJSON **out,
                            struct ht_error *err)
{
    const struct space *space = &facts->job->space;
    const char *params = facts->pair->trial.params;
    struct value *point =
        arena_alloc(facts->arena, space->n + 1, sizeof *point);
    if (space_point_parse(space, params, point, err) != HT_OK)
        return ht_wrap(err, HT_CORRUPT, "stored parameters");
    const struct attempt_trial trial = {.arena = facts->arena,
                                        .job = facts->job,
                                        .point = point,
                                        .seed = facts->pair->trial.replicate};
    cJSON *attempt = cJSON_CreateObject();
    add_identity(facts, attempt);
    add_resume(facts->resume, attempt);
    add_metrics(facts, attempt);
    cJSON_AddItemToObject(attempt, "params", cJSON_CreateRaw(params));
    const struct strings args = command_params(facts->arena, space, point);
    attempt_add_strings(attempt, "paramArgs", &args);
    attempt_add_surroundings(&trial, attempt);
    add_job(facts, attempt);
    add_replicas(facts, attempt, &trial);
    *out = attempt;
    return HT_OK;
}
