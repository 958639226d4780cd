/* placement.h - which waiting trial a runner gets next, and why others wait.
 *
 * State in, decision out: no clock, no database, no thread. The caller fills
 * every field and keeps it; functions write only where they say so.
 *
 * Turns. A project's claim is
 *
 *     (usage + running * trial_s) / share
 *
 * in slot-seconds: what it used lately (old use counts for less, see usage.h),
 * and what its running trials are about to use. The project with the least
 * claim is first. Usage alone would give all slots to one project until its
 * usage has caught up, one trial length too late, and then all to another; the
 * second term counts a trial from the moment it starts, which damps that. Its
 * trial_s is the same for all projects, or one with long trials would get less
 * than its share. In a project studies of higher priority are first, then
 * those with fewer trials running, then the older ones.
 *
 * Waiting. Of the studies that ask for more than a slot and are near their
 * turn, the one that waits for the longest time is served before all others; if
 * it does not fit, it keeps what is free at the one machine where it lacks
 * least. A study is near its turn when its project's is now or would be but for
 * the claim of one such trial. Without the first rule trials that need little
 * would take each GPU that ends; without the second those of other projects
 * would, whose turns come in between. Both end with the trial's start, which
 * then counts in the claim. */
#ifndef HT_TUNER_PLACEMENT_PLACEMENT_H
#define HT_TUNER_PLACEMENT_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"

/* A GPU in use counts as so many slots, in turns and in usage. */
enum { PLACEMENT_GPU_SLOTS = 4 };

/* No such thing, as an index. */
#define PLACEMENT_NONE SIZE_MAX

struct placement_gpu {
    const char *id;      /* the same at all runners of the machine */
    const char *model;   /* such as "NVIDIA A100-SXM4-80GB", "": not known */
    int64_t memory;      /* bytes, 0: not known */
    double used;         /* shares given to trials, 1: all of it */
    int64_t memory_used; /* bytes that trials asked for */
    const char *name;    /* what runners that do not know the id call it */
};

/* What all runners on it have together: nothing counts twice. */
struct placement_machine {
    const char *id;
    int64_t slots, slots_used;   /* trials at a time */
    double cpus, cpus_used;      /* 0: not known */
    int64_t memory, memory_used; /* bytes, 0: not known */
    size_t n_gpus;
    struct placement_gpu *gpus;
};

struct placement_runner {
    const char *name, *engine;
    struct pairs labels;
    size_t machine;      /* index */
    bool draining;       /* gets no trial */
    bool elastic;        /* its slots are made on demand, each for one study:
                            they have what that asks for */
    bool shares_gpus;    /* gives a GPU to any number of trials */
    bool splits_gpus;    /* can give a part of one */
    size_t n_gpus;       /* of the machine's, the ones that it may give */
    const size_t *gpus;  /* indexes */
    int64_t slots, free; /* trials at a time; those it could start now */
};

/* What one replica needs of GPUs: `whole` ones of its own, or a part of one. */
struct placement_replica {
    int64_t whole;
    double part;    /* of one GPU, in (0, 1); else 0 */
    int64_t memory; /* bytes of each GPU, 0: any; with neither of the above, of
                       one that it shares */
};

/* Of one trial; what is not asked for is NULL or 0. */
struct placement_needs {
    const char *engine, *machine; /* runOn */
    const char *gpu;              /* a part of the model's name, in any case */
    struct pairs labels;          /* all of them */
    double cpus;                  /* all replicas together */
    int64_t memory;               /* bytes, all replicas together */
    size_t n;
    const struct placement_replica *replicas;
};

struct placement_study {
    int64_t id;
    size_t project; /* index */
    int64_t priority;
    const struct placement_needs *needs;
    int64_t waiting;     /* trials that may start now */
    int64_t running;     /* trials */
    double waited_s;     /* since it last got a runner, or began to wait */
    const char *refused; /* why an elastic runner has no slots for it, or NULL
                          */
};

struct placement_project {
    const char *name;
    double share;       /* > 0 */
    int64_t most_slots; /* trials at a time, 0: no limit */
    double most_gpus;   /* 0: no limit */
    double usage;       /* slot-seconds, decayed */
    int64_t slots;      /* of running trials */
    double gpus;        /* of running trials */
};

/* Whether rules allow the runner to run the study's trials; else *why contains
 * the reason, or is NULL where no words help. */
typedef bool placement_rule(void *context, size_t runner, size_t study,
                            const char **why);

struct placement {
    size_t n_machines, n_runners, n_studies, n_projects;
    struct placement_machine *machines;
    struct placement_runner *runners; /* those online */
    struct placement_study *studies;
    struct placement_project *projects;
    double trial_s;         /* mean time of a trial, of all projects, > 0 */
    placement_rule *allows; /* NULL: all are allowed */
    void *context;
};

/* Where one replica's GPUs are; indexes of the machine's. */
struct placement_gpus {
    size_t n;
    const size_t *gpus;
};

struct placement_choice {
    size_t study; /* index; PLACEMENT_NONE: no trial for this runner now */
    const struct placement_gpus *replicas; /* as the study's needs list them */
};

/* Chooses for one free slot of the runner; lists are in the arena. */
struct placement_choice placement_next(const struct placement *state,
                                       struct arena *arena, size_t runner);

/* The same for a slot of an elastic runner that only runs that study. */
struct placement_choice placement_next_of(const struct placement *state,
                                          struct arena *arena, size_t runner,
                                          size_t study);

/* Whether the runner could ever run trials of the study, and gets some. */
bool placement_may_run(const struct placement *state, size_t runner,
                       size_t study);
/* Whether the project may have another such trial. */
bool placement_has_quota(const struct placement_project *project,
                         const struct placement_needs *needs);
/* How many of them it may have; INT64_MAX: any number. */
int64_t placement_quota(const struct placement_project *project,
                        const struct placement_needs *needs);
/* How many trials of the study could start now at runners that are not elastic,
 * as far as `most`; the state is as before. Scratch is in the arena. */
int64_t placement_startable(struct placement *state, struct arena *arena,
                            size_t study, int64_t most);

/* The trial of that choice has begun at the runner, or it has ended: changes
 * the counts of machine, runner, study and project, and not `usage`. */
void placement_begin(struct placement *state, size_t runner,
                     const struct placement_choice *choice);
void placement_end(struct placement *state, size_t runner,
                   const struct placement_choice *choice);

/* What a trial counts for, in slots. */
double placement_weight(const struct placement_needs *needs);
/* Its GPUs, parts included. */
double placement_gpus_of(const struct placement_needs *needs);

/* Why trials of the study wait, such as "2 slots" or "an a100: 2 of 2 are in
 * use; gpu-2 is draining"; in the arena or constant. */
const char *placement_reason(const struct placement *state, struct arena *arena,
                             size_t study);

#endif
