/* modules.h - what `module load` in a batch script has done to the environment,
 * for a trainer whose environment is made on another machine. */
#ifndef HT_RUNNER_ELEMENT_MODULES_H
#define HT_RUNNER_ELEMENT_MODULES_H

#include "proto/base/arena.h"
#include "proto/base/text.h"
#include "runner/base/folder.h"

/* The script has in it what `env` printed before the first module; without it
 * no module was loaded. */
#define MODULES_BEFORE "HYPERTUNE_ENV_BEFORE"

/* The variables that are new or have another value; those of Slurm, of the
 * shell and of hypertune are left out. `before` NULL: none. `environment` ends
 * with NULL; texts are in the arena. */
struct pairs modules_changes(struct arena *arena, const char *before,
                             char *const environment[]);

/* Adds them to the trainer's environment. Of one that is there, too, a search
 * path (PATH, LD_LIBRARY_PATH) gets their folders behind the ones that it alone
 * has, such as a virtual environment's; any other one stays as it is. */
void modules_put(struct arena *arena, const struct pairs *changes,
                 struct launch *launch);

#endif
