#include "tuner/reader.h"

#include <string.h>

#include "proto/json.h"
#include "tuner/filter.h"
#include "tuner/reader_page.h"
#include "tuner/view.h"

/* How one kind of resource shows a study. */
typedef enum ht_status study_viewer(struct db *db, struct arena *arena,
                                    const struct study_row *study, cJSON **out,
                                    struct ht_error *err);

static bool is_wanted(const struct filter *filter,
                      const struct study_row *study)
{
    const char *states[] = {view_job_state(study),
                            study_state_name(study->state)};
    const char *names[] = {study->display, study->name};
    return filter_allows(filter, "state", 2, states) &&
           filter_allows(filter, "displayName", 1, names) &&
           filter_allows(filter, "name", 1, names + 1);
}

/* One walk over the studies of a project, from page.token downwards. */
struct walk {
    struct reader *reader;
    struct request *req;
    struct page page;
    struct filter filter;
    study_viewer *view;
    size_t written;
    int64_t last; /* id of the study seen last */
};

static enum ht_status write_study(struct walk *walk,
                                  const struct study_row *study,
                                  struct ht_error *err)
{
    struct arena *arena = arena_new();
    cJSON *item;
    enum ht_status status =
        walk->view(walk->reader->db, arena, study, &item, err);
    if (status == HT_OK) {
        if (walk->written++ > 0)
            text_puts(&walk->req->reply, ",");
        json_print(item, &walk->req->reply);
    }
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
            if (is_wanted(&walk->filter, &list.rows[i]))
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
    static const char *const fields[] = {"state", "displayName", "name", NULL};
    struct walk walk = {.reader = reader, .req = req, .view = view};
    bool more;
    enum ht_status status = page_read(req, &walk.page, err);
    if (status == HT_OK)
        status = filter_read(req->arena, request_query(req, "filter"), fields,
                             &walk.filter, err);
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
