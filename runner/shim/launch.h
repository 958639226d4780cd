/* launch.h - what the trainer gets beside launch.json: variables of the
 * container around it, and those of a job of Slurm or a pod. */
#ifndef HT_RUNNER_SHIM_LAUNCH_H
#define HT_RUNNER_SHIM_LAUNCH_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "runner/base/folder.h"
#include "runner/shim/shim.h"

/* This process's variables that are wanted ("NAME=VALUE"; NULL: all), and one
 * more, unless it is NULL. The values are borrowed from the environment. */
struct pairs launch_environment(struct arena *arena,
                                bool (*is_wanted)(const char *entry),
                                const struct pair *more);

/* Adds the variables of `inherited` that this process has, which a container
 * sets best, such as its user's HOME. The texts are borrowed from the
 * environment. */
void launch_inherit(struct arena *arena, struct launch *launch);

/* Changes what was written for another machine: see struct shim_batch. With
 * `in_image` nothing is taken of the node that a container has not. */
void launch_fit(struct arena *arena, struct launch *launch,
                const struct shim_batch *batch, bool in_image);

#endif
