/* nvml.h - NVIDIA's Management Library, as far as it says how busy a GPU is and
 * how much of its memory is used. It is found when the program runs, where the
 * driver has put it.
 *
 * A call may take long when a GPU is in trouble. One thread. */
#ifndef HT_RUNNER_BASE_NVML_H
#define HT_RUNNER_BASE_NVML_H

#include <stdbool.h>
#include <stdint.h>

struct nvml;

/* NULL: there is none, or it does not work. */
struct nvml *nvml_open(void);
void nvml_close(struct nvml *nvml); /* accepts NULL */

/* `name`: UUID, or the number by which nvidia-smi counts. *used: the part of
 * the last moment (up to a second) in which the GPU worked, 0 to 1; *memory:
 * bytes, of all its processes. False: it does not say, as MIG instances. */
bool nvml_read(struct nvml *nvml, const char *name, double *used,
               int64_t *memory);

#endif
