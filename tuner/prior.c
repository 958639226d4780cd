#include "tuner/prior.h"

#include <math.h>
#include <string.h>

#include "tuner/db_prior.h"
#include "tuner/result.h"

/* ---- parameters ---- */

static bool is_category(const struct param *param)
{
    return param->type == PARAM_CATEGORICAL;
}

static size_t of_name(const struct space *space, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < space->n; i++)
        n += strcmp(space->params[i].name, name) == 0;
    return n;
}

/* Which of several parameters of one name a value was for is not known. */
static bool is_shared(const struct space *old, const struct space *space,
                      const struct param *param)
{
    const int at = space_find(old, param->name);
    return at >= 0 && of_name(old, param->name) == 1 &&
           of_name(space, param->name) == 1 &&
           is_category(&old->params[at]) == is_category(param);
}

/* ---- metrics ---- */

static int find_metric(const struct job *job, const char *name)
{
    for (size_t k = 0; k < job->n_metrics; k++)
        if (strcmp(job->metrics[k].name, name) == 0)
            return (int)k;
    return -1;
}

static bool same_objective(const struct job *a, const struct job *b)
{
    return strcmp(a->metrics[0].name, b->metrics[0].name) == 0 &&
           a->metrics[0].maximize == b->metrics[0].maximize;
}

struct prior_match prior_match(struct arena *arena, const struct job *old,
                               const struct job *job)
{
    struct prior_match match = {.old = old, .job = job};
    const size_t n = job->space.n;
    match.shared = arena_alloc(arena, n + 1, sizeof *match.shared);
    for (size_t i = 0; i < n; i++) {
        match.shared[i] =
            is_shared(&old->space, &job->space, &job->space.params[i]);
        match.n_shared += match.shared[i];
    }
    if (old->n_metrics > 0 && job->n_metrics > 0) {
        match.renamed = find_metric(old, job->metrics[0].name) < 0;
        match.same = match.n_shared == n && old->space.n == n &&
                     same_objective(old, job);
    }
    return match;
}

/* ---- results ---- */

/* Where nothing is known: a value that counts for nothing, for settling. */
static struct value any_value(const struct param *param)
{
    return param->has_default ? param->fallback : param_from_unit(param, 0.5);
}

/* False when the new study could not try the old values, or would have one
 * where the old study had none. */
static bool translate_point(const struct prior_match *match,
                            const struct node *params, struct value point[])
{
    const struct space *space = &match->job->space;
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        const struct node *node =
            match->shared[i] ? node_find(params, param->name) : NULL;
        if (node == NULL)
            point[i] = any_value(param);
        else if (param_read(param, node, &point[i], NULL) != HT_OK)
            return false;
    }
    space_settle(space, point);
    for (size_t i = 0; i < space->n; i++)
        if (match->shared[i] && !point[i].absent &&
            node_find(params, space->params[i].name) == NULL)
            return false;
    return true;
}

/* Which of the old metrics the new study's k-th value is of; -1: none. */
static int source_of(const struct prior_match *match, size_t k)
{
    const int at = find_metric(match->old, match->job->metrics[k].name);
    return at < 0 && k == 0 ? 0 : at;
}

/* Larger is better in both; less may be better of a metric here and worse
 * there. */
static double translate_value(const struct prior_match *match, size_t k,
                              const double was[])
{
    const int at = source_of(match, k);
    if (at < 0)
        return NAN;
    const struct metric_goal *before = &match->old->metrics[at];
    const struct metric_goal *now = &match->job->metrics[k];
    const bool turned = before->maximize != now->maximize &&
                        strcmp(before->name, now->name) == 0;
    return turned ? -was[at] : was[at];
}

static struct observation translate_result(const struct prior_match *match,
                                           const struct trial_row *trial,
                                           const struct value point[],
                                           double values[])
{
    double was[SETTING_METRICS];
    const struct observation old = result_read(match->old, trial, point, was);
    for (size_t k = 0; k < match->job->n_metrics; k++)
        values[k] = translate_value(match, k, was);
    /* What is foretold has a variance in the first metric alone. */
    return (struct observation){
        .point = point,
        .feasible = isfinite(values[0]) != 0,
        .values = values,
        .variance = source_of(match, 0) == 0 ? old.variance : 0};
}

static const struct node *parse(struct arena *arena, const char *json)
{
    struct diag diag;
    if (json == NULL)
        return NULL;
    diag_init(&diag, arena, "result", json, strlen(json));
    return node_read_json(arena, json, strlen(json), &diag);
}

struct prior_study prior_translate(struct arena *arena,
                                   const struct prior_match *match,
                                   const struct trial_list *trials)
{
    const size_t width = match->job->space.n + 1;
    const size_t goals = match->job->n_metrics;
    struct observation *results =
        arena_alloc(arena, trials->n + 1, sizeof *results);
    struct prior_study study = {.shared = match->shared, .results = results};
    for (size_t i = 0; i < trials->n; i++) {
        const struct trial_row *trial = &trials->rows[i];
        struct value *point = arena_alloc(arena, width, sizeof *point);
        double *values = arena_alloc(arena, goals + 1, sizeof *values);
        if (!translate_point(match, parse(arena, trial->params), point))
            continue;
        results[study.n++] = translate_result(match, trial, point, values);
    }
    return study;
}

/* ---- what was copied ---- */

enum ht_status prior_read(struct db *db, struct arena *arena, int64_t study,
                          const struct job *job, struct setting *setting,
                          struct ht_error *err)
{
    struct prior_list list;
    enum ht_status status = db_prior_list(db, arena, study, &list, err);
    if (status != HT_OK)
        return status;
    struct prior_study *priors = arena_alloc(arena, list.n + 1, sizeof *priors);
    for (size_t i = 0; i < list.n; i++) {
        struct job *old;
        struct trial_list trials;
        status = job_parse(arena, list.rows[i].spec, &old, err);
        if (status == HT_OK)
            status = db_prior_results(db, arena, study, list.rows[i].n, &trials,
                                      err);
        if (status != HT_OK)
            return status;
        const struct prior_match match = prior_match(arena, old, job);
        priors[i] = prior_translate(arena, &match, &trials);
    }
    setting->n_priors = list.n;
    setting->priors = priors;
    return HT_OK;
}
