/* image_inside.h - the first process of a trainer in an image: the trainer gets
 * its environment over that of the image, and its end is known exactly. */
#ifndef HT_RUNNER_SHIM_IMAGE_INSIDE_H
#define HT_RUNNER_SHIM_IMAGE_INSIDE_H

/* Runs the trainer of FOLDER/inside/launch.json. Returns the exit code as
 * shells have it; FOLDER/inside/exit.json says more where it does not. Becomes
 * the trainer unless this is the first process of the container: such a one
 * ignores signals that it does not handle. */
int image_inside_run(const char *folder);

#endif
