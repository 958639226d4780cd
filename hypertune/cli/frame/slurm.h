/* slurm.h - the way of this machine to a Slurm cluster, as hypertune-runner
 * finds it. */
#ifndef HT_HYPERTUNE_CLI_FRAME_SLURM_H
#define HT_HYPERTUNE_CLI_FRAME_SLURM_H

#include <stdbool.h>

#include "hypertune/cli/frame/cli.h"

/* Why there seems to be a way: "squeue is in PATH"; NULL: there is none. */
const char *cli_slurm_sign(struct cli *cli);

struct cli_slurm {
    const struct node *said; /* the answer of hypertune-runner --slurm-look; it
                                may lack members where there is a trouble */
    const char *trouble;     /* in words; NULL: none */
    bool refused; /* a setting or the job is wrong, Slurm is not away */
};

/* Runs it, for 20 s where a cluster does not answer, at most a minute. `test`:
 * JSON for its --slurm-test; NULL: none. In cli->arena. */
struct cli_slurm cli_slurm_ask(struct cli *cli, const char *test);

#endif
