/* order.h - one attempt as the server orders it: ATTEMPT of proto/README.md
 * section 4, kept on disk as lease.json.
 *
 * Read once, never changed; all pointers are into the order's arena. */
#ifndef HT_RUNNER_BASE_ORDER_H
#define HT_RUNNER_BASE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/text.h"
#include "proto/doc/node.h"
#include "proto/job/job.h"

/* Names an attempt; all three count from 1. */
struct order_key {
    int64_t study, trial, attempt;
};

/* One process or container of the attempt. */
struct replica_order {
    const char *type;    /* "master", "worker", "ps", "evaluator" */
    int64_t index;       /* from 0 within the type */
    const char *name;    /* "master-0", also its folder */
    const char *image;   /* NULL: none */
    struct strings argv; /* the complete command; with an image maybe empty */
    int64_t entry_words; /* words of argv that replace the image's entry point;
                            0: argv is its arguments */
    struct pairs env;    /* of the user */
    const char *workdir; /* absolute, NULL: the replica's folder */
    int64_t gpus;        /* its own, exclusively */
    double gpu_part;     /* of one that others share, 0: none */
    int64_t gpu_memory;  /* bytes of each; without the two above of one that
                            others share; 0: any */
    struct strings gpu_names; /* that the server chose, maybe none */
    double cpus;              /* 0: no limit */
    int64_t memory;           /* bytes, 0: no limit */
};

/* The snapshot of the folder that the replicas of a job begin in. */
struct order_code {
    const char *tree;    /* NULL: there is none */
    const char *machine; /* whose folder it was made from */
    const char *folder;
    bool travelled; /* replicas begin in copies of the tree, not there */
};

/* How machines elsewhere reach the server's address for reports. */
struct order_way {
    const char *to;   /* tcp://HOST:PORT or tls+tcp://HOST:PORT; NULL: they do
                         not */
    const char *pins; /* of its keys, see tls_pins_read(); NULL: plain */
};

/* Times are in ms. */
struct order {
    struct arena *arena;
    const char *lease; /* as lease.json has it */
    struct order_key key;
    const char *name;       /* "ht-ab12cd34-7-3-1" */
    const char *token;      /* of the trial */
    int64_t timeout_ms;     /* 0: none */
    int64_t grace_ms;       /* SIGTERM to SIGKILL */
    const char *report_url; /* NULL: not reachable from here */
    struct order_way far;
    const char *project, *location; /* of the job; NULL: not known */
    const char *job_name;
    enum job_dialect form;  /* of the job: names of CLUSTER_SPEC */
    const char *job_json;   /* CLUSTER_SPEC's and TF_CONFIG's "job"; or NULL */
    int64_t job_bytes;      /* of that, also where it is too long to be sent */
    bool tuning;            /* it is a trial: trainers get its number */
    bool chief;             /* ... that TF_CONFIG's master is the "chief" */
    const char *output_dir; /* of this trial's results; NULL: the runner's */
    bool begun;             /* an earlier attempt may have written there */
    const char *resume;     /* tree of the checkpoint that it continues from;
                               NULL: what is here */
    int64_t
        resume_attempt; /* that made it, and the step that it is of, or -1 */
    int64_t resume_step;
    struct strings metrics; /* objective first; empty: there is none */
    struct strings stdout_patterns;
    const char *metrics_file;   /* in the trial, or NULL */
    const char *metrics_events; /* folder in the trial, or NULL */
    bool substitute;  /* ${trialDir} is replaced in words and values */
    bool own_workdir; /* a replica starts in a copy of its workdir */
    struct order_code code;
    struct pairs params; /* name and value as arguments show them */
    struct pairs
        captured; /* environment of the submitting shell; for processes only */
    struct container_options container;
    struct strings volumes; /* HOST:TARGET[:ro] */
    size_t n_secrets;
    const struct secret *secrets;
    const char *service_account; /* NULL: none is named */
    struct job_kubernetes kubernetes;
    enum job_reporter reporter;
    bool rewrite_gcs;
    size_t n_replicas; /* >= 1; replicas[0] is the master */
    const struct replica_order *replicas;
};

/* Reads an ATTEMPT, from lease.json or from the server's answer, which is
 * copied; the caller owns the order until order_free(). *order is untouched on
 * a failure.
 * HT_INVALID  it is not one, or a name in it would leave its folder */
enum ht_status order_parse(const char *json, size_t len, struct order **order,
                           struct ht_error *err);
/* The same of a tree, which is copied, too; `lease` is its text. What is not
 * NULL of `report_url` and `far` replaces the order's. */
enum ht_status order_read(const struct node *map, const char *report_url,
                          const struct order_way *far, struct order **order,
                          struct ht_error *err);
/* Its replicas begin in copies of that folder, where its tree is; in the
 * order's arena. */
void order_copy_from(struct order *order, const char *folder);
void order_free(struct order *order); /* accepts NULL */

/* Those of all its replicas together; 0 for an order that needs none. */
int64_t order_gpus(const struct order *order);

/* Whether both name the same attempt. */
bool order_key_equal(const struct order_key *a, const struct order_key *b);
/* Reads members study, trial, attempt; false when one is not positive. */
bool order_key_read(const struct node *map, struct order_key *key);

#endif
