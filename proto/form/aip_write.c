/* aip_write.c - a job in the AI Platform form. */

#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/field.h"
#include "proto/doc/json.h"
#include "proto/form/aip.h"
#include "proto/form/form.h"
#include "proto/job/command.h"
#include "proto/job/draft.h"
#include "proto/job/kubernetes_section.h"
#include "proto/job/run_on.h"
#include "proto/job/slurm_section.h"

/* ---- names of kept members ---- */

/* One member under its two names: AI Platform's below trainingInput, Vertex's
 * below the job's spec, or below the job itself. */
struct renaming {
    const char *aip, *vertex;
};

static const struct renaming spec_names[] = {
    {"network", "network"},
    {"serviceAccount", "serviceAccount"},
    {"enableWebAccess", "enableWebAccess"},
    {"scheduling.resilientToWorkerRestart",
     "scheduling.restartJobOnWorkerRestart"},
    {"scheduling.strategy", "scheduling.strategy"},
    {NULL, NULL}};

static const struct renaming root_names[] = {
    {"encryptionConfig.kmsKeyName", "encryptionSpec.kmsKeyName"},
    {"hyperparameters.resumePreviousJobId", "hypertune.warmStart"},
    {"hyperparameters.resumePreviousJobId", "hypertune.warmStart[0]"},
    {NULL, NULL}};

/* Behind the role on one side, below its pool on the other. */
static const struct renaming role_names[] = {
    {"Config.diskConfig.bootDiskSizeGb", "diskSpec.bootDiskSizeGb"},
    {"Config.diskConfig.bootDiskType", "diskSpec.bootDiskType"},
    {NULL, NULL}};

/* The text of the path behind `prefix`, NULL when it begins otherwise. */
static const char *behind(const char *path, const char *prefix)
{
    size_t len = strlen(prefix);
    return strncmp(path, prefix, len) == 0 ? path + len : NULL;
}

enum direction { TO_VERTEX, TO_AIP };

/* The other name of a path, by the names below these two prefixes. */
static const char *rename_below(struct arena *arena, const char *path,
                                enum direction direction,
                                struct renaming prefix,
                                const struct renaming names[])
{
    bool there = direction == TO_VERTEX;
    const char *rest = behind(path, there ? prefix.aip : prefix.vertex);
    for (; rest && names->aip; names++)
        if (strcmp(rest, there ? names->aip : names->vertex) == 0)
            return there ? arena_printf(arena, "%s%s", prefix.vertex,
                                        names->vertex)
                         : arena_printf(arena, "%s%s", prefix.aip, names->aip);
    return NULL;
}

static bool has_pool(const struct job *job, size_t role)
{
    for (size_t i = 0; i < job->n_pools; i++)
        if (strcmp(job->pools[i].type, job_pool_types[role]) == 0)
            return true;
    return false;
}

static const char *rename_path(struct arena *arena, const struct job *job,
                               const char *path, enum direction direction)
{
    const char *spec = job->kind == JOB_CUSTOM ? "jobSpec." : "trialJobSpec.";
    const char *name =
        rename_below(arena, path, direction,
                     (struct renaming){"trainingInput.", spec}, spec_names);
    if (name == NULL)
        name =
            rename_below(arena, path, direction,
                         (struct renaming){"trainingInput.", ""}, root_names);
    for (size_t i = 0; i < JOB_POOLS && name == NULL; i++) {
        struct renaming prefix = {
            arena_printf(arena, "trainingInput.%s", aip_prefixes[i]),
            arena_printf(arena, "%sworkerPoolSpecs[%zu].", spec, i)};
        if (has_pool(job, i))
            name = rename_below(arena, path, direction, prefix, role_names);
    }
    return name;
}

const char *aip_path(struct arena *arena, const struct job *job,
                     const char *path)
{
    if (behind(path, "trainingInput."))
        return path;
    return rename_path(arena, job, path, TO_AIP);
}

void aip_move_kept(struct arena *arena, const struct job *job)
{
    for (struct kept *kept = job->kept; kept; kept = kept->next) {
        const char *vertex = rename_path(arena, job, kept->path, TO_VERTEX);
        if (vertex)
            kept->path = vertex;
    }
}

/* ---- writing ---- */

/* One job on its way out. */
struct aip_writer {
    const struct job *job;
    struct diag *diag;
    cJSON *root, *input; /* input is root's trainingInput */
};

/* ---- parameters ---- */

