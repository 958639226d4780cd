/* image.h - a trainer that runs in a container image, in a job of Slurm. The
 * shim stays outside; a process in the trainer's place finds the tool, makes
 * sure that the image is there, and becomes the tool. */
#ifndef HT_RUNNER_SHIM_IMAGE_H
#define HT_RUNNER_SHIM_IMAGE_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/base/folder.h"

/* Writes the launch, complete for the trainer, for the inside of the container,
 * and makes it that of the process in its place. `way` as of image_way_read().
 * HT_IO  a file cannot be written */
enum ht_status image_wrap(struct arena *arena, const char *folder,
                          const struct strings *way, struct launch *launch,
                          struct ht_error *err);

/* The work of that process; returns the exit code when it cannot become the
 * tool, with the reason in FOLDER/inside/exit.json. `way` ends with NULL. */
int image_enter(const char *folder, char *const way[]);

/* Corrects an ending that is the tool's. */
void image_describe(const char *folder, struct ending *ending);
/* Removes what is left of the replica's container; its processes have ended or
 * are killed. */
void image_clean(const char *folder);

#endif
