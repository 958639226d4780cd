/* call.h - one command of Slurm: here as a child without a shell, or on a
 * login node through a master of ssh that is open. */
#ifndef HT_RUNNER_SLURM_CALL_H
#define HT_RUNNER_SLURM_CALL_H

#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"

struct call_place {
    const char *ssh;     /* NULL: here */
    const char *control; /* the socket of its master */
    int abort;           /* a file: calls end once it can be read; 0: none */
};

struct call {
    const char *const *argv; /* ends with NULL */
    const char *input;       /* what it reads at stdin; NULL: nothing */
    int64_t until_ms;        /* monotonic; then it is killed */
};

/* All that it printed, in the arena; without what a login shell has. */
struct call_answer {
    int exit;
    const char *output, *errors;
};

/* What to run here for a command at the place, in the arena; ends with NULL. */
const char *const *call_words(struct arena *arena,
                              const struct call_place *place,
                              const char *const argv[]);

/* Variables of the environment that are options of Slurm's commands
 * (SBATCH_PARTITION, SQUEUE_FORMAT) are left out, here and there.
 * HT_UNAVAILABLE  it did not end by itself in time, or the master is not open:
 *                 it may have done its work nevertheless
 * HT_NOT_FOUND    there is no such program */
enum ht_status call_run(struct arena *arena, const struct call_place *place,
                        const struct call *call, struct call_answer *answer,
                        struct ht_error *err);

#endif
