#include "runner/attempt/replica_env.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "proto/base/utf8.h"
#include "proto/form/cluster.h"
#include "runner/attempt/outputs.h"
#include "runner/attempt/replica_view.h"
#include "runner/base/disk.h"
#include "runner/base/gpus.h"
#include "runner/base/placement.h"

/* Sets or replaces; the strings are borrowed. */
static void variables_set(struct variables *variables, const char *name,
                          const char *value)
{
    for (size_t i = 0; i < variables->n; i++) {
        if (strcmp(variables->items[i].name, name) == 0) {
            variables->items[i].value = value;
            return;
        }
    }
    variables->items = arena_grow(variables->arena, variables->items,
                                  variables->n, sizeof *variables->items);
    variables->items[variables->n++] =
        (struct pair){.name = name, .value = value};
}

const char *replica_env_find(const struct variables *variables,
                             const char *name)
{
    for (size_t i = 0; i < variables->n; i++)
        if (strcmp(variables->items[i].name, name) == 0)
            return variables->items[i].value;
    return NULL;
}

/* Sets it unless it is set. */
static void variables_default(struct variables *variables, const char *name,
                              const char *value)
{
    if (replica_env_find(variables, name) == NULL)
        variables_set(variables, name, value);
}

/* ---- cluster ---- */

static size_t find_pool(const struct cluster_pool *pools, size_t n,
                        const char *type)
{
    size_t i = 0;
    while (i < n && strcmp(pools[i].type, type) != 0)
        i++;
    return i;
}

/* Replicas of one type keep their order, types that of their first replica. */
static struct cluster make_cluster(struct arena *arena,
                                   const struct replica_env *env)
{
    const struct order *order = env->order;
    const size_t n = order->n_replicas;
    struct cluster_pool *pools = arena_alloc(arena, n, sizeof *pools);
    size_t n_pools = 0;
    for (size_t i = 0; i < n; i++) {
        const char *type = order->replicas[i].type;
        if (find_pool(pools, n_pools, type) < n_pools)
            continue;
        const char **members = arena_alloc(arena, n, sizeof *members);
        size_t count = 0;
        for (size_t k = i; k < n; k++) {
            if (strcmp(order->replicas[k].type, type) == 0)
                members[count++] = env->placement->replicas[k].address;
        }
        pools[n_pools++] = (struct cluster_pool){
            .type = type, .n = count, .addresses = members};
    }
    return (struct cluster){
        .form = order->form,
        .n_pools = n_pools,
        .pools = pools,
        .chief = order->chief,
        .trial = order->tuning
                     ? arena_printf(arena, "%lld", (long long)order->key.trial)
                     : NULL,
        .job_json = order->job_json,
    };
}

typedef void cluster_function(const struct cluster *cluster, const char *type,
                              size_t index, struct text *out);

/* False when the variable is longer than the kernel allows. */
static bool describe(struct variables *variables, const struct replica_env *env,
                     const struct cluster *cluster, const char *name,
                     cluster_function *function)
{
    const struct replica_order *replica = &env->order->replicas[env->replica];
    struct text out = {0};
    function(cluster, replica->type, (size_t)replica->index, &out);
    const bool fits = strlen(name) + strlen("=") + out.len <= HT_MAX_WORD;
    variables_set(variables, name, text_take(&out, variables->arena));
    return fits;
}

static bool describe_both(struct variables *variables,
                          const struct replica_env *env,
                          const struct cluster *cluster)
{
    const bool spec =
        describe(variables, env, cluster, "CLUSTER_SPEC", cluster_spec_text);
    return describe(variables, env, cluster, "TF_CONFIG",
                    cluster_tf_config_text) &&
           spec;
}

static void set_cluster(struct variables *variables,
                        const struct replica_env *env)
{
    const struct order *order = env->order;
    struct cluster cluster = make_cluster(variables->arena, env);
    if (!describe_both(variables, env, &cluster)) {
        cluster.job_json = NULL;
        describe_both(variables, env, &cluster);
    }
    variables->lacks_job = cluster.job_json == NULL && order->job_bytes > 0;
    if (cluster.trial != NULL)
        variables_set(variables, "CLOUD_ML_TRIAL_ID", cluster.trial);
    if (order->metrics.n > 0)
        variables_set(variables, "CLOUD_ML_HP_METRIC_TAG",
                      order->metrics.items[0]);
}

