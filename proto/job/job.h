/* job.h - a job, the struct that every form of a spec is read into: a study,
 * what each trial runs, and counts.
 *
 * Every spec form is read into this one struct and every other part of the
 * product works from it. All pointers are in the arena the job was read
 * into. Absent numbers have the defaults below, so no code asks "was it set"
 * unless a has_ field says so. */
#ifndef HT_PROTO_JOB_JOB_H
#define HT_PROTO_JOB_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/job/kubernetes.h"
#include "proto/job/slurm.h"
#include "proto/space/space.h"

struct kept; /* proto/doc/field.h */

/* How the search chooses points; ALGORITHM_DEFAULT is resolved when the study
 * is made. */
enum job_algorithm {
    ALGORITHM_DEFAULT, /* not named: the server's default */
    ALGORITHM_BAYESIAN,
    ALGORITHM_GRID,
    ALGORITHM_RANDOM
};
/* Which record of a trial becomes its result: the newest, or the best. */
enum job_selection { SELECT_LAST, SELECT_BEST }; /* final measurement */
/* Rules of algorithms/stop that end or pause trials early. */
enum job_early_stop {
    EARLY_NONE,
    EARLY_MEDIAN,
    EARLY_DECAY,
    EARLY_CONVEX,
    EARLY_ASHA,
    EARLY_HYPERBAND
};
/* How much the objective differs between two runs of one point, as the user
 * expects. */
enum job_noise { JOB_NOISE_UNKNOWN, JOB_NOISE_LOW, JOB_NOISE_HIGH };
enum job_metric_doctor { /* what first trials without the objective do */
                         DOCTOR_PAUSE, /* the study pauses */
                         DOCTOR_WARN   /* it continues; each trial shows it */
};
enum job_on_silence {               /* what a trial that seems to hang does */
                      SILENCE_WARN, /* it continues, shown as silent */
                      SILENCE_STOP  /* its attempt is stopped and has failed */
};
enum job_args_mode {
    ARGS_AUTO,   /* append every parameter that no ${name} consumed */
    ARGS_APPEND, /* append all */
    ARGS_NONE    /* append none */
};

/* What is wanted of a metric; the first one of a job is its objective. */
struct metric_goal {
    const char *name;
    bool maximize;
    bool safety;       /* not improved, only to be at least (most) this: */
    double threshold;  /* of a safety metric */
    double safe_share; /* of trials that must be safe, 0: not asked */
};

/* When a trial that promises little is stopped before its end. Zeros are the
 * rule's own defaults. */
struct early_stop {
    enum job_early_stop rule;
    bool by_time; /* curves over elapsed time, not steps */
    bool pauses;  /* ASHA, Hyperband: trials pause at a rung and continue from
                     their checkpoint when promoted */
    int64_t min_steps;        /* no trial stops earlier; the first rung */
    int64_t max_steps;        /* where a trial ends by itself; 0: not known */
    int64_t min_trials;       /* completed before any stops */
    int64_t min_measurements; /* of a trial before it stops */
    int64_t factor;           /* ASHA, Hyperband: one of so many continues */
};

/* One worker pool: replicas of one type that run the same thing. */
struct pool {
    const char *type;  /* one of job_pool_types */
    int count;         /* replicas, >= 1 */
    const char *image; /* NULL for the process engine */
    struct strings command;
    struct strings args;
    struct pairs env;
    /* Of each replica. */
    int64_t gpus;            /* its own, exclusively */
    double gpu_part;         /* of one that others share; 0: none */
    int64_t gpu_memory;      /* bytes of each GPU, 0: any; without the two
                                above of one that others share */
    const char *accelerator; /* the kind of GPU asked for, NULL: any */
    const char *machine;     /* machine type, see machines.h; NULL: none */
    double cpus;             /* 0: the job's */
    int64_t memory_bytes;    /* 0: the job's */
};

/* Types of pools in the order that all forms have. job_pool_place() returns
 * the index of a type there; of another type the last one's. */
enum { JOB_POOLS = 4 };
extern const char *const job_pool_types[JOB_POOLS];
size_t job_pool_place(const char *type);

/* When the engine fetches an image that a trial needs. */
enum job_pull { PULL_IF_NOT_PRESENT, PULL_ALWAYS, PULL_NEVER };

