/* pod.h - the first process of a trial's container in a pod of Kubernetes: it
 * waits for the replica's folder, which a runner elsewhere brings by
 * hypertune-shim --mirror ROOT in the same container, and runs its shim there.
 */
#ifndef HT_RUNNER_SHIM_POD_H
#define HT_RUNNER_SHIM_POD_H

/* Between the trainer's end and the container's, when the cluster ends the pod:
 * for a runner to connect and take the last lines, and for one that is
 * connected to take the outputs. A pod's grace is the trainer's and the longer
 * one. */
enum { POD_LAST_MS = 5000, POD_OUTPUTS_MS = 30000 };

/* The exit code of a pod in which no trial began, since a signal came first. */
enum { POD_ENDED = 143 };

/* `root` is absolute, `folder` relative below it; neither needs to exist yet.
 *
 * Once ROOT/FOLDER has launch.json, its trainer runs with the container's
 * environment and, over that, the one of launch.json. A signal that ends a
 * container (SIGTERM, or its image's STOPSIGNAL) ends the trainer with its
 * grace, as lost. Then exit.json is also the container's termination message,
 * and this process waits for such a signal: up to 10 minutes without a runner
 * that is connected. After a signal it waits as said above, and no longer than
 * the runner is connected.
 *
 * Returns the trainer's exit code, 128 + N for signal N, but never 0 unless the
 * trainer has succeeded: then 143; POD_ENDED; SHIM_USAGE for such paths;
 * SHIM_FAILED when nothing ran or the end is not known. */
int pod_run(const char *root, const char *folder);

#endif
