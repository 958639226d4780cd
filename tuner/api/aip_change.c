#include <string.h>

#include "proto/doc/json.h"
#include "tuner/api/aip.h"
#include "tuner/ask/faults.h"
#include "tuner/base/reason.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/db/write.h"
#include "tuner/study/move.h"
#include "tuner/view/aip.h"

/* Labels are all that may change; an etag only guards them. */
static void read_mask(struct request *req)
{
    struct diag *diag = faults_of(req);
    const char *mask = request_query(req, "updateMask");
    if (mask == NULL || *mask == '\0') {
        diag_error(diag, 0, 0, "updateMask", "is missing");
        diag_hint(diag, "labels can be changed");
        return;
    }
    char *rest = arena_strdup(req->arena, mask), *name;
    while ((name = strsep(&rest, ",")) != NULL) {
        if (strcmp(name, "labels") == 0 || strcmp(name, "etag") == 0)
            continue;
        diag_error(diag, 0, 0, "updateMask", "\"%.100s\" cannot be changed",
                   name);
        diag_hint(diag, "labels can");
    }
}

static enum ht_status check_etag(struct request *req, const struct job *job,
                                 const char *etag, struct ht_error *err)
{
    if (etag == NULL || strcmp(etag, view_aip_etag(req->arena, job)) == 0)
        return HT_OK;
    return ht_fail(err, HT_CONFLICT,
                   "the job's labels have changed since; its etag is %s",
                   view_aip_etag(req->arena, job));
}

/* Whatever has ended may get other labels too. */
static enum ht_status store(struct core *core, struct request *req,
                            struct study_row *row, const struct job *job,
                            const char *differences, struct ht_error *err)
{
    row->spec = json_text(req->arena, vertex_write(job));
    struct event_row event = {.study = row->id,
                              .kind = "study.changed",
                              .from = "",
                              .to = "",
                              .reason = reason_cut(req->arena, differences),
                              .data = ""};
    const enum ht_status status = move_event(core, &event, err);
    live_forget_job(core_memory(core), row->id);
    return status == HT_OK ? db_study_save(core_db(core), row, err) : status;
}

static enum ht_status change_labels(struct core *core, struct request *req,
                                    struct study_row *row,
                                    const struct aip_change *change,
                                    struct ht_error *err)
{
    struct job *job;
    enum ht_status status = vertex_parse(req->arena, row->spec, &job, err);
    if (status == HT_OK)
        status = check_etag(req, job, change->etag, err);
    if (status != HT_OK)
        return status;
    struct job wanted = *job;
    struct text differences = {0};
    wanted.labels = change->labels;
    if (form_diff(job, &wanted, &differences) > 0)
        status = store(core, req, row, &wanted, differences.data, err);
    text_free(&differences);
    return status;
}

enum ht_status aip_patch(struct core *core, struct request *req,
                         struct ht_error *err)
{
    struct study_row row;
    struct aip_change change;
    enum ht_status status = db_study_find(core_db(core), req->arena,
                                          &req->scope, req->study, &row, err);
    if (status != HT_OK)
        return status;
    if (req->body == NULL)
        return ht_fail(err, HT_INVALID, "the request has no body");
    read_mask(req);
    aip_read_change(req->body, &change, faults_of(req));
    if (faults_of(req)->errors > 0)
        return faults_fail(faults_of(req), err);
    status = change_labels(core, req, &row, &change, err);
    return status == HT_OK ? aip_reply(core, req, row.id, err) : status;
}
