#include "tuner/read/reader.h"

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "tuner/ask/page.h"
#include "tuner/db/metadata.h"

enum { MOST_ITEMS = 5000 }; /* in one answer; the asker goes on behind them */

enum ht_status read_metadata(struct reader *reader, struct request *req,
                             struct ht_error *err)
{
    static const struct number_range versions = {0, INT64_MAX, 0};
    struct study_row study;
    struct metadata_list list;
    int64_t since;
    enum ht_status status = page_number(req, "since", &versions, &since, err);
    if (status == HT_OK)
        status = db_study_find(reader->db, req->arena, &req->scope, req->study,
                               &study, err);
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
