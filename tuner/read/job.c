#include "tuner/read/job.h"

#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "tuner/ask/query.h"
#include "tuner/read/walk.h"
#include "tuner/view/view.h"

static const char closing[] = "}}";

/* The job without its last braces: the list of trials goes on before them. */
static enum ht_status write_head(const struct telling *telling,
                                 const struct job_form *form,
                                 struct ht_error *err)
{
    cJSON *item;
    const enum ht_status status = form->head(
        telling->reader->db, telling->arena, telling->study, &item, err);
    if (status != HT_OK)
        return status;
    struct text head = {0};
    json_print(item, &head);
    text_append(&telling->req->reply, head.data, head.len - form->depth);
    text_puts(&telling->req->reply, ",\"trials\":[");
    text_free(&head);
    return HT_OK;
}

enum ht_status read_job_text(struct telling *telling,
                             const struct job_form *form, struct ht_error *err)
{
    struct request *req = telling->req;
    bool more;
    enum ht_status status =
        vertex_parse(telling->arena, telling->study->spec, &telling->job, err);
    if (status == HT_OK && req->cursor == 0)
        status = write_head(telling, form, err);
    if (status == HT_OK)
        status = form->trials(telling, &more, err);
    if (status != HT_OK)
        return status;
    if (!more) {
        text_puts(&req->reply, "]");
        text_append(&req->reply, closing, form->depth);
    }
    req->more = more;
    return HT_OK;
}

/* --- Vertex's job --- */

static enum ht_status tell_by_id(const struct telling *telling, bool *more,
                                 struct ht_error *err)
{
    struct request *req = telling->req;
    struct trial_walk walk = {.reader = telling->reader,
                              .req = req,
                              .study = *telling->study,
                              .job = telling->job,
                              .page = {PIECE_TRIALS, req->cursor},
                              .continues = req->cursor > 0};
    const enum ht_status status = walk_trials(&walk, more, err);
    if (status == HT_OK)
        req->cursor = walk.last;
    return status;
}

static enum ht_status write_basic(const struct telling *telling,
                                  struct ht_error *err)
{
    cJSON *item;
    const enum ht_status status = view_job(telling->reader->db, telling->arena,
                                           telling->study, &item, err);
    if (status == HT_OK)
        json_print(item, &telling->req->reply);
    return status;
}

enum ht_status read_job(struct reader *reader, struct request *req,
                        struct ht_error *err)
{
    static const struct job_form vertex = {
        .head = view_job, .trials = tell_by_id, .depth = 1};
    enum { FULL, BASIC };
    static const char *const views[] = {"FULL", "BASIC", NULL};
    size_t view;
    if (query_choice(req, "view", views, &view, err) != HT_OK)
        return HT_INVALID;
    struct study_row study;
    struct telling telling = {
        .reader = reader, .req = req, .arena = arena_new(), .study = &study};
    enum ht_status status = db_study_find(reader->db, telling.arena,
                                          &req->scope, req->study, &study, err);
    if (status == HT_OK)
        status = view == BASIC ? write_basic(&telling, err)
                               : read_job_text(&telling, &vertex, err);
    arena_free(telling.arena);
    return status;
}
