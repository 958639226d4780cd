#include "tuner/runners/gpu_count.h"

#include "tuner/db/write.h"
#include "tuner/runners/machine_types.h"

int64_t gpu_count_needed(struct core *core, const struct job *job)
{
    const struct machine_types *machines = machine_types_now(core);
    int64_t n = 0;
    for (size_t i = 0; i < job->n_pools; i++)
        n += job->pools[i].count *
             machine_types_needs(machines, job, &job->pools[i]).gpus;
    return n;
}

static enum ht_status add_needs(struct core *core, int64_t study, int64_t *n,
                                struct ht_error *err)
{
    const struct job *job;
    const enum ht_status status = core_job(core, study, &job, err);
    if (status == HT_OK)
        *n += gpu_count_needed(core, job);
    return status;
}

enum ht_status gpu_count_free(struct core *core, struct arena *arena,
                              const struct live_runner *runner, int64_t *n,
                              struct ht_error *err)
{
    struct attempt_list open;
    int64_t used = 0;
    if (runner->rules.share_gpus) {
        *n = runner->gpus;
        return HT_OK;
    }
    enum ht_status status =
        db_attempt_open(core_db(core), arena, runner->id, &open, err);
    for (size_t i = 0; status == HT_OK && i < open.n; i++) {
        if (open.rows[i].state != ATTEMPT_DRAINING)
            status = add_needs(core, open.rows[i].study, &used, err);
    }
    if (status == HT_OK)
        *n = runner->gpus > used ? runner->gpus - used : 0;
    return status;
}

struct gpu_count_known gpu_count_of(struct live *memory)
{
    struct gpu_count_known known = {0};
    for (const struct live_runner *runner = live_runners(memory);
         runner != NULL; runner = runner->next) {
        if (!runner->online)
            continue;
        known.all += runner->gpus;
        if (runner->gpus > known.most)
            known.most = runner->gpus;
    }
    return known;
}
