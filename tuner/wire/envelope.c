#include "tuner/wire/envelope.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/token.h"
#include "proto/doc/json.h"
#include "tuner/base/token_board.h"
#include "tuner/core/audit.h"
#include "tuner/core/core.h"
#include "tuner/db/tokens.h"
#include "tuner/db/write.h"

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
    case HT_RANGE:
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

static bool is_shared_token(struct core *core, const unsigned char *given)
{
    unsigned char wanted[TOKEN_HASH_BYTES];
    token_hash(wanted, core_options_of(core)->runner_token);
    return token_equal(given, wanted);
}

static enum ht_status refuse_id(const char *id, struct ht_error *err)
{
    return ht_fail(err, HT_DENIED,
                   "runner %.64s belongs to another token: start this one with "
                   "a --state of its own",
                   id);
}

static enum ht_status find_named(struct core *core, const unsigned char *secret,
                                 struct token_row *row, struct ht_error *err)
{
    switch (token_board_find(core_options_of(core)->tokens, secret,
                             clock_wall_ms(), row)) {
    case TOKEN_UNKNOWN:
        return ht_fail(err, HT_UNAUTHENTICATED, "this is not the runner token");
    case TOKEN_EXPIRED:
    case TOKEN_REVOKED:
    case TOKEN_REPLACED:
        return ht_fail(err, HT_UNAUTHENTICATED,
                       "the token \"%s\" is expired, revoked or replaced: an "
                       "admin makes another one",
                       row->name);
    case TOKEN_VALID:
        break;
    }
    return row->role == TOKEN_OF_RUNNER
               ? HT_OK
               : ht_fail(err, HT_DENIED, "the token \"%s\" is no runner's",
                         row->name);
}

static enum ht_status check_runner(struct core *core, const struct request *req,
                                   struct ht_error *err)
{
    const char *id = node_get_string(req->body, "runner", "");
    unsigned char secret[TOKEN_HASH_BYTES];
    struct token_row row = {0};
    token_hash(secret, node_get_string(req->body, "token", ""));
    if (is_shared_token(core, secret))
        return token_board_has_runner(core_options_of(core)->tokens, id)
                   ? refuse_id(id, err)
                   : HT_OK;
    const enum ht_status status = find_named(core, secret, &row, err);
    /* It has no runner before its first hello. */
    const bool claims =
        row.runner[0] == '\0' &&
        strcmp(node_get_string(req->body, "type", ""), "hello") == 0;
    return status != HT_OK || claims || strcmp(row.runner, id) == 0
               ? status
               : refuse_id(id, err);
}

enum ht_status wire_check_runner(struct core *core, const struct request *req,
                                 struct ht_error *err)
{
    const enum ht_status status = check_runner(core, req, err);
    if (status != HT_OK)
        wire_note_refusal(core, req, "control", err);
    return status;
}

static void apply_claim(struct core *core, const void *data)
{
    (void)token_board_put(core_options_of(core)->tokens, data);
}

enum ht_status wire_claim_runner(struct core *core, struct request *req,
                                 struct ht_error *err)
{
    const char *id = node_get_string(req->body, "runner", "");
    unsigned char secret[TOKEN_HASH_BYTES];
    const char *owner = NULL;
    struct db *db = core_db(core);
    struct token_row row = {0};
    bool is_known = false;
    token_hash(secret, node_get_string(req->body, "token", ""));
    enum ht_status status = db_token_of_runner(db, req->arena, id, &owner, err);
    if (status == HT_OK && is_shared_token(core, secret))
        return owner == NULL ? HT_OK : refuse_id(id, err);
    if (status == HT_OK)
        status = find_named(core, secret, &row, err);
    /* The board does not have what this transaction has changed. */
    if (status == HT_OK)
        status = db_token_get(db, req->arena, row.name, &row, err);
    if (status == HT_OK && strcmp(row.runner, id) == 0)
        return HT_OK;
    if (status == HT_OK)
        status = db_runner_exists(db, id, &is_known, err);
    if (status != HT_OK)
        return status;
    if (row.runner[0] != '\0' || owner != NULL || is_known)
        return refuse_id(id, err);
    snprintf(row.runner, sizeof row.runner, "%s", id);
    status = db_token_save(db, &row, err);
    if (status == HT_OK)
        core_defer(core, apply_claim, &row, sizeof row);
    return status;
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
