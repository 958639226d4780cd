#include "tuner/search/warm_start_copy.h"

#include <string.h>

#include "proto/base/limits.h"
#include "proto/form/form.h"
#include "tuner/ask/faults.h"
#include "tuner/core/core.h"
#include "tuner/db/prior.h"
#include "tuner/search/method.h"
#include "tuner/search/warm_start.h"

enum { MOST_SOURCES = 32 }; /* with those of the studies that are named */

/* An earlier study: one that is named, or an earlier one of such a study. */
struct source {
    struct prior_row prior;
    struct warm_start_match match;
    size_t named; /* in job->warm_start: itself, or the study that started from
                     it */
};

struct copying {
    struct db *db;
    struct request *req;
    const struct job *job;
    int64_t id;
    struct diag *warnings;
    struct constraint_set constraints;
    struct study_row named[HT_MAX_PRIORS];
    size_t n; /* sources that are copied, older ones first */
    struct source sources[MOST_SOURCES];
};

static const char *place_of(const struct copying *copying, size_t i)
{
    return arena_printf(copying->req->arena, "hypertune.warmStart[%zu]", i);
}

static enum ht_status refuse(const struct copying *copying, size_t i,
                             const char *text, struct ht_error *err)
{
    struct diag *faults = faults_of(copying->req);
    diag_error(faults, 0, 0, place_of(copying, i), "study \"%.100s\" %s",
               copying->job->warm_start.items[i], text);
    return faults_fail(faults, err);
}

/* --- which studies --- */

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
    if (req->from.project[0] != '\0' &&
        (scope.project == NULL ||
         strcmp(scope.project, req->from.project) != 0))
        return refuse(copying, i, "does not exist", err);
    const enum ht_status status =
        db_study_find(copying->db, req->arena, &scope, key, row, err);
    return status == HT_NOT_FOUND || (status == HT_OK && row->id == copying->id)
               ? refuse(copying, i, "does not exist", err)
               : status;
}

static bool is_named(const struct copying *copying, size_t n, int64_t origin)
{
    for (size_t i = 0; i < n; i++)
        if (copying->named[i].id == origin)
            return true;
    return false;
}

static enum ht_status find_all(struct copying *copying, struct ht_error *err)
{
    for (size_t i = 0; i < copying->job->warm_start.n; i++) {
        struct study_row row = {0};
        const enum ht_status status = find(copying, i, &row, err);
        if (status != HT_OK)
            return status;
        if (is_named(copying, i, row.id))
            return refuse(copying, i, "is named twice", err);
        copying->named[i] = row;
    }
    return HT_OK;
}

/* The source of that study, added where it is new; NULL where it has nothing
 * in common with the job. */
static enum ht_status add_source(struct copying *copying, size_t named,
                                 const struct prior_row *prior,
                                 struct source **added, struct ht_error *err)
{
    struct source source = {.prior = *prior, .named = named};
    struct job *old;
    *added = NULL;
    for (size_t i = 0; i < copying->n; i++)
        if (copying->sources[i].prior.origin == prior->origin)
            *added = &copying->sources[i];
    if (*added != NULL)
        return HT_OK;
    const enum ht_status status =
        vertex_parse(copying->req->arena, prior->spec, &old, err);
    if (status != HT_OK)
        return status;
    source.match = warm_start_match(copying->req->arena, old, copying->job);
    if (source.match.n_shared == 0)
        return HT_OK;
    source.prior.study = copying->id;
    source.prior.n = (int64_t)copying->n;
    source.prior.same = source.match.same;
    source.prior.shared = (int64_t)source.match.n_shared;
    source.prior.results = source.prior.failures = source.prior.own = 0;
    copying->sources[copying->n] = source;
    *added = &copying->sources[copying->n++];
    return HT_OK;
}

/* --- copying --- */

/* What the named study had of earlier ones when it was created, except of
 * studies that are named as well. Of too many the newest. */
static enum ht_status inherit(struct copying *copying, size_t i,
                              struct ht_error *err)
{
    const int64_t named = copying->named[i].id;
    const size_t still_named = copying->job->warm_start.n - i;
    const size_t room = MOST_SOURCES - still_named - copying->n;
    struct prior_list list;
    enum ht_status status =
        db_prior_list(copying->db, copying->req->arena, named, &list, err);
    if (status != HT_OK)
        return status;
    size_t k = list.n > room ? list.n - room : 0;
    if (k > 0)
        diag_warning(copying->warnings, 0, 0, place_of(copying, i),
                     "of the %zu earlier studies of %s the newest %zu count",
                     list.n, copying->named[i].name, room);
    for (; status == HT_OK && k < list.n; k++) {
        struct prior_row prior = list.rows[k];
        struct source *source;
        prior.inherited = true;
        if (is_named(copying, copying->job->warm_start.n, prior.origin))
            continue;
        status = add_source(copying, i, &prior, &source, err);
        if (status == HT_OK && source != NULL)
            status = db_prior_inherit(copying->db, &source->prior, named,
                                      list.rows[k].n, err);
    }
    return status;
}

