#include "proto/job/job.h"

#include <ctype.h>
#include <string.h>

const char *const job_pool_types[JOB_POOLS] = {"master", "worker", "ps",
                                               "evaluator"};

size_t job_pool_place(const char *type)
{
    size_t place = 0;
    while (place + 1 < JOB_POOLS && strcmp(job_pool_types[place], type) != 0)
        place++;
    return place;
}

bool job_has_stopping_rule(const struct job *job)
{
    const struct stopping *until = &job->until;
    return until->has_target || until->time_ms > 0 || until->end_ms > 0 ||
           until->no_progress > 0 || until->no_progress_ms > 0;
}

size_t job_objectives(const struct job *job)
{
    size_t n = 0;
    while (n < job->n_metrics && !job->metrics[n].safety)
        n++;
    return n;
}

bool job_is_named_apart(const struct job *job)
{
    return job->display &&
           (job->name == NULL || strcmp(job->display, job->name) != 0);
}

bool job_is_for_cluster(const struct job *job)
{
    return job->slurm.said || job->kubernetes.said;
}

bool job_needs_images(const struct job *job)
{
    for (size_t i = 0; i < job->n_pools; i++)
        if (job->pools[i].image)
            return true;
    return false;
}

/* "logs://x" is none. */
static bool is_gcs(const char *text)
{
    const char *at = text ? strstr(text, "gs://") : NULL;
    while (at && at > text && isalnum((unsigned char)at[-1]))
        at = strstr(at + 1, "gs://");
    return at != NULL;
}

static bool any_gcs(const struct strings *texts)
{
    for (size_t i = 0; i < texts->n; i++)
        if (is_gcs(texts->items[i]))
            return true;
    return false;
}

static bool pool_mentions_gcs(const struct pool *pool)
{
    for (size_t i = 0; i < pool->env.n; i++)
        if (is_gcs(pool->env.items[i].value))
            return true;
    return any_gcs(&pool->command) || any_gcs(&pool->args);
}

bool job_mentions_gcs(const struct job *job)
{
    if (is_gcs(job->job_dir) || is_gcs(job->output_dir))
        return true;
    for (size_t i = 0; i < job->n_pools; i++)
        if (pool_mentions_gcs(&job->pools[i]))
            return true;
    for (size_t i = 0; i < job->space.n; i++) {
        const struct param *param = &job->space.params[i];
        const struct strings labels = {param->n_values, param->labels};
        if (param->labels && any_gcs(&labels))
            return true;
    }
    return false;
}

/* Two studies that write into one folder would overwrite each other. */
static const char *own_folder(struct arena *arena, const char *folder,
                              const char *name)
{
    const size_t len = folder != NULL ? strlen(folder) : 0;
    return folder == NULL
               ? NULL
               : arena_printf(arena, "%s%s%s", folder,
                              len > 0 && folder[len - 1] == '/' ? "" : "/",
                              name);
}

void job_make_clone(struct arena *arena, struct job *job, const struct job *old,
                    const char *name)
{
    job->name = job->display = name;
    job->output_dir = own_folder(arena, old->output_dir, name);
    job->job_dir = own_folder(arena, old->job_dir, name);
    for (size_t i = 0; i < job->space.n; i++) {
        job->space.params[i].former = (struct former){0};
        job->space.params[i].n_former = 0;
    }
}

bool job_code_travels(const struct job *job)
{
    const struct job_code *code = &job->code;
    return code->way == CODE_AUTO && code->tree != NULL &&
           code->machine != NULL && code->folder != NULL &&
           !job_needs_images(job);
}