/* A runner without GPUs leaves the user's variable. */
static void set_gpus(struct variables *variables, const struct replica_env *env)
{
    const struct strings *gpus = &env->placement->replicas[env->replica].gpus;
    /* "0" is then what nvidia-smi calls so, whose models are known. */
    if (env->site->models.n > 0)
        variables_set(variables, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    if (env->site->gpus.n > 0)
        variables_set(variables, "CUDA_VISIBLE_DEVICES",
                      gpus_text(variables->arena, gpus));
}

/* Adds a folder to a search path that lacks it. */
static void add_folder(struct variables *variables, const char *name,
                       const char *folder, bool first)
{
    struct arena *arena = variables->arena;
    const char *before = replica_env_find(variables, name);
    const char *path = before != NULL ? before : "";
    const char *between = arena_printf(arena, ":%s:", path);
    if (strstr(between, arena_printf(arena, ":%s:", folder)) != NULL)
        return;
    const char *colon = path[0] != '\0' ? ":" : "";
    variables_set(variables, name,
                  first ? arena_printf(arena, "%s%s%s", folder, colon, path)
                        : arena_printf(arena, "%s%s%s", path, colon, folder));
}

/* The job's variables, over those of the image or the submitting shell. */
static void set_jobs_own(struct variables *variables,
                         const struct replica_env *env)
{
    const struct replica_view *view = env->view;
    const struct pairs *own = &env->order->replicas[env->replica].env;
    for (size_t i = 0; i < view->base.n; i++)
        variables_set(variables, view->base.items[i].name,
                      view->base.items[i].value);
    for (size_t i = 0; i < own->n; i++) {
        const struct pair *pair = &own->items[i];
        const bool is_place =
            view->gcs != NULL && strncmp(pair->name, "AIP_", 4) == 0;
        const char *value =
            is_place ? outputs_rewrite(variables->arena, pair->value, view->gcs)
                     : pair->value;
        variables_set(variables, pair->name,
                      replica_view_put_trial_dir(variables->arena, env->order,
                                                 value, view->folder));
    }
    for (size_t i = 0; i < env->secrets->n; i++)
        variables_set(variables, env->secrets->items[i].name,
                      env->secrets->items[i].value);
}

static int count_threads(const struct replica_env *env)
{
    const double cpus = env->order->replicas[env->replica].cpus;
    const int share =
        cpus > 0 ? (int)cpus : env->site->cores / env->site->slots;
    return share > 0 ? share : 1;
}

const char *replica_env_credentials(const struct replica_env *env)
{
    const char *mounted = env->view->credentials;
    const char *file = env->credentials.file;
    return file == NULL || mounted == NULL ? file : mounted;
}

static void set_defaults(struct variables *variables,
                         const struct replica_env *env)
{
    const struct pairs *defaults = &env->view->defaults;
    const char *threads =
        arena_printf(variables->arena, "%d", count_threads(env));
    variables_default(variables, "PYTHONUNBUFFERED", "1");
    variables_default(variables, "OMP_NUM_THREADS", threads);
    variables_default(variables, "MKL_NUM_THREADS", threads);
    variables_default(variables, "OPENBLAS_NUM_THREADS", threads);
    for (size_t i = 0; i < defaults->n; i++)
        variables_default(variables, defaults->items[i].name,
                          defaults->items[i].value);
    if (replica_env_credentials(env) != NULL)
        variables_default(variables, CREDENTIALS_VARIABLE,
                          replica_env_credentials(env));
}

/* As on Vertex. Google's libraries would take GOOGLE_CLOUD_PROJECT before the
 * project of the credentials, and a project here may mean nothing to Google, so
 * that one is not set. */
static void set_place(struct variables *variables, const struct order *order)
{
    if (order->project != NULL)
        variables_default(variables, "CLOUD_ML_PROJECT_ID", order->project);
    if (order->location != NULL)
        variables_default(variables, "CLOUD_ML_REGION", order->location);
}

/* So that `hypertune report` and `import hypertune` work in every trial. An
 * installed package of that name is preferred unless the job orders otherwise:
 * the folder `hook` has only a finder for imports that fail. */
static void set_kit(struct variables *variables, const struct replica_env *env)
{
    const struct replica_view *view = env->view;
    struct arena *arena = variables->arena;
    if (view->programs != NULL)
        add_folder(variables, "PATH", view->programs, view->programs_first);
    if (view->kit == NULL)
        return;
    variables_set(variables, "HYPERTUNE_KIT", view->kit);
    if (env->order->reporter == REPORTER_PYTHON)
        add_folder(variables, "PYTHONPATH",
                   arena_printf(arena, "%s/python", view->kit), true);
    else
        add_folder(variables, "PYTHONPATH",
                   arena_printf(arena, "%s/hook", view->kit), true);
}

static void set_folders(struct variables *variables,
                        const struct replica_env *env)
{
    const struct replica_view *view = env->view;
    struct arena *arena = variables->arena;
    const char *folder = view->folder;
    if (folder == NULL)
        return;
    variables_set(variables, "CLOUD_ML_HP_METRIC_FILE",
                  arena_printf(arena, "%s/output.metrics", folder));
    variables_set(variables, "HYPERTUNE_REPORT_FILE",
                  arena_printf(arena, "%s/reports.jsonl", folder));
    variables_set(variables, "HYPERTUNE_TRIAL_TOKEN_FILE",
                  arena_printf(arena, "%s/token", folder));
    variables_set(variables, "HYPERTUNE_TRIAL_DIR", folder);
    const size_t len = strlen(view->outputs);
    const char *slash = len > 0 && view->outputs[len - 1] == '/' ? "" : "/";
    for (size_t i = 0; i < OUTPUT_FOLDERS; i++)
        variables_set(variables, output_folders[i].name,
                      arena_printf(arena, "%s%s%s", view->outputs, slash,
                                   output_folders[i].value));
}

void replica_env_set(struct variables *variables, const struct replica_env *env)
{
    const struct order *order = env->order;
    set_jobs_own(variables, env);
    set_defaults(variables, env);
    set_place(variables, order);
    set_kit(variables, env);
    set_cluster(variables, env);
    set_gpus(variables, env);
    set_folders(variables, env);
    variables_set(variables, "CLOUD_ML_JOB_ID", order->job_name);
    if (env->view->report_url != NULL)
        variables_set(variables, "HYPERTUNE_REPORT_URL", env->view->report_url);
    variables_set(variables, "HYPERTUNE_REPLICA",
                  order->replicas[env->replica].name);
    if (order->key.attempt > 1 && env->view->folder != NULL)
        variables_set(variables, "HYPERTUNE_RESUME", "1");
}

/* ---- the values of secrets ---- */

enum { SECRET_BYTES = 64 * 1024, SECRET_NAME_BYTES = 128 };

/* A name without path: it is in the folder. */
static bool is_plain(const char *name)
{
    const size_t len = strlen(name);
    return len > 0 && len <= SECRET_NAME_BYTES && name[0] != '.' &&
           strchr(name, '/') == NULL;
}

static enum ht_status refuse(const struct secret *secret, const char *why,
                             struct ht_error *err)
{
    return ht_fail(err, HT_PRECONDITION, "secrets.%.64s: %s", secret->name,
                   why);
}

/* A file may have bytes that an environment cannot have. */
static enum ht_status keep(struct arena *arena, const struct secret *secret,
                           char *value, size_t len, struct pair *pair,
                           struct ht_error *err)
{
    if (len > 0 && value[len - 1] == '\n')
        len--;
    value[len] = '\0';
    if (strlen(value) != len || !utf8_is_valid(value, len))
        return refuse(secret, "its value is not text", err);
    *pair = (struct pair){.name = secret->name,
                          .value = arena_strndup(arena, value, len)};
    return HT_OK;
}

static enum ht_status find_file(struct arena *arena, const struct site *site,
                                const struct secret *secret, struct pair *pair,
                                struct ht_error *err)
{
    if (site->secrets == NULL)
        return refuse(secret,
                      "this runner has no folder of secrets "
                      "(--secrets DIR)",
                      err);
    if (!is_plain(secret->file))
        return refuse(secret, "file must be a plain name", err);
    const int fd =
        open(arena_printf(arena, "%s/%s", site->secrets, secret->file),
             O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return ht_fail(err, HT_PRECONDITION,
                       "secrets.%.64s: the runner has no file %.64s",
                       secret->name, secret->file);
    struct disk_bytes bytes = {.data = NULL};
    struct ht_error why;
    const enum ht_status status =
        disk_read_open(arena, fd, SECRET_BYTES, &bytes, &why);
    close(fd);
    if (status != HT_OK)
        return ht_fail(err, HT_PRECONDITION, "secrets.%.64s: its file %s",
                       secret->name, why.text);
    return keep(arena, secret, bytes.data, bytes.len, pair, err);
}

static enum ht_status find_variable(struct arena *arena,
                                    const struct secret *secret,
                                    char *(*lookup)(const char *name),
                                    struct pair *pair, struct ht_error *err)
{
    if (secret->env == NULL || !is_plain(secret->env))
        return refuse(secret, "names neither a file nor a variable", err);
    const char *value =
        lookup(arena_printf(arena, "HYPERTUNE_SECRET_%s", secret->env));
    if (value == NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "secrets.%.64s: the runner has no variable "
                       "HYPERTUNE_SECRET_%.64s",
                       secret->name, secret->env);
    return keep(arena, secret, arena_strdup(arena, value), strlen(value), pair,
                err);
}

enum ht_status replica_env_secrets(struct arena *arena, const struct site *site,
                                   const struct order *order,
                                   char *(*lookup)(const char *name),
                                   struct pairs *values, struct ht_error *err)
{
    struct pair *items =
        arena_alloc(arena, order->n_secrets + 1, sizeof *items);
    for (size_t i = 0; i < order->n_secrets; i++) {
        const struct secret *secret = &order->secrets[i];
        const enum ht_status status =
            secret->file != NULL
                ? find_file(arena, site, secret, &items[i], err)
                : find_variable(arena, secret, lookup, &items[i], err);
        if (status != HT_OK)
            return status;
    }
    *values = (struct pairs){.n = order->n_secrets, .items = items};
    return HT_OK;
}
