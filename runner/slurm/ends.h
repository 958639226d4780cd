/* ends.h - what the end of an element means for the attempt in it.
 *
 * Used only where the trainer's own end is not known: exit.json, once written,
 * is the truth. Pure. */
#ifndef HT_RUNNER_SLURM_ENDS_H
#define HT_RUNNER_SLURM_ENDS_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "runner/base/folder.h"
#include "runner/slurm/slurm.h"

struct slurm_end {
    bool over;            /* false: the element waits or runs, nothing below */
    enum outcome outcome; /* of the attempt, if it had a trial */
    bool is_failure;      /* counts against the trial's retries */
    bool exclude;         /* the retry avoids the element's nodes */
    bool has_exit, has_signal; /* Slurm knows how the batch script ended */
    const char *words;         /* "its node n2 failed (NODE_FAIL)" */
};

/* `row` is NULL for an element that is not in the listing any more.
 * `had_trial`: it had asked and was given one. Its words are in the arena. */
struct slurm_end slurm_end_of(struct arena *arena, const struct slurm_row *row,
                              bool had_trial);

#endif
