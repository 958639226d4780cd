#include "tuner/api/trial_fetch.h"

#include <stddef.h>
#include <stdlib.h>

#include "proto/doc/json.h"
#include "tuner/api/method.h"
#include "tuner/ask/trial_body.h"
#include "tuner/db/trial_checkpoints.h"
#include "tuner/study/fetches.h"

struct asked {
    const char *fetch;
    bool checkpoint;
};

static const struct field fields[] = {
    {"fetch", field_text, .offset = offsetof(struct asked, fetch)},
    {"checkpoint", field_flag, .offset = offsetof(struct asked, checkpoint)},
    {0}};

static enum ht_status reply_checkpoint(struct method_call *call,
                                       struct ht_error *err)
{
    struct trial_checkpoint_list list = {0};
    const enum ht_status status = db_trial_checkpoints(
        call->db, call->arena, call->study.id, call->trial.id, &list, err);
    if (status != HT_OK)
        return status;
    if (list.n == 0)
        return ht_fail(err, HT_NOT_FOUND,
                       "the store has no checkpoint of trial %lld",
                       (long long)call->trial.id);
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "state", "READY");
    json_add_string(object, "project", call->study.project);
    json_add_string(object, "tree", list.rows[0].tree);
    json_add_int(object, "attempt", list.rows[0].attempt);
    if (list.rows[0].step >= 0)
        json_add_int_text(object, "step", list.rows[0].step);
    json_print(object, &call->req->reply);
    return HT_OK;
}

static void reply_answer(struct method_call *call,
                         const struct fetch_answer *answer)
{
    static const char *const states[] = {[FETCH_WAITING] = "WAITING",
                                         [FETCH_SENDING] = "SENDING",
                                         [FETCH_READY] = "READY",
                                         [FETCH_REFUSED] = "REFUSED"};
    cJSON *object = cJSON_CreateObject();
    json_add_int_text(object, "fetch", answer->id);
    json_add_string(object, "state", states[answer->state]);
    json_add_string(object, "runner", answer->runner);
    json_add_string(object, "host", answer->host);
    json_add_string(object, "project", call->study.project);
    if (answer->state == FETCH_SENDING) {
        json_add_int(object, "bytes", answer->bytes);
        json_add_int(object, "of", answer->of);
    }
    if (answer->state == FETCH_READY)
        json_add_string(object, "tree", answer->tree);
    json_print(object, &call->req->reply);
}

static enum ht_status fetch(struct method_call *call, struct ht_error *err)
{
    struct asked asked = {0};
    struct fetch_answer answer;
    enum ht_status status = trial_body_read(call->req, fields, &asked, err);
    if (status != HT_OK)
        return status;
    if (asked.checkpoint)
        return reply_checkpoint(call, err);
    const struct fetch_question question = {
        .study = &call->study,
        .job = call->job,
        .trial = &call->trial,
        .id = asked.fetch != NULL ? strtoll(asked.fetch, NULL, 10) : 0};
    status = fetches_ask(call->core, call->arena, &question, &answer, err);
    if (status == HT_OK)
        reply_answer(call, &answer);
    return status;
}

METHOD(trial_fetch, METHOD_TRIAL, fetch, NULL)
