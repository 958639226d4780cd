/* fit.h - whether a trial fits a runner: what it is, what its machine has, and
 * what of that is free. Pure. */
#ifndef HT_TUNER_PLACEMENT_FIT_H
#define HT_TUNER_PLACEMENT_FIT_H

#include "tuner/placement/placement.h"

/* What studies with an earlier turn keep of a machine. */
struct fit_reserved {
    double cpus;
    int64_t memory;
    bool gpus; /* all that are free or partly free */
};

enum fit_runner {
    FIT_SUITS,
    FIT_ENGINE,
    FIT_MACHINE,
    FIT_LABEL,
    FIT_MODEL,  /* it has no such GPU */
    FIT_MEMORY, /* ... none with so much memory */
    FIT_PARTS,  /* ... it cannot give a part of one */
    FIT_GPUS,   /* ... not so many */
    FIT_DRAINS
};

/* The first thing that keeps the runner from ever running such a trial. */
enum fit_runner fit_suits(const struct placement *state, size_t runner,
                          const struct placement_needs *needs);

/* GPUs that the runner may give of the model and memory that are asked for. */
size_t fit_count_gpus(const struct placement *state, size_t runner,
                      const struct placement_needs *needs);

/* Whether the trial could start at the runner now, and with which GPUs: one
 * item for each replica, in the arena; with none chosen at an elastic runner,
 * whose slot has what it needs. */
bool fit_now(const struct placement *state, struct arena *arena, size_t runner,
             const struct placement_needs *needs,
             const struct fit_reserved *reserved,
             const struct placement_gpus **gpus);

/* How much the runner's machine lacks, 0: nothing; a unit for each slot, GPU,
 * and all of the cores or memory. Scratch is in the arena. */
double fit_lacks(const struct placement *state, struct arena *arena,
                 size_t runner, const struct placement_needs *needs);

/* Whether the machine has the cores and the memory; where none has them, the
 * trial gets what there is. */
bool fit_is_large_enough(const struct placement_machine *machine,
                         const struct placement_needs *needs);

/* Whether the GPU is of the model. */
bool fit_is_model(const char *model, const char *wanted);

#endif
