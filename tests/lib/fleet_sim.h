/* fleet_sim.h - machines that run trials in virtual time, placed by the same
 * module as the server's. */
#ifndef HT_TESTS_LIB_FLEET_SIM_H
#define HT_TESTS_LIB_FLEET_SIM_H

#include "tuner/placement/placement.h"

struct sim_kind { /* a study of trials that never end to wait */
    size_t project;
    double mean_s; /* of a trial, drawn evenly from half to 1.5 times */
    int64_t whole; /* GPUs of a trial */
    double part;   /* of one */
    int64_t most;  /* at a time, its `parallel`; 0: any number */
    double from_s; /* when its trials begin to wait */
};

struct sim_fleet {
    size_t gpu_machines, cpu_machines; /* of 8 slots; the former with 8 GPUs */
    size_t n_projects, n_kinds;
    const double *shares;
    const struct sim_kind *kinds;
    bool unfair;  /* all studies are of one project for the placement */
    bool forgets; /* the placement does not get how long a study waits */
};

struct sim_result {  /* the caller gives the arrays */
    double *used;    /* by project: weighted slot-seconds until the end */
    double *waited;  /* by kind: longest time without a start, in s */
    int64_t *starts; /* by kind */
    size_t slots, decisions;
};

/* Runs the fleet from `from_s`, before which nothing counts, to end_s. */
void fleet_sim_run(const struct sim_fleet *fleet, double from_s, double end_s,
                   struct sim_result *result);

#endif
