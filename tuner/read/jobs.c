#include "tuner/read/reader.h"

#include <string.h>

#include "proto/doc/json.h"
#include "tuner/read/list.h"
#include "tuner/view/view.h"

/* --- what a filter may ask for --- */

/* Vertex's states of jobs, those of studies, and what only we tell apart. */
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
        {                                                                      \
            NULL, FILTER_TEXT, NULL                                            \
        }                                                                      \
    }
static const struct filter_field job_fields[] = FIELDS(job_states);
static const struct filter_field study_fields[] = FIELDS(study_states);
static const struct filter_field all_fields[] = FIELDS(all_states);

/* `state` is that of the resource as it is shown; it is called by its name or
 * its number. */
static size_t look_up(const struct candidate *candidate, const char *state,
                      const char *field, const char *key,
                      const char *values[FILTER_VALUES])
{
    const struct study_row *study = candidate->study;
    size_t n;
    if (list_candidate_has(candidate, field, key, values, &n))
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

/* --- lists --- */

#define COLLECTION(called, of, viewer, filtered, looked_up)                    \
    {                                                                          \
        .key = (called), .message = (of), .view = (viewer),                    \
        .fields = (filtered), .look_up = (looked_up), .sizes = {               \
            PAGE_DEFAULT,                                                      \
            PAGE_MOST                                                          \
        }                                                                      \
    }

enum ht_status read_jobs(struct reader *reader, struct request *req,
                         struct ht_error *err)
{
    static const struct collection jobs =
        COLLECTION("hyperparameterTuningJobs", "HyperparameterTuningJob",
                   view_job, job_fields, look_up_job);
    return list_answer(reader, req, &jobs, err);
}

enum ht_status read_custom_jobs(struct reader *reader, struct request *req,
                                struct ht_error *err)
{
    static const struct collection jobs = COLLECTION(
        "customJobs", "CustomJob", view_job, job_fields, look_up_job);
    return list_answer(reader, req, &jobs, err);
}

enum ht_status read_studies(struct reader *reader, struct request *req,
                            struct ht_error *err)
{
    static const struct collection studies =
        COLLECTION("studies", "Study", view_study, study_fields, look_up_study);
    return list_answer(reader, req, &studies, err);
}

enum ht_status read_all_kinds(struct reader *reader, struct request *req,
                              struct ht_error *err)
{
    static const struct collection studies =
        COLLECTION("studies", "OfAnyKind", view_job, all_fields, look_up_job);
    return list_answer(reader, req, &studies, err);
}

/* --- one resource --- */

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

/* Clients that want any kind of job without trials say so, too. */
enum ht_status read_any_kind(struct reader *reader, struct request *req,
                             struct ht_error *err)
{
    static const char *const views[] = {"BASIC", NULL};
    size_t view;
    const enum ht_status status = query_choice(req, "view", views, &view, err);
    return status == HT_OK ? show(reader, req, view_job, err) : status;
}