static void warn_of_param(const struct aip_writer *writer,
                          const struct param *param, const char *text)
{
    diag_warning(
        writer->diag, 0, 0,
        arena_printf(writer->diag->arena, "parameters.%s", param->name), "%s",
        text);
}

static bool has_step(const struct param *param)
{
    return (param->type == PARAM_DOUBLE && param->step > 0) ||
           (param->type == PARAM_INTEGER && param->int_step > 1);
}

static void add_bounds(cJSON *object, const struct param *param)
{
    if (param->type == PARAM_INTEGER) {
        json_add_int(object, "minValue", param->int_min);
        json_add_int(object, "maxValue", param->int_max);
    } else {
        json_add_double(object, "minValue", param->min);
        json_add_double(object, "maxValue", param->max);
    }
}

static void add_param(const struct aip_writer *writer, cJSON *array,
                      const struct param *param)
{
    enum param_type type = param->type;
    cJSON *object = json_push_object(array);
    if (has_step(param)) {
        bool listed = space_param_levels(param) <= HT_MAX_CATEGORIES;
        warn_of_param(writer, param,
                      listed ? "its step is written as a list of values"
                             : "its step is left out");
        if (listed)
            type = PARAM_DISCRETE;
    }
    json_add_string(object, "parameterName", param->name);
    json_add_string(object, "type", form_plan_type(type));
    if (type == PARAM_DOUBLE || type == PARAM_INTEGER)
        add_bounds(object, param);
    else
        space_levels_add_json(param, object,
                              param->type == PARAM_CATEGORICAL
                                  ? "categoricalValues"
                                  : "discreteValues");
    if (type != PARAM_CATEGORICAL &&
        (type != PARAM_DISCRETE || param->scale != SCALE_LINEAR))
        json_add_string(
            object, "scaleType",
            field_choice_name(job_param_google_scales, (int)param->scale));
    if (param->has_default)
        warn_of_param(writer, param, "its default is left out");
    if (param->when)
        warn_of_param(writer, param, "its condition is left out");
}

/* ---- hyperparameters ---- */

static void add_search(const struct aip_writer *writer)
{
    const struct job *job = writer->job;
    cJSON *search = json_add_object(writer->input, "hyperparameters");
    json_add_string(search, "goal",
                    job->metrics[0].maximize ? "MAXIMIZE" : "MINIMIZE");
    json_add_string(search, "hyperparameterMetricTag", job->metrics[0].name);
    json_add_count(search, "maxTrials", job->max_trials);
    json_add_int(search, "maxParallelTrials", job->parallel);
    json_add_count(search, "maxFailedTrials", job->max_failed);
    if (job->algorithm == ALGORITHM_GRID)
        json_add_string(search, "algorithm", "GRID_SEARCH");
    if (job->algorithm == ALGORITHM_RANDOM)
        json_add_string(search, "algorithm", "RANDOM_SEARCH");
    json_add_flag(search, "enableTrialEarlyStopping",
                  job->early_stop.rule != EARLY_NONE);
    if (job->warm_start.n == 1)
        json_add_string(search, "resumePreviousJobId",
                        job->warm_start.items[0]);
    cJSON *params = json_add_array(search, "params");
    for (size_t i = 0; i < job->space.n; i++)
        add_param(writer, params, &job->space.params[i]);
}

/* ---- replicas ---- */

static bool same_words(const struct strings *a, const struct strings *b)
{
    for (size_t i = 0; i < a->n && a->n == b->n; i++)
        if (strcmp(a->items[i], b->items[i]) != 0)
            return false;
    return a->n == b->n;
}

/* How the words of all pools can be said once: by trainingInput.args, with
 * the images' own entry points or with a module. */
enum wording { WORDS_EACH, WORDS_ENTRY, WORDS_MODULE };

static enum wording find_wording(const struct job *job)
{
    if (job->n_pools == 0)
        return WORDS_ENTRY;
    const struct pool *master = &job->pools[0];
    bool module = command_is_module(master);
    if (!module && master->command.n > 0)
        return WORDS_EACH;
    for (size_t i = 1; i < job->n_pools; i++) {
        const struct pool *pool = &job->pools[i];
        if (!same_words(&pool->command, &master->command) ||
            !same_words(&pool->args, &master->args) || (module && pool->image))
            return WORDS_EACH;
    }
    return module ? WORDS_MODULE : WORDS_ENTRY;
}

