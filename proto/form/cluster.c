#include "proto/form/cluster.h"

#include <string.h>

#include "proto/base/quote.h"

/* One of the two variables. */
struct look {
    const struct cluster *cluster;
    bool numbered;   /* pools have Vertex's numbers */
    bool chief;      /* the master is called so */
    bool evaluators; /* they are members */
};

static bool is_evaluator(const char *type)
{
    return strcmp(type, "evaluator") == 0;
}

/* TensorFlow 2 does not know a "master" beside evaluators, so Google's service
 * calls it chief as soon as there is one. */
static bool has_chief(const struct cluster *cluster)
{
    bool chief = cluster->chief || cluster->form == JOB_VERTEX;
    for (size_t i = 0; i < cluster->n_pools; i++)
        chief = chief || is_evaluator(cluster->pools[i].type);
    return chief;
}

static void append_type(const struct look *look, const char *type,
                        struct text *out)
{
    /* Vertex knows a pool by its place in workerPoolSpecs. */
    if (look->numbered)
        text_printf(out, "\"workerpool%zu\"", job_pool_place(type));
    else
        quote_json(out,
                   look->chief && strcmp(type, "master") == 0 ? "chief" : type);
}

static void append_pool(const struct look *look,
                        const struct cluster_pool *pool, struct text *out)
{
    append_type(look, pool->type, out);
    text_puts(out, ":[");
    for (size_t i = 0; i < pool->n; i++) {
        text_puts(out, i > 0 ? "," : "");
        quote_json(out, pool->addresses[i]);
    }
    text_puts(out, "]");
}

static void append_cluster(const struct look *look, struct text *out)
{
    text_puts(out, "{");
    bool first = true;
    for (size_t i = 0; i < look->cluster->n_pools; i++) {
        const struct cluster_pool *pool = &look->cluster->pools[i];
        if (!look->evaluators && is_evaluator(pool->type))
            continue;
        text_puts(out, first ? "" : ",");
        append_pool(look, pool, out);
        first = false;
    }
    text_puts(out, "}");
}

static void append_variable(const struct look *look, const char *type,
                            size_t index, struct text *out)
{
    const struct cluster *cluster = look->cluster;
    text_puts(out, "{\"cluster\":");
    append_cluster(look, out);
    text_puts(out, ",\"task\":{\"type\":");
    append_type(look, type, out);
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
    const struct look look = {.cluster = cluster,
                              .numbered = cluster->form == JOB_VERTEX,
                              .evaluators = true};
    append_variable(&look, type, index, out);
}

void cluster_tf_config_text(const struct cluster *cluster, const char *type,
                            size_t index, struct text *out)
{
    const struct look look = {.cluster = cluster, .chief = has_chief(cluster)};
    append_variable(&look, type, index, out);
}
