#include "runner/identity.h"

#include <string.h>

#include "proto/cluster.h"
#include "proto/text.h"
#include "runner/gpus.h"

void variables_set(struct variables *variables, const char *name,
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

void variables_default(struct variables *variables, const char *name,
                       const char *value)
{
    for (size_t i = 0; i < variables->n; i++) {
        if (strcmp(variables->items[i].name, name) == 0)
            return;
    }
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

/* The kernel refuses a variable of 128 KiB, and hardly anybody reads this. */
static const char *shown_job(const struct order *order)
{
    enum { MOST_BYTES = 32 * 1024 };
    const bool fits =
        order->job_json != NULL && strlen(order->job_json) <= MOST_BYTES;
    return fits ? order->job_json : NULL;
}

/* Replicas of one type keep their order, types that of their first replica. */
static struct cluster make_cluster(struct arena *arena,
                                   const struct identity *identity)
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
        .n_pools = n_pools,
        .pools = pools,
        .chief = order->chief,
        .trial = order->tuning
                     ? arena_printf(arena, "%lld", (long long)order->key.trial)
                     : NULL,
        .job_json = shown_job(order),
    };
}

static void set_cluster(struct variables *variables,
                        const struct identity *identity)
{
    struct arena *arena = variables->arena;
    const struct order *order = identity->order;
    const struct replica_order *replica = &order->replicas[identity->replica];
    const struct cluster cluster = make_cluster(arena, identity);
    struct text out = {0};
    cluster_spec_text(&cluster, replica->type, (size_t)replica->index, &out);
    variables_set(variables, "CLUSTER_SPEC",
                  arena_strndup(arena, out.data, out.len));
    text_clear(&out);
    cluster_tf_config_text(&cluster, replica->type, (size_t)replica->index,
                           &out);
    variables_set(variables, "TF_CONFIG",
                  arena_strndup(arena, out.data, out.len));
    text_free(&out);
    if (cluster.trial != NULL)
        variables_set(variables, "CLOUD_ML_TRIAL_ID", cluster.trial);
    if (order->metrics.n > 0)
        variables_set(variables, "CLOUD_ML_HP_METRIC_TAG",
                      order->metrics.items[0]);
}

/* Without GPUs of our own to give, whatever the user says stays. */
static void set_gpus(struct variables *variables,
                     const struct identity *identity)
{
    const struct strings *gpus =
        &identity->placement->seats[identity->replica].gpus;
    if (identity->site->gpus.n > 0)
        variables_set(variables, "CUDA_VISIBLE_DEVICES",
                      gpus_text(variables->arena, gpus));
}

static const char *value_of(const struct variables *variables, const char *name)
{
    for (size_t i = 0; i < variables->n; i++)
        if (strcmp(variables->items[i].name, name) == 0)
            return variables->items[i].value;
    return "";
}

/* So that `hypertune report` is found in every trial; last, because the
 * user's own programs go first. */
static void add_programs(struct variables *variables, const char *folder)
{
    const char *path = value_of(variables, "PATH");
    const char *both = arena_printf(variables->arena, "%s:%s", path, folder);
    const char *between = arena_printf(variables->arena, ":%s:", path);
    const char *wanted = arena_printf(variables->arena, ":%s:", folder);
    if (strstr(between, wanted) == NULL)
        variables_set(variables, "PATH", both);
}

static void set_defaults(struct variables *variables, const struct site *site)
{
    const int share = site->cores / site->slots;
    const char *threads =
        arena_printf(variables->arena, "%d", share > 0 ? share : 1);
    variables_default(variables, "PATH", "/usr/local/bin:/usr/bin:/bin");
    if (site->programs != NULL)
        add_programs(variables, site->programs);
    variables_default(variables, "PYTHONUNBUFFERED", "1");
    variables_default(variables, "OMP_NUM_THREADS", threads);
    variables_default(variables, "MKL_NUM_THREADS", threads);
    variables_default(variables, "OPENBLAS_NUM_THREADS", threads);
    for (size_t i = 0; i < site->inherited.n; i++)
        variables_default(variables, site->inherited.items[i].name,
                          site->inherited.items[i].value);
}

void identity_set(struct variables *variables, const struct identity *identity)
{
    struct arena *arena = variables->arena;
    const struct order *order = identity->order;
    const struct replica_order *replica = &order->replicas[identity->replica];
    const char *folder = identity->folder;
    for (size_t i = 0; i < replica->env.n; i++)
        variables_set(variables, replica->env.items[i].name,
                      replica->env.items[i].value);
    set_defaults(variables, identity->site);
    set_cluster(variables, identity);
    set_gpus(variables, identity);
    variables_set(variables, "CLOUD_ML_JOB_ID", order->job_name);
    variables_set(variables, "CLOUD_ML_HP_METRIC_FILE",
                  arena_printf(arena, "%s/output.metrics", folder));
    variables_set(variables, "HYPERTUNE_REPORT_FILE",
                  arena_printf(arena, "%s/reports.jsonl", folder));
    if (order->report_url != NULL)
        variables_set(variables, "HYPERTUNE_REPORT_URL", order->report_url);
    variables_set(variables, "HYPERTUNE_TRIAL_TOKEN_FILE",
                  arena_printf(arena, "%s/token", folder));
    variables_set(variables, "HYPERTUNE_TRIAL_DIR", folder);
    variables_set(variables, "HYPERTUNE_REPLICA", replica->name);
}
