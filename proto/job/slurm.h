/* slurm.h - what a study asks of a Slurm cluster: the section `slurm` of a
 * spec, and the batch job that its slots are requested by.
 *
 * A batch job is an array of elements. An element is a request for one slot,
 * not a trial: once Slurm has started it, it asks for a trial
 * (runner/element). Where the pools of a study need different amounts, each
 * element is a heterogeneous job of its own, because Slurm has no arrays of
 * these. All of this is pure: nothing here talks to a cluster. */
#ifndef HT_PROTO_JOB_SLURM_H
#define HT_PROTO_JOB_SLURM_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"

struct job;
struct node;

/* The section `slurm`; a member that is absent is NULL, 0 or empty, and the
 * cluster's defaults (slurm_apply_defaults) or Slurm's own hold. */
struct job_slurm {
    bool said; /* the spec has the section */
    const char *account, *partition, *qos, *constraint, *reservation, *gres;
    bool exclusive;
    int64_t time_ms;        /* asked limit of an element; 0: the partition's */
    int64_t trials_per_job; /* at most so many trials in one element; 0: while
                               its remaining time covers them */
    struct strings modules; /* `module load` before the trainer, in order */
    const char *container;  /* "pyxis", "apptainer", "charliecloud", "podman" or
                               a template with {image} and {command} */
    struct strings options; /* any option of sbatch, "--mail-type=END" */
};

/* What the slots of a study need: all that a batch job is made from. The
 * server makes it from the study's job and sends it to the runner. */
struct slurm_need {
    struct job_slurm section;
    size_t n_pools;
    const struct slurm_pool {
        int count;
        double cpus; /* of each replica; 0: one */
        int64_t memory_bytes, gpus;
        bool gpu_detail; /* asks for a part of a GPU, or for GPUs with so much
                            memory: slurm_batch() refuses it without a gres */
        const char *gpu_model; /* NULL: any */
        const char *image;     /* NULL: processes */
    } * pools;
    int64_t trial_timeout_ms, grace_ms; /* as of struct job */
};

/* One option of sbatch: "time", "10"; value NULL: a switch. */
struct slurm_option {
    const char *name, *value;
};

struct slurm_options {
    size_t n;
    const struct slurm_option *items; /* in the order that is printed */
};

/* An array of elements as it is sent: the same for sbatch (slurm_script) and
 * for slurmrestd, which ignores #SBATCH lines. */
struct slurm_batch {
    const char *name;   /* of the job, by which it is found again */
    const char *script; /* what the first node runs, without #SBATCH lines */
    const char *folder; /* absolute: working folder, and where output goes */
    int elements;       /* >= 1; of a heterogeneous job: 1 */
    int tasks;          /* replicas of a trial, >= 1 */
    size_t n_options;
    const struct slurm_option *options; /* in the order that is printed */
    /* Of the components of a heterogeneous job behind the first one; none: the
     * job is an array. */
    size_t n_others;
    const struct slurm_options *others;
};

/* What the runner adds to the job. */
struct slurm_site {
    const char *name;   /* of the batch job */
    const char *folder; /* of the batch, absolute, on the shared file system */
    const char *shim;   /* absolute path of hypertune-shim, which nodes see */
    int elements;
    int64_t limit_ms; /* granted to the partition, 0: not known */
};

/* Reads defaults for a cluster, a YAML file with the members of the section
 * `slurm`; `path` names it in errors. Texts are in the arena.
 * HT_INVALID  a member is wrong, with its place */
enum ht_status slurm_read_defaults(struct arena *arena, const char *text,
                                   size_t len, const char *path,
                                   struct job_slurm *defaults,
                                   struct ht_error *err);
/* Fills what the section leaves out; its own options come after those of the
 * defaults, so that they win. */
void slurm_apply_defaults(struct arena *arena, struct job_slurm *section,
                          const struct job_slurm *defaults);

/* Of a job with pools; texts are borrowed from it, the rest is in the arena. A
 * machine type is what Google documents, see machine_type.h; a caller that
 * knows others gives a job whose pools have their needs and no machine. */
struct slurm_need slurm_need_of(struct arena *arena, const struct job *job);
/* Its text as JSON, the same for equal needs, and back (HT_INVALID; a member
 * that is not known is wrong, too, for it may ask for something):
 * {"slurm":{as in a spec},"pools":[{"count":1,"cpus":2,"memoryBytes":N,
 * "gpus":1,"gpuDetail":true,"gpuModel":"a100","image":"i"}],
 * "trialTimeoutMs":N,"graceMs":N}; what is 0, false or NULL is left out. */
const char *slurm_need_write(struct arena *arena,
                             const struct slurm_need *need);
enum ht_status slurm_need_read(struct arena *arena, const struct node *map,
                               struct slurm_need *need, struct ht_error *err);

/* Whether its pools need different amounts: an element is a heterogeneous
 * job. */
bool slurm_is_heterogeneous(const struct slurm_need *need);
/* The batch job for elements with this need, for one if it is heterogeneous;
 * all in the arena.
 * HT_PRECONDITION  Slurm cannot give what it asks for, in words */
enum ht_status slurm_batch(struct arena *arena, const struct slurm_need *need,
                           const struct slurm_site *site,
                           struct slurm_batch *batch, struct ht_error *err);
/* A time as Slurm writes it: "5" (minutes), "30:15", "2:00:00", "1-12",
 * "1-12:30:00"; 0: it is none, or UNLIMITED. */
int64_t slurm_time_ms(const char *text);
/* The whole script for sbatch: the #SBATCH lines after the first line. */
const char *slurm_script(struct arena *arena, const struct slurm_batch *batch);

#endif
