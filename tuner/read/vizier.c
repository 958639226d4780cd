/* vizier.c - studies by display name, their metadata and optimal trials. */

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/query.h"
#include "tuner/ask/trial_body.h"
#include "tuner/db/metadata.h"
#include "tuner/read/reader.h"
#include "tuner/read/trials.h"
#include "tuner/search/pareto_trials.h"
#include "tuner/view/view.h"

/* --- lookup --- */

static const struct field lookup_fields[] = {
    {.name = "displayName", .read = field_text}, {0}};

enum ht_status read_lookup(struct reader *reader, struct request *req,
                           struct ht_error *err)
{
    const char *display = NULL;
    struct study_row study;
    cJSON *view;
    enum ht_status status = trial_body_read(req, lookup_fields, &display, err);
    if (status == HT_OK && display == NULL) {
        diag_error(faults_of(req), 0, 0, "displayName", "is missing");
        status = faults_check(req, err);
    }
    if (status == HT_OK)
        status = db_study_by_display(reader->db, req->arena, &req->scope,
                                     display, &study, err);
    if (status == HT_OK)
        status = view_study(reader->db, req->arena, &study, &view, err);
    if (status == HT_OK)
        json_print(view, &req->reply);
    return status;
}

/* --- listOptimalTrials --- */

static enum ht_status write_trials(struct reader *reader, struct request *req,
                                   const struct study_row *study,
                                   const struct job *job,
                                   const struct id_list *ids,
                                   struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < ids->n; i++) {
        struct trial_row trial;
        cJSON *view;
        status = db_trial_get(reader->db, req->arena, study->id, ids->ids[i],
                              &trial, err);
        if (status == HT_OK)
            status = view_trial(reader->db, req->arena, study, job, &trial,
                                false, &view, err);
        if (status != HT_OK)
            break;
        text_puts(&req->reply, i > 0 ? "," : "");
        json_print(view, &req->reply);
    }
    return status;
}

enum ht_status read_optimal(struct reader *reader, struct request *req,
                            struct ht_error *err)
{
    struct study_row study;
    struct job *job;
    struct id_list ids = {0};
    bool within = false;
    enum ht_status status = trial_body_none(req, err);
    if (status == HT_OK)
        status = query_flag(req, "within", &within, err);
    if (status == HT_OK)
        status = read_find_study(reader, req, &study, &job, err);
    if (status == HT_OK && job->n_metrics > 0)
        status = pareto_trials_list(
            reader->db, req->arena,
            &(struct pareto_trials_scope){.study = study.id, .within = within},
            job, &ids, err);
    if (status != HT_OK)
        return status;
    text_puts(&req->reply, "{\"optimalTrials\":[");
    status = write_trials(reader, req, &study, job, &ids, err);
    text_puts(&req->reply, "]}");
    return status;
}

/* --- notes --- */

/* Of a study, or of the trial that the path names. */
enum ht_status read_notes(struct reader *reader, struct request *req,
                          struct ht_error *err)
{
    struct study_row study;
    struct trial_row trial = {0};
    cJSON *notes;
    enum ht_status status = read_find_study(reader, req, &study, NULL, err);
    if (status == HT_OK && req->trial != NULL)
        status = read_find_trial(reader, req, &study, req->trial, &trial, err);
    if (status == HT_OK)
        status =
            view_notes(reader->db, req->arena, study.id, trial.id, &notes, err);
    if (status == HT_OK)
        json_print(notes, &req->reply);
    return status;
}

/* --- metadata --- */

enum { MOST_ITEMS = 5000 }; /* in one answer; the client asks for the rest */

enum ht_status read_metadata(struct reader *reader, struct request *req,
                             struct ht_error *err)
{
    static const struct number_range versions = {0, INT64_MAX, 0};
    struct study_row study;
    struct metadata_list list;
    int64_t since;
    enum ht_status status = query_number(req, "since", &versions, &since, err);
    if (status == HT_OK)
        status = read_find_study(reader, req, &study, NULL, err);
    if (status == HT_OK)
        status = db_metadata_since(
            reader->db, req->arena,
            &(struct metadata_span){study.id, since, MOST_ITEMS}, &list, err);
    if (status != HT_OK)
        return status;
    cJSON *object = cJSON_CreateObject();
    json_add_int(object, "version",
                 list.n == 0 ? since : list.rows[list.n - 1].version);
    json_add_bool(object, "more", list.n == MOST_ITEMS);
    json_add_int(object, "nowMs", clock_wall_ms());
    cJSON *array = json_add_array(object, "metadata");
    for (size_t i = 0; i < list.n; i++) {
        cJSON *item = json_push_object(array);
        json_add_int(item, "trial", list.rows[i].trial);
        json_add_string(item, "ns", list.rows[i].ns);
        json_add_string(item, "key", list.rows[i].key);
        json_add_string(item, "value", list.rows[i].value);
    }
    json_print(object, &req->reply);
    return HT_OK;
}
