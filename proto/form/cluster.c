#include "proto/form/cluster.h"

#include <string.h>

#include "proto/base/quote.h"

/* One of the two variables. */
struct variable {
    const struct cluster *cluster;
    bool numbered;   /* pools have Vertex's numbers */
    bool chief;      /* the master is called so */
    bool evaluators; /* they are members */
};

static bool is_evaluator(const char *type)
{
    return strcmp(type, "evaluator") == 0;
}

/* TensorFlow 2 has no "master" beside evaluators, so Google's service
 * calls it chief as soon as there is one. */
static bool has_chief(const struct cluster *cluster)
{
    bool chief = cluster->chief || cluster->form == JOB_VERTEX;
    for (size_t i = 0; i < cluster->n_pools; i++)
        chief = chief || is_evaluator(cluster->pools[i].type);
    return chief;
}

static void append_type(const struct variable *variable, const char *type,
                        struct text *out)
{
    /* Vertex names a pool by its place in workerPoolSpecs. */
    if (variable->numbered)
        text_printf(out, "\"workerpool%zu\"", job_pool_place(type));
    else
        quote_json(out, variable->chief && strcmp(type, "master") == 0 ? "chief"
                                                                       : type);
}

static void append_pool(const struct variable *variable,
                        const struct cluster_pool *pool, struct text *out)
{
    append_type(variable, pool->type, out);
    text_puts(out, ":[");
    for (size_t i = 0; i < pool->n; i++) {
        text_puts(out, i > 0 ? "," : "");
        quote_json(out, pool->addresses[i]);
    }
    text_puts(out, "]");
}

static void append_cluster(const struct variable *variable, struct text *out)
{
    text_puts(out, "{");
    bool first = true;
    for (size_t i = 0; i < variable->cluster->n_pools; i++) {
        const struct cluster_pool *pool = &variable->cluster->pools[i];
        if (!variable->evaluators && is_evaluator(pool->type))
            continue;
        text_puts(out, first ? "" : ",");
        append_pool(variable, pool, out);
        first = false;
    }
    text_puts(out, "}");
}

static void append_variable(const struct variable *variable, const char *type,
                            size_t index, struct text *out)
{
    const struct cluster *cluster = variable->cluster;
    text_puts(out, "{\"cluster\":");
    append_cluster(variable, out);
    text_puts(out, ",\"task\":{\"type\":");
    append_type(variable, type, out);
    text_printf(out, ",\"index\":%zu", index);
    if (cluster->trial != NULL) {
        text_puts(out, ",\"trial\":");
        quote_json(out, cluster->trial);
    }
    text_puts(out, "}");
    if (cluster->job_json != NULL) {
        text_puts(out, ",\"job\":");
        text_puts(out, cluster->job_json);
    }
    text_puts(out, ",\"environment\":\"cloud\"}");
}

void cluster_spec_text(const struct cluster *cluster, const char *type,
                       size_t index, struct text *out)
{
    const struct variable variable = {.cluster = cluster,
                                      .numbered = cluster->form == JOB_VERTEX,
                                      .evaluators = true};
    append_variable(&variable, type, index, out);
}

void cluster_tf_config_text(const struct cluster *cluster, const char *type,
                            size_t index, struct text *out)
{
    const struct variable variable = {.cluster = cluster,
                                      .chief = has_chief(cluster)};
    append_variable(&variable, type, index, out);
}
