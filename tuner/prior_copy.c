#include "tuner/prior_copy.h"

#include <string.h>

#include "proto/limits.h"
#include "tuner/db_prior.h"
#include "tuner/prior.h"
#include "tuner/search_method.h"
#include "tuner/study_reply.h"

struct copying {
    struct db *db;
    struct request *req;
    const struct job *job;
    int64_t id;
    struct diag *warnings;
    int64_t origins[HT_MAX_PRIORS]; /* ids of those already taken */
};

static const char *place_of(const struct copying *copying, size_t i)
{
    return arena_printf(copying->req->arena, "hypertune.warmStart[%zu]", i);
}

static enum ht_status refuse(const struct copying *copying, size_t i,
                             const char *text, struct ht_error *err)
{
    struct diag *faults = study_diag(copying->req);
    diag_error(faults, 0, 0, place_of(copying, i), "study \"%.100s\" %s",
               copying->job->warm_start.items[i], text);
    return study_fail_by_diag(faults, err);
}

/* A name, a number, or all of projects/P/locations/L/studies/ID. */
static enum ht_status find(const struct copying *copying, size_t i,
                           struct study_row *row, struct ht_error *err)
{
    struct request *req = copying->req;
    const char *key = copying->job->warm_start.items[i];
    struct study_scope scope = {.project = req->scope.project,
                                .location = req->scope.location};
    char *rest = arena_strdup(req->arena, key), *parts[6];
    size_t n = 0;
    while (n < 6 && (parts[n] = strsep(&rest, "/")) != NULL)
        n++;
    if (n == 6 && strcmp(parts[0], "projects") == 0) {
        scope = (struct study_scope){.project = parts[1], .location = parts[3]};
        key = parts[5];
    }
    const enum ht_status status =
        db_study_find(copying->db, req->arena, &scope, key, row, err);
    return status == HT_NOT_FOUND || (status == HT_OK && row->id == copying->id)
               ? refuse(copying, i, "does not exist", err)
               : status;
}

static void warn(const struct copying *copying, size_t i,
                 const struct prior_match *match, const struct prior_row *prior)
{
    if (match->renamed)
        diag_warning(copying->warnings, 0, 0, place_of(copying, i),
                     "study %s has no metric %s: its %s stands for it",
                     prior->name, copying->job->metrics[0].name,
                     match->old->metrics[0].name);
    if (prior->results == 0)
        diag_warning(copying->warnings, 0, 0, place_of(copying, i),
                     "study %s has no result yet that can be used here",
                     prior->name);
}

static enum ht_status copy(const struct copying *copying, size_t i,
                           const struct study_row *row,
                           const struct prior_match *match,
                           struct ht_error *err)
{
    struct arena *arena = copying->req->arena;
    struct prior_row prior = {
        .study = copying->id,
        .n = (int64_t)i,
        .origin = row->id,
        .resource =
            arena_printf(arena, "projects/%s/locations/%s/studies/%lld",
                         row->project, row->location, (long long)row->id),
        .name = row->name,
        .spec = row->spec,
        .same = match->same,
        .shared = (int64_t)match->n_shared};
    struct trial_list trials;
    enum ht_status status = db_prior_copy(copying->db, &prior,
                                          match->old->metrics[0].maximize, err);
    if (status == HT_OK)
        status = db_prior_results(copying->db, arena, copying->id, prior.n,
                                  &trials, err);
    if (status != HT_OK)
        return status;
    const struct prior_study study = prior_translate(arena, match, &trials);
    for (size_t k = 0; k < study.n; k++)
        prior.results += study.results[k].feasible;
    warn(copying, i, match, &prior);
    return db_prior_insert(copying->db, &prior, err);
}

static bool is_repeated(const struct copying *copying, size_t n, int64_t origin)
{
    for (size_t i = 0; i < n; i++)
        if (copying->origins[i] == origin)
            return true;
    return false;
}

static enum ht_status take(struct copying *copying, size_t i,
                           struct ht_error *err)
{
    struct arena *arena = copying->req->arena;
    struct study_row row;
    struct job *old;
    enum ht_status status = find(copying, i, &row, err);
    if (status == HT_OK)
        status = job_parse(arena, row.spec, &old, err);
    if (status != HT_OK)
        return status;
    if (is_repeated(copying, i, row.id))
        return refuse(copying, i, "is named twice", err);
    copying->origins[i] = row.id;
    const struct prior_match match = prior_match(arena, old, copying->job);
    if (match.n_shared == 0)
        return refuse(copying, i, "has no parameter in common with this one",
                      err);
    return copy(copying, i, &row, &match, err);
}

/* A grid and random points are what they are. */
static void warn_of_method(const struct job *job, struct diag *warnings)
{
    const struct algorithm *method = search_method(job);
    if (method == &grid_search || method == &random_search)
        diag_warning(warnings, 0, 0, "hypertune.warmStart",
                     "%s does not learn from results", method->name);
}

enum ht_status prior_copy(struct core *core, struct request *req,
                          const struct job *job, int64_t id,
                          struct diag *warnings, struct ht_error *err)
{
    struct copying copying = {core_db(core), req, job, id, warnings, {0}};
    enum ht_status status = HT_OK;
    if (job->warm_start.n > 0)
        warn_of_method(job, warnings);
    for (size_t i = 0; status == HT_OK && i < job->warm_start.n; i++)
        status = take(&copying, i, err);
    return status;
}
