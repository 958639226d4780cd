#include "tuner/read/insight.h"

#include <string.h>

#include "algorithms/insight/importance.h"
#include "algorithms/insight/slice.h"
#include "proto/base/words.h"
#include "proto/doc/json.h"
#include "tuner/ask/query.h"
#include "tuner/read/trials.h"
#include "tuner/search/models.h"
#include "tuner/search/pareto_trials.h"

/* --- the question --- */

/* The metric that the query names, its first one without a name; its place in
 * job->metrics.
 * HT_INVALID       there is none of that name
 * HT_PRECONDITION  the study has no metric */
static enum ht_status find_metric(const struct request *req,
                                  const struct job *job, size_t *metric,
                                  struct ht_error *err)
{
    const char *name = request_query(req, "metric");
    struct words names = {0};
    for (size_t k = 0; k < job->n_metrics; k++) {
        words_add(req->arena, &names, job->metrics[k].name);
        if (name != NULL && strcmp(name, job->metrics[k].name) != 0)
            continue;
        *metric = k;
        return HT_OK;
    }
    words_add(req->arena, &names, NULL);
    return name == NULL
               ? ht_fail(err, HT_PRECONDITION, "the study has no metric")
               : ht_fail(err, HT_INVALID,
                         "metric: the study has no \"%.100s\"%.120s", name,
                         words_hint(req->arena, name, names.items));
}

enum ht_status insight_ask(struct reader *reader, struct request *req,
                           struct asked *asked, struct ht_error *err)
{
    enum ht_status status =
        read_find_study(reader, req, &asked->study, NULL, err);
    if (status == HT_OK)
        status = models_of(reader->models, reader->db, &asked->study,
                           &asked->models, err);
    return status == HT_OK ? find_metric(req, models_job(asked->models),
                                         &asked->metric, err)
                           : status;
}

/* --- importances --- */

static void add_importance(cJSON *list, const char *name,
                           const struct importance *found)
{
    cJSON *item = json_push_object(list);
    json_add_string(item, "parameter", name);
    json_add_double(item, "importance", found->share);
    json_add_bool(item, "certain", found->certain);
    json_add_double(item, "share", found->good);
    json_add_double(item, "alone", found->alone);
    json_add_double(item, "total", found->total);
}

static bool matters_more(const struct importance *a, const struct importance *b)
{
    return a->share != b->share ? a->share > b->share : a->total > b->total;
}

