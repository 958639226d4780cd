/* image_child.h - short calls of a tool that runs images. */
#ifndef HT_RUNNER_SHIM_IMAGE_CHILD_H
#define HT_RUNNER_SHIM_IMAGE_CHILD_H

#include "proto/base/arena.h"

/* Where the tool is, in the arena; NULL: on none of the folders of PATH. */
const char *image_find_tool(struct arena *arena, const char *name);

/* Runs it with this process's environment; argv ends with NULL. *output, in the
 * arena, is the beginning of what it printed; NULL: its stdout goes nowhere.
 * *errors the same of stderr; NULL: it is this process's. Returns its exit
 * code, 128 and the signal, or 127 when it cannot be run. */
int image_child_run(struct arena *arena, const char *const argv[],
                    char **output, char **errors);

#endif
