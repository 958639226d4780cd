/* launch.h - where the trials of a job start: what only the submitting
 * shell knows of folders, variables and programs. */
#ifndef HT_HYPERTUNE_CLI_SPEC_LAUNCH_H
#define HT_HYPERTUNE_CLI_SPEC_LAUNCH_H

#include "proto/job/job.h"

struct cli_launch {
    struct cli *cli;
    struct diag *diag;       /* takes the faults */
    const struct node *root; /* of the spec, for their places */
    const char *folder;      /* absolute: the spec's */
};

/* Makes the job's folders absolute and records what passEnv names; a job of
 * processes also gets its working folder and this shell's variables. Returns
 * the file that the master runs, or NULL when it runs in an image or after a
 * fault. */
const char *cli_launch_settle(const struct cli_launch *launch, struct job *job);

#endif
