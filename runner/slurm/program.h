/* program.h - one of Slurm's programs, here or on a login node, with a limit
 * of time. */
#ifndef HT_RUNNER_SLURM_PROGRAM_H
#define HT_RUNNER_SLURM_PROGRAM_H

#include "proto/base/arena.h"
#include "proto/base/error.h"

struct program_place {
    const char *ssh;    /* [USER@]HOST; NULL: this machine */
    const char *socket; /* of ssh's master */
};

/* Runs argv, which ends with NULL, with `input` (NULL: none). *output: what it
 * printed, also its errors; *code: its exit code, 128 + N after signal N.
 * HT_UNAVAILABLE  it has not ended in time, or the login node is not reached
 * HT_NOT_FOUND    there is no such program */
enum ht_status program_run(const struct program_place *place,
                           const char *const argv[], const char *input,
                           struct arena *arena, const char **output, int *code,
                           struct ht_error *err);

#endif
