#include "runner/slurm/slurm.h"

#include <stdlib.h>

#include "runner/slurm/way.h"

struct slurm {
    const struct way *way;
    void *state; /* of the way */
};

static bool is_said(const char *text)
{
    return text != NULL && *text != '\0';
}

enum ht_status slurm_open(const struct slurm_settings *settings,
                          struct slurm **slurm, struct ht_error *err)
{
    struct slurm_settings found = *settings;
    if (is_said(found.rest) && is_said(found.ssh))
        return ht_fail(err, HT_INVALID,
                       "slurmrestd and ssh are two ways to Slurm: choose one");
    if (!is_said(found.rest) && !is_said(found.ssh))
        found.rest = getenv("SLURM_REST_URL");
    if (!is_said(found.ssh))
        found.ssh = NULL;
    const struct way *way = is_said(found.rest) ? &way_rest : &way_commands;
    void *state;
    const enum ht_status status = way->open(&found, &state, err);
    if (status != HT_OK)
        return status;
    struct slurm *opened = ht_xcalloc(1, sizeof *opened);
    *opened = (struct slurm){.way = way, .state = state};
    *slurm = opened;
    return HT_OK;
}

void slurm_close(struct slurm *slurm)
{
    if (slurm == NULL)
        return;
    slurm->way->close(slurm->state);
    free(slurm);
}

void slurm_abort(struct slurm *slurm)
{
    slurm->way->abort(slurm->state);
}

const char *slurm_way(const struct slurm *slurm)
{
    return slurm->way->name(slurm->state);
}

enum ht_status slurm_submit(struct slurm *slurm,
                            const struct slurm_batch *batch, int64_t *job,
                            struct ht_error *err)
{
    return slurm->way->submit(slurm->state, batch, job, err);
}

enum ht_status slurm_test(struct slurm *slurm, const struct slurm_batch *batch,
                          struct arena *arena, const char **words,
                          struct ht_error *err)
{
    return slurm->way->test(slurm->state, batch, arena, words, err);
}

enum ht_status slurm_list(struct slurm *slurm, const char *prefix,
                          struct arena *arena, struct slurm_rows *rows,
                          struct ht_error *err)
{
    return slurm->way->list(slurm->state, prefix, arena, rows, err);
}

enum ht_status slurm_cancel(struct slurm *slurm, int64_t job, int first,
                            int last, bool waiting, struct ht_error *err)
{
    return slurm->way->cancel(slurm->state, job, first, last, waiting, err);
}

enum ht_status slurm_limits(struct slurm *slurm, struct arena *arena,
                            struct slurm_limits *limits, struct ht_error *err)
{
    return slurm->way->limits(slurm->state, arena, limits, err);
}