static enum ht_status copy(struct copying *copying, size_t i,
                           struct ht_error *err)
{
    const struct study_row *row = &copying->named[i];
    const struct prior_row prior = {
        .origin = row->id,
        .resource = arena_printf(
            copying->req->arena, "projects/%s/locations/%s/studies/%lld",
            row->project, row->location, (long long)row->id),
        .name = row->name,
        .spec = row->spec};
    struct source *source;
    const enum ht_status status = add_source(copying, i, &prior, &source, err);
    if (status != HT_OK)
        return status;
    if (source == NULL)
        return refuse(copying, i, "has no parameter in common with this one",
                      err);
    return db_prior_copy(copying->db, &source->prior,
                         source->match.old->metrics[0].maximize, err);
}

/* --- its use here --- */

static enum ht_status classify(const struct copying *copying,
                               struct source *source, struct prior_trial *trial,
                               struct arena *arena, struct ht_error *err)
{
    struct prior_row *prior = &source->prior;
    struct observation seen;
    const enum warm_start_use use = warm_start_classify(
        arena, &source->match, &copying->constraints, trial, &seen);
    if (use == PRIOR_LEFT_OUT)
        return db_prior_drop(copying->db, prior, trial->trial.id, err);
    if (seen.feasible)
        prior->results++;
    else
        prior->failures++;
    if (use == PRIOR_TRANSFERRED)
        return HT_OK;
    prior->own++;
    return db_prior_own(copying->db, prior, trial, err);
}

static void warn(const struct copying *copying, const struct source *source)
{
    const struct prior_row *prior = &source->prior;
    const struct warm_start_match *match = &source->match;
    const struct algorithm *method = search_method(copying->job);
    const char *place = place_of(copying, source->named);
    if (match->renamed)
        diag_warning(copying->warnings, 0, 0, place,
                     "study %s has no metric %s: its %s is used for it",
                     prior->name, copying->job->metrics[0].name,
                     match->old->metrics[0].name);
    if (prior->results == 0)
        diag_warning(copying->warnings, 0, 0, place,
                     "study %s has no result yet that can be used here",
                     prior->name);
    else if (prior->own == 0 &&
             (method == &grid_search || method == &random_search))
        diag_warning(copying->warnings, 0, 0, place,
                     "%s learns nothing from study %s, whose points are not of "
                     "this space",
                     method->name, prior->name);
}

/* Nothing is stored or said of a study that is inherited and means nothing
 * here. */
static enum ht_status settle(const struct copying *copying,
                             struct source *source, struct ht_error *err)
{
    struct prior_row *prior = &source->prior;
    struct arena *arena = arena_new();
    struct prior_trial_list trials;
    enum ht_status status = db_prior_results(copying->db, arena, copying->id,
                                             prior->n, &trials, err);
    for (size_t i = 0; status == HT_OK && i < trials.n; i++)
        status = classify(copying, source, &trials.rows[i], arena, err);
    arena_free(arena);
    if (status != HT_OK ||
        (prior->inherited && prior->results + prior->failures == 0))
        return status;
    if (!prior->inherited)
        warn(copying, source);
    return db_prior_insert(copying->db, prior, err);
}

enum ht_status warm_start_copy(struct core *core, struct request *req,
                               const struct job *job, int64_t id,
                               struct diag *warnings, struct ht_error *err)
{
    struct copying copying = {.db = core_db(core),
                              .req = req,
                              .job = job,
                              .id = id,
                              .warnings = warnings};
    enum ht_status status =
        constraint_set_parse(req->arena, &job->space, job->constraints.n,
                             job->constraints.items, &copying.constraints, err);
    if (status == HT_OK)
        status = find_all(&copying, err);
    for (size_t i = 0; status == HT_OK && i < job->warm_start.n; i++) {
        status = inherit(&copying, i, err);
        if (status == HT_OK)
            status = copy(&copying, i, err);
    }
    for (size_t i = 0; status == HT_OK && i < copying.n; i++)
        status = settle(&copying, &copying.sources[i], err);
    return status;
}
