/* copy.h - hypertune-shim puts itself into the volume of a pod. */
#ifndef HT_RUNNER_SHIM_COPY_H
#define HT_RUNNER_SHIM_COPY_H

/* Copies this program to the path, whole or not at all. An exit code of
 * shim.h, after a message. */
int copy_run(const char *path);

#endif