static const char *kept_tier(const struct job *job)
{
    for (const struct kept *kept = job->kept; kept; kept = kept->next)
        if (strcmp(kept->path, "trainingInput.scaleTier") == 0)
            return kept->json;
    return "";
}

/* What the tier gives is not said again. */
static void add_accelerators(const struct aip_writer *writer, cJSON *config,
                             const struct pool *pool)
{
    bool preset = strcmp(kept_tier(writer->job), "\"BASIC_GPU\"") == 0;
    if (preset)
        return;
    cJSON *accelerators = cJSON_CreateObject();
    if (pool->gpus > 0)
        json_add_int_text(accelerators, "count", pool->gpus);
    json_add_text(accelerators, "type", pool->accelerator);
    json_add_filled(config, "acceleratorConfig", accelerators);
}

static void add_config(const struct aip_writer *writer, const struct pool *pool,
                       enum wording wording)
{
    const struct pool *master = &writer->job->pools[0];
    const char *prefix = aip_prefixes[job_pool_place(pool->type)];
    struct arena *arena = writer->diag->arena;
    cJSON *config = cJSON_CreateObject();
    if (pool->image && (pool == master || master->image == NULL ||
                        strcmp(pool->image, master->image) != 0))
        json_add_string(config, "imageUri", pool->image);
    if (wording == WORDS_EACH) {
        json_add_strings(config, "containerCommand", &pool->command);
        json_add_strings(config, "containerArgs", &pool->args);
    }
    add_accelerators(writer, config, pool);
    json_add_filled(writer->input, arena_printf(arena, "%sConfig", prefix),
                    config);
    json_add_text(writer->input, arena_printf(arena, "%sType", prefix),
                  pool->machine);
    if (pool != master)
        json_add_int_text(writer->input, arena_printf(arena, "%sCount", prefix),
                          pool->count);
    if (pool->env.n > 0)
        diag_warning(writer->diag, 0, 0, "env",
                     "the variables of the %s are left out", pool->type);
}

/* Is it "trainingInput.PREFIXType"? */
static bool names_machine(const char *path)
{
    for (size_t i = 0; path && i < JOB_POOLS; i++) {
        const char *member = path + strlen("trainingInput.");
        size_t len = strlen(aip_prefixes[i]);
        if (strncmp(member, aip_prefixes[i], len) == 0 &&
            strcmp(member + len, "Type") == 0)
            return true;
    }
    return false;
}

/* Google wants the tier CUSTOM where a cluster or a machine is described; a
 * preset was kept. */
static bool is_custom(const struct aip_writer *writer)
{
    const struct job *job = writer->job;
    bool custom = job->n_pools > 1;
    if (kept_tier(job)[0] != '\0')
        return false;
    for (size_t i = 0; i < job->n_pools; i++)
        custom |= job->pools[i].gpus > 0 || job->pools[i].machine;
    for (const struct kept *kept = job->kept; kept; kept = kept->next)
        custom |= names_machine(aip_path(writer->diag->arena, job, kept->path));
    return custom;
}

static void add_pools(const struct aip_writer *writer)
{
    const struct job *job = writer->job;
    enum wording wording = find_wording(job);
    if (is_custom(writer))
        json_add_string(writer->input, "scaleTier", "CUSTOM");
    if (wording == WORDS_EACH && job->pools[0].image == NULL)
        diag_warning(writer->diag, 0, 0, "command",
                     "AI Platform runs a command only in an image");
    for (size_t i = 0; i < job->n_pools; i++)
        add_config(writer, &job->pools[i], wording);
    if (wording == WORDS_MODULE)
        json_add_string(writer->input, "pythonModule",
                        job->pools[0].command.items[2]);
    if (wording != WORDS_EACH && job->n_pools > 0)
        json_add_strings(writer->input, "args", &job->pools[0].args);
    json_add_flag(writer->input, "useChiefInTfConfig", job->chief);
}

/* ---- the rest ---- */

static bool is_writable_wait(const struct cancelling *after)
{
    return after->waiting_ms >= AIP_LEAST_WAIT_MS;
}

static void add_limits(const struct aip_writer *writer)
{
    const struct cancelling *after = &writer->job->cancel_after;
    cJSON *scheduling = cJSON_CreateObject();
    json_add_span(scheduling, "maxRunningTime", after->running_ms);
    if (is_writable_wait(after))
        json_add_duration(scheduling, "maxWaitTime", after->waiting_ms);
    json_add_filled(writer->input, "scheduling", scheduling);
}

