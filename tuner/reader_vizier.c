#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json.h"
#include "proto/node.h"
#include "tuner/reader.h"
#include "tuner/trial_body.h"
#include "tuner/view.h"

/* --- lookup --- */

static const struct field lookup_fields[] = {
    {.name = "displayName", .read = field_text}, {0}};

enum ht_status read_lookup(struct reader *reader, struct request *req,
                           struct ht_error *err)
{
    const char *display = NULL;
    struct study_row study;
    cJSON *view;
    enum ht_status status = trial_body_read(req, lookup_fields, &display, err);
    if (status == HT_OK && display == NULL) {
        diag_error(trial_body_reader(req).diag, 0, 0, "displayName",
                   "is missing");
        status = trial_body_check(req, err);
    }
    if (status == HT_OK)
        status = db_study_by_display(reader->db, req->arena, &req->scope,
                                     display, &study, err);
    if (status == HT_OK)
        status = view_study(reader->db, req->arena, &study, &view, err);
    if (status == HT_OK)
        json_print(view, &req->reply);
    return status;
}

/* --- listOptimalTrials --- */

/* A trial and its metrics, larger being better in each. */
struct candidate {
    int64_t trial;
    double values[HT_MAX_METRICS];
};

/* The trials that no other one beats in every metric. */
struct front {
    struct reader *reader;
    struct study_row study;
    struct job *job;
    size_t n, room;
    struct candidate *members;
};

/* False when a metric is missing or no number. */
static bool read_candidate(const struct job *job, struct arena *arena,
                           const struct trial_row *trial,
                           struct candidate *candidate)
{
    if (!trial->has_objective || trial->final_metrics == NULL)
        return false;
    const size_t len = strlen(trial->final_metrics);
    struct diag diag;
    diag_init(&diag, arena, "metrics", trial->final_metrics, len);
    const struct node *map =
        node_read_json(arena, trial->final_metrics, len, &diag);
    candidate->trial = trial->id;
    for (size_t i = 0; i < job->n_metrics; i++) {
        const double value = node_get_double(map, job->metrics[i].name, NAN);
        if (!isfinite(value))
            return false;
        candidate->values[i] = job->metrics[i].maximize ? value : -value;
    }
    return true;
}

/* At least as good in all, better in one. */
static bool dominates(const struct job *job, const struct candidate *a,
                      const struct candidate *b)
{
    bool better = false;
    for (size_t i = 0; i < job->n_metrics; i++) {
        if (a->values[i] < b->values[i])
            return false;
        better = better || a->values[i] > b->values[i];
    }
    return better;
}

static void consider(struct front *front, const struct candidate *candidate)
{
    size_t kept = 0;
    for (size_t i = 0; i < front->n; i++)
        if (dominates(front->job, &front->members[i], candidate))
            return;
    for (size_t i = 0; i < front->n; i++)
        if (!dominates(front->job, candidate, &front->members[i]))
            front->members[kept++] = front->members[i];
    front->n = kept;
    if (front->n == front->room) {
        front->room = front->room == 0 ? 16 : front->room * 2;
        front->members =
            ht_xrealloc(front->members, front->room, sizeof *front->members);
    }
    front->members[front->n++] = *candidate;
}

/* One page of trials; *after is the id of its last. */
static enum ht_status consider_page(struct front *front, int64_t *after,
                                    bool *more, struct ht_error *err)
{
    enum { PAGE = 500 };
    struct arena *arena = arena_new();
    struct trial_list list;
    const enum ht_status status = db_trial_list(
        front->reader->db, arena, front->study.id, *after, PAGE, &list, err);
    for (size_t i = 0; status == HT_OK && i < list.n; i++) {
        struct candidate candidate;
        *after = list.rows[i].id;
        if (read_candidate(front->job, arena, &list.rows[i], &candidate))
            consider(front, &candidate);
    }
    if (status == HT_OK)
        *more = list.n == PAGE;
    arena_free(arena);
    return status;
}

static enum ht_status find_front(struct front *front, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    int64_t after = 0;
    bool more = true;
    while (status == HT_OK && more) {
        if (reader_is_late(front->reader))
            return ht_fail(err, HT_TIMEOUT,
                           "study %.128s has too many trials for this",
                           front->study.name);
        status = consider_page(front, &after, &more, err);
    }
    return status;
}

static enum ht_status write_trial(struct front *front, struct request *req,
                                  const struct trial_row *trial,
                                  struct ht_error *err)
{
    cJSON *view;
    const enum ht_status status =
        view_trial(front->reader->db, req->arena, &front->study, front->job,
                   trial, false, &view, err);
    if (status == HT_OK)
        json_print(view, &req->reply);
    return status;
}

static enum ht_status write_front(struct front *front, struct request *req,
                                  struct ht_error *err)
{
    enum ht_status status = find_front(front, err);
    for (size_t i = 0; status == HT_OK && i < front->n; i++) {
        struct trial_row trial;
        if (i > 0)
            text_puts(&req->reply, ",");
        status = db_trial_get(front->reader->db, req->arena, front->study.id,
                              front->members[i].trial, &trial, err);
        if (status == HT_OK)
            status = write_trial(front, req, &trial, err);
    }
    return status;
}

/* One metric has one best, the oldest of equals, and an index to find it. */
static enum ht_status write_best(struct front *front, struct request *req,
                                 struct ht_error *err)
{
    struct trial_row best;
    const enum ht_status status =
        db_trial_best(front->reader->db, req->arena, front->study.id,
                      front->job->metrics[0].maximize, &best, err);
    if (status == HT_NOT_FOUND)
        return HT_OK;
    return status == HT_OK ? write_trial(front, req, &best, err) : status;
}

enum ht_status read_optimal(struct reader *reader, struct request *req,
                            struct ht_error *err)
{
    static const struct field none[] = {{0}};
    struct front front = {.reader = reader};
    enum ht_status status = trial_body_read(req, none, NULL, err);
    if (status == HT_OK)
        status = db_study_find(reader->db, req->arena, &req->scope, req->study,
                               &front.study, err);
    if (status == HT_OK)
        status = job_parse(req->arena, front.study.spec, &front.job, err);
    if (status != HT_OK)
        return status;
    text_puts(&req->reply, "{\"optimalTrials\":[");
    status = front.job->n_metrics > 1 ? write_front(&front, req, err)
                                      : write_best(&front, req, err);
    free(front.members);
    text_puts(&req->reply, "]}");
    return status;
}
