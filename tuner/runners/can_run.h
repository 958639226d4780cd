/* can_run.h - which runners can run a job, and the messages when none can. Core
 * thread. */
#ifndef HT_TUNER_RUNNERS_CAN_RUN_H
#define HT_TUNER_RUNNERS_CAN_RUN_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/doc/diag.h"
#include "proto/job/job.h"
#include "tuner/core/live.h"
#include "tuner/core/runner_rules.h"

struct core;

/* The first thing that a runner does not allow. */
struct can_run_lack {
    const char *field; /* path in the job as it is sent */
    const char *text;  /* what is wrong, in the arena or constant */
};

/* Whether a runner with these rules may run the job's attempts; else *lack
 * contains the reason. GPUs and secrets change and are not checked. */
bool can_run_allows(struct arena *arena, const struct runner_rules *rules,
                    const struct job *job, struct can_run_lack *lack);

/* Whether its engine is one for the job: a section `slurm` asks for Slurm. */
bool can_run_is_for(const struct live_runner *runner, const struct job *job,
                    struct can_run_lack *lack);

/* Whether the runner leaves the job's attempts to another one that is online,
 * may run them and has their credentials. */
bool can_run_leaves(struct core *core, struct arena *arena,
                    const struct live_runner *runner, const struct job *job);

/* Checks a new job against the known runners. What each runner of its kind
 * forbids is an error; what a later runner may have is a warning. */
void can_run_check(struct core *core, const struct job *job,
                   struct diag *errors, struct diag *warnings);

#endif
