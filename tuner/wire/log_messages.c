#include "tuner/wire/log_messages.h"

#include <string.h>

#include "proto/doc/json.h"
#include "tuner/core/disk_guard.h"
#include "tuner/logs/logs.h"
#include "tuner/study/living_attempts.h"
#include "tuner/study/silence.h"
#include "tuner/wire/envelope.h"

static void stored(void *context, enum ht_status status, int64_t next)
{
    struct request *req = context;
    req->status = status;
    if (status == HT_OK) {
        cJSON *answer = wire_ok(req);
        json_add_int(answer, "offset", next);
        wire_reply(req, answer);
    } else {
        ht_fail(&req->err, status, "the log cannot be stored now");
    }
    req->answer(req);
}

static enum ht_status read_chunk(const struct request *req, struct log_key *key,
                                 struct ht_error *err)
{
    struct trial_name name;
    const enum ht_status status = wire_name(req->body, &name, err);
    if (status != HT_OK)
        return status;
    *key = (struct log_key){
        .study = name.study,
        .trial = name.trial,
        .attempt = name.attempt,
        .replica = node_get_string(req->body, "replica", "master-0"),
        .stream = node_get_string(req->body, "stream", "")};
    if (!logs_has_stream(key->stream))
        return ht_fail(err, HT_INVALID,
                       "stream must be stdout, stderr or runner");
    if (node_get_int(req->body, "offset", 0) < 0 ||
        node_get_int(req->body, "bytes", 0) < 0)
        return ht_fail(err, HT_INVALID, "offset and bytes count from 0");
    return HT_OK;
}

static enum ht_status check(struct core *core, const struct request *req,
                            struct log_key *key, struct ht_error *err)
{
    enum ht_status status = wire_check_runner(core, req, err);
    if (status == HT_OK)
        status = read_chunk(req, key, err);
    const struct trial_name name = {key->study, key->trial, key->attempt};
    return status == HT_OK
               ? living_attempts_check(
                     core, &name, node_get_string(req->body, "runner", ""),
                     node_get_string(req->body, "boot", ""), key->replica, err)
               : status;
}

void log_messages_handle(struct core *core, struct logs *logs,
                         struct request *req)
{
    struct log_key key = {0};
    req->status = check(core, req, &key, &req->err);
    if (req->status != HT_OK) {
        req->answer(req);
        return;
    }
    if (disk_guard_is_closed(core)) {
        stored(req, HT_UNAVAILABLE, 0);
        return;
    }
    const char *data = node_get_string(req->body, "data", "");
    const size_t len = strlen(data);
    if (strcmp(key.stream, "runner") != 0)
        silence_end_printed(core, key.study, key.trial, key.attempt);
    logs_append(logs, &key, node_get_int(req->body, "offset", 0),
                node_get_int(req->body, "bytes", (int64_t)len), data, len,
                stored, req);
}
