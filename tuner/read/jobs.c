#include "tuner/read/jobs.h"

#include <string.h>

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/query.h"
#include "tuner/ask/read_mask.h"
#include "tuner/db/db.h"
#include "tuner/db/notes.h"
#include "tuner/read/shared.h"
#include "tuner/read/trials.h"
#include "tuner/view/view.h"

/* --- what a filter may ask for --- */

/* Vertex's states of jobs, those of studies, and our own finer ones. */
#define STATES_OF_JOBS                                                         \
    "JOB_STATE_QUEUED", "JOB_STATE_PENDING", "JOB_STATE_RUNNING",              \
        "JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED", "JOB_STATE_CANCELLING",     \
        "JOB_STATE_CANCELLED", "JOB_STATE_PAUSED", "JOB_STATE_EXPIRED",        \
        "JOB_STATE_UPDATING", "JOB_STATE_PARTIALLY_SUCCEEDED",                 \
        "JOB_STATE_UNSPECIFIED"
#define STATES_OF_STUDIES "ACTIVE", "INACTIVE", "COMPLETED", "STATE_UNSPECIFIED"
#define STATES_OF_OURS                                                         \
    "RUNNING", "PAUSED", "STOPPING", "CANCELLING", "SUCCEEDED", "STOPPED",     \
        "FAILED", "CANCELLED"

static const char *const job_states[] = {STATES_OF_JOBS, STATES_OF_OURS, NULL};
static const char *const study_states[] = {STATES_OF_STUDIES, STATES_OF_OURS,
                                           NULL};
static const char *const all_states[] = {STATES_OF_JOBS, STATES_OF_STUDIES,
                                         STATES_OF_OURS, NULL};

#define FIELDS(states)                                                         \
    {                                                                          \
        {"state", FILTER_NAME, (states)}, {"displayName", FILTER_TEXT, NULL},  \
            {"name", FILTER_TEXT, NULL}, {"createTime", FILTER_TIME, NULL},    \
            {"updateTime", FILTER_TIME, NULL}, {"labels", FILTER_MAP, NULL},   \
            {"tags", FILTER_MAP, NULL},                                        \
        {                                                                      \
            NULL, FILTER_TEXT, NULL                                            \
        }                                                                      \
    }
static const struct filter_field job_fields[] = FIELDS(job_states);
static const struct filter_field study_fields[] = FIELDS(study_states);
static const struct filter_field all_fields[] = FIELDS(all_states);

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

size_t jobs_find_tag(struct db *db, struct arena *arena, int64_t study,
                     int64_t trial, const char *key,
                     const char *values[FILTER_VALUES])
{
    const char *text;
    if (db_notes_get(db, arena, &(struct notes_name){study, trial, NOTES_TAGS},
                     &text, NULL) != HT_OK)
        return 0;
    const struct strings tags = notes_tags_split(arena, text);
    for (size_t i = 0; i < tags.n; i++)
        if (filter_key_is(key, tags.items[i])) {
            values[0] = "";
            return 1;
        }
    return 0;
}

