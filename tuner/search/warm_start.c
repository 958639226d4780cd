#include "tuner/search/warm_start.h"

#include <math.h>
#include <string.h>

#include "proto/base/text.h"
#include "proto/form/form.h"
#include "tuner/search/trial_result.h"

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

/* As many parameters of each name and kind. */
static bool same_parameters(const struct space *a, const struct space *b)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct param *param = &b->params[i];
        const int at = space_find(a, param->name);
        if (at < 0 || is_category(&a->params[at]) != is_category(param) ||
            of_name(a, param->name) != of_name(b, param->name))
            return false;
    }
    return a->n == b->n;
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

static bool same_goals(const struct job *old, const struct job *job)
{
    for (size_t k = 0; k < job->n_metrics; k++) {
        const int at = find_metric(old, job->metrics[k].name);
        if (at < 0 || old->metrics[at].maximize != job->metrics[k].maximize)
            return false;
    }
    return job->n_metrics > 0;
}

struct warm_start_match warm_start_match(struct arena *arena,
                                         const struct job *old,
                                         const struct job *job)
{
    struct warm_start_match match = {.old = old, .job = job};
    const size_t n = job->space.n;
    match.shared = arena_alloc(arena, n + 1, sizeof *match.shared);
    for (size_t i = 0; i < n; i++) {
        match.shared[i] =
            is_shared(&old->space, &job->space, &job->space.params[i]);
        match.n_shared += match.shared[i];
    }
    if (old->n_metrics > 0 && job->n_metrics > 0) {
        match.renamed = find_metric(old, job->metrics[0].name) < 0;
        match.same = same_parameters(&old->space, &job->space) &&
                     same_objective(old, job);
        match.same_goals = same_goals(old, job);
    }
    return match;
}

/* ---- results ---- */

/* Where nothing is known: a value that counts for nothing, for settling. */
static struct value any_value(const struct param *param)
{
    return param->has_default ? param->fallback
                              : space_param_from_unit(param, 0.5);
}

/* False when the new study could not try the old values, or would have one
 * where the old study had none. */
