/* own_runner.h - runners beside the one of processes that this user's own
 * server has. Each is a program of its own, which ends with the server. */
#ifndef HT_HYPERTUNE_CLI_FRAME_OWN_RUNNER_H
#define HT_HYPERTUNE_CLI_FRAME_OWN_RUNNER_H

#include "hypertune/cli/frame/cli.h"

enum own_runner {
    OWN_RUNNER_CONTAINERS,
    OWN_RUNNER_SLURM,
    OWN_RUNNER_KUBERNETES
};

/* Whether this machine has what it runs on: an engine of containers that
 * answers; the commands of Slurm, or a variable that names a cluster; a
 * kubeconfig. */
bool own_runner_can_start(struct cli *cli, enum own_runner which);

/* Starts it, unless it runs, and waits until the server knows it. Returns
 * CLI_DONE, or another exit code after a message. */
int own_runner_start(struct cli *cli, enum own_runner which);

/* Restarts each that has died, so that it continues its attempts. `folder`: the
 * server's; `url`: its address. */
void own_runner_restart_all(struct cli *cli, const char *folder,
                            const char *url);

#endif
