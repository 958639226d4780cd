/* aip.h - what the parts of the AI Platform form share: the draft that the
 * tables of its job fill, and the names of its replicas. */
#ifndef HT_PROTO_FORM_AIP_H
#define HT_PROTO_FORM_AIP_H

#include "proto/doc/field.h"
#include "proto/job/draft.h"

enum { AIP_LEAST_WAIT_MS = 1800000 }; /* scheduling.maxWaitTime */

/* The beginning of Google's members for each type of pool: masterConfig,
 * masterType, workerCount. */
extern const char *const aip_prefixes[JOB_POOLS];

struct aip_replica { /* what the job gives for one role */
    struct place config, container, machine_at, accelerator_at, count_at;
    int64_t count;
    const char *image, *machine, *accelerator;
    struct strings command, args;
    int64_t gpus;
};

enum aip_tier {
    TIER_UNSAID,
    TIER_BASIC,
    TIER_STANDARD_1,
    TIER_PREMIUM_1,
    TIER_BASIC_GPU,
    TIER_BASIC_TPU,
    TIER_CUSTOM
};

struct aip_draft {
    struct job_draft draft; /* draft.job is the result */
    struct aip_replica replicas[JOB_POOLS];
    struct place tier_at, args_at, module_at, runtime_at, python_at;
    enum aip_tier tier;
    struct metric_goal metric; /* the objective of a search */
    struct strings args;       /* of every replica */
    const char *module;
};

/* The metric of a job that names none, as Google's reporters have it. */
#define AIP_METRIC "training/hptuning/metric"

/* Rows of trainingInput; `into` is the draft. */
field_function aip_search; /* hyperparameters */
field_function aip_machine;
field_function aip_module;

extern const struct field
    aip_config_rows[]; /* masterConfig..., into a replica */

/* The pools, once everything was read. */
void aip_finish_pools(const struct field_reader *reader, struct aip_draft *aip);

/* The name that a member without effect, or serviceAccount, has in this form;
 * NULL when it has none. */
const char *aip_path(struct arena *arena, const struct job *job,
                     const char *path);
/* Gives what was kept the names of Vertex, where it has some. */
void aip_move_kept(struct arena *arena, const struct job *job);

#endif
