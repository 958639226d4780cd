#include <ctype.h>
#include <string.h>

#include "proto/job/job.h"

size_t job_objectives(const struct job *job)
{
    size_t n = 0;
    while (n < job->n_metrics && !job->metrics[n].safety)
        n++;
    return n;
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
