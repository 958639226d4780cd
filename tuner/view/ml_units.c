#include "tuner/view/ml_units.h"

#include <math.h>
#include <string.h>

#include "tuner/runners/machine_types.h"

/* Source of all figures: "AI Platform Training pricing", Americas, as archived
 * 2019-11-04 (cloud.google.com/ml-engine/docs/pricing), which gives every
 * configuration's dollars an hour and, divided by 0.49, its units:
 * n1-standard-4 0.1900 (0.3878), n1-highmem-2 0.1184 (0.2416), complex_model_s,
 * which is n1-highcpu-8, 0.2836 (0.5788). Machines of one family cost the same
 * for each core, and a type with accelerators costs what its parts do:
 * standard_gpu 0.8300 is n1-standard-8 and a K80. */
#define DOLLARS(hour) ((hour) / 0.49)

enum { BASIC_CORES = 4, GPU_HOST_CORES = 8 };

static const double per_standard_core = DOLLARS(0.0475);
static const double per_highmem_core = DOLLARS(0.0592);
static const double per_highcpu_core = DOLLARS(0.03545);

/* The newer ones have Compute Engine's price, as the older ones do. */
static const struct {
    const char *kind;
    double units;
} accelerators[] = {
    {"NVIDIA_TESLA_K80", DOLLARS(0.45)},
    {"NVIDIA_TESLA_P4", DOLLARS(0.6)},
    {"NVIDIA_TESLA_P100", DOLLARS(1.46)},
    {"NVIDIA_TESLA_T4", DOLLARS(0.35)},
    {"NVIDIA_TESLA_V100", DOLLARS(2.48)},
    {"NVIDIA_TESLA_A100", DOLLARS(2.933908)},
};

/* Types whose cores are not standard ones, or whose accelerators are of one
 * kind, by the beginning and the end of their names. */
static const struct {
    const char *prefix, *suffix;
    const double *per_core; /* NULL: standard */
    const char *kind;       /* NULL: a K80 */
} types[] = {
    {"n1-highmem-", "", &per_highmem_core, NULL},
    {"n1-highcpu-", "", &per_highcpu_core, NULL},
    {"large_model_v100", "", &per_highmem_core, "NVIDIA_TESLA_V100"},
    {"large_model", "", &per_highmem_core, NULL},
    {"", "_p100", NULL, "NVIDIA_TESLA_P100"},
    {"", "_v100", NULL, "NVIDIA_TESLA_V100"},
    {"", "_gpu", NULL, NULL},
    {"complex_model_", "", &per_highcpu_core, NULL},
    {"a2-", "", NULL, "NVIDIA_TESLA_A100"},
};

static bool begins_and_ends(const char *name, const char *prefix,
                            const char *suffix)
{
    const size_t len = strlen(name), tail = strlen(suffix);
    return strncmp(name, prefix, strlen(prefix)) == 0 && len >= tail &&
           strcmp(name + len - tail, suffix) == 0;
}

struct price { /* of a machine's parts */
    double per_core;
    const char *kind; /* of its own accelerators */
};

static struct price price_of(const char *machine)
{
    struct price price = {per_standard_core, accelerators[0].kind};
    for (size_t i = 0; machine != NULL && i < sizeof types / sizeof *types;
         i++) {
        if (!begins_and_ends(machine, types[i].prefix, types[i].suffix))
            continue;
        if (types[i].per_core != NULL)
            price.per_core = *types[i].per_core;
        if (types[i].kind != NULL)
            price.kind = types[i].kind;
        break;
    }
    return price;
}

/* A kind that never was on the list counts as the one of the tier BASIC_GPU.
 */
static double units_of_kind(const char *kind)
{
    for (size_t i = 0; i < sizeof accelerators / sizeof *accelerators; i++)
        if (strcmp(accelerators[i].kind, kind) == 0)
            return accelerators[i].units;
    return accelerators[0].units;
}

/* Without a known type it is what the job asks for, else the host
 * of the tiers BASIC and BASIC_GPU. */
static struct machine_type machine_of(const struct job *job,
                                      const struct pool *pool)
{
    struct machine_type machine;
    if (pool->machine != NULL &&
        machine_types_find(NULL, pool->machine, &machine))
        return machine;
    const double asked = pool->cpus > 0 ? pool->cpus : job->cpus;
    const double basic = pool->gpus > 0 ? GPU_HOST_CORES : BASIC_CORES;
    return (struct machine_type){.cpus = asked > 0 ? asked : basic};
}

static double units_of_replica(const struct job *job, const struct pool *pool)
{
    const struct machine_type machine = machine_of(job, pool);
    const struct price price = price_of(pool->machine);
    const bool chooses = pool->gpus > 0 || pool->accelerator != NULL;
    const double gpus = (double)(chooses ? pool->gpus : machine.gpus);
    const char *kind =
        pool->accelerator != NULL ? pool->accelerator : price.kind;
    return machine.cpus * price.per_core + gpus * units_of_kind(kind);
}

double ml_units_per_hour(const struct job *job)
{
    double units = 0;
    for (size_t i = 0; i < job->n_pools; i++)
        units += job->pools[i].count * units_of_replica(job, &job->pools[i]);
    return units;
}

double ml_units(const struct job *job, int64_t ran_ms)
{
    static const double hour_ms = 3600e3;
    const double units = ml_units_per_hour(job) * (double)ran_ms / hour_ms;
    return round(units * 1e4) / 1e4;
}
