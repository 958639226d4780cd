#include "tuner/read/list.h"
#include "proto/form/form.h"
#include "tuner/ask/faults.h"

#include <string.h>

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "tuner/ask/read_mask.h"
#include "tuner/db/db.h"

/* --- what a filter may ask for --- */

static size_t find_label(const struct candidate *candidate, const char *key,
                         const char *values[FILTER_VALUES])
{
    struct job *job;
    if (vertex_parse(candidate->arena, candidate->study->spec, &job, NULL) !=
        HT_OK)
        return 0;
    for (size_t i = 0; i < job->labels.n; i++) {
        if (!filter_key_is(key, job->labels.items[i].name))
            continue;
        values[0] = job->labels.items[i].value;
        return 1;
    }
    return 0;
}

bool list_candidate_has(const struct candidate *candidate, const char *field,
                        const char *key, const char *values[FILTER_VALUES],
                        size_t *n)
{
    const struct study_row *study = candidate->study;
    const struct {
        const char *field;
        int64_t wall_ms; /* 0: not yet */
    } times[] = {{"createTime", study->created_ms},
                 {"startTime", study->started_ms},
                 {"endTime", study->ended_ms},
                 {"updateTime", study->updated_ms}};
    if (strcmp(field, "labels") == 0) {
        *n = find_label(candidate, key, values);
        return true;
    }
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (strcmp(field, times[i].field) != 0)
            continue;
        *n = times[i].wall_ms > 0;
        if (*n > 0)
            values[0] =
                clock_stamp(arena_alloc(candidate->arena, CLOCK_STAMP_BYTES, 1),
                            times[i].wall_ms);
        return true;
    }
    return false;
}

/* --- lists --- */

/* One walk over the studies of a project, from page.token downwards. */
struct walk {
    struct reader *reader;
    struct request *req;
    struct query_page page;
    const struct filter *filter;
    struct strings mask;
    const struct collection *collection;
    size_t written;
    int64_t last; /* id of the study seen last */
};

static enum ht_status write_wanted(struct walk *walk, struct arena *arena,
                                   const struct study_row *study,
                                   struct ht_error *err)
{
    struct candidate candidate = {walk->reader->db, arena, study};
    if (!filter_allows(walk->filter, walk->collection->look_up, &candidate))
        return HT_OK;
    cJSON *item;
    const enum ht_status status =
        walk->collection->view(walk->reader->db, arena, study, &item, err);
    if (status != HT_OK)
        return status;
    read_mask_apply(&walk->mask, item);
    if (walk->written++ > 0)
        text_puts(&walk->req->reply, ",");
    json_print(item, &walk->req->reply);
    return HT_OK;
}

static enum ht_status write_study(struct walk *walk,
                                  const struct study_row *study,
                                  struct ht_error *err)
{
    struct arena *arena = arena_new();
    const enum ht_status status = write_wanted(walk, arena, study, err);
    arena_free(arena);
    return status;
}

/* *more tells whether studies are left when the page is full or it is late. */
static enum ht_status walk_studies(struct walk *walk, bool *more,
                                   struct ht_error *err)
{
    enum { BATCH = 100 };
    struct study_list list;
    walk->last = walk->page.token;
    *more = true;
    do {
        enum ht_status status =
            db_study_list(walk->reader->db, walk->req->arena, &walk->req->scope,
                          walk->last, BATCH, &list, err);
        for (size_t i = 0; status == HT_OK && i < list.n; i++) {
            if (walk->written == walk->page.size ||
                reader_is_late(walk->reader))
                return HT_OK;
            status = write_study(walk, &list.rows[i], err);
            walk->last = list.rows[i].id;
        }
        if (status != HT_OK)
            return status;
    } while (list.n == BATCH);
    *more = false;
    return HT_OK;
}

/* What is wrong is told of all members of the query at once. */
static enum ht_status read_query(struct walk *walk, struct ht_error *err)
{
    struct request *req = walk->req;
    const struct collection *collection = walk->collection;
    struct ht_error why;
    query_page_sized(req, &collection->sizes, &walk->page, err);
    enum ht_status status =
        filter_read(req->arena, request_query(req, "filter"),
                    collection->fields, &walk->filter, &why);
    faults_add(req, "filter", status, &why);
    status = read_mask_read(req->arena, request_query(req, "readMask"),
                            resource_members_of(collection->message),
                            &walk->mask, &why);
    faults_add(req, "readMask", status, &why);
    return faults_check(req, err);
}

enum ht_status list_answer(struct reader *reader, struct request *req,
                           const struct collection *collection,
                           struct ht_error *err)
{
    struct walk walk = {.reader = reader, .req = req, .collection = collection};
    bool more;
    enum ht_status status = read_query(&walk, err);
    if (status != HT_OK)
        return status;
    text_printf(&req->reply, "{\"%s\":[", collection->key);
    status = walk_studies(&walk, &more, err);
    if (status == HT_OK)
        query_page_end(req, more ? walk.last : 0);
    return status;
}
