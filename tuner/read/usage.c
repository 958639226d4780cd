/* usage.c - what the replicas of a trial used of their machines. */

#include "proto/doc/json.h"
#include "tuner/db/trial_usage.h"
#include "tuner/read/trials.h"

static void write_row(const struct trial_usage_row *row, struct text *reply)
{
    cJSON *item = cJSON_CreateObject();
    json_add_int(item, "attempt", row->attempt);
    json_add_string(item, "replica", row->replica);
    json_add_string(item, "device", row->device);
    cJSON_AddItemToObject(item, "series", cJSON_CreateRaw(row->series));
    json_print(item, reply);
}

enum ht_status read_usage(struct reader *reader, struct request *req,
                          struct ht_error *err)
{
    struct study_row study;
    struct trial_row trial = {0};
    struct trial_usage_list list;
    enum ht_status status = read_find_study(reader, req, &study, NULL, err);
    if (status == HT_OK)
        status = read_find_trial(reader, req, &study, req->trial, &trial, err);
    if (status == HT_OK)
        status = db_trial_usage_list(reader->db, req->arena, study.id, trial.id,
                                     &list, err);
    if (status != HT_OK)
        return status;
    text_puts(&req->reply, "{\"usage\":[");
    for (size_t i = 0; i < list.n; i++) {
        text_puts(&req->reply, i > 0 ? "," : "");
        write_row(&list.rows[i], &req->reply);
    }
    text_puts(&req->reply, "]}");
    return HT_OK;
}