static bool translate_point(const struct warm_start_match *match,
                            const struct node *params, struct value point[])
{
    const struct space *space = &match->job->space;
    for (size_t i = 0; i < space->n; i++) {
        const struct param *param = &space->params[i];
        const struct node *node =
            match->shared[i] ? node_find(params, param->name) : NULL;
        if (node == NULL)
            point[i] = any_value(param);
        else if (space_param_read(param, node, &point[i], NULL) != HT_OK)
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
static int source_of(const struct warm_start_match *match, size_t k)
{
    const int at = find_metric(match->old, match->job->metrics[k].name);
    return at < 0 && k == 0 ? 0 : at;
}

/* Larger is better in both; less may be better of a metric here and worse
 * there. */
static double translate_value(const struct warm_start_match *match, size_t k,
                              const double was[])
{
    const int at = source_of(match, k);
    if (at < 0)
        return NAN;
    const struct metric_goal *before = &match->old->metrics[at];
    const struct metric_goal *goal = &match->job->metrics[k];
    const bool turned = before->maximize != goal->maximize &&
                        strcmp(before->name, goal->name) == 0;
    return turned ? -was[at] : was[at];
}

static bool all_told(size_t n, const double values[])
{
    bool all = true;
    for (size_t k = 0; k < n; k++)
        all = all && isfinite(values[k]);
    return all;
}

/* What the trial tells, read as its own study does; like a result of this
 * study, one that counts as its own has all metrics or is none. */
static struct observation translate_result(struct arena *arena,
                                           const struct warm_start_match *match,
                                           const struct trial_row *trial,
                                           const struct value point[], bool own)
{
    const size_t n = match->job->n_metrics;
    double was[SETTING_METRICS];
    double *values = arena_alloc(arena, n + 1, sizeof *values);
    const struct observation old =
        trial_result_read(match->old, trial, point, was);
    for (size_t k = 0; k < n; k++)
        values[k] = translate_value(match, k, was);
    /* A prediction has a variance in the first metric alone. */
    return (struct observation){
        .point = point,
        .feasible = all_told(own || n == 0 ? n : 1, values),
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

static struct value *point_room(struct arena *arena,
                                const struct warm_start_match *match)
{
    return arena_alloc(arena, match->job->space.n + 1, sizeof(struct value));
}

static const char *text_of(struct arena *arena, const struct space *space,
                           const struct value point[])
{
    struct text text = {0};
    space_point_text(space, point, &text);
    return text_take(&text, arena);
}

enum warm_start_use
warm_start_classify(struct arena *arena, const struct warm_start_match *match,
                    const struct constraint_set *constraints,
                    struct prior_trial *trial, struct observation *seen)
{
    const struct space *space = &match->job->space;
    const struct trial_row *row = &trial->trial;
    const struct node *params = parse(arena, row->params);
    struct value *point = point_room(arena, match);
    /* A paused trial without a prediction is still pending. */
    if (row->state == TRIAL_PAUSED &&
        !trial_result_is_foretold(match->old, row))
        return PRIOR_LEFT_OUT;
    const bool own = match->same_goals &&
                     space_point_read(space, params, point, NULL) == HT_OK;
    if (own ? !constraint_set_holds(constraints, point)
            : !translate_point(match, params, point))
        return PRIOR_LEFT_OUT;
    trial->point = own ? text_of(arena, space, point) : NULL;
    *seen = translate_result(arena, match, row, point, own);
    return own ? PRIOR_OWN : PRIOR_TRANSFERRED;
}

/* ---- what was copied ---- */

struct reading {
    struct arena *arena;
    const struct warm_start_match *match;
    const char *study; /* the name */
    struct warm_start_knowledge *known;
};

static enum ht_status add_own(const struct reading *reading,
                              const struct prior_trial *trial,
                              struct ht_error *err)
{
    struct value *point = point_room(reading->arena, reading->match);
    const enum ht_status status = space_point_parse(&reading->match->job->space,
                                                    trial->point, point, err);
    if (status == HT_OK)
        reading->known->own[reading->known->n_own++] =
            (struct warm_start_result){
                .trial = trial->trial.id,
                .study = reading->study,
                .point = arena_strdup(reading->arena, trial->point),
                .seen = translate_result(reading->arena, reading->match,
                                         &trial->trial, point, true)};
    return status;
}

/* The study's trials: its own, and what the others teach. */
static enum ht_status add_results(const struct reading *reading,
                                  struct arena *scratch,
                                  const struct prior_trial_list *list,
                                  struct ht_error *err)
{
    struct warm_start_knowledge *known = reading->known;
    struct observation *taught =
        arena_alloc(reading->arena, list->n + 1, sizeof *taught);
    struct prior_study study = {.shared = reading->match->shared,
                                .results = taught};
    struct warm_start_result *own =
        arena_alloc(reading->arena, known->n_own + list->n + 1, sizeof *own);
    if (known->n_own > 0)
        memcpy(own, known->own, known->n_own * sizeof *own);
    known->own = own;
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < list->n; i++) {
        const struct trial_row *trial = &list->rows[i].trial;
        struct value *point = point_room(reading->arena, reading->match);
        if (list->rows[i].point != NULL)
            status = add_own(reading, &list->rows[i], err);
        else if (translate_point(reading->match, parse(scratch, trial->params),
                                 point))
            taught[study.n++] = translate_result(reading->arena, reading->match,
                                                 trial, point, false);
    }
    known->studies[known->n_studies++] = study;
    return status;
}

static enum ht_status read_study(struct db *db, struct arena *arena,
                                 const struct prior_row *row,
                                 const struct job *job,
                                 struct warm_start_knowledge *known,
                                 struct ht_error *err)
{
    struct arena *scratch = arena_new();
    struct job *old;
    struct prior_trial_list trials;
    enum ht_status status = vertex_parse(scratch, row->spec, &old, err);
    if (status == HT_OK)
        status =
            db_prior_results(db, scratch, row->study, row->n, &trials, err);
    if (status == HT_OK) {
        const struct warm_start_match match = warm_start_match(arena, old, job);
        const struct reading reading = {arena, &match, row->name, known};
        status = add_results(&reading, scratch, &trials, err);
    }
    arena_free(scratch);
    return status;
}

enum ht_status warm_start_read(struct db *db, struct arena *arena,
                               int64_t study, const struct job *job,
                               struct warm_start_knowledge *knowledge,
                               struct ht_error *err)
{
    struct warm_start_knowledge known = {0};
    enum ht_status status = db_prior_list(db, arena, study, &known.list, err);
    if (status != HT_OK)
        return status;
    known.studies = arena_alloc(arena, known.list.n + 1, sizeof *known.studies);
    for (size_t i = 0; status == HT_OK && i < known.list.n; i++)
        status = read_study(db, arena, &known.list.rows[i], job, &known, err);
    if (status == HT_OK)
        *knowledge = known;
    return status;
}