/* How containers of an image are set up; processes have none of it. What
 * reaches out of the container works only where the runner's admin allows it.
 */
struct container_options {
    enum job_pull pull;
    const char *user;    /* "UID[:GID]" or a name in the image; NULL: its own */
    bool read_only;      /* its root file system */
    const char *network; /* NULL: an own one; "none"; else a name: "host"
                            or an existing network */
    int64_t shm_bytes;   /* /dev/shm; 0: the engine's default */
    int64_t pids;        /* most processes; 0: the runner's default */
    bool privileged, host_pid;
};

/* Which runners may run the trials; what is not said is NULL. */
struct job_run_on {
    const char *engine;  /* name of one of theirs */
    const char *gpu;     /* a part of the model's name, in any case */
    const char *machine; /* its id, or the name of a runner there */
    struct pairs labels; /* all of them */
};

/* The webhooks that report the study, by their names on the server. */
struct notify_item {
    const char *webhook; /* its name in the server's webhooks.json */
    unsigned events;     /* bits, see notify.h */
};
/* Which of the server's webhooks get the study's events. */
struct notify {
    bool said; /* otherwise all of the server's tell of it; none if n is 0 */
    size_t n;
    struct notify_item *items;
};

/* Where the study is shown, too. */
struct job_trackers {
    const char *mlflow; /* name of its experiment, "": the study's; or NULL */
    bool tensorboard;
};

/* A variable whose value only the runner has. */
struct secret {
    const char *name; /* of the variable */
    const char *file; /* in the runner's folder of secrets; or NULL */
    const char *env;  /* the runner's variable HYPERTUNE_SECRET_THIS; or NULL */
};

enum job_reporter {
    REPORTER_AUTO,  /* our Python package where an image has none */
    REPORTER_PYTHON /* ours before the image's */
};

/* What ends a study before its trials are used up (Vertex's
 * studyStoppingConfig). The vetoes come first: while one holds, only
 * max_trials, max_failed and an exhausted space can end the study. Times are
 * in ms, 0: not set; ends are wall clock since 1970 UTC. Time spent PAUSED
 * does not count. */
struct stopping {
    int64_t min_trials;  /* veto: completed trials */
    int64_t min_time_ms; /* veto: running time */
    int64_t min_end_ms;  /* veto: a moment */
    bool has_target;
    double target;          /* objective that is good enough */
    int64_t time_ms;        /* running time */
    int64_t end_ms;         /* a moment */
    int64_t no_progress;    /* trials in a row without gain */
    int64_t no_progress_ms; /* running time without gain */
    bool let_finish;        /* running trials end by themselves */
};

/* How long a job may take: after that it is cancelled, whatever its trials do.
 * In ms, 0: as long as it likes. Time spent PAUSED does not count. */
struct cancelling {
    int64_t waiting_ms; /* until its first trial starts */
    int64_t running_ms; /* from then on */
};

/* Which of Google's resources a job is. */
enum job_kind {
    JOB_TUNING, /* HyperparameterTuningJob: searches and runs its trials */
    JOB_STUDY,  /* Vizier study: searches, others run its trials; no pools */
    JOB_CUSTOM  /* CustomJob: one trial, no parameters, no metric */
};

/* The form that a job was said in: its words are those of CLUSTER_SPEC. */
enum job_dialect { JOB_VERTEX, JOB_AIP, JOB_NATIVE };

enum job_code_way {
    CODE_AUTO, /* trials on other machines get a copy of workdir */
    CODE_NONE  /* workdir is there, too: nothing travels */
};

struct job_code {
    enum job_code_way way;
    const char *tree;    /* the snapshot's name; NULL: there is none */
    const char *machine; /* whose `folder` it was, see machine.h */
    const char *folder;  /* absolute */
};

/* Not changed once its study is made; the server keeps one parsed for each
 * study. */
struct job {
    enum job_kind kind;
    enum job_dialect form;
    const char *name;    /* unique in its project and location; NULL: made */
    const char *display; /* displayName; name when absent */
    struct pairs labels;

    struct space space;
    size_t n_metrics; /* objectives, then safety metrics; 0 in a JOB_CUSTOM */
    const struct metric_goal *metrics;
    enum job_algorithm algorithm;
    bool has_seed;
    int64_t seed; /* >= 0 */
    enum job_selection selection;
    bool selection_said; /* by Google's client, who gets LAST back, too */
    struct early_stop early_stop;
    enum job_noise noise;
    struct strings warm_start;  /* earlier studies, names or numbers */
    struct strings constraints; /* see constraint.h; all hold for every trial */

