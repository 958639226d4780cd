#include "runner/cluster/submission.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/token.h"
#include "proto/job/slurm.h"
#include "runner/base/seen.h"
#include "runner/cluster/images.h"
#include "runner/element/element.h"

enum { NONCE_BYTES = 4 };

void submission_prefix(char prefix[SUBMISSION_PREFIX_BYTES], const char *runner)
{
    (void)snprintf(prefix, SUBMISSION_PREFIX_BYTES, "ht-%.8s-", runner);
}

/* `name` NULL: the default one. NULL: it is not known. */
static const struct slurm_partition *
find_partition(const struct slurm_limits *limits, const char *name)
{
    for (size_t i = 0; limits != NULL && i < limits->n_partitions; i++) {
        const struct slurm_partition *partition = &limits->partitions[i];
        if (name != NULL ? strcmp(partition->name, name) == 0
                         : partition->is_default)
            return partition;
    }
    return NULL;
}

/* The last one wins; NULL: the job has none. */
static const char *find_option(const struct slurm_batch *job, const char *name)
{
    size_t i = job->n_options;
    while (i > 0 && strcmp(job->options[i - 1].name, name) != 0)
        i--;
    return i > 0 ? job->options[i - 1].value : NULL;
}

int64_t submission_granted_ms(const struct slurm_limits *limits,
                              const struct slurm_batch *job)
{
    const char *time = find_option(job, "time");
    if (find_option(job, "time-min") != NULL)
        return 0;
    if (time != NULL)
        return slurm_time_ms(time);
    const struct slurm_partition *partition =
        find_partition(limits, find_option(job, "partition"));
    if (partition == NULL)
        return 0;
    return partition->default_ms > 0 ? partition->default_ms
                                     : partition->most_ms;
}

static enum ht_status write_patience(const struct submission *submission,
                                     const struct batch *batch,
                                     const struct slurm_batch *job,
                                     struct ht_error *err)
{
    const struct slurm_limits *limits = submission->limits;
    const struct element_patience patience = {
        .kill_wait_ms = limits != NULL ? limits->kill_wait_ms : 0,
        .limit_ms = submission_granted_ms(limits, job),
    };
    return element_patience_write(batch->folder, &patience, err);
}

/* A study that excludes nodes itself knows better. */
static void avoid(struct arena *arena, struct job_slurm *section,
                  const char *nodes)
{
    static const char option[] = "--exclude";
    const size_t n = section->options.n;
    const char **items = arena_alloc(arena, n + 1, sizeof *items);
    for (size_t i = 0; i < n; i++) {
        items[i] = section->options.items[i];
        if (strncmp(items[i], option, sizeof option - 1) == 0)
            return;
    }
    items[n] = arena_printf(arena, "%s=%s", option, nodes);
    section->options = (struct strings){.n = n + 1, .items = items};
}

enum ht_status submission_job(const struct slurm_limits *limits,
                              const struct slurm_need *need,
                              struct slurm_site *site, struct arena *arena,
                              struct slurm_batch *job, struct ht_error *err)
{
    const struct slurm_partition *partition =
        find_partition(limits, need->section.partition);
    site->limit_ms = partition != NULL ? partition->most_ms : 0;
    return slurm_batch(arena, need, site, job, err);
}

static enum ht_status make_job(const struct submission *submission,
                               const struct batch *batch, struct arena *arena,
                               struct slurm_batch *job, struct ht_error *err)
{
    struct slurm_need need = batch->need;
    if (submission->defaults != NULL)
        slurm_apply_defaults(arena, &need.section, submission->defaults);
    if (submission->avoid != NULL)
        avoid(arena, &need.section, submission->avoid);
    struct slurm_site site = {
        .name = batch->name,
        .folder = seen_path(arena, submission->site, batch->folder),
        .shim = submission->site->shim,
        .elements = batch->n,
    };
    const enum ht_status status = images_choose(batch->folder, &need, err);
    return status != HT_OK ? status
                           : submission_job(submission->limits, &need, &site,
                                            arena, job, err);
}

enum ht_status submission_make(const struct submission *submission,
                               const struct study *study, struct arena *arena,
                               struct slurm_batch *job, struct batch **batch,
                               struct ht_error *err)
{
    char nonce[TOKEN_TEXT_BYTES];
    token_make(nonce, NONCE_BYTES);
    const struct batch_model model = {
        .name = arena_printf(arena, "%s%lld-%s", submission->prefix,
                             (long long)study->plan.study, nonce),
        .study = study->plan.study,
        .hash = study->hash,
        .text = study->text,
        .n = submission->n,
    };
    struct batch *made = NULL;
    enum ht_status status =
        batch_make(submission->site->state, &model, &made, err);
    if (status != HT_OK)
        return status;
    status = make_job(submission, made, arena, job, err);
    if (status == HT_OK)
        status = write_patience(submission, made, job, err);
    if (status == HT_OK) {
        *batch = made;
    } else {
        batch_remove(made);
        batch_free(made);
    }
    return status;
}
