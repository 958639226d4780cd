#include "proto/cluster.h"

#include <stdbool.h>
#include <string.h>

#include "proto/json.h"

/* TensorFlow 2 calls the master "chief". Google's services do so as soon as
 * there are evaluators, since a "master" is not known to them. */
static bool has_evaluators(const struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->n_pools; i++)
        if (strcmp(cluster->pools[i].type, "evaluator") == 0)
            return true;
    return false;
}

static const char *shown_type(const char *type, bool chief)
{
    return chief && strcmp(type, "master") == 0 ? "chief" : type;
}

static void append_pools(const struct cluster *cluster, bool chief,
                         struct text *out)
{
    text_puts(out, "{");
    for (size_t i = 0; i < cluster->n_pools; i++) {
        const struct cluster_pool *pool = &cluster->pools[i];
        if (i > 0)
            text_puts(out, ",");
        json_quote(out, shown_type(pool->type, chief));
        text_puts(out, ":[");
        for (size_t j = 0; j < pool->n; j++) {
            if (j > 0)
                text_puts(out, ",");
            json_quote(out, pool->addresses[j]);
        }
        text_puts(out, "]");
    }
    text_puts(out, "}");
}

/* The members of CLUSTER_SPEC and TF_CONFIG up to the job. */
static void append_head(const struct cluster *cluster, const char *type,
                        size_t index, bool chief, struct text *out)
{
    text_puts(out, "{\"cluster\":");
    append_pools(cluster, chief, out);
    text_puts(out, ",\"task\":{\"type\":");
    json_quote(out, shown_type(type, chief));
    text_printf(out, ",\"index\":%zu", index);
    if (cluster->trial) {
        text_puts(out, ",\"trial\":");
        json_quote(out, cluster->trial);
    }
    text_puts(out, "}");
}

void cluster_spec_text(const struct cluster *cluster, const char *type,
                       size_t index, struct text *out)
{
    append_head(cluster, type, index, false, out);
    if (cluster->job_json) {
        text_puts(out, ",\"job\":");
        text_puts(out, cluster->job_json);
    }
    text_puts(out, "}");
}

void cluster_tf_config_text(const struct cluster *cluster, const char *type,
                            size_t index, struct text *out)
{
    append_head(cluster, type, index, has_evaluators(cluster), out);
    text_puts(out, "}");
}
