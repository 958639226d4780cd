#include "runner/pods/by_log.h"

#include <string.h>

#include "proto/job/metrics_file.h"
#include "runner/attempt/replica_env.h"
#include "runner/base/disk.h"

static const char mark[] = "by_log";

bool by_log_is_marked(const char *folder)
{
    return disk_has(folder, mark);
}

enum ht_status by_log_mark(const char *folder, struct ht_error *err)
{
    return disk_mark(folder, mark, err);
}

/* ---- what cannot be ---- */

static bool has_trial_dir(const struct replica_order *replica)
{
    for (size_t i = 0; i < replica->argv.n; i++)
        if (strstr(replica->argv.items[i], TRIAL_DIR_REFERENCE) != NULL)
            return true;
    for (size_t i = 0; i < replica->env.n; i++)
        if (strstr(replica->env.items[i].value, TRIAL_DIR_REFERENCE) != NULL)
            return true;
    return false;
}

/* What it asks for that needs a file in the pod; NULL: nothing. */
static const char *find_field(const struct order *order)
{
    if (order->metrics_file != NULL)
        return "metrics.file";
    if (order->n_secrets > 0)
        return "secrets";
    if (order->output_dir != NULL)
        return "outputDir";
    if (order->resume != NULL)
        return "a checkpoint to continue from";
    for (size_t i = 0; i < order->n_replicas; i++)
        if (order->substitute && has_trial_dir(&order->replicas[i]))
            return TRIAL_DIR_REFERENCE;
    return NULL;
}

enum ht_status by_log_check(const struct order *order, const char *why,
                            struct ht_error *err)
{
    const char *field = find_field(order);
    if (order->metrics.n > 0 && order->stdout_patterns.n == 0)
        return ht_fail(err, HT_PRECONDITION,
                       "it is read by its log: say in `metrics: {stdout: "
                       "...}` how it prints its metrics; %s",
                       why);
    if (field != NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "it is read by its log, and cannot have %s; %s", field,
                       why);
    for (size_t i = 1; i < order->n_replicas; i++)
        if (order->replicas[i].index > 0)
            return ht_fail(err, HT_PRECONDITION,
                           "it is read by its log: replicas do not know their "
                           "numbers, so of type %s there can be one; %s",
                           order->replicas[i].type, why);
    return HT_OK;
}

/* ---- what the pods get ---- */

struct replica_view by_log_view(const struct order *order, size_t replica)
{
    const struct replica_order *own = &order->replicas[replica];
    return (struct replica_view){
        .workdir = own->workdir, .argv = own->argv, .own_accounts = true};
}

const struct pairs *by_log_variables(struct arena *arena,
                                     const struct engine_place *place)
{
    const struct order *order = place->order;
    const struct pairs no_secrets = {0};
    struct pairs *all = arena_alloc(arena, order->n_replicas, sizeof *all);
    for (size_t i = 0; i < order->n_replicas; i++) {
        const struct replica_view view = by_log_view(order, i);
        const struct replica_env env = {.site = place->site,
                                        .order = order,
                                        .placement = place->placement,
                                        .replica = i,
                                        .view = &view,
                                        .secrets = &no_secrets};
        struct variables variables = {.arena = arena};
        replica_env_set(&variables, &env);
        all[i] = (struct pairs){.n = variables.n, .items = variables.items};
    }
    return all;
}
