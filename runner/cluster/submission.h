/* submission.h - makes a batch and its batch job for a study's slots. */
#ifndef HT_RUNNER_CLUSTER_SUBMISSION_H
#define HT_RUNNER_CLUSTER_SUBMISSION_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/cluster/batch.h"
#include "runner/cluster/study.h"

/* What all names of this runner's jobs begin with: "ht-8c1f22ab-". */
enum { SUBMISSION_PREFIX_BYTES = 16 };
void submission_prefix(char prefix[SUBMISSION_PREFIX_BYTES],
                       const char *runner);

struct submission {
    const struct site *site;
    const struct job_slurm *defaults;  /* NULL: none */
    const struct slurm_limits *limits; /* NULL: not known yet */
    const char *avoid;                 /* nodes; NULL: none */
    const char *prefix;
    int n; /* elements, at most: a heterogeneous job has one */
};

/* A batch with its folder, and its job in the arena, under a name
 * that no other job has.
 * HT_PRECONDITION, HT_INVALID  Slurm cannot give what the study asks for
 * HT_IO                        the folder cannot be made */
enum ht_status submission_make(const struct submission *submission,
                               const struct study *study, struct arena *arena,
                               struct slurm_batch *job, struct batch **batch,
                               struct ht_error *err);

/* The batch job of a need that has the defaults of the cluster; sets the limit
 * of the site to what its partition allows. `limits`: NULL, or as of a
 * submission; errors of slurm_batch(). */
enum ht_status submission_job(const struct slurm_limits *limits,
                              const struct slurm_need *need,
                              struct slurm_site *site, struct arena *arena,
                              struct slurm_batch *job, struct ht_error *err);

/* For how long Slurm lets an element of the job run, from its start; 0: not
 * known, or without a limit. */
int64_t submission_granted_ms(const struct slurm_limits *limits,
                              const struct slurm_batch *job);

#endif
