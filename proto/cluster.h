/* cluster.h - CLUSTER_SPEC and TF_CONFIG, the identity of a replica.
 *
 * Sources: AI Platform Training, "Distributed training with containers", for
 * CLUSTER_SPEC: an object with cluster {type: [host:port]}, task {type, index,
 * trial}, job; and for when a master is called "chief". TensorFlow's
 * tf.estimator.RunConfig for TF_CONFIG: an evaluator is no member of the
 * cluster, and environment "cloud" is what Google's services set. */
#ifndef HT_PROTO_CLUSTER_H
#define HT_PROTO_CLUSTER_H

#include <stdbool.h>
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
    bool chief;                       /* the master is called "chief" */
    const char *trial;                /* "1", "2", ...; NULL: no tuning */
    const char *job_json;             /* value of "job", NULL: left out */
};

/* Appends the JSON for one replica; types are the pools' own names. */
void cluster_spec_text(const struct cluster *cluster, const char *type,
                       size_t index, struct text *out);
/* TF_CONFIG: the same cluster without its evaluators; with evaluators the
 * master is called "chief" whatever the job says. The task has the trial, too:
 * AI Platform's trainers make their output folder of it. */
void cluster_tf_config_text(const struct cluster *cluster, const char *type,
                            size_t index, struct text *out);

#endif
