#include <stdlib.h>

#include "proto/doc/json.h"
#include "tuner/read/walk.h"
#include "tuner/view/view.h"

enum { MOST = 100000, BATCH = 1000 };

/* A walk over the records of one trial, or of all by id. */
struct measuring {
    struct reader *reader;
    struct request *req;
    struct study_row study;
    bool one_trial;
    int64_t room;        /* records that may still be written */
    int64_t trial, skip; /* the next record: so many are behind */
};

static bool is_full(const struct measuring *now)
{
    return now->room == 0 || reader_is_late(now->reader);
}

static void write_rows(struct measuring *now,
                       const struct measurement_list *list)
{
    struct text *reply = &now->req->reply;
    for (size_t i = 0; i < list->n; i++) {
        if (reply->data[reply->len - 1] != '[')
            text_puts(reply, ",");
        json_print(view_measurement(&list->rows[i]), reply);
    }
    now->room -= (int64_t)list->n;
    now->skip += (int64_t)list->n;
}

/* *whole: the trial has no more. */
static enum ht_status write_trial(struct measuring *now, bool *whole,
                                  struct ht_error *err)
{
    const struct trial_name name = {now->study.id, now->trial, 0};
    enum ht_status status = HT_OK;
    *whole = false;
    while (status == HT_OK && !*whole && !is_full(now)) {
        const size_t most = now->room < BATCH ? (size_t)now->room : BATCH;
        struct arena *arena = arena_new();
        struct measurement_list list;
        status = db_measurement_page(now->reader->db, arena, &name, now->skip,
                                     most, &list, err);
        if (status == HT_OK) {
            write_rows(now, &list);
            *whole = list.n < most;
        }
        arena_free(arena);
    }
    return status;
}

/* The id of the trial behind now->trial, 0: there is none. */
static enum ht_status next_trial(struct measuring *now, struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct trial_list list;
    const enum ht_status status = db_trial_list(
        now->reader->db, arena, now->study.id, now->trial, 1, &list, err);
    if (status == HT_OK) {
        now->trial = list.n == 0 ? 0 : list.rows[0].id;
        now->skip = 0;
    }
    arena_free(arena);
    return status;
}

static enum ht_status write_all(struct measuring *now, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    bool whole = true;
    if (now->trial == 0)
        status = next_trial(now, err);
    while (status == HT_OK && now->trial > 0 && whole) {
        status = write_trial(now, &whole, err);
        if (status == HT_OK && whole && now->one_trial)
            now->trial = 0;
        else if (status == HT_OK && whole)
            status = next_trial(now, err);
    }
    return status;
}

/* "3.250": trial 3, behind its first 250 records. */
static enum ht_status read_token(struct measuring *now, struct ht_error *err)
{
    const char *text = request_query(now->req, "pageToken");
    if (text == NULL || text[0] == '\0')
        return HT_OK;
    char *end;
    const long long trial = strtoll(text, &end, 10);
    const long long skip = *end == '.' ? strtoll(end + 1, &end, 10) : -1;
    const bool fits = !now->one_trial || trial == now->trial;
    if (*end != '\0' || trial < 1 || skip < 0 || !fits)
        return ht_fail(err, HT_INVALID,
                       "pageToken is \"%.40s\", none of this list", text);
    now->trial = trial;
    now->skip = skip;
    return HT_OK;
}

static enum ht_status prepare(struct measuring *now, struct ht_error *err)
{
    static const struct number_range sizes = {0, INT32_MAX, MOST};
    struct request *req = now->req;
    const char *trial_text = request_query(req, "trial");
    struct trial_row trial = {0};
    enum ht_status status =
        page_number(req, "pageSize", &sizes, &now->room, err);
    if (status == HT_OK)
        status = db_study_find(now->reader->db, req->arena, &req->scope,
                               req->study, &now->study, err);
    if (status == HT_OK && trial_text != NULL)
        status = read_find_trial(now->reader, req, &now->study, trial_text,
                                 &trial, err);
    if (status != HT_OK)
        return status;
    if (now->room == 0 || now->room > MOST)
        now->room = MOST;
    now->one_trial = trial_text != NULL;
    now->trial = trial.id;
    return read_token(now, err);
}

enum ht_status read_measurements(struct reader *reader, struct request *req,
                                 struct ht_error *err)
{
    struct measuring now = {.reader = reader, .req = req};
    enum ht_status status = prepare(&now, err);
    if (status != HT_OK)
        return status;
    text_puts(&req->reply, "{\"measurements\":[");
    status = write_all(&now, err);
    if (status != HT_OK)
        return status;
    text_puts(&req->reply, "]");
    if (now.trial > 0)
        text_printf(&req->reply, ",\"nextPageToken\":\"%lld.%lld\"",
                    (long long)now.trial, (long long)now.skip);
    text_puts(&req->reply, "}");
    return HT_OK;
}
