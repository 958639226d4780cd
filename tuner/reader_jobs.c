#include "tuner/reader.h"

#include <string.h>

#include "proto/json.h"
#include "tuner/reader_list.h"
#include "tuner/view.h"

/* --- what a filter may ask for --- */

static const struct filter_field filter_fields[] = {
    {"state", FILTER_TEXT},      {"displayName", FILTER_TEXT},
    {"name", FILTER_TEXT},       {"createTime", FILTER_TIME},
    {"updateTime", FILTER_TIME}, {"labels", FILTER_MAP},
    {NULL, FILTER_TEXT}};

static size_t look_up(void *item, const char *field, const char *key,
                      const char *values[FILTER_VALUES])
{
    const struct candidate *candidate = item;
    const struct study_row *study = candidate->study;
    size_t n;
    if (candidate_has(candidate, field, key, values, &n))
        return n;
    if (strcmp(field, "state") == 0) {
        values[0] = view_job_state(study);
        values[1] = study_state_name(study->state);
        return 2;
    }
    values[0] = strcmp(field, "name") == 0 ? study->name : study->display;
    return 1;
}

/* --- what a readMask may name --- */

#define MEMBERS_OF_ALL                                                         \
    "name", "displayName", "state", "createTime", "hypertuneStatus."
#define MEMBERS_OF_JOBS                                                        \
    "startTime", "endTime", "updateTime", "error.", "labels.",                 \
        "encryptionSpec.", "satisfiesPzs", "satisfiesPzi", "hypertune."
#define MEMBERS_OF_TUNING                                                      \
    "maxTrialCount", "parallelTrialCount", "maxFailedTrialCount",              \
        "trialJobSpec.", "trials."
#define MEMBERS_OF_CUSTOM "jobSpec.", "webAccessUris."
#define MEMBERS_OF_STUDIES "studySpec.", "inactiveReason"

static const char *const tuning_members[] = {
    MEMBERS_OF_ALL, MEMBERS_OF_JOBS, MEMBERS_OF_TUNING, "studySpec.", NULL};
static const char *const custom_members[] = {MEMBERS_OF_ALL, MEMBERS_OF_JOBS,
                                             MEMBERS_OF_CUSTOM, NULL};
static const char *const study_members[] = {MEMBERS_OF_ALL, MEMBERS_OF_STUDIES,
                                            NULL};
static const char *const all_members[] = {MEMBERS_OF_ALL,     MEMBERS_OF_JOBS,
                                          MEMBERS_OF_TUNING,  MEMBERS_OF_CUSTOM,
                                          MEMBERS_OF_STUDIES, NULL};

/* --- lists --- */

#define COLLECTION(called, viewer, shown)                                      \
    {                                                                          \
        .key = (called), .view = (viewer), .members = (shown),                 \
        .fields = filter_fields, .look_up = look_up, .sizes = {                \
            PAGE_DEFAULT,                                                      \
            PAGE_MOST                                                          \
        }                                                                      \
    }

enum ht_status read_jobs(struct reader *reader, struct request *req,
                         struct ht_error *err)
{
    static const struct collection jobs =
        COLLECTION("hyperparameterTuningJobs", view_job, tuning_members);
    return reader_list(reader, req, &jobs, err);
}

enum ht_status read_custom_jobs(struct reader *reader, struct request *req,
                                struct ht_error *err)
{
    static const struct collection jobs =
        COLLECTION("customJobs", view_job, custom_members);
    return reader_list(reader, req, &jobs, err);
}

enum ht_status read_studies(struct reader *reader, struct request *req,
                            struct ht_error *err)
{
    static const struct collection studies =
        COLLECTION("studies", view_study, study_members);
    return reader_list(reader, req, &studies, err);
}

enum ht_status read_all_kinds(struct reader *reader, struct request *req,
                              struct ht_error *err)
{
    static const struct collection studies =
        COLLECTION("studies", view_job, all_members);
    return reader_list(reader, req, &studies, err);
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

enum ht_status read_any_kind(struct reader *reader, struct request *req,
                             struct ht_error *err)
{
    return show(reader, req, view_job, err);
}
