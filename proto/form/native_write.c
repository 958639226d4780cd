/* native_write.c - a job in the native form. */

#include <inttypes.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/doc/field.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/form/native.h"
#include "proto/job/command.h"
#include "proto/job/draft.h"
#include "proto/job/kubernetes_section.h"
#include "proto/job/notify.h"
#include "proto/job/run_on.h"
#include "proto/job/slurm_section.h"
#include "proto/job/trackers.h"

/* ---- small parts ---- */

/* Exact in the largest unit that divides it: 2h, 90s, 250ms. */
static void add_duration(cJSON *object, const char *key, int64_t ms)
{
    static const struct {
        int64_t ms;
        const char *unit;
    } units[] = {{3600000, "h"}, {60000, "m"}, {1000, "s"}, {1, "ms"}};
    size_t i = 0;
    while (ms % units[i].ms != 0)
        i++;
    if (ms == 0)
        i = 2;
    struct text text = {0};
    text_printf(&text, "%" PRId64 "%s", ms / units[i].ms, units[i].unit);
    json_add_string(object, key, text.data);
    text_free(&text);
}

static void push_all(cJSON *array, const struct strings *strings)
{
    for (size_t i = 0; i < strings->n; i++)
        json_push_string(array, strings->items[i]);
}

/* ---- parameters ---- */

/* A parameter that needs no map: a list, or a constant. */
static bool add_short(cJSON *parameters, const struct param *param)
{
    if (space_param_has_former(param) || param->has_default || param->when ||
        param->scale != SCALE_LINEAR)
        return false;
    if (param->type == PARAM_CATEGORICAL && param->n_values == 1) {
        json_add_string(parameters, param->name, param->labels[0]);
        return true;
    }
    if (param->type != PARAM_CATEGORICAL && param->type != PARAM_DISCRETE)
        return false;
    space_levels_add_json(param, parameters, param->name);
    return true;
}

/* The native form has no range of one number; a list of one says the same. */
static bool add_single(cJSON *parameters, const struct param *param)
{
    const bool single =
        param->type == PARAM_DOUBLE
            ? param->min == param->max
            : param->type == PARAM_INTEGER && param->int_min == param->int_max;
    if (single && !space_param_has_former(param))
        space_value_push_json(param, space_param_level(param, 0),
                              json_add_array(parameters, param->name));
    return single && !space_param_has_former(param);
}

static void add_range(cJSON *object, const struct param *param)
{
    switch (param->type) {
    case PARAM_DOUBLE:
        json_add_double(object, "min", param->min);
        json_add_double(object, "max", param->max);
        if (param->step > 0)
            json_add_double(object, "step", param->step);
        break;
    case PARAM_INTEGER:
        json_add_int(object, "min", param->int_min);
        json_add_int(object, "max", param->int_max);
        if (param->int_step > 1)
            json_add_int(object, "step", param->int_step);
        break;
    case PARAM_DISCRETE:
    case PARAM_CATEGORICAL:
        space_levels_add_json(param, object, "values");
        break;
    }
}

static void add_when(cJSON *object, const struct space *space,
                     const struct param *param)
{
    if (param->when == NULL)
        return;
    cJSON *when = json_add_object(object, "when");
    for (const struct condition *c = param->when; c; c = c->next) {
        space_condition_add_json(space, c, when, space->params[c->parent].name);
    }
}

static void add_parameter(cJSON *parameters, const struct space *space,
                          const struct param *param)
{
    if (add_short(parameters, param) || add_single(parameters, param))
        return;
    cJSON *object = json_add_object(parameters, param->name);
    json_add_string(object, "type", job_param_type_name(param->type));
    add_range(object, param);
    if (param->scale != SCALE_LINEAR && param->type != PARAM_CATEGORICAL)
        json_add_string(object, "scale", job_param_scale_name(param->scale));
    if (param->has_default)
        space_value_add_json(param, param->fallback, object, "default");
    job_former_write(object, param);
    add_when(object, space, param);
}

/* ---- study ---- */

static void add_time(cJSON *object, const char *key, int64_t ms)
{
    if (ms > 0)
        add_duration(object, key, ms);
}

