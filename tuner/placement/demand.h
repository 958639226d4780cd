/* demand.h - how many slots each study could use at an elastic runner, whose
 * slots are made on demand.
 *
 * State in, numbers out, as placement.h. All runners together have no more
 * slots for a study than trials of it could run at a time: what is neither in
 * use nor asking nor free at other runners is divided evenly among its elastic
 * runners, so that the one that is faster to use its part gets more of the
 * rest. */
#ifndef HT_TUNER_PLACEMENT_DEMAND_H
#define HT_TUNER_PLACEMENT_DEMAND_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"

struct placement_needs;
struct placement_project;

/* A study that the runner may run. */
struct demand_study {
    int64_t id, priority;
    size_t project; /* index */
    const struct placement_needs *needs;
    int64_t most;    /* trials that could run at a time, also what runs */
    int64_t running; /* of these, at all runners */
    int64_t here;    /* ... at this one */
    size_t n, at; /* elastic runners that may run it, and which this one is */
    const int64_t *asking; /* slots of each that wait for one of its trials */
    int64_t elsewhere;     /* trials that runners with slots of their own could
                              start now */
    int64_t slots;         /* the result, running and asking ones among them */
};

struct demand {
    size_t n, n_projects;
    struct demand_study *studies;
    struct placement_project *projects; /* slots and gpus count what is given */
    int64_t most;                       /* slots that the runner may have */
};

/* Sets `slots` of all studies. Slots that run come first, then what asks,
 * then further ones, within the projects' quotas: one after the other to the
 * project with the fewest for its share, there by priority, then to the study
 * with the fewest, then to the older one. Scratch is in the arena. */
void demand_divide(struct arena *arena, const struct demand *demand);

#endif
