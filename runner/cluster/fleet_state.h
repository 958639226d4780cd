/* fleet_state.h - the fleet from inside, for its own files. */
#ifndef HT_RUNNER_CLUSTER_FLEET_STATE_H
#define HT_RUNNER_CLUSTER_FLEET_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/base/site.h"
#include "runner/cluster/avoided.h"
#include "runner/cluster/batch.h"
#include "runner/cluster/clerk.h"
#include "runner/cluster/plan.h"
#include "runner/cluster/study.h"
#include "runner/cluster/submission.h"
#include "runner/far/far.h"

struct fleet {
    const struct site *site;
    const struct job_slurm *defaults;
    struct far *far;
    struct clerk *clerk;
    struct batch *first;
    struct study *studies;
    struct avoided avoided;
    char prefix[SUBMISSION_PREFIX_BYTES];
    bool told;       /* the server has said what it wants */
    int64_t look_at; /* monotonic */
};

/* What the plan sees in the slot. */
enum plan_slot fleet_slot_is(const struct slot *slot);

#endif
