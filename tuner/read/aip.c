/* aip.c - AI Platform's jobs. */

#include <string.h>

#include "proto/doc/json.h"
#include "tuner/db/ranking.h"
#include "tuner/read/jobs.h"
#include "tuner/view/aip.h"

/* --- one job --- */

/* Google's scripts take the first trial for the best one. The order is that of
 * the first piece: a trial that ends later is neither repeated nor missed. */
static enum ht_status find_order(const struct job_piece *piece,
                                 const struct id_list **order,
                                 struct ht_error *err)
{
    struct request *req = piece->req;
    if (req->kept == NULL) {
        struct id_list *list = arena_alloc(req->arena, 1, sizeof *list);
        const enum ht_status status =
            db_trial_order(piece->reader->db, req->arena, piece->study.id,
                           piece->job->metrics[0].maximize, list, err);
        if (status != HT_OK)
            return status;
        req->kept = list;
    }
    *order = req->kept;
    return HT_OK;
}

static enum ht_status write_trial(const struct job_piece *piece,
                                  struct arena *arena, int64_t id,
                                  struct ht_error *err)
{
    struct trial_row trial;
    cJSON *item;
    enum ht_status status = db_trial_get(piece->reader->db, arena,
                                         piece->study.id, id, &trial, err);
    if (status == HT_NOT_FOUND)
        return HT_OK; /* deleted since the order was made */
    if (status == HT_OK)
        status = view_aip_trial(piece->reader->db, arena, piece->job, &trial,
                                &item, err);
    if (status != HT_OK)
        return status;
    /* The first one is of the snapshot that the order is of. */
    if (piece->req->cursor > 0)
        text_puts(&piece->req->reply, ",");
    json_print(item, &piece->req->reply);
    return HT_OK;
}

/* The cursor counts the trials that were written. */
static enum ht_status write_best_first(const struct job_piece *piece,
                                       bool *more, struct ht_error *err)
{
    const struct id_list *order;
    enum ht_status status = find_order(piece, &order, err);
    if (status != HT_OK)
        return status;
    int64_t *at = &piece->req->cursor;
    const size_t end = (size_t)*at + PIECE_TRIALS;
    struct arena *arena = arena_new();
    while (status == HT_OK && (size_t)*at < order->n && (size_t)*at < end) {
        status = write_trial(piece, arena, order->ids[*at], err);
        arena_reset(arena);
        ++*at;
    }
    arena_free(arena);
    *more = (size_t)*at < order->n;
    return status;
}

enum ht_status read_aip_job(struct reader *reader, struct request *req,
                            struct ht_error *err)
{
    /* {..., "trainingOutput": {..., "trials": [...]}} */
    static const struct job_form form = {.head = view_aip,
                                         .trials = write_best_first,
                                         .depth = 2,
                                         .any_job = true};
    const enum ht_status status =
        jobs_answer_with_trials(reader, req, &form, err);
    return status != HT_NOT_FOUND
               ? status
               : ht_fail(err, HT_NOT_FOUND,
                         "there is no job %.128s in project %.64s", req->study,
                         req->scope.project);
}

/* --- lists --- */

static const char *const states[] = {
    "QUEUED",     "PREPARING", "RUNNING",           "SUCCEEDED", "FAILED",
    "CANCELLING", "CANCELLED", "STATE_UNSPECIFIED", NULL};
static const struct filter_field filter_fields[] = {
    {"jobId", FILTER_TEXT, NULL},      {"state", FILTER_NAME, states},
    {"createTime", FILTER_TIME, NULL}, {"startTime", FILTER_TIME, NULL},
    {"endTime", FILTER_TIME, NULL},    {"labels", FILTER_MAP, NULL},
    {NULL, FILTER_TEXT, NULL}};

static size_t look_up(void *item, const char *field, const char *key,
                      const char *values[FILTER_VALUES])
{
    const struct candidate *candidate = item;
    const struct study_row *study = candidate->study;
    size_t n;
    if (jobs_candidate_has(candidate, field, key, values, &n))
        return n;
    if (strcmp(field, "state") == 0)
        return view_aip_state(candidate->db, study, &values[0], NULL) == HT_OK;
    values[0] = study->name;
    return 1;
}

enum ht_status read_aip_jobs(struct reader *reader, struct request *req,
                             struct ht_error *err)
{
    /* The sizes that Google documents for this list. */
    static const struct collection jobs = {.key = "jobs",
                                           .view = view_aip,
                                           .fields = filter_fields,
                                           .look_up = look_up,
                                           .message = "Job",
                                           .sizes = {20, 100}};
    return jobs_answer(reader, req, &jobs, err);
}
