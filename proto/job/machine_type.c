#include "proto/job/machine_type.h"

#include <stdio.h>
#include <string.h>

enum { MOST_SIZES = 14 };

#define GIB (1024.0 * 1024 * 1024)

/* PREFIX-N: N cores with so many GiB each. Source: Compute Engine, "Machine
 * families resource and comparison guide", for the types that AI Platform
 * Training and Vertex AI custom training list. */
static const struct family {
    const char *prefix;
    double gib; /* for each core */
    int sizes[MOST_SIZES];
} families[] = {
    {"n1-standard-", 3.75, {1, 2, 4, 8, 16, 32, 64, 96}},
    {"n1-highmem-", 6.5, {2, 4, 8, 16, 32, 64, 96}},
    {"n1-highcpu-", 0.9, {2, 4, 8, 16, 32, 64, 96}},
    {"e2-standard-", 4, {2, 4, 8, 16, 32}},
    {"e2-highmem-", 8, {2, 4, 8, 16}},
    {"e2-highcpu-", 1, {2, 4, 8, 16, 32}},
    {"n2-standard-", 4, {2, 4, 8, 16, 32, 48, 64, 80, 96, 128}},
    {"n2-highmem-", 8, {2, 4, 8, 16, 32, 48, 64, 80, 96}},
    {"n2-highcpu-", 1, {2, 4, 8, 16, 32, 48, 64, 80, 96}},
    {"n2d-standard-", 4, {2, 4, 8, 16, 32, 48, 64, 80, 96, 128, 224}},
    {"n2d-highmem-", 8, {2, 4, 8, 16, 32, 48, 64, 80, 96}},
    {"n2d-highcpu-", 1, {2, 4, 8, 16, 32, 48, 64, 80, 96, 128, 224}},
    {"c2-standard-", 4, {4, 8, 16, 30, 60}},
    {"c2d-standard-", 4, {2, 4, 8, 16, 32, 56, 112}},
    {"c2d-highmem-", 8, {2, 4, 8, 16, 32, 56, 112}},
    {"c2d-highcpu-", 2, {2, 4, 8, 16, 32, 56, 112}},
};

/* Types that follow no such rule. The second part are AI Platform Training's
 * own names; the service documents them as about the n1 type of this size. */
static const struct {
    const char *name;
    double cpus, gib;
    int gpus;
} singles[] = {
    {"n2-highmem-128", 128, 864, 0},
    {"m1-megamem-96", 96, 1433.6, 0},
    {"m1-ultramem-40", 40, 961, 0},
    {"m1-ultramem-80", 80, 1922, 0},
    {"m1-ultramem-160", 160, 3844, 0},
    {"a2-highgpu-1g", 12, 85, 1},
    {"a2-highgpu-2g", 24, 170, 2},
    {"a2-highgpu-4g", 48, 340, 4},
    {"a2-highgpu-8g", 96, 680, 8},
    {"a2-megagpu-16g", 96, 1360, 16},
    {"a2-ultragpu-1g", 12, 170, 1},
    {"a2-ultragpu-2g", 24, 340, 2},
    {"a2-ultragpu-4g", 48, 680, 4},
    {"a2-ultragpu-8g", 96, 1360, 8},
    {"a3-highgpu-8g", 208, 1872, 8},
    {"g2-standard-4", 4, 16, 1},
    {"g2-standard-8", 8, 32, 1},
    {"g2-standard-12", 12, 48, 1},
    {"g2-standard-16", 16, 64, 1},
    {"g2-standard-24", 24, 96, 2},
    {"g2-standard-32", 32, 128, 1},
    {"g2-standard-48", 48, 192, 4},
    {"g2-standard-96", 96, 384, 8},

    {"standard", 4, 15, 0},
    {"large_model", 8, 52, 0},
    {"complex_model_s", 8, 7.2, 0},
    {"complex_model_m", 16, 14.4, 0},
    {"complex_model_l", 32, 28.8, 0},
    {"standard_gpu", 8, 30, 1},
    {"complex_model_m_gpu", 16, 60, 4},
    {"complex_model_l_gpu", 32, 120, 8},
    {"standard_p100", 8, 30, 1},
    {"complex_model_m_p100", 16, 60, 4},
    {"standard_v100", 8, 30, 1},
    {"large_model_v100", 8, 52, 1},
    {"complex_model_m_v100", 16, 60, 4},
    {"complex_model_l_v100", 32, 120, 8},
};

static bool find_single(const char *name, struct machine_type *type)
{
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++) {
        if (strcmp(singles[i].name, name) != 0)
            continue;
        *type = (struct machine_type){
            singles[i].cpus, (int64_t)(singles[i].gib * GIB), singles[i].gpus};
        return true;
    }
    return false;
}

static bool find_family(const char *name, struct machine_type *type)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const size_t len = strlen(families[i].prefix);
        if (strncmp(name, families[i].prefix, len) != 0)
            continue;
        for (size_t k = 0; k < MOST_SIZES && families[i].sizes[k] > 0; k++) {
            char size[16];
            snprintf(size, sizeof size, "%d", families[i].sizes[k]);
            if (strcmp(name + len, size) != 0)
                continue;
            const double cpus = families[i].sizes[k];
            *type = (struct machine_type){
                cpus, (int64_t)(cpus * families[i].gib * GIB), 0};
            return true;
        }
    }
    return false;
}

bool machine_type_find(const char *name, struct machine_type *type)
{
    return find_single(name, type) || find_family(name, type);
}

struct machine_type machine_type_needs(const struct job *job,
                                       const struct pool *pool,
                                       const struct machine_type *type)
{
    struct machine_type needs = {
        .cpus = pool->cpus > 0 ? pool->cpus : job->cpus,
        .memory =
            pool->memory_bytes > 0 ? pool->memory_bytes : job->memory_bytes,
        .gpus = pool->gpus,
    };
    if (type == NULL)
        return needs;
    if (needs.cpus <= 0)
        needs.cpus = type->cpus;
    if (needs.memory == 0)
        needs.memory = type->memory;
    if (needs.gpus == 0 && pool->accelerator == NULL)
        needs.gpus = type->gpus;
    return needs;
}
