/* gpu_models.h - which models the machine's GPUs are, and their memory, as
 * nvidia-smi shows. */
#ifndef HT_RUNNER_BASE_GPU_MODELS_H
#define HT_RUNNER_BASE_GPU_MODELS_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"

struct gpu_model {
    const char *index;  /* as nvidia-smi counts; NULL: a MIG instance */
    const char *uuid;   /* "GPU-..." or "MIG-..." */
    const char *name;   /* "NVIDIA A100-SXM4-80GB", with " MIG 3g.40gb" behind
                           it of an instance */
    int64_t memory;     /* bytes, 0: not known */
    const char *parent; /* of a MIG instance the index of its GPU */
};
struct gpu_models {
    size_t n;
    const struct gpu_model *items;
};

/* Asks nvidia-smi, for at most 20 s; n is 0 where there is none or it fails.
 * All is in the arena. */
struct gpu_models gpu_models_ask(struct arena *arena);

/* The same from its texts: of --query-gpu=index,uuid,name,memory.total
 * --format=csv,noheader,nounits, and of -L. Lines that are not understood are
 * skipped. */
struct gpu_models gpu_models_parse(struct arena *arena, const char *query,
                                   const char *list);

/* The GPU of that index or UUID; NULL: it is not known. */
const struct gpu_model *gpu_models_find(const struct gpu_models *models,
                                        const char *name);

/* Puts its MIG instances in the place of each GPU that has some: CUDA cannot
 * use such a GPU itself. */
struct strings gpu_models_expand(struct arena *arena,
                                 const struct gpu_models *models,
                                 const struct strings *gpus);

#endif
