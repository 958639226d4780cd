/* image_podman.h - what podman needs before and after a container: the image,
 * its entry point, and the removal of what was left behind. */
#ifndef HT_RUNNER_SHIM_IMAGE_PODMAN_H
#define HT_RUNNER_SHIM_IMAGE_PODMAN_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "runner/base/folder.h"
#include "runner/element/image.h"

/* Makes sure that the image is on the node. False, with outcome and reason,
 * when it is not. */
bool image_podman_pull(struct arena *arena, const char *program,
                       const struct image_order *order, struct ending *ending);
/* Entry point, and in *command the arguments that it has by itself; empty ones
 * where the image has none. */
struct strings image_podman_entry(struct arena *arena, const char *program,
                                  const char *image, struct strings *command);
/* Whether its containers can stay in the cgroup of the job. */
bool image_podman_in_cgroup(struct arena *arena, const char *program);

/* The value of --ulimit for a limit of this process, since podman gives root's
 * containers more than the job may have; at most so many, for it lowers its own
 * limits. */
const char *image_podman_limit(struct arena *arena, const char *name,
                               int resource, int64_t most);

/* The value of IMAGE_LABEL for a container of this process. */
const char *image_podman_label(struct arena *arena);
/* Removes the containers of this user whose processes by that label have ended.
 */
void image_podman_remove_left(struct arena *arena, const char *program);
/* Kills and removes one, if there is one. */
void image_podman_remove(struct arena *arena, const char *program,
                         const char *name);

#endif
