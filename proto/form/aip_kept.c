#include <string.h>

#include "proto/doc/kept.h"
#include "proto/form/aip.h"

/* One member under its two names: AI Platform's below trainingInput, Vertex's
 * below the job's spec, or below the job itself. */
struct renaming {
    const char *aip, *vertex;
};

static const struct renaming spec_names[] = {
    {"network", "network"},
    {"serviceAccount", "serviceAccount"},
    {"enableWebAccess", "enableWebAccess"},
    {"scheduling.resilientToWorkerRestart",
     "scheduling.restartJobOnWorkerRestart"},
    {"scheduling.strategy", "scheduling.strategy"},
    {NULL, NULL}};

static const struct renaming root_names[] = {
    {"encryptionConfig.kmsKeyName", "encryptionSpec.kmsKeyName"},
    {"hyperparameters.resumePreviousJobId", "hypertune.warmStart"},
    {"hyperparameters.resumePreviousJobId", "hypertune.warmStart[0]"},
    {NULL, NULL}};

/* Behind the role on one side, below its pool on the other. */
static const struct renaming role_names[] = {
    {"Config.diskConfig.bootDiskSizeGb", "diskSpec.bootDiskSizeGb"},
    {"Config.diskConfig.bootDiskType", "diskSpec.bootDiskType"},
    {NULL, NULL}};

/* The text of the path behind `prefix`, NULL when it begins otherwise. */
static const char *behind(const char *path, const char *prefix)
{
    size_t len = strlen(prefix);
    return strncmp(path, prefix, len) == 0 ? path + len : NULL;
}

enum direction { TO_VERTEX, TO_AIP };

/* The other name of a path, by the names below these two prefixes. */
static const char *rename_below(struct arena *arena, const char *path,
                                enum direction direction,
                                struct renaming prefix,
                                const struct renaming names[])
{
    bool there = direction == TO_VERTEX;
    const char *rest = behind(path, there ? prefix.aip : prefix.vertex);
    for (; rest && names->aip; names++)
        if (strcmp(rest, there ? names->aip : names->vertex) == 0)
            return there ? arena_printf(arena, "%s%s", prefix.vertex,
                                        names->vertex)
                         : arena_printf(arena, "%s%s", prefix.aip, names->aip);
    return NULL;
}

static bool has_pool(const struct job *job, size_t role)
{
    for (size_t i = 0; i < job->n_pools; i++)
        if (strcmp(job->pools[i].type, job_pool_types[role]) == 0)
            return true;
    return false;
}

static const char *rename_path(struct arena *arena, const struct job *job,
                               const char *path, enum direction direction)
{
    const char *spec = job->kind == JOB_CUSTOM ? "jobSpec." : "trialJobSpec.";
    const char *name =
        rename_below(arena, path, direction,
                     (struct renaming){"trainingInput.", spec}, spec_names);
    if (name == NULL)
        name =
            rename_below(arena, path, direction,
                         (struct renaming){"trainingInput.", ""}, root_names);
    for (size_t i = 0; i < JOB_POOLS && name == NULL; i++) {
        struct renaming prefix = {
            arena_printf(arena, "trainingInput.%s", aip_prefixes[i]),
            arena_printf(arena, "%sworkerPoolSpecs[%zu].", spec, i)};
        if (has_pool(job, i))
            name = rename_below(arena, path, direction, prefix, role_names);
    }
    return name;
}

const char *aip_path(struct arena *arena, const struct job *job,
                     const char *path)
{
    if (behind(path, "trainingInput."))
        return path;
    return rename_path(arena, job, path, TO_AIP);
}

void aip_move_kept(struct arena *arena, const struct job *job)
{
    for (struct kept *kept = job->kept; kept; kept = kept->next) {
        const char *vertex = rename_path(arena, job, kept->path, TO_VERTEX);
        if (vertex)
            kept->path = vertex;
    }
}
