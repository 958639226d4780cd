/* slurm.h - an element of an array job of Slurm: asks the runner for trials in
 * turn and runs each as a shim does (runner/element).
 *
 * Of several tasks, one a replica, the first asks; the others read the same
 * answers. */
#ifndef HT_RUNNER_SHIM_SLURM_H
#define HT_RUNNER_SHIM_SLURM_H

/* Runs the element that the environment names until there is no further trial,
 * its time is over, or Slurm ends it; says on stderr why. Returns SHIM_DONE, or
 * SHIM_FAILED when no answer came or the batch's folder cannot be used. */
int slurm_run(const char *batch);

#endif
