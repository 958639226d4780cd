/* measurements.c - the measurements of a trial. */

#include <stdlib.h>

#include "proto/doc/json.h"
#include "tuner/read/trials.h"
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
    bool moved;          /* since the page began, so that it may end */
};

static bool is_full(const struct measuring *measuring)
{
    return measuring->room == 0 ||
           (measuring->moved && reader_is_late(measuring->reader));
}

static void write_rows(struct measuring *measuring,
                       const struct measurement_list *list)
{
    struct text *reply = &measuring->req->reply;
    for (size_t i = 0; i < list->n; i++) {
        if (reply->data[reply->len - 1] != '[')
            text_puts(reply, ",");
        json_print(view_measurement(&list->rows[i]), reply);
    }
    measuring->room -= (int64_t)list->n;
    measuring->skip += (int64_t)list->n;
}

/* *whole: all records of the trial are written. */
static enum ht_status write_trial(struct measuring *measuring, bool *whole,
                                  struct ht_error *err)
{
    const struct trial_name name = {measuring->study.id, measuring->trial, 0};
    enum ht_status status = HT_OK;
    *whole = false;
    while (status == HT_OK && !*whole && !is_full(measuring)) {
        const size_t most =
            measuring->room < BATCH ? (size_t)measuring->room : BATCH;
        struct arena *arena = arena_new();
        struct measurement_list list;
        status = db_measurement_page(measuring->reader->db, arena, &name,
                                     measuring->skip, most, &list, err);
        if (status == HT_OK) {
            write_rows(measuring, &list);
            measuring->moved = true;
            *whole = list.n < most;
        }
        arena_free(arena);
    }
    return status;
}

/* The id of the trial behind measuring->trial, 0: there is none. */
static enum ht_status next_trial(struct measuring *measuring,
                                 struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct trial_list list;
    const enum ht_status status =
        db_trial_list(measuring->reader->db, arena, measuring->study.id,
                      measuring->trial, 1, &list, err);
    if (status == HT_OK) {
        measuring->trial = list.n == 0 ? 0 : list.rows[0].id;
        measuring->skip = 0;
    }
    arena_free(arena);
    return status;
}

static enum ht_status write_all(struct measuring *measuring,
                                struct ht_error *err)
{
    enum ht_status status = HT_OK;
    bool whole = true;
    if (measuring->trial == 0)
        status = next_trial(measuring, err);
    while (status == HT_OK && measuring->trial > 0 && whole) {
        status = write_trial(measuring, &whole, err);
        if (status == HT_OK && whole && measuring->one_trial)
            measuring->trial = 0;
        else if (status == HT_OK && whole)
            status = next_trial(measuring, err);
    }
    return status;
}

/* "3.250": trial 3, behind its first 250 records. */
static enum ht_status read_token(struct measuring *measuring,
                                 struct ht_error *err)
{
    const char *text = request_query(measuring->req, "pageToken");
    if (text == NULL || text[0] == '\0')
        return HT_OK;
    char *end;
    const long long trial = strtoll(text, &end, 10);
    const long long skip = *end == '.' ? strtoll(end + 1, &end, 10) : -1;
    const bool fits = !measuring->one_trial || trial == measuring->trial;
    if (*end != '\0' || trial < 1 || skip < 0 || !fits)
        return ht_fail(err, HT_INVALID,
                       "pageToken is \"%.40s\", none of this list", text);
    measuring->trial = trial;
    measuring->skip = skip;
    return HT_OK;
}

static enum ht_status prepare(struct measuring *measuring, struct ht_error *err)
{
    static const struct number_range sizes = {0, INT32_MAX, MOST};
    struct request *req = measuring->req;
    const char *trial_text = request_query(req, "trial");
    struct trial_row trial = {0};
    enum ht_status status =
        query_number(req, "pageSize", &sizes, &measuring->room, err);
    if (status == HT_OK)
        status = read_find_study(measuring->reader, req, &measuring->study,
                                 NULL, err);
    if (status == HT_OK && trial_text != NULL)
        status = read_find_trial(measuring->reader, req, &measuring->study,
                                 trial_text, &trial, err);
    if (status != HT_OK)
        return status;
    if (measuring->room == 0 || measuring->room > MOST)
        measuring->room = MOST;
    measuring->one_trial = trial_text != NULL;
    measuring->trial = trial.id;
    return read_token(measuring, err);
}

enum ht_status read_measurements(struct reader *reader, struct request *req,
                                 struct ht_error *err)
{
    struct measuring measuring = {.reader = reader, .req = req};
    enum ht_status status = prepare(&measuring, err);
    if (status != HT_OK)
        return status;
    text_puts(&req->reply, "{\"measurements\":[");
    status = write_all(&measuring, err);
    if (status != HT_OK)
        return status;
    text_puts(&req->reply, "]");
    if (measuring.trial > 0)
        text_printf(&req->reply, ",\"nextPageToken\":\"%lld.%lld\"",
                    (long long)measuring.trial, (long long)measuring.skip);
    text_puts(&req->reply, "}");
    return HT_OK;
}