bool jobs_candidate_has(const struct candidate *candidate, const char *field,
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
    if (strcmp(field, "tags") == 0) {
        *n = jobs_find_tag(candidate->db, candidate->arena, study->id, 0, key,
                           values);
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

/* `state` is that of the resource as it is shown; it is called by its name or
 * its number. */
static size_t look_up(const struct candidate *candidate, const char *state,
                      const char *field, const char *key,
                      const char *values[FILTER_VALUES])
{
    const struct study_row *study = candidate->study;
    size_t n;
    if (jobs_candidate_has(candidate, field, key, values, &n))
        return n;
    if (strcmp(field, "state") == 0) {
        values[0] = state;
        values[1] = db_study_state_name(study->state);
        return 2;
    }
    if (strcmp(field, "name") == 0) {
        values[0] = study->name;
        values[1] =
            arena_printf(candidate->arena, "%lld", (long long)study->id);
        return 2;
    }
    values[0] = study->display;
    return 1;
}

static size_t look_up_study(void *item, const char *field, const char *key,
                            const char *values[FILTER_VALUES])
{
    const struct candidate *candidate = item;
    return look_up(candidate, db_study_state_vizier(candidate->study->state),
                   field, key, values);
}

static size_t look_up_job(void *item, const char *field, const char *key,
                          const char *values[FILTER_VALUES])
{
    const struct candidate *candidate = item;
    if (candidate->study->kind == JOB_STUDY)
        return look_up_study(item, field, key, values);
    return look_up(candidate, view_job_state(candidate->study), field, key,
                   values);
}

/* --- one list --- */

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

/* *more: whether studies are left when the page is full or it is late. */
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
                (walk->last != walk->page.token &&
                 reader_is_late(walk->reader)))
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

/* One answer has the faults of all members of the query. */
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

enum ht_status jobs_answer(struct reader *reader, struct request *req,
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

/* --- lists --- */

/* Defines the reader_handler of a list. */
#define LIST(handler, called, of, viewer, filtered, looked_up)                 \
    enum ht_status handler(struct reader *reader, struct request *req,         \
                           struct ht_error *err)                               \
    {                                                                          \
        static const struct collection collection = {                          \
            .key = (called),                                                   \
            .message = (of),                                                   \
            .view = (viewer),                                                  \
            .fields = (filtered),                                              \
            .look_up = (looked_up),                                            \
            .sizes = {PAGE_DEFAULT, PAGE_MOST}};                               \
        return jobs_answer(reader, req, &collection, err);                     \
    }

LIST(read_jobs, "hyperparameterTuningJobs", "HyperparameterTuningJob", view_job,
     job_fields, look_up_job)
LIST(read_custom_jobs, "customJobs", "CustomJob", view_job, job_fields,
     look_up_job)
LIST(read_studies, "studies", "Study", view_study, study_fields, look_up_study)
LIST(read_all_kinds, "studies", "OfAnyKind", view_job, all_fields, look_up_job)

/* --- one resource --- */

enum ht_status jobs_show(struct reader *reader, struct request *req,
                         study_viewer *view, struct ht_error *err)
{
    struct study_row study;
    cJSON *item;
    enum ht_status status = read_find_study(reader, req, &study, NULL, err);
    if (status == HT_OK)
        status = view(reader->db, req->arena, &study, &item, err);
    if (status != HT_OK)
        return status;
    shared_job(&req->scope, item);
    json_print(item, &req->reply);
    return HT_OK;
}

enum ht_status read_study(struct reader *reader, struct request *req,
                          struct ht_error *err)
{
    return jobs_show(reader, req, view_study, err);
}

/* A client may ask for any kind of job without its trials explicitly. */
enum ht_status read_any_kind(struct reader *reader, struct request *req,
                             struct ht_error *err)
{
    static const char *const views[] = {"BASIC", NULL};
    size_t view;
    const enum ht_status status = query_choice(req, "view", views, &view, err);
    return status == HT_OK ? jobs_show(reader, req, view_job, err) : status;
}

/* --- a job with its trials --- */

static const char closing[] = "}}";

/* The job without its last braces, and the start of its list of trials. */
static enum ht_status write_head(const struct job_piece *piece,
                                 const struct job_form *form,
                                 struct ht_error *err)
{
    cJSON *item;
    const enum ht_status status =
        form->head(piece->reader->db, piece->arena, &piece->study, &item, err);
    if (status != HT_OK)
        return status;
    struct text head = {0};
    json_print(item, &head);
    text_append(&piece->req->reply, head.data, head.len - form->depth);
    text_puts(&piece->req->reply, ",\"trials\":[");
    text_free(&head);
    return HT_OK;
}

static enum ht_status write_trials(struct job_piece *piece,
                                   const struct job_form *form,
                                   struct ht_error *err)
{
    struct request *req = piece->req;
    bool more;
    enum ht_status status =
        req->cursor == 0 ? write_head(piece, form, err) : HT_OK;
    if (status == HT_OK)
        status = form->trials(piece, &more, err);
    if (status != HT_OK)
        return status;
    if (!more) {
        text_puts(&req->reply, "]");
        text_append(&req->reply, closing, form->depth);
    }
    req->more = more;
    return HT_OK;
}

static enum ht_status write_piece(struct job_piece *piece,
                                  const struct job_form *form,
                                  struct ht_error *err)
{
    struct request *req = piece->req;
    struct study_row *study = &piece->study;
    enum ht_status status = db_study_find(piece->reader->db, piece->arena,
                                          &req->scope, req->study, study, err);
    if (status != HT_OK)
        return status;
    status = vertex_parse(piece->arena, study->spec, &piece->job, err);
    if (form->any_job && (status != HT_OK || study->kind != JOB_TUNING))
        return jobs_show(piece->reader, req, form->head, err);
    return status == HT_OK ? write_trials(piece, form, err) : status;
}

enum ht_status jobs_answer_with_trials(struct reader *reader,
                                       struct request *req,
                                       const struct job_form *form,
                                       struct ht_error *err)
{
    struct job_piece piece = {
        .reader = reader, .req = req, .arena = arena_new()};
    const enum ht_status status = write_piece(&piece, form, err);
    arena_free(piece.arena);
    return status;
}

/* --- Vertex's job --- */

static enum ht_status write_by_id(const struct job_piece *piece, bool *more,
                                  struct ht_error *err)
{
    struct request *req = piece->req;
    struct trial_walk walk = {.reader = piece->reader,
                              .req = req,
                              .study = piece->study,
                              .job = piece->job,
                              .page = {PIECE_TRIALS, req->cursor},
                              .continues = req->cursor > 0};
    const enum ht_status status = trials_walk(&walk, more, err);
    if (status == HT_OK)
        req->cursor = walk.last;
    return status;
}

enum ht_status read_job(struct reader *reader, struct request *req,
                        struct ht_error *err)
{
    static const struct job_form vertex = {
        .head = view_job, .trials = write_by_id, .depth = 1};
    enum { FULL, BASIC };
    static const char *const views[] = {"FULL", "BASIC", NULL};
    size_t view;
    if (query_choice(req, "view", views, &view, err) != HT_OK)
        return HT_INVALID;
    return view == BASIC ? jobs_show(reader, req, view_job, err)
                         : jobs_answer_with_trials(reader, req, &vertex, err);
}
