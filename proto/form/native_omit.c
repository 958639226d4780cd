#include <string.h>

#include "proto/doc/kept.h"
#include "proto/form/native.h"
#include "proto/job/command.h"

static void omit(struct diag *diag, const char *path, const char *why)
{
    diag_warning(diag, 0, 0, path, "%s", why);
}

static void omit_pools(const struct job *job, struct diag *diag)
{
    for (size_t i = 0; i < job->n_pools; i++) {
        const struct pool *pool = &job->pools[i];
        if (!job->substitute && command_has_reference(&job->space, pool))
            omit(diag, pool->type,
                 "its ${...} is kept as it is, and would be replaced");
        if (pool->image && pool->command.n == 0 && pool->args.n > 0)
            omit(diag, pool->type,
                 "its args would replace the entry point of the image");
        if (i > 0 && pool->machine == NULL && job->pools[0].machine)
            omit(diag, pool->type,
                 "it has no machine type, and would get the master's");
        if (pool->accelerator)
            omit(diag, pool->type, "its kind of GPU is left out");
    }
}

void native_omits(const struct job *job, struct diag *diag)
{
    if (job->kind == JOB_STUDY)
        omit(diag, "", "a study without a job has no native form");
    if (job->kind == JOB_CUSTOM)
        omit(diag, "", "a job without parameters has no native form");
    if (job->display &&
        (job->name == NULL || strcmp(job->display, job->name) != 0))
        omit(diag, "displayName", "is left out");
    omit_pools(job, diag);
    for (const struct kept *kept = job->kept; kept; kept = kept->next)
        omit(diag, kept->path, "is left out");
}
