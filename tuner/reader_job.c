#include <string.h>

#include "proto/json.h"
#include "tuner/reader_walk.h"
#include "tuner/view.h"

/* A study may have 10^5 trials, so a job is told in pieces of that many. */
enum { PIECE_TRIALS = 500 };

/* The job without its closing brace: the list of trials stands last. */
static enum ht_status write_head(const struct trial_walk *walk,
                                 struct arena *arena, struct ht_error *err)
{
    cJSON *item;
    const enum ht_status status =
        view_job(walk->reader->db, arena, &walk->study, &item, err);
    if (status != HT_OK)
        return status;
    struct text head = {0};
    json_print(item, &head);
    text_append(&walk->req->reply, head.data, head.len - 1);
    text_puts(&walk->req->reply, ",\"trials\":[");
    text_free(&head);
    return HT_OK;
}

static enum ht_status write_piece(struct trial_walk *walk, struct arena *arena,
                                  struct ht_error *err)
{
    struct request *req = walk->req;
    bool more;
    enum ht_status status = job_parse(arena, walk->study.spec, &walk->job, err);
    if (status == HT_OK && !walk->continues)
        status = write_head(walk, arena, err);
    if (status == HT_OK)
        status = trial_walk_run(walk, &more, err);
    if (status != HT_OK)
        return status;
    if (!more)
        text_puts(&req->reply, "]}");
    req->more = more;
    req->cursor = walk->last;
    return HT_OK;
}

static enum ht_status write_basic(const struct trial_walk *walk,
                                  struct arena *arena, struct ht_error *err)
{
    cJSON *item;
    const enum ht_status status =
        view_job(walk->reader->db, arena, &walk->study, &item, err);
    if (status == HT_OK)
        json_print(item, &walk->req->reply);
    return status;
}

/* Nothing goes into the request's arena, which lives for all pieces. */
enum ht_status read_job(struct reader *reader, struct request *req,
                        struct ht_error *err)
{
    const char *view = request_query(req, "view");
    struct trial_walk walk = {.reader = reader,
                              .req = req,
                              .page = {PIECE_TRIALS, req->cursor},
                              .continues = req->cursor > 0};
    struct arena *arena = arena_new();
    enum ht_status status = db_study_find(reader->db, arena, &req->scope,
                                          req->study, &walk.study, err);
    if (status == HT_OK)
        status = view != NULL && strcmp(view, "BASIC") == 0
                     ? write_basic(&walk, arena, err)
                     : write_piece(&walk, arena, err);
    arena_free(arena);
    return status;
}
