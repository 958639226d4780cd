/* gpus.h - which GPUs a runner may give to its replicas.
 *
 * A GPU is named as CUDA_VISIBLE_DEVICES names it: by number or by UUID. */
#ifndef HT_RUNNER_BASE_GPUS_H
#define HT_RUNNER_BASE_GPUS_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/strings.h"

/* What a runner may know of its GPUs. */
struct gpus_source {
    const char *option;  /* --gpus, NULL: not given */
    const char *visible; /* CUDA_VISIBLE_DEVICES of the runner, NULL: unset */
    const char *devices; /* folder of the devices: "/dev" */
};

/* Lists the GPUs, in the arena. Without the option, or with "all", those that
 * are visible, where CUDA_VISIBLE_DEVICES is unset one for each nvidiaN in the
 * folder. A number N takes the first N of them; on a machine that shows none
 * it is believed. "0" and "none" take none. Anything with a comma is a list of
 * names, used as it is.
 * HT_INVALID  the option is none of these, names a GPU twice, or asks for more
 *             than CUDA_VISIBLE_DEVICES shows */
enum ht_status gpus_find(struct arena *arena, const struct gpus_source *source,
                         struct strings *gpus, struct ht_error *err);

bool gpus_has(const struct strings *gpus, const char *name);
/* The names separated by commas, as CUDA_VISIBLE_DEVICES wants them. */
char *gpus_text(struct arena *arena, const struct strings *gpus);

#endif
