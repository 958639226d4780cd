#include "tuner/wire/envelope.h"

#include "proto/base/token.h"
#include "proto/doc/json.h"
#include "tuner/core/audit.h"
#include "tuner/core/core.h"

enum { RETRY_MS = 1000 };

static int64_t id_of(const struct request *req)
{
    return req->body == NULL ? 0 : node_get_int(req->body, "id", 0);
}

static cJSON *begin(const struct request *req, const char *status)
{
    cJSON *answer = cJSON_CreateObject();
    json_add_int(answer, "v", 1);
    json_add_int(answer, "id", id_of(req));
    json_add_string(answer, "status", status);
    return answer;
}

cJSON *wire_ok(const struct request *req)
{
    return begin(req, "ok");
}

void wire_reply(struct request *req, cJSON *answer)
{
    json_print(answer, &req->reply);
}

enum ht_status wire_finish(struct request *req, cJSON *answer,
                           enum ht_status status)
{
    if (status == HT_OK)
        wire_reply(req, answer);
    else
        cJSON_Delete(answer);
    return status;
}

static const char retry[] = "retry";

static const char *status_of(enum ht_status status)
{
    switch (status) {
    case HT_OK:
        return "ok";
    case HT_NOT_FOUND:
    case HT_CONFLICT:
    case HT_PRECONDITION:
        return "gone";
    case HT_UNAUTHENTICATED:
    case HT_DENIED:
    case HT_MISDIRECTED:
        return "denied";
    case HT_INVALID:
    case HT_NO_METHOD:
    case HT_UNIMPLEMENTED:
    case HT_EXISTS:
    case HT_TOO_LARGE:
    case HT_HEADER_TOO_LARGE:
        return "invalid";
    case HT_LIMIT:
    case HT_EXHAUSTED:
    case HT_INTERNAL:
    case HT_IO:
    case HT_CORRUPT:
    case HT_UNAVAILABLE:
    case HT_TIMEOUT:
        break;
    }
    return retry;
}

void wire_answer(const struct request *req, struct text *out)
{
    if (req->status == HT_OK) {
        text_append(out, req->reply.data, req->reply.len);
        return;
    }
    const char *status = status_of(req->status);
    cJSON *answer = begin(req, status);
    if (status == retry)
        json_add_int(answer, "retryMs", RETRY_MS);
    json_add_string(answer, "error", req->err.text);
    json_print(answer, out);
}

void wire_note_refusal(struct core *core, const struct request *req,
                       const char *address, const struct ht_error *err)
{
    const struct audit_note note = {
        .from = &req->from,
        .method = address,
        .pattern = node_get_string(req->body, "type", ""),
        .detail = node_get_string(req->body, "runner", NULL),
        .status = err->status,
        .error = err->text};
    audit_note(core, &note);
}

enum ht_status wire_check_runner(struct core *core, const struct request *req,
                                 struct ht_error *err)
{
    unsigned char given[TOKEN_HASH_BYTES], wanted[TOKEN_HASH_BYTES];
    token_hash(given, node_get_string(req->body, "token", ""));
    token_hash(wanted, core_options_of(core)->runner_token);
    if (!token_equal(given, wanted)) {
        ht_fail(err, HT_UNAUTHENTICATED, "this is not the runner token");
        wire_note_refusal(core, req, "control", err);
        return err->status;
    }
    return HT_OK;
}

enum ht_status wire_name(const struct node *map, struct trial_name *name,
                         struct ht_error *err)
{
    const struct trial_name found = {.study = node_get_int(map, "study", 0),
                                     .trial = node_get_int(map, "trial", 0),
                                     .attempt =
                                         node_get_int(map, "attempt", 0)};
    if (found.study < 1 || found.trial < 1 || found.attempt < 1)
        return ht_fail(err, HT_INVALID,
                       "study, trial and attempt must be positive integers");
    *name = found;
    return HT_OK;
}

void wire_add_name(cJSON *object, const struct trial_name *name)
{
    json_add_int(object, "study", name->study);
    json_add_int(object, "trial", name->trial);
    json_add_int(object, "attempt", name->attempt);
}
