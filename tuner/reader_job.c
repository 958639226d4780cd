#include "tuner/reader_job.h"

#include <string.h>

#include "proto/json.h"
#include "tuner/view.h"

enum { PIECE_TRIALS = 500 };

static const char closing[] = "}}";

/* The job without its last braces: the list of trials goes on before them. */
static enum ht_status write_head(const struct trial_walk *walk,
                                 struct arena *arena,
                                 const struct job_form *form,
                                 struct ht_error *err)
{
    cJSON *item;
    const enum ht_status status =
        form->head(walk->reader->db, arena, &walk->study, &item, err);
    if (status != HT_OK)
        return status;
    struct text head = {0};
    json_print(item, &head);
    text_append(&walk->req->reply, head.data, head.len - form->depth);
    text_puts(&walk->req->reply, ",\"trials\":[");
    text_free(&head);
    return HT_OK;
}

enum ht_status reader_tell_job(struct reader *reader, struct request *req,
                               struct arena *arena,
                               const struct study_row *study,
                               const struct job_form *form,
                               struct ht_error *err)
{
    struct trial_walk walk = {.reader = reader,
                              .req = req,
                              .study = *study,
                              .page = {PIECE_TRIALS, req->cursor},
                              .continues = req->cursor > 0,
                              .view = form->trial};
    bool more;
    enum ht_status status = job_parse(arena, study->spec, &walk.job, err);
    if (status == HT_OK && !walk.continues)
        status = write_head(&walk, arena, form, err);
    if (status == HT_OK)
        status = trial_walk_run(&walk, &more, err);
    if (status != HT_OK)
        return status;
    if (!more) {
        text_puts(&req->reply, "]");
        text_append(&req->reply, closing, form->depth);
    }
    req->more = more;
    req->cursor = walk.last;
    return HT_OK;
}

static enum ht_status write_basic(struct reader *reader, struct request *req,
                                  struct arena *arena,
                                  const struct study_row *study,
                                  struct ht_error *err)
{
    cJSON *item;
    const enum ht_status status =
        view_job(reader->db, arena, study, &item, err);
    if (status == HT_OK)
        json_print(item, &req->reply);
    return status;
}

enum ht_status read_job(struct reader *reader, struct request *req,
                        struct ht_error *err)
{
    static const struct job_form vertex = {.head = view_job, .depth = 1};
    const char *view = request_query(req, "view");
    struct study_row study;
    struct arena *arena = arena_new();
    enum ht_status status =
        db_study_find(reader->db, arena, &req->scope, req->study, &study, err);
    if (status == HT_OK)
        status =
            view != NULL && strcmp(view, "BASIC") == 0
                ? write_basic(reader, req, arena, &study, err)
                : reader_tell_job(reader, req, arena, &study, &vertex, err);
    arena_free(arena);
    return status;
}