static void add_moment(cJSON *until, const char *key, int64_t wall_ms)
{
    char stamp[CLOCK_STAMP_BYTES];
    if (wall_ms > 0)
        json_add_string(until, key, clock_stamp(stamp, wall_ms));
}

static void add_until(cJSON *root, const struct stopping *rules)
{
    cJSON *until = cJSON_CreateObject();
    if (rules->has_target)
        json_add_double(until, "target", rules->target);
    add_time(until, "time", rules->time_ms);
    add_moment(until, "end", rules->end_ms);
    json_add_count(until, "noProgress", rules->no_progress);
    add_time(until, "noProgressTime", rules->no_progress_ms);
    json_add_count(until, "minTrials", rules->min_trials);
    add_time(until, "minTime", rules->min_time_ms);
    add_moment(until, "minEnd", rules->min_end_ms);
    json_add_flag(until, "letFinish", rules->let_finish);
    json_add_filled(root, "until", until);
}

static void add_cancel_after(cJSON *root, const struct cancelling *after)
{
    cJSON *object = cJSON_CreateObject();
    add_time(object, "running", after->running_ms);
    add_time(object, "waiting", after->waiting_ms);
    json_add_filled(root, "cancelAfter", object);
}

static void add_study(cJSON *root, const struct job *job, bool full)
{
    native_add_goals(root, job);
    cJSON *parameters = json_add_object(root, "parameters");
    for (size_t i = 0; i < job->space.n; i++)
        add_parameter(parameters, &job->space, &job->space.params[i]);
    json_add_strings(root, "constraints", &job->constraints);
    json_add_strings(root, "warmStart", &job->warm_start);
    if (job->algorithm != ALGORITHM_DEFAULT)
        json_add_string(
            root, "algorithm",
            field_choice_name(native_algorithms, (int)job->algorithm));
    if (job->has_seed)
        json_add_int(root, "seed", job->seed);
    /* A study of clients may have no limits: 0. */
    if (job->max_trials > 0 && (full || job->max_trials != JOB_MAX_TRIALS))
        json_add_int(root, "trials", job->max_trials);
    if (job->parallel > 0 && (full || job->parallel != JOB_PARALLEL))
        json_add_int(root, "parallel", job->parallel);
    add_until(root, &job->until);
    add_cancel_after(root, &job->cancel_after);
    if (full || job->early_stop.rule != EARLY_NONE)
        job_early_stop_write(root, &job->early_stop);
    if (full || job->selection != SELECT_LAST)
        json_add_string(root, "selection",
                        native_selections[job->selection].name);
    if (job->noise != JOB_NOISE_UNKNOWN)
        json_add_string(root, "noise",
                        field_choice_name(native_noises, (int)job->noise));
}

/* ---- trials ---- */

static void add_limits(cJSON *root, const struct job *job, bool full)
{
    add_time(root, "trialTimeout", job->trial_timeout_ms);
    add_time(root, "silence", job->silence_ms);
    if (job->on_silence != SILENCE_WARN)
        json_add_string(root, "onSilence", "stop");
    json_add_count(root, "maxFailed", job->max_failed);
    if (full || job->retries != JOB_RETRIES)
        json_add_int(root, "retries", job->retries);
    if (full || job->grace_ms != JOB_GRACE_MS)
        add_duration(root, "grace", job->grace_ms);
}

static void add_command(cJSON *object, const struct pool *pool)
{
    if (pool->command.n + pool->args.n == 0)
        return;
    cJSON *command = json_add_array(object, "command");
    push_all(command, &pool->command);
    push_all(command, &pool->args);
}

/* Of a pool, NULL: there is none. */
static void add_resources(cJSON *object, double cpus, int64_t memory_bytes,
                          const struct pool *pool)
{
    cJSON *resources = cJSON_CreateObject();
    if (cpus > 0)
        json_add_double(resources, "cpus", cpus);
    json_add_count(resources, "memory", memory_bytes);
    json_add_count(resources, "gpus", pool != NULL ? pool->gpus : 0);
    if (pool != NULL && pool->gpu_part > 0)
        json_add_double(resources, "gpu", pool->gpu_part);
    json_add_count(resources, "gpuMemory", pool != NULL ? pool->gpu_memory : 0);
    json_add_filled(object, "resources", resources);
}

