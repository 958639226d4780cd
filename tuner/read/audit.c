/* audit.c - GET /hypertune/v1/audit: lines of the audit log. */

#include "tuner/db/audit.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "tuner/ask/query.h"
#include "tuner/read/reader.h"
#include "tuner/view/view.h"

static void add_text(cJSON *object, const char *name, const char *text)
{
    if (text[0] != '\0')
        json_add_string(object, name, text);
}

static void add_peer(cJSON *object, const char *peer)
{
    const int len = (int)strcspn(peer, " ");
    char address[64];
    snprintf(address, sizeof address, "%.*s", len, peer);
    add_text(object, "address", address);
    if (peer[len] != '\0')
        add_text(object, "certificate", peer + len + 1);
}

static cJSON *view_line(const struct audit_row *row)
{
    cJSON *object = cJSON_CreateObject();
    json_add_int(object, "id", row->id);
    view_add_stamp(object, "time", row->time_ms);
    json_add_string(object, "principal", row->who);
    add_peer(object, row->peer);
    add_text(object, "forwardedFor", row->forwarded);
    add_text(object, "action", row->action);
    add_text(object, "project", row->project);
    json_add_count(object, "studyId", row->study);
    add_text(object, "study", row->study_name);
    add_text(object, "trial", row->trial);
    add_text(object, "detail", row->detail);
    json_add_int(object, "code", row->code);
    add_text(object, "error", row->error);
    json_add_bool(object, "refused", row->refused);
    if (row->count > 1) {
        json_add_int(object, "count", row->count);
        view_add_stamp(object, "lastTime", row->last_ms);
    }
    return object;
}

static enum ht_status read_filter(struct request *req,
                                  struct audit_filter *filter,
                                  struct ht_error *err)
{
    static const struct number_range ids = {0, INT64_MAX, -1};
    static const struct number_range limits = {1, PAGE_MOST, PAGE_DEFAULT};
    const char *who = request_query(req, "principal");
    const char *study = request_query(req, "study");
    const char *after = request_query(req, "after");
    int64_t limit = 0;
    *filter = (struct audit_filter){.who = who != NULL ? who : "",
                                    .study = study != NULL ? study : ""};
    enum ht_status status =
        query_number(req, "since", &ids, &filter->since, err);
    if (status == HT_OK)
        status = query_number(req, "limit", &limits, &limit, err);
    if (status == HT_OK && after != NULL &&
        !clock_read_stamp(after, &filter->after_ms))
        status = ht_fail(err, HT_INVALID,
                         "after: \"%.40s\" is no time such as "
                         "2026-11-05T12:00:00Z",
                         after);
    filter->limit = (size_t)limit;
    return status;
}

enum ht_status read_audit(struct reader *reader, struct request *req,
                          struct ht_error *err)
{
    struct audit_filter filter;
    struct audit_list list;
    int64_t last = 0;
    enum ht_status status = read_filter(req, &filter, err);
    if (status == HT_OK)
        status =
            db_audit_list(reader->db, req->arena, &filter, &list, &last, err);
    if (status != HT_OK)
        return status;
    text_printf(&req->reply, "{\"last\":%lld,\"lines\":[", (long long)last);
    for (size_t i = 0; i < list.n; i++) {
        if (i > 0)
            text_puts(&req->reply, ",");
        json_print(view_line(&list.rows[i]), &req->reply);
    }
    text_puts(&req->reply, "]}");
    return HT_OK;
}