static void add_kept(const struct aip_writer *writer)
{
    struct diag *diag = writer->diag;
    for (const struct kept *kept = writer->job->kept; kept; kept = kept->next) {
        struct kept named = *kept;
        named.path = aip_path(diag->arena, writer->job, kept->path);
        if (named.path)
            kept_put(writer->root, &named);
        else
            diag_warning(diag, 0, 0, kept->path, "is left out");
    }
}

static bool has_own_needs(const struct job *job)
{
    for (size_t i = 0; i < job->n_pools; i++)
        if (job->pools[i].cpus > 0 || job->pools[i].memory_bytes > 0)
            return true;
    return false;
}

/* AI Platform has a rule or none. */
static bool has_other_rule(const struct job *job)
{
    const struct early_stop *stop = &job->early_stop;
    return stop->rule != EARLY_NONE &&
           (stop->rule != EARLY_DECAY || job_early_stop_has_options(stop));
}

static bool has_several_goals(const struct job *job)
{
    return job_objectives(job) > 1;
}

static bool has_several_studies(const struct job *job)
{
    return job->warm_start.n > 1;
}

static bool has_short_wait(const struct job *job)
{
    return job->cancel_after.waiting_ms > 0 &&
           !is_writable_wait(&job->cancel_after);
}

/* Everything else that a job can say, in native names: it is lost when the
 * native form would say it. */
static const char *const losses[] = {
    /* the search */
    "displayName", "goal", "safety", "constraints", "warmStart", "seed",
    "selection", "noise", "earlyStopping", "until.target", "until.time",
    "until.end", "until.noProgress", "until.noProgressTime", "until.minTrials",
    "until.minTime", "until.minEnd", "until.letFinish", "cancelAfter.waiting",
    /* the trials */
    "trialTimeout", "silence", "onSilence", "retries", "grace", "args",
    "workdir", "code", "passEnv", "metrics.stdout", "metrics.file",
    "metricDoctor", "notify", "trackers", "resources.cpus", "resources.memory",
    "volumes", "outputDir", "container", "secrets", "reporter", "rewriteGs",
    "keep", "replicas.*.resources"};

/* Where that says too much, a function. */
static const struct {
    const char *path;
    bool (*is_lost)(const struct job *job);
} exceptions[] = {{"displayName", job_is_named_apart},
                  {"goal", has_several_goals},
                  {"warmStart", has_several_studies},
                  {"earlyStopping", has_other_rule},
                  {"cancelAfter.waiting", has_short_wait},
                  {"replicas.*.resources", has_own_needs}};

static bool has_member(const cJSON *tree, const char *path)
{
    const size_t len = strcspn(path, ".");
    for (const cJSON *child = tree->child; child; child = child->next)
        if (strlen(child->string) == len &&
            strncmp(child->string, path, len) == 0)
            return path[len] == '\0' || has_member(child, path + len + 1);
    return false;
}

static bool is_lost(const struct job *job, const cJSON *native,
                    const char *path)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (strcmp(exceptions[i].path, path) == 0)
            return exceptions[i].is_lost(job);
    return has_member(native, path);
}

static void name_losses(const struct aip_writer *writer)
{
    cJSON *native = native_write(writer->job);
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (is_lost(writer->job, native, losses[i]))
            diag_warning(writer->diag, 0, 0, losses[i],
                         "AI Platform has no word for it: left out");
    cJSON_Delete(native);
}

static void add_hypertune(const struct aip_writer *writer)
{
    cJSON *hypertune = cJSON_CreateObject();
    job_run_on_write(hypertune, writer->job);
    job_kubernetes_write(hypertune, &writer->job->kubernetes);
    job_slurm_write(hypertune, &writer->job->slurm);
    json_add_filled(writer->root, "hypertune", hypertune);
}

cJSON *aip_write(const struct job *job, struct diag *diag)
{
    struct aip_writer writer = {
        .job = job, .diag = diag, .root = cJSON_CreateObject()};
    json_add_text(writer.root, "jobId", job->name);
    json_add_pairs(writer.root, "labels", &job->labels);
    writer.input = json_add_object(writer.root, "trainingInput");
    add_pools(&writer);
    if (job->kind != JOB_CUSTOM)
        add_search(&writer);
    json_add_text(writer.input, "jobDir", job->job_dir);
    json_add_text(writer.input, "serviceAccount", job->service_account);
    add_limits(&writer);
    add_kept(&writer);
    add_hypertune(&writer);
    name_losses(&writer);
    return writer.root;
}
