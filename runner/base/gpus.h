/* gpus.h - which GPUs a runner may give to its replicas.
 *
 * A GPU is named as CUDA_VISIBLE_DEVICES names it: by number or by UUID. */
#ifndef HT_RUNNER_BASE_GPUS_H
#define HT_RUNNER_BASE_GPUS_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"

/* From where the GPUs are known. */
struct gpus_source {
    const char *option;  /* --gpus, NULL: not given */
    const char *visible; /* CUDA_VISIBLE_DEVICES of the runner, NULL: unset */
    const char *devices; /* folder of the devices: "/dev" */
};

/* Lists the GPUs, in the arena. Without the option, or with "all", all that
 * CUDA_VISIBLE_DEVICES has; where that is unset, one for each nvidiaN in the
 * folder. A number N takes the first N of them, or 0 to N-1 where the folder
 * has fewer. "0" and "none" take none. Anything with a comma is a list of
 * names.
 * HT_INVALID  the option is none of these, names a GPU twice, or is more than
 *             CUDA_VISIBLE_DEVICES has */
enum ht_status gpus_find(struct arena *arena, const struct gpus_source *source,
                         struct strings *gpus, struct ht_error *err);

/* Compares the names as they are written: 0 and a UUID of the same GPU
 * differ. */
bool gpus_has(const struct strings *gpus, const char *name);
/* The names separated by commas, as CUDA_VISIBLE_DEVICES wants them. */
char *gpus_text(struct arena *arena, const struct strings *gpus);

#endif
