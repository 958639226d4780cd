#include "tuner/reader.h"

#include <string.h>

#include "proto/clock.h"
#include "proto/json.h"
#include "tuner/filter.h"
#include "tuner/read_mask.h"
#include "tuner/reader_page.h"
#include "tuner/view.h"

/* How one kind of resource shows a study. */
typedef enum ht_status study_viewer(struct db *db, struct arena *arena,
                                    const struct study_row *study, cJSON **out,
                                    struct ht_error *err);

/* --- what a filter may ask for --- */

static const struct filter_field filter_fields[] = {
    {"state", FILTER_TEXT},      {"displayName", FILTER_TEXT},
    {"name", FILTER_TEXT},       {"createTime", FILTER_TIME},
    {"updateTime", FILTER_TIME}, {"labels", FILTER_MAP},
    {NULL, FILTER_TEXT}};

struct candidate {
    struct arena *arena;
    const struct study_row *study;
};

/* A study whose spec is damaged has no labels any more. */
static size_t look_up_label(const struct candidate *candidate, const char *key,
                            const char *values[FILTER_VALUES])
{
    struct job *job;
    if (job_parse(candidate->arena, candidate->study->spec, &job, NULL) !=
        HT_OK)
        return 0;
    for (size_t i = 0; i < job->labels.n; i++) {
        if (strcmp(job->labels.items[i].name, key) != 0)
            continue;
        values[0] = job->labels.items[i].value;
        return 1;
    }
    return 0;
}

static size_t look_up(void *item, const char *field, const char *key,
                      const char *values[FILTER_VALUES])
{
    const struct candidate *candidate = item;
    const struct study_row *study = candidate->study;
    if (strcmp(field, "labels") == 0)
        return look_up_label(candidate, key, values);
    if (strcmp(field, "state") == 0) {
        values[0] = view_job_state(study);
        values[1] = study_state_name(study->state);
        return 2;
    }
    char *stamp = arena_alloc(candidate->arena, CLOCK_STAMP_BYTES, 1);
    if (strcmp(field, "createTime") == 0)
        values[0] = clock_stamp(stamp, study->created_ms);
    else if (strcmp(field, "updateTime") == 0)
        values[0] = clock_stamp(stamp, study->updated_ms);
    else
        values[0] = strcmp(field, "name") == 0 ? study->name : study->display;
    return 1;
}

/* --- lists --- */

/* One walk over the studies of a project, from page.token downwards. */
struct walk {
    struct reader *reader;
    struct request *req;
    struct page page;
    const struct filter *filter;
    struct strings mask;
    study_viewer *view;
    size_t written;
    int64_t last; /* id of the study seen last */
};

static enum ht_status write_wanted(struct walk *walk, struct arena *arena,
                                   const struct study_row *study,
                                   struct ht_error *err)
{
    struct candidate candidate = {arena, study};
    if (!filter_allows(walk->filter, look_up, &candidate))
        return HT_OK;
    cJSON *item;
    const enum ht_status status =
        walk->view(walk->reader->db, arena, study, &item, err);
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

static enum ht_status list_studies(struct reader *reader, struct request *req,
                                   const char *key, study_viewer *view,
                                   struct ht_error *err)
{
    struct walk walk = {.reader = reader, .req = req, .view = view};
    bool more;
    enum ht_status status = page_read(req, &walk.page, err);
    if (status == HT_OK)
        status = filter_read(req->arena, request_query(req, "filter"),
                             filter_fields, &walk.filter, err);
    if (status == HT_OK)
        status = read_mask_read(req->arena, request_query(req, "readMask"),
                                &walk.mask, err);
    if (status != HT_OK)
        return status;
    text_printf(&req->reply, "{\"%s\":[", key);
    status = walk_studies(&walk, &more, err);
    if (status == HT_OK)
        page_end(req, more ? walk.last : 0);
    return status;
}

enum ht_status read_jobs(struct reader *reader, struct request *req,
                         struct ht_error *err)
{
    return list_studies(reader, req, "hyperparameterTuningJobs", view_job, err);
}

enum ht_status read_custom_jobs(struct reader *reader, struct request *req,
                                struct ht_error *err)
{
    return list_studies(reader, req, "customJobs", view_job, err);
}

enum ht_status read_studies(struct reader *reader, struct request *req,
                            struct ht_error *err)
{
    return list_studies(reader, req, "studies", view_study, err);
}

enum ht_status read_all_kinds(struct reader *reader, struct request *req,
                              struct ht_error *err)
{
    return list_studies(reader, req, "studies", view_job, err);
}

/* The resource as `view` shows it, without trials. */
static enum ht_status show(struct reader *reader, struct request *req,
                           study_viewer *view, struct ht_error *err)
{
    struct study_row study;
    cJSON *item;
    enum ht_status status = db_study_find(reader->db, req->arena, &req->scope,
                                          req->study, &study, err);
    if (status == HT_OK)
        status = view(reader->db, req->arena, &study, &item, err);
    if (status == HT_OK)
        json_print(item, &req->reply);
    return status;
}

enum ht_status read_study(struct reader *reader, struct request *req,
                          struct ht_error *err)
{
    return show(reader, req, view_study, err);
}

enum ht_status read_any_kind(struct reader *reader, struct request *req,
                             struct ht_error *err)
{
    return show(reader, req, view_job, err);
}