    int64_t max_trials; /* >= 1; JOB_STUDY: 0, no limit, is possible */
    int64_t parallel;   /* >= 1; JOB_STUDY: trials open at once, 0: any */
    int64_t max_failed; /* 0: no limit */
    struct stopping until;
    struct cancelling cancel_after;
    int64_t trial_timeout_ms; /* 0: none */
    int64_t silence_ms; /* without a report or output: it hangs; 0: judged by
                           how often it reports (tuner/study/silence.h) */
    enum job_on_silence on_silence;
    int64_t retries;  /* starts after a failed one */
    int64_t priority; /* in its project, see tuner/placement */
    struct job_run_on run_on;
    struct job_slurm slurm;           /* said: run_on.engine is "slurm" */
    struct job_kubernetes kubernetes; /* the same */
    int64_t grace_ms;                 /* SIGTERM to SIGKILL */
    enum job_metric_doctor metric_doctor;
    struct notify notify;
    struct job_trackers trackers;

    size_t n_pools;
    struct pool *pools;     /* master first, then in the order of types above */
    bool chief;             /* TF_CONFIG calls the master "chief" in any case */
    const char *job_dir;    /* AI Platform: --job-dir=THIS/TRIAL; or NULL */
    const char *output_dir; /* Vertex: AIP_* below THIS/TRIAL; or NULL. With
                               rewrite_gcs it may be gs://B/P */
    struct kept *kept;
    struct kept *numbered; /* enumerations of Google's that were sent as
                              numbers, by name; they are not stored */
    enum job_args_mode args_mode;
    bool substitute;           /* ${name} is replaced (native form only) */
    bool own_workdir;          /* each replica starts in a copy of workdir */
    const char *workdir;       /* absolute once submitted, or NULL; with images
                                  a folder in the container */
    struct job_code code;      /* of processes: what is in workdir */
    struct strings pass_env;   /* names to copy from submit's environment */
    struct pairs captured_env; /* what submit recorded */
    double cpus;               /* 0: not asked */
    int64_t memory_bytes;      /* 0: not asked */
    struct strings volumes;    /* HOST:TARGET[:ro] */
    struct container_options container;
    size_t n_secrets;
    const struct secret *secrets;
    const char *service_account; /* whose credentials trials get; or NULL */
    enum job_reporter reporter;
    bool rewrite_gcs;  /* gs://B/P is shown to trainers as /gcs/B/P */
    int64_t keep_best; /* outputs of so many best trials stay; 0: of all */
    struct strings stdout_patterns; /* 'acc={accuracy} step={step}' */
    const char *metrics_file;   /* JSON lines or CSV in the trial, or NULL */
    const char *metrics_events; /* folder with event files of TensorBoard, below
                                   the trial's own; or NULL */
};

/* Defaults of fields that a spec may leave out. */
enum {
    JOB_MAX_TRIALS = 20,
    JOB_PARALLEL = 1,
    JOB_RETRIES = 1,
    JOB_GRACE_MS = 30000
};

/* Whether anything but a count of trials can end the study. */
bool job_has_stopping_rule(const struct job *job);
/* How many metrics are to be improved; safety metrics follow them. */
size_t job_objectives(const struct job *job);
/* Whether what people see of it is not its name. */
bool job_is_named_apart(const struct job *job);
/* Whether its trials run on a cluster that makes slots for them. */
bool job_is_for_cluster(const struct job *job);
/* Whether replicas run in containers: all of a job's pools do or none. */
bool job_needs_images(const struct job *job);
/* Whether trials on other machines get a copy of the working folder. */
bool job_code_travels(const struct job *job);
/* Gives the job of a new study that is made from `old`, a copy of the job: its
 * name, folders of its own for outputs below the old ones, and no values that
 * only earlier trials may have. Texts are in the arena. */
void job_make_clone(struct arena *arena, struct job *job, const struct job *old,
                    const char *name);
/* Whether trainers get a gs://... anywhere: an argument, a variable, a
 * folder, the value of a parameter. */
bool job_mentions_gcs(const struct job *job);

#endif
