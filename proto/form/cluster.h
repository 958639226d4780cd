/* cluster.h - CLUSTER_SPEC and TF_CONFIG, the identity of a replica.
 *
 * Sources: AI Platform Training, "Distributed training with containers", and
 * Vertex AI, "Distributed training", for CLUSTER_SPEC: an object with cluster
 * {type: [host:port]}, task {type, index, trial}, job and environment; its
 * types are master, worker, ps and evaluator there, workerpool0 to workerpool3
 * here. TF_CONFIG is the same in the words of TensorFlow: an evaluator is no
 * member of the cluster, and the master may be its "chief". */
#ifndef HT_PROTO_FORM_CLUSTER_H
#define HT_PROTO_FORM_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/text.h"
#include "proto/job/job.h"

struct cluster_pool {
    const char *type;             /* "master", "worker", "ps", "evaluator" */
    size_t n;                     /* replicas */
    const char *const *addresses; /* host:port of each */
};

/* What CLUSTER_SPEC and TF_CONFIG are made of; all is borrowed for the call. */
struct cluster {
    enum job_dialect form; /* Vertex numbers the pools, the others name them */
    size_t n_pools;
    const struct cluster_pool *pools; /* pools[0] is the master's */
    bool chief;           /* the job wants its master called "chief" */
    const char *trial;    /* "1", "2", ...; NULL: no tuning */
    const char *job_json; /* value of "job", NULL: left out */
};

/* Appends the JSON for one replica; types are the pools' own names. */
void cluster_spec_text(const struct cluster *cluster, const char *type,
                       size_t index, struct text *out);
/* TF_CONFIG: the same cluster without its evaluators. The master is "chief" in
 * a job of Vertex's form, beside evaluators, and where the job wants it; the
 * task has the trial, too: AI Platform's trainers make their output folder of
 * it. */
void cluster_tf_config_text(const struct cluster *cluster, const char *type,
                            size_t index, struct text *out);

#endif
