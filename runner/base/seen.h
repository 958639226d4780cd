/* seen.h - paths of this machine as trials see them. */
#ifndef HT_RUNNER_BASE_SEEN_H
#define HT_RUNNER_BASE_SEEN_H

#include "proto/base/arena.h"
#include "runner/base/site.h"

/* The path of the same file where trials run, in the arena: another one if it
 * is below a state folder that has another path there. NULL: NULL. */
const char *seen_path(struct arena *arena, const struct site *site,
                      const char *path);

#endif
