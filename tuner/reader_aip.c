#include <string.h>

#include "proto/json.h"
#include "tuner/reader_job.h"
#include "tuner/view_aip.h"

/* --- one job --- */

static enum ht_status view_output(const struct trial_walk *walk,
                                  struct arena *arena,
                                  const struct trial_row *trial, cJSON **out,
                                  struct ht_error *err)
{
    return view_aip_trial(walk->reader->db, arena, walk->job, trial, out, err);
}

/* A job that does not search has no trials to show, and of a damaged one they
 * cannot be read. */
static bool has_trials(struct arena *arena, const struct study_row *study)
{
    struct job *job;
    return study->kind == JOB_TUNING &&
           job_parse(arena, study->spec, &job, NULL) == HT_OK;
}

static enum ht_status write_plain(struct reader *reader, struct request *req,
                                  struct arena *arena,
                                  const struct study_row *study,
                                  struct ht_error *err)
{
    cJSON *item;
    const enum ht_status status =
        view_aip(reader->db, arena, study, &item, err);
    if (status == HT_OK)
        json_print(item, &req->reply);
    return status;
}

enum ht_status read_aip_job(struct reader *reader, struct request *req,
                            struct ht_error *err)
{
    /* {..., "trainingOutput": {..., "trials": [...]}} */
    static const struct job_form form = {
        .head = view_aip, .trial = view_output, .depth = 2};
    struct study_row study;
    struct arena *arena = arena_new();
    enum ht_status status =
        db_study_find(reader->db, arena, &req->scope, req->study, &study, err);
    if (status == HT_NOT_FOUND)
        ht_fail(err, HT_NOT_FOUND, "there is no job %.128s in project %.64s",
                req->study, req->scope.project);
    if (status == HT_OK)
        status = has_trials(arena, &study)
                     ? reader_tell_job(reader, req, arena, &study, &form, err)
                     : write_plain(reader, req, arena, &study, err);
    arena_free(arena);
    return status;
}

/* --- lists --- */

static const struct filter_field filter_fields[] = {
    {"jobId", FILTER_TEXT},      {"state", FILTER_TEXT},
    {"createTime", FILTER_TIME}, {"startTime", FILTER_TIME},
    {"endTime", FILTER_TIME},    {"labels", FILTER_MAP},
    {NULL, FILTER_TEXT}};

static size_t look_up(void *item, const char *field, const char *key,
                      const char *values[FILTER_VALUES])
{
    const struct candidate *candidate = item;
    const struct study_row *study = candidate->study;
    if (strcmp(field, "labels") == 0)
        return candidate_label(candidate, key, values);
    if (strcmp(field, "createTime") == 0)
        return candidate_time(candidate, study->created_ms, values);
    if (strcmp(field, "startTime") == 0)
        return candidate_time(candidate, study->started_ms, values);
    if (strcmp(field, "endTime") == 0)
        return candidate_time(candidate, study->ended_ms, values);
    if (strcmp(field, "state") == 0)
        return view_aip_state(candidate->db, study, &values[0], NULL) == HT_OK;
    values[0] = study->name;
    return 1;
}

enum ht_status read_aip_jobs(struct reader *reader, struct request *req,
                             struct ht_error *err)
{
    /* The sizes that Google documents for this list. */
    static const struct collection jobs = {.key = "jobs",
                                           .view = view_aip,
                                           .fields = filter_fields,
                                           .look_up = look_up,
                                           .sizes = {20, 100}};
    return reader_list(reader, req, &jobs, err);
}
