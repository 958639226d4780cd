#include <string.h>

#include "proto/base/limits.h"
#include "proto/job/check.h"

static void check_counts(const struct field_reader *reader,
                         const struct job_draft *draft)
{
    int64_t n = 0;
    for (size_t i = 0; i < draft->job.n_pools; i++)
        n += draft->job.pools[i].count;
    if (n > HT_MAX_REPLICAS)
        field_error(reader, draft->pools,
                    "a trial has at most %d replicas, this one %lld",
                    HT_MAX_REPLICAS, (long long)n);
}

/* An attempt runs on one engine. */
static void check_images(const struct field_reader *reader,
                         const struct job_draft *draft)
{
    const struct pool *with = NULL, *without = NULL;
    for (size_t i = 0; i < draft->job.n_pools; i++) {
        const struct pool *pool = &draft->job.pools[i];
        if (pool->image)
            with = pool;
        else
            without = pool;
    }
    if (with == NULL || without == NULL)
        return;
    field_error(reader, draft->pools, "the %s has an image and the %s has none",
                with->type, without->type);
    diag_hint(reader->diag, "give all of them an image, or none");
}

/* A variable is either a secret or not. */
static void check_secrets(const struct field_reader *reader,
                          const struct job_draft *draft)
{
    const struct job *job = &draft->job;
    for (size_t i = 0; i < job->n_secrets; i++)
        for (size_t p = 0; p < job->n_pools; p++)
            for (size_t k = 0; k < job->pools[p].env.n; k++)
                if (strcmp(job->pools[p].env.items[k].name,
                           job->secrets[i].name) == 0) {
                    field_error(reader, draft->secrets,
                                "env sets %s, too: say one of them",
                                job->secrets[i].name);
                    return;
                }
}

/* Google's storage is a folder where the runner's admin has it mounted. */
static void check_output(const struct field_reader *reader,
                         const struct job_draft *draft)
{
    const struct job *job = &draft->job;
    if (job->output_dir == NULL || job->output_dir[0] == '/' ||
        job->rewrite_gcs)
        return;
    field_error(reader, draft->output, "%s is no folder of this machine",
                job->output_dir);
    diag_hint(reader->diag,
              "rewriteGs: true makes it one below the runner's --gcs-root");
}

void job_check_run(const struct field_reader *reader,
                   const struct job_draft *draft)
{
    const struct job *job = &draft->job;
    if (job->n_pools == 0)
        return;
    check_counts(reader, draft);
    check_images(reader, draft);
    check_secrets(reader, draft);
    check_output(reader, draft);
    if (job_needs_images(job) && job->own_workdir) {
        field_error(reader, draft->workdir,
                    "each container has files of its own already");
        diag_hint(reader->diag, "leave it out");
    } else if (job_needs_images(job) && job->workdir &&
               job->workdir[0] != '/') {
        field_error(reader, draft->workdir,
                    "must be an absolute path in the image");
    }
}
