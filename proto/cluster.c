#include "proto/cluster.h"

#include <string.h>

#include "proto/json.h"

static const char evaluator[] = "evaluator";

/* One way to show a cluster. */
struct look {
    const struct cluster *cluster;
    bool chief;      /* how the master is called */
    bool evaluators; /* they are members */
};

/* TensorFlow 2 does not know a "master" beside evaluators, so Google's service
 * calls it chief as soon as there is one. */
static bool has_evaluators(const struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->n_pools; i++) {
        if (strcmp(cluster->pools[i].type, evaluator) == 0)
            return true;
    }
    return false;
}

static const char *shown_type(const struct look *look, const char *type)
{
    return look->chief && strcmp(type, "master") == 0 ? "chief" : type;
}

static void append_pool(const struct look *look,
                        const struct cluster_pool *pool, struct text *out)
{
    json_quote(out, shown_type(look, pool->type));
    text_puts(out, ":[");
    for (size_t i = 0; i < pool->n; i++) {
        text_puts(out, i > 0 ? "," : "");
        json_quote(out, pool->addresses[i]);
    }
    text_puts(out, "]");
}

static void append_cluster(const struct look *look, struct text *out)
{
    text_puts(out, "{");
    bool first = true;
    for (size_t i = 0; i < look->cluster->n_pools; i++) {
        const struct cluster_pool *pool = &look->cluster->pools[i];
        if (!look->evaluators && strcmp(pool->type, evaluator) == 0)
            continue;
        text_puts(out, first ? "" : ",");
        append_pool(look, pool, out);
        first = false;
    }
    text_puts(out, "}");
}

/* The members that both forms begin with. */
static void append_head(const struct look *look, const char *type, size_t index,
                        struct text *out)
{
    text_puts(out, "{\"cluster\":");
    append_cluster(look, out);
    text_puts(out, ",\"task\":{\"type\":");
    json_quote(out, shown_type(look, type));
    text_printf(out, ",\"index\":%zu", index);
    if (look->cluster->trial != NULL) {
        text_puts(out, ",\"trial\":");
        json_quote(out, look->cluster->trial);
    }
    text_puts(out, "}");
}

void cluster_spec_text(const struct cluster *cluster, const char *type,
                       size_t index, struct text *out)
{
    const struct look look = {cluster, cluster->chief, true};
    append_head(&look, type, index, out);
    if (cluster->job_json != NULL) {
        text_puts(out, ",\"job\":");
        text_puts(out, cluster->job_json);
    }
    text_puts(out, "}");
}

void cluster_tf_config_text(const struct cluster *cluster, const char *type,
                            size_t index, struct text *out)
{
    const struct look look = {cluster,
                              cluster->chief || has_evaluators(cluster), false};
    append_head(&look, type, index, out);
    text_puts(out, ",\"environment\":\"cloud\"}");
}
