/* curves.c - learning curves, thinned to the points that a picture needs. */

#include "tuner/read/reader.h"

#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/words.h"
#include "proto/doc/json.h"
#include "tuner/ask/query.h"
#include "tuner/db/curve.h"
#include "tuner/read/trials.h"

enum {
    TOP = 10,
    TOP_MOST = 1000,
    RUNNING_MOST = 100,
    POINTS = 100,
    POINTS_MOST = 1000,
    FAILED = 5, /* trials without a result whose metrics are named */
    NAMING = 5, /* others */
    NAMES_MOST = 64
};

/* What is asked for. */
struct drawing {
    struct reader *reader;
    struct study_row study;
    struct job *job;
    int64_t top, points;
    const char *master; /* replica whose records count */
    const char *metric;
    bool is_foreign; /* none of the study's */
    size_t n_names;
    const char *names[HT_MAX_METRICS + NAMES_MOST + 1]; /* the study's first */
};

static enum ht_status prepare(struct drawing *drawing, struct request *req,
                              struct ht_error *err)
{
    static const struct number_range tops = {1, TOP_MOST, TOP},
                                     sizes = {2, POINTS_MOST, POINTS};
    enum ht_status status = read_find_study(
        drawing->reader, req, &drawing->study, &drawing->job, err);
    if (status == HT_OK && drawing->job->n_metrics == 0)
        status = ht_fail(err, HT_PRECONDITION, "the study has no metric");
    if (status == HT_OK)
        status = query_number(req, "top", &tops, &drawing->top, err);
    if (status == HT_OK)
        status = query_number(req, "points", &sizes, &drawing->points, err);
    if (status != HT_OK)
        return status;
    drawing->master = arena_printf(
        req->arena, "%s-0",
        drawing->job->n_pools > 0 ? drawing->job->pools[0].type : "master");
    return HT_OK;
}

/* --- the metrics there are --- */

static bool has_name(const struct drawing *drawing, const char *name)
{
    for (size_t i = 0; i < drawing->n_names; i++)
        if (strcmp(drawing->names[i], name) == 0)
            return true;
    return false;
}

static enum ht_status add_names(struct drawing *drawing, struct arena *arena,
                                const struct trial_row *trial,
                                struct ht_error *err)
{
    struct metric_names reported;
    const enum ht_status status = db_curve_metrics(
        drawing->reader->db, arena, trial, drawing->master, &reported, err);
    for (size_t i = 0; status == HT_OK && i < reported.n; i++)
        if (drawing->n_names < HT_MAX_METRICS + NAMES_MOST &&
            !has_name(drawing, reported.names[i]))
            drawing->names[drawing->n_names++] = reported.names[i];
    return status;
}

/* The metrics of the study, and what its first and last trials reported.
 */
static enum ht_status find_names(struct drawing *drawing, struct arena *arena,
                                 const struct trial_list *trials,
                                 struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t k = 0; k < drawing->job->n_metrics; k++)
        drawing->names[drawing->n_names++] = drawing->job->metrics[k].name;
    for (size_t i = 0; status == HT_OK && i < trials->n; i++)
        if (i < NAMING || i + FAILED >= trials->n)
            status = add_names(drawing, arena, &trials->rows[i], err);
    return status;
}

static enum ht_status find_metric(struct drawing *drawing, struct request *req,
                                  struct ht_error *err)
{
    const char *name = request_query(req, "metric");
    drawing->metric = name == NULL ? drawing->job->metrics[0].name : name;
    drawing->is_foreign = true;
    for (size_t k = 0; k < drawing->job->n_metrics; k++)
        if (strcmp(drawing->metric, drawing->job->metrics[k].name) == 0)
            drawing->is_foreign = false;
    return has_name(drawing, drawing->metric)
               ? HT_OK
               : ht_fail(err, HT_INVALID,
                         "metric: the study has no \"%.100s\"%.120s", name,
                         words_hint(req->arena, name, drawing->names));
}

/* --- curves --- */

static void write_curve(const struct trial_row *trial,
                        const struct curve_points *curve, struct text *reply)
{
    cJSON *item = cJSON_CreateObject();
    json_add_int(item, "trial", trial->id);
    cJSON *steps = json_add_array(item, "steps");
    cJSON *values = json_add_array(item, "values");
    for (size_t i = 0; i < curve->n; i++) {
        json_push_int(steps, curve->points[i].step);
        json_push_double(values, curve->points[i].value);
    }
    cJSON *odd = curve->n_odd > 0 ? json_add_array(item, "notFinite") : NULL;
    for (size_t i = 0; i < curve->n_odd; i++) {
        cJSON *one = json_push_object(odd);
        json_add_int(one, "step", curve->odd[i].step);
        json_add_double(one, "value", curve->odd[i].value);
    }
    if (reply->data[reply->len - 1] != '[')
        text_puts(reply, ",");
    json_print(item, reply);
}

/* A trial that reported nothing of the metric has no curve. */
static enum ht_status draw(const struct drawing *drawing,
                           const struct trial_row *trial, struct text *reply,
                           struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct curve_points curve;
    const struct curve_question question = {.trial = trial,
                                            .master = drawing->master,
                                            .metric = drawing->metric,
                                            .most = (size_t)drawing->points};
    const enum ht_status status =
        db_curve_points(drawing->reader->db, arena, &question, &curve, err);
    if (status == HT_OK && curve.n + curve.n_odd > 0)
        write_curve(trial, &curve, reply);
    arena_free(arena);
    return status;
}

/* Those without a result come last, and count where no result has the metric.
 */
static size_t count_drawn(const struct drawing *drawing,
                          const struct trial_list *trials)
{
    size_t n = trials->n;
    while (!drawing->is_foreign && n > 0 &&
           (trials->rows[n - 1].state == TRIAL_FAILED ||
            trials->rows[n - 1].state == TRIAL_INFEASIBLE))
        n--;
    return n;
}

static void write_head(const struct drawing *drawing, struct text *reply)
{
    cJSON *head = cJSON_CreateObject();
    json_add_string(head, "metric", drawing->metric);
    cJSON *names = json_add_array(head, "metrics");
    for (size_t i = 0; i < drawing->n_names; i++)
        json_push_string(names, drawing->names[i]);
    json_print(head, reply);
    reply->len--; /* its brace */
    text_puts(reply, ",\"curves\":[");
}

enum ht_status read_curves(struct reader *reader, struct request *req,
                           struct ht_error *err)
{
    struct drawing drawing = {.reader = reader};
    struct trial_list trials = {0};
    enum ht_status status = prepare(&drawing, req, err);
    if (status != HT_OK)
        return status;
    const struct curve_choice choice = {.study = drawing.study.id,
                                        .maximize =
                                            drawing.job->metrics[0].maximize,
                                        .top = (size_t)drawing.top,
                                        .running = RUNNING_MOST,
                                        .failed = FAILED};
    status = db_curve_choose(reader->db, req->arena, &choice, &trials, err);
    if (status == HT_OK)
        status = find_names(&drawing, req->arena, &trials, err);
    if (status == HT_OK)
        status = find_metric(&drawing, req, err);
    if (status != HT_OK)
        return status;
    write_head(&drawing, &req->reply);
    const size_t n = count_drawn(&drawing, &trials);
    size_t done = 0;
    for (;
         status == HT_OK && done < n && (done == 0 || !reader_is_late(reader));
         done++)
        status = draw(&drawing, &trials.rows[done], &req->reply, err);
    if (status == HT_OK)
        text_printf(&req->reply, "],\"left\":%zu}", n - done);
    return status;
}
