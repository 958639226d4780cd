#include "runner/attempt/replica_env.h"

#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "proto/form/cluster.h"
#include "runner/attempt/outputs.h"
#include "runner/base/gpus.h"

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
    if (variables->n == variables->room) {
        const size_t room = variables->room > 0 ? 2 * variables->room : 64;
        struct pair *items = arena_alloc(variables->arena, room, sizeof *items);
        if (variables->n > 0)
            memcpy(items, variables->items, variables->n * sizeof *items);
        variables->items = items;
        variables->room = room;
    }
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

/* Sets only what is not there yet. */
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
                                   const struct replica_env *identity)
{
    const struct order *order = identity->order;
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
                members[count++] = identity->placement->seats[k].address;
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

/* False when the variable is longer than the kernel takes. */
static bool describe(struct variables *variables,
                     const struct replica_env *identity,
                     const struct cluster *cluster, const char *name,
                     cluster_function *function)
{
    const struct replica_order *replica =
        &identity->order->replicas[identity->replica];
    struct text out = {0};
    function(cluster, replica->type, (size_t)replica->index, &out);
    variables_set(variables, name,
                  arena_strndup(variables->arena, out.data, out.len));
    const bool fits = strlen(name) + strlen("=") + out.len <= HT_MAX_WORD;
    text_free(&out);
    return fits;
}

static bool describe_both(struct variables *variables,
                          const struct replica_env *identity,
                          const struct cluster *cluster)
{
    const bool spec = describe(variables, identity, cluster, "CLUSTER_SPEC",
                               cluster_spec_text);
    return describe(variables, identity, cluster, "TF_CONFIG",
                    cluster_tf_config_text) &&
           spec;
}

static void set_cluster(struct variables *variables,
                        const struct replica_env *identity)
{
    const struct order *order = identity->order;
    struct cluster cluster = make_cluster(variables->arena, identity);
    if (!describe_both(variables, identity, &cluster)) {
        cluster.job_json = NULL;
        describe_both(variables, identity, &cluster);
    }
    variables->lacks_job = cluster.job_json == NULL && order->job_bytes > 0;
    if (cluster.trial != NULL)
        variables_set(variables, "CLOUD_ML_TRIAL_ID", cluster.trial);
    if (order->metrics.n > 0)
        variables_set(variables, "CLOUD_ML_HP_METRIC_TAG",
                      order->metrics.items[0]);
}

/* Without GPUs of our own to give, whatever the user says stays. */
static void set_gpus(struct variables *variables,
                     const struct replica_env *identity)
{
    const struct strings *gpus =
        &identity->placement->seats[identity->replica].gpus;
    if (identity->site->gpus.n > 0)
        variables_set(variables, "CUDA_VISIBLE_DEVICES",
                      gpus_text(variables->arena, gpus));
}

/* Puts a folder into a search path, where it is not yet. */
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

/* What the job says, over what is there anyway. */
static void set_jobs_own(struct variables *variables,
                         const struct replica_env *identity)
{
    const struct replica_view *habitat = identity->habitat;
    const struct pairs *env = &identity->order->replicas[identity->replica].env;
    for (size_t i = 0; i < habitat->base.n; i++)
        variables_set(variables, habitat->base.items[i].name,
                      habitat->base.items[i].value);
    for (size_t i = 0; i < env->n; i++) {
        const struct pair *pair = &env->items[i];
        const bool is_place =
            habitat->gcs != NULL && strncmp(pair->name, "AIP_", 4) == 0;
        const char *value =
            is_place
                ? outputs_rewrite(variables->arena, pair->value, habitat->gcs)
                : pair->value;
        variables_set(variables, pair->name,
                      replica_view_put_trial_dir(variables->arena,
                                                 identity->order, value,
                                                 habitat->folder));
    }
    for (size_t i = 0; i < identity->secrets->n; i++)
        variables_set(variables, identity->secrets->items[i].name,
                      identity->secrets->items[i].value);
}

static int count_threads(const struct replica_env *identity)
{
    const double cpus = identity->order->replicas[identity->replica].cpus;
    const int share =
        cpus > 0 ? (int)cpus : identity->site->cores / identity->site->slots;
    return share > 0 ? share : 1;
}

const char *replica_env_credentials(const struct replica_env *identity)
{
    const char *mounted = identity->habitat->credentials;
    const char *file = identity->credentials.file;
    return file == NULL || mounted == NULL ? file : mounted;
}

static void set_defaults(struct variables *variables,
                         const struct replica_env *identity)
{
    const struct pairs *offered = &identity->habitat->offered;
    const char *threads =
        arena_printf(variables->arena, "%d", count_threads(identity));
    variables_default(variables, "PYTHONUNBUFFERED", "1");
    variables_default(variables, "OMP_NUM_THREADS", threads);
    variables_default(variables, "MKL_NUM_THREADS", threads);
    variables_default(variables, "OPENBLAS_NUM_THREADS", threads);
    for (size_t i = 0; i < offered->n; i++)
        variables_default(variables, offered->items[i].name,
                          offered->items[i].value);
    if (replica_env_credentials(identity) != NULL)
        variables_default(variables, CREDENTIALS_VARIABLE,
                          replica_env_credentials(identity));
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

/* So that `hypertune report` and `import hypertune` are found in every trial.
 * A package of that name that is installed goes before ours, unless the job
 * wants it otherwise: the folder `hook` has nothing but a finder for imports
 * that fail. */
static void set_kit(struct variables *variables,
                    const struct replica_env *identity)
{
    const struct replica_view *habitat = identity->habitat;
    struct arena *arena = variables->arena;
    if (habitat->programs != NULL)
        add_folder(variables, "PATH", habitat->programs,
                   habitat->programs_first);
    if (habitat->kit == NULL)
        return;
    variables_set(variables, "HYPERTUNE_KIT", habitat->kit);
    if (identity->order->reporter == REPORTER_PYTHON)
        add_folder(variables, "PYTHONPATH",
                   arena_printf(arena, "%s/python", habitat->kit), true);
    else if (habitat->offers_package)
        add_folder(variables, "PYTHONPATH",
                   arena_printf(arena, "%s/hook", habitat->kit), true);
}

static void set_folders(struct variables *variables,
                        const struct replica_env *identity)
{
    const struct replica_view *habitat = identity->habitat;
    struct arena *arena = variables->arena;
    const char *folder = habitat->folder;
    variables_set(variables, "CLOUD_ML_HP_METRIC_FILE",
                  arena_printf(arena, "%s/output.metrics", folder));
    variables_set(variables, "HYPERTUNE_REPORT_FILE",
                  arena_printf(arena, "%s/reports.jsonl", folder));
    variables_set(variables, "HYPERTUNE_TRIAL_TOKEN_FILE",
                  arena_printf(arena, "%s/token", folder));
    variables_set(variables, "HYPERTUNE_TRIAL_DIR", folder);
    const size_t len = strlen(habitat->outputs);
    const char *slash = len > 0 && habitat->outputs[len - 1] == '/' ? "" : "/";
    for (size_t i = 0; i < OUTPUT_FOLDERS; i++)
        variables_set(variables, output_folders[i].name,
                      arena_printf(arena, "%s%s%s", habitat->outputs, slash,
                                   output_folders[i].value));
}

void replica_env_set(struct variables *variables,
                     const struct replica_env *identity)
{
    const struct order *order = identity->order;
    set_jobs_own(variables, identity);
    set_defaults(variables, identity);
    set_place(variables, order);
    set_kit(variables, identity);
    set_cluster(variables, identity);
    set_gpus(variables, identity);
    set_folders(variables, identity);
    variables_set(variables, "CLOUD_ML_JOB_ID", order->job_name);
    if (identity->habitat->report_url != NULL)
        variables_set(variables, "HYPERTUNE_REPORT_URL",
                      identity->habitat->report_url);
    variables_set(variables, "HYPERTUNE_REPLICA",
                  order->replicas[identity->replica].name);
    if (order->key.attempt > 1)
        variables_set(variables, "HYPERTUNE_RESUME", "1");
}
