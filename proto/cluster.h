/* cluster.h - CLUSTER_SPEC and TF_CONFIG, the identity of a replica.
 *
 * Source: AI Platform Training, "Distributed training with containers": an
 * object with cluster {type: [host:port]}, task {type, index, trial}, job. */
#ifndef HT_PROTO_CLUSTER_H
#define HT_PROTO_CLUSTER_H

#include <stddef.h>

#include "proto/job.h"
#include "proto/text.h"

struct cluster_pool {
    const char *type;             /* "master", "worker", "ps", "evaluator" */
    size_t n;                     /* replicas */
    const char *const *addresses; /* host:port of each */
};

struct cluster {
    size_t n_pools;
    const struct cluster_pool *pools; /* pools[0] is the master's */
    const char *trial;                /* "1", "2", ...; NULL: no tuning */
    const char *job_json;             /* value of "job", NULL: left out */
};

/* Appends the JSON for one replica. */
void cluster_spec_text(const struct cluster *cluster, const char *type,
                       size_t index, struct text *out);
/* TF_CONFIG: the same cluster; the master is called "chief" when there are
 * evaluators; task has type and index, plus trial when tuning. */
void cluster_tf_config_text(const struct cluster *cluster, const char *type,
                            size_t index, struct text *out);

#endif
