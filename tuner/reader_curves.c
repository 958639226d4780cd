#include "tuner/reader.h"

#include "proto/json.h"
#include "tuner/db_curve.h"
#include "tuner/reader_page.h"
#include "tuner/reader_walk.h"

enum {
    TOP = 10,
    TOP_MOST = 1000,
    RUNNING_MOST = 100,
    POINTS = 100,
    POINTS_MOST = 1000
};

/* What is asked for. */
struct drawing {
    struct reader *reader;
    struct study_row study;
    struct job *job;
    size_t metric;
    int64_t top, points;
    const char *master; /* replica whose records count */
};

static enum ht_status prepare(struct drawing *now, struct request *req,
                              struct ht_error *err)
{
    static const struct number_range tops = {1, TOP_MOST, TOP},
                                     sizes = {2, POINTS_MOST, POINTS};
    enum ht_status status =
        reader_find_study(now->reader, req, &now->study, &now->job, err);
    if (status == HT_OK)
        status = reader_find_metric(req, now->job, &now->metric, err);
    if (status == HT_OK)
        status = page_number(req, "top", &tops, &now->top, err);
    if (status == HT_OK)
        status = page_number(req, "points", &sizes, &now->points, err);
    if (status == HT_OK)
        now->master = arena_printf(
            req->arena, "%s-0",
            now->job->n_pools > 0 ? now->job->pools[0].type : "master");
    return status;
}

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
    if (reply->data[reply->len - 1] != '[')
        text_puts(reply, ",");
    json_print(item, reply);
}

/* A trial that told nothing of the metric has no curve. */
static enum ht_status draw(const struct drawing *now,
                           const struct trial_row *trial, struct text *reply,
                           struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct curve_points curve;
    const struct curve_question question = {
        .trial = trial,
        .master = now->master,
        .metric = now->job->metrics[now->metric].name,
        .most = (size_t)now->points};
    const enum ht_status status =
        db_curve_points(now->reader->db, arena, &question, &curve, err);
    if (status == HT_OK && curve.n > 0)
        write_curve(trial, &curve, reply);
    arena_free(arena);
    return status;
}

enum ht_status read_curves(struct reader *reader, struct request *req,
                           struct ht_error *err)
{
    struct drawing now = {.reader = reader};
    struct trial_list trials;
    size_t done = 0;
    enum ht_status status = prepare(&now, req, err);
    if (status != HT_OK)
        return status;
    const struct curve_choice choice = {.study = now.study.id,
                                        .maximize =
                                            now.job->metrics[0].maximize,
                                        .top = (size_t)now.top,
                                        .running = RUNNING_MOST};
    status = db_curve_choose(reader->db, req->arena, &choice, &trials, err);
    cJSON *head = cJSON_CreateObject();
    json_add_string(head, "metric", now.job->metrics[now.metric].name);
    json_print(head, &req->reply);
    req->reply.len--; /* its brace */
    text_puts(&req->reply, ",\"curves\":[");
    for (; status == HT_OK && done < trials.n && !reader_is_late(reader);
         done++)
        status = draw(&now, &trials.rows[done], &req->reply, err);
    if (status == HT_OK)
        text_printf(&req->reply, "],\"left\":%zu}", trials.n - done);
    return status;
}