/* Args alone are those of a template's container, which has them. */
static void add_pool(cJSON *root, const struct job *job)
{
    const struct pool *pool = &job->pools[0];
    if (pool->command.n > 0 || job->kubernetes.template == NULL)
        add_command(root, pool);
    json_add_text(root, "image", pool->image);
    json_add_pairs(root, "env", &pool->env);
    json_add_text(root, "machine", pool->machine);
}

/* ---- replicas ---- */

static const char *word_at(const struct pool *pool, size_t i)
{
    return i < pool->command.n ? pool->command.items[i]
                               : pool->args.items[i - pool->command.n];
}

/* Do both begin with the same n words? */
static bool share_words(const struct pool *a, const struct pool *b, size_t n)
{
    if (n > a->command.n + a->args.n || n > b->command.n + b->args.n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (strcmp(word_at(a, i), word_at(b, i)) != 0)
            return false;
    return true;
}

/* The words of a pool, as few as the master's leave to say. */
static void add_words(cJSON *object, const struct pool *pool,
                      const struct pool *master)
{
    const size_t n = master->command.n + master->args.n;
    const size_t own = pool->command.n + pool->args.n;
    if (own == n && share_words(pool, master, n))
        return;
    if (pool->command.n == 0 && n > 0) {
        add_command(object, pool);
        return;
    }
    if (pool->command.n != n || !share_words(pool, master, n))
        json_add_strings(object, "command", &pool->command);
    json_add_strings(object, "args", &pool->args);
}

static bool same_env(const struct pairs *a, const struct pairs *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->items[i].name, b->items[i].name) != 0 ||
            strcmp(a->items[i].value, b->items[i].value) != 0)
            return false;
    return true;
}

/* Adds a text of a pool that is not the master's, too. */
static void add_own(cJSON *object, const char *key, const char *own,
                    const char *masters)
{
    if (own && (masters == NULL || strcmp(own, masters) != 0))
        json_add_string(object, key, own);
}

/* What is the master's is not said again, unless all is asked for. */
static void add_replica(cJSON *replicas, const struct pool *pool,
                        const struct pool *master)
{
    cJSON *object = json_add_object(replicas, pool->type);
    json_add_int(object, "count", pool->count);
    if (master)
        add_words(object, pool, master);
    else
        add_command(object, pool);
    add_own(object, "image", pool->image, master ? master->image : NULL);
    add_own(object, "machine", pool->machine, master ? master->machine : NULL);
    if (master == NULL || !same_env(&pool->env, &master->env)) {
        json_add_pairs(object, "env", &pool->env);
        if (master && pool->env.n == 0)
            json_add_object(object, "env");
    }
    add_resources(object, pool->cpus, pool->memory_bytes, pool);
}

static void add_replicas(cJSON *root, const struct job *job, bool full)
{
    if (job->n_pools < 2 && !job->chief)
        return;
    cJSON *replicas = json_add_object(root, "replicas");
    for (size_t i = 1; i < job->n_pools; i++)
        add_replica(replicas, &job->pools[i], full ? NULL : &job->pools[0]);
    json_add_flag(replicas, "chief", job->chief);
}

/* ---- surroundings ---- */

