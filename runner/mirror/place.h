/* place.h - files that the runner puts below the root on a login node, where
 * trials may have made links, pipes and folders that are locked. Each is false
 * with errno, and then as before. */
#ifndef HT_RUNNER_MIRROR_PLACE_H
#define HT_RUNNER_MIRROR_PLACE_H

#include <stdbool.h>

#include "runner/mirror/frame.h"

/* A part of a file, which is there once all of it is. Its folder exists. */
bool place_file(int root, const struct frame *frame);
bool place_link(int root, const char *path, const char *target);
/* What is not there is renamed; a folder that has the name stays, and `from` is
 * removed. */
bool place_rename(int root, const char *from, const char *to);
/* A tree or a file; what is not there is removed. */
bool place_remove(int root, const char *path);
bool place_has(int root, const char *path);

#endif