/* Coordinates by falling importance, as they come among equal ones. */
static void order_by_importance(size_t n, const struct importance found[],
                                size_t order[])
{
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && matters_more(&found[i], &found[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static void add_importances(const struct asked *asked,
                            const struct importance found[], cJSON *list)
{
    static const struct importance none = {0};
    const struct encoding *encoding = models_encoding(asked->models);
    const struct space *space = &models_job(asked->models)->space;
    size_t order[HT_MAX_PARAMETERS];
    order_by_importance(encoding->dim, found, order);
    for (size_t i = 0; i < encoding->dim; i++) {
        const size_t c = order[i];
        add_importance(list, space->params[encoding->at[c].param].name,
                       &found[c]);
    }
    for (size_t i = 0; i < space->n; i++)
        if (space_param_levels(&space->params[i]) == 1)
            add_importance(list, space->params[i].name, &none);
}

/* All that can be asked about. */
static void add_metrics(cJSON *object, const struct job *job)
{
    cJSON *names = json_add_array(object, "metrics");
    for (size_t k = 0; k < job->n_metrics; k++)
        json_push_string(names, job->metrics[k].name);
}

size_t insight_results(const struct asked *asked)
{
    const struct history *history = models_history(asked->models);
    const size_t metric = asked->metric;
    size_t n = 0;
    for (size_t i = 0; i < history->n; i++)
        n += history_value(history, i, metric) ==
             history_value(history, i, metric);
    return n;
}

enum ht_status read_importances(struct reader *reader, struct request *req,
                                struct ht_error *err)
{
    struct asked asked;
    const enum ht_status status = insight_ask(reader, req, &asked, err);
    if (status != HT_OK)
        return status;
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "metric",
                    models_job(asked.models)->metrics[asked.metric].name);
    add_metrics(object, models_job(asked.models));
    json_add_int(object, "trials", (int64_t)insight_results(&asked));
    json_add_int(object, "least", IMPORTANCE_LEAST);
    cJSON *list = json_add_array(object, "importances");
    const struct importance *found =
        models_importances(asked.models, asked.metric);
    if (found != NULL)
        add_importances(&asked, found, list);
    json_print(object, &req->reply);
    return HT_OK;
}

/* --- slices --- */

enum {
    LINE_POINTS = 50,
    LINE_MOST = 200,
    PLANE_POINTS = 25,
    PLANE_MOST = 60 /* along each side */
};

struct cut {
    size_t n_axes;
    struct slice_axis axes[2];
    int64_t trial;
    struct value point[HT_MAX_PARAMETERS];
};

/* Of parameters that share the name the one that the trial has. */
static enum ht_status find_axis(const struct request *req, const char *key,
                                const struct space *space,
                                const struct value point[], size_t *param,
                                struct ht_error *err)
{
    const char *name = request_query(req, key);
    const int active = space_find_active(space, point, name);
    const int found = active >= 0 ? active : space_find(space, name);
    if (found < 0)
        return ht_fail(
            err, HT_INVALID, "%s: the study has no parameter \"%.90s\"%.110s",
            key, name,
            words_hint(req->arena, name, space_names(req->arena, space)));
    *param = (size_t)found;
    return HT_OK;
}

static double least_of(const struct param *param)
{
    switch (param->type) {
    case PARAM_DOUBLE:
        return param->min;
    case PARAM_INTEGER:
        return (double)param->int_min;
    case PARAM_DISCRETE:
        return param->numbers[0];
    case PARAM_CATEGORICAL:
        break;
    }
    return 0;
}

/* The parameter's own, unless the query has another. */
static enum ht_status read_scale(struct request *req, const char *key,
                                 const struct param *param,
                                 enum param_scale *scale, struct ht_error *err)
{
    static const char *const words[] = {
        [SCALE_LINEAR] = "linear", [SCALE_LOG] = "log", NULL};
    size_t word = param->scale;
    if (request_query(req, key) != NULL &&
        query_choice(req, key, words, &word, err) != HT_OK)
        return HT_INVALID;
    if (word == SCALE_LOG && !(least_of(param) > 0))
        return ht_fail(err, HT_INVALID,
                       "%s: not all values of %.128s are positive", key,
                       param->name);
    *scale = (enum param_scale)word;
    return HT_OK;
}

/* The next axis of the cut. */
static enum ht_status read_axis(struct request *req, const struct space *space,
                                size_t most, struct cut *cut,
                                struct ht_error *err)
{
    static const struct {
        const char *name, *scale;
    } keys[] = {{"x", "xScale"}, {"y", "yScale"}};
    const size_t k = cut->n_axes;
    enum param_scale scale = SCALE_LINEAR;
    size_t param = 0;
    enum ht_status status =
        find_axis(req, keys[k].name, space, cut->point, &param, err);
    if (status == HT_OK && k > 0 && param == cut->axes[0].param)
        status = ht_fail(err, HT_INVALID, "y: is the same parameter as x");
    if (status == HT_OK)
        status =
            read_scale(req, keys[k].scale, &space->params[param], &scale, err);
    if (status == HT_OK)
        slice_axis_init(&cut->axes[cut->n_axes++], space, param, scale, most);
    return status;
}

static enum ht_status read_axes(struct request *req, const struct space *space,
                                struct cut *cut, struct ht_error *err)
{
    const bool plane = request_query(req, "y") != NULL;
    const struct number_range range = {2, plane ? PLANE_MOST : LINE_MOST,
                                       plane ? PLANE_POINTS : LINE_POINTS};
    int64_t most = 0;
    if (request_query(req, "x") == NULL)
        return ht_fail(err, HT_INVALID,
                       "x: name the parameter of the slice, and with y a "
                       "second one");
    enum ht_status status = query_number(req, "points", &range, &most, err);
    if (status == HT_OK)
        status = read_axis(req, space, (size_t)most, cut, err);
    if (status == HT_OK && plane)
        status = read_axis(req, space, (size_t)most, cut, err);
    return status;
}

/* Through the trial that was asked for, else the best. */
static enum ht_status find_point(struct reader *reader, struct request *req,
                                 const struct asked *asked, struct cut *cut,
                                 struct ht_error *err)
{
    const struct job *job = models_job(asked->models);
    const char *text = request_query(req, "trial");
    const struct pareto_trials_scope scope = {.study = asked->study.id};
    struct trial_row trial;
    const enum ht_status status =
        text != NULL
            ? read_find_trial(reader, req, &asked->study, text, &trial, err)
            : pareto_trials_best(reader->db, req->arena, &scope, job, &trial,
                                 err);
    if (status != HT_OK)
        return status;
    cut->trial = trial.id;
    return space_point_parse(&job->space, trial.params, cut->point, err);
}

static void add_axis(cJSON *list, const struct space *space,
                     const struct slice_axis *axis)
{
    const struct param *param = &space->params[axis->param];
    cJSON *item = json_push_object(list);
    json_add_string(item, "parameter", param->name);
    cJSON *values = json_add_array(item, "values");
    for (size_t i = 0; i < axis->n; i++)
        space_value_push_json(param, axis->values[i], values);
}

/* One number of every cell, the metric's own sign: rows of x, in them y. */
static void add_cells(cJSON *object, const char *key, const struct cut *cut,
                      const double values[], const struct slice_cell cells[])
{
    const size_t columns = cut->n_axes > 1 ? cut->axes[1].n : 1;
    cJSON *rows = json_add_array(object, key), *row = rows;
    for (size_t i = 0; i < cut->axes[0].n * columns; i++) {
        if (cut->n_axes > 1 && i % columns == 0) {
            row = cJSON_CreateArray();
            cJSON_AddItemToArray(rows, row);
        }
        if (cells[i].absent)
            cJSON_AddItemToArray(row, cJSON_CreateNull());
        else
            json_push_double(row, values[i]);
    }
}

static void add_slice(const struct asked *asked, const struct goal_model *model,
                      const struct cut *cut, struct arena *arena, cJSON *object)
{
    const bool maximize =
        models_job(asked->models)->metrics[asked->metric].maximize;
    const size_t n = cut->axes[0].n * (cut->n_axes > 1 ? cut->axes[1].n : 1);
    struct slice_cell *cells = arena_alloc(arena, n, sizeof *cells);
    double *low = arena_alloc(arena, n, sizeof *low);
    double *median = arena_alloc(arena, n, sizeof *median);
    double *high = arena_alloc(arena, n, sizeof *high);
    slice(models_encoding(asked->models), model, cut->point, cut->n_axes,
          cut->axes, cells);
    for (size_t i = 0; i < n; i++) {
        const struct quantiles *q = &cells[i].value;
        low[i] = maximize ? q->low : -q->high;
        median[i] = maximize ? q->median : -q->median;
        high[i] = maximize ? q->high : -q->low;
    }
    add_cells(object, "low", cut, low, cells);
    add_cells(object, "median", cut, median, cells);
    add_cells(object, "high", cut, high, cells);
}

enum ht_status read_slice(struct reader *reader, struct request *req,
                          struct ht_error *err)
{
    struct asked asked;
    struct cut cut = {0};
    enum ht_status status = insight_ask(reader, req, &asked, err);
    if (status != HT_OK)
        return status;
    const struct job *job = models_job(asked.models);
    const struct goal_model *model = models_model(asked.models, asked.metric);
    if (model == NULL)
        return ht_fail(err, HT_PRECONDITION,
                       "the study has too few results for a model of %.128s",
                       job->metrics[asked.metric].name);
    status = find_point(reader, req, &asked, &cut, err);
    if (status == HT_OK)
        status = read_axes(req, &job->space, &cut, err);
    if (status == HT_OK) {
        cJSON *object = cJSON_CreateObject();
        json_add_string(object, "metric", job->metrics[asked.metric].name);
        json_add_int_text(object, "trial", cut.trial);
        cJSON *axes = json_add_array(object, "axes");
        for (size_t k = 0; k < cut.n_axes; k++)
            add_axis(axes, &job->space, &cut.axes[k]);
        add_slice(&asked, model, &cut, req->arena, object);
        json_print(object, &req->reply);
    }
    for (size_t k = 0; k < cut.n_axes; k++)
        slice_axis_fini(&cut.axes[k]);
    return status;
}