static void add_surroundings(cJSON *root, const struct job *job)
{
    if (job->own_workdir && job->workdir)
        json_add_string(json_add_object(root, "workdir"), "own", job->workdir);
    else if (job->workdir || job->own_workdir)
        json_add_string(root, "workdir",
                        job->own_workdir ? "own" : job->workdir);
    if (job->code.way != CODE_AUTO)
        json_add_string(root, "code", job_code_ways[job->code.way].name);
    json_add_text(root, "outputDir", job->output_dir);
    json_add_text(root, "jobDir", job->job_dir);
    json_add_strings(root, "passEnv", &job->pass_env);
    cJSON *metrics = cJSON_CreateObject();
    json_add_strings(metrics, "stdout", &job->stdout_patterns);
    json_add_text(metrics, "file", job->metrics_file);
    json_add_text(metrics, "events", job->metrics_events);
    json_add_filled(root, "metrics", metrics);
    if (job->metric_doctor != DOCTOR_PAUSE)
        json_add_string(root, "metricDoctor", "warn");
    job_notify_write(root, &job->notify);
    job_trackers_write(root, &job->trackers);
    add_resources(root, job->cpus, job->memory_bytes,
                  job->n_pools > 0 ? &job->pools[0] : NULL);
    job_run_on_write(root, job);
    job_kubernetes_write(root, &job->kubernetes);
    job_slurm_write(root, &job->slurm);
    job_container_write(root, job);
    json_add_text(root, "serviceAccount", job->service_account);
}

/* The kinds of GPUs asked for, by type of replica. */
static void add_accelerators(cJSON *root, const struct job *job)
{
    cJSON *all = cJSON_CreateObject();
    for (size_t i = 0; i < job->n_pools; i++)
        json_add_text(all, job->pools[i].type, job->pools[i].accelerator);
    json_add_filled(root, "accelerators", all);
}

/* What other forms can say and the native one cannot. */
static void add_foreign(cJSON *root, const struct job *job)
{
    static const char *const kinds[] = {"tuning", "study", "custom"};
    json_add_string(root, "kind", kinds[job->kind]);
    if (job_is_named_apart(job))
        json_add_string(root, "displayName", job->display);
    json_add_bool(root, "substitute", job->substitute);
    add_accelerators(root, job);
    cJSON *all = cJSON_CreateObject();
    for (const struct kept *kept = job->kept; kept; kept = kept->next)
        cJSON_AddItemToObject(all, kept->path, cJSON_CreateRaw(kept->json));
    json_add_filled(root, "kept", all);
}

cJSON *native_tree(const struct job *job, enum native_detail detail)
{
    bool full = detail == NATIVE_FULL;
    cJSON *root = cJSON_CreateObject();
    json_add_int(root, "spec", 1);
    json_add_text(root, "name", job->name);
    json_add_pairs(root, "labels", &job->labels);
    add_study(root, job, full);
    add_limits(root, job, full);
    if (job->n_pools > 0)
        add_pool(root, job);
    if (full || job->args_mode != ARGS_AUTO)
        json_add_string(root, "args", job_args_modes[job->args_mode].name);
    add_surroundings(root, job);
    add_replicas(root, job, full);
    if (full)
        add_foreign(root, job);
    return root;
}

cJSON *native_write(const struct job *job)
{
    return native_tree(job, NATIVE_SPEC);
}

static void omit(struct diag *diag, const char *path, const char *why)
{
    diag_warning(diag, 0, 0, path, "%s", why);
}

static void omit_pools(const struct job *job, struct diag *diag)
{
    for (size_t i = 0; i < job->n_pools; i++) {
        const struct pool *pool = &job->pools[i];
        if (!job->substitute && command_has_reference(&job->space, pool))
            omit(diag, pool->type,
                 "its ${...} is kept as it is, and would be replaced");
        if (pool->image && pool->command.n == 0 && pool->args.n > 0 &&
            job->kubernetes.template == NULL)
            omit(diag, pool->type,
                 "its args would replace the entry point of the image");
        if (i > 0 && pool->machine == NULL && job->pools[0].machine)
            omit(diag, pool->type,
                 "it has no machine type, and would get the master's");
        if (pool->accelerator)
            omit(diag, pool->type, "its kind of GPU is left out");
    }
}

void native_omits(const struct job *job, struct diag *diag)
{
    if (job->kind == JOB_STUDY)
        omit(diag, "", "a study without a job has no native form");
    if (job->kind == JOB_CUSTOM)
        omit(diag, "", "a job without parameters has no native form");
    if (job_is_named_apart(job))
        omit(diag, "displayName", "is left out");
    omit_pools(job, diag);
    for (const struct kept *kept = job->kept; kept; kept = kept->next)
        omit(diag, kept->path, "is left out");
}
