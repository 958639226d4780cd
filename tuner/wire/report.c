#include "tuner/wire/report.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/token.h"
#include "proto/doc/json.h"
#include "tuner/base/budget.h"
#include "tuner/base/meter.h"
#include "tuner/core/core.h"
#include "tuner/db/write.h"
#include "tuner/study/early_stop.h"
#include "tuner/study/living_attempts.h"
#include "tuner/study/measured.h"
#include "tuner/study/move.h"
#include "tuner/study/report_batch.h"
#include "tuner/study/silence.h"
#include "tuner/wire/envelope.h"

/* --- storing --- */

static void add_have(cJSON *answer, const struct report_batch *batch)
{
    cJSON *have = json_add_object(answer, "have");
    for (size_t i = 0; i < batch->n_writers; i++) {
        char key[17];
        if (batch->writers[i].writer == 0)
            continue; /* its numbers are hashes, not a count */
        report_batch_writer_text(key, batch->writers[i].writer);
        json_add_int(have, key, batch->writers[i].have);
    }
}

static int64_t age_of(struct core *core, const struct attempt_row *attempt)
{
    return attempt->started_ms > 0 ? core_wall_ms(core) - attempt->started_ms
                                   : 0;
}

/* Once for each replica, with its first record that is dropped. */
static enum ht_status warn(struct core *core, const struct report_batch *batch,
                           struct ht_error *err)
{
    const char *name = budget_table[batch->beyond].name;
    struct event_row event = {
        .study = batch->trial->study,
        .kind = "trial.warned",
        .trial = batch->trial->id,
        .attempt = batch->attempt->n,
        .reason = arena_printf(
            batch->arena,
            "%s reports more than the budget %s allows: only a part is stored, "
            "the result still counts all; hypertuned --budget %s=N changes it",
            batch->key.replica, name, name)};
    return move_event(core, &event, err);
}

static enum ht_status begin_batch(struct core *core, struct request *req,
                                  struct trial_pair *pair,
                                  struct report_batch *batch,
                                  struct ht_error *err)
{
    const char *replica = node_get_string(req->body, "replica", "master-0");
    const struct job *job;
    const enum ht_status status = core_job(core, pair->trial.study, &job, err);
    if (status != HT_OK)
        return status;
    if (!living_attempts_has_replica(job, replica))
        return ht_fail(err, HT_INVALID, "the attempt has no replica %.64s",
                       replica);
    *batch = (struct report_batch){.db = core_db(core),
                                   .arena = req->arena,
                                   .trial = &pair->trial,
                                   .attempt = &pair->attempt,
                                   .age_ms = age_of(core, &pair->attempt),
                                   .job = job,
                                   .key = {.study = pair->trial.study,
                                           .trial = pair->trial.id,
                                           .attempt = pair->attempt.n,
                                           .replica = replica}};
    return report_batch_begin(batch, err);
}

/* The sender gets its answer after they are stored, and repeats a refused
 * message; so they are counted by message, not by row. */
static void count_records(const struct node *records)
{
    meter_add(METER_REPORT_MESSAGES, 1);
    meter_add(METER_RECORDS, (int64_t)records->count);
}

static enum ht_status add_records(struct report_batch *batch,
                                  const struct node *records,
                                  struct ht_error *err)
{
    if (records == NULL || records->kind != NODE_LIST)
        return ht_fail(err, HT_INVALID, "records must be a list");
    enum ht_status status = HT_OK;
    for (const struct node *node = records->first;
         status == HT_OK && node != NULL; node = node->next)
        status = report_batch_add(batch, node, err);
    if (status == HT_OK)
        count_records(records);
    return status;
}

enum ht_status report_store(struct core *core, struct request *req,
                            struct trial_pair *pair, cJSON *answer,
                            struct ht_error *err)
{
    struct report_batch batch = {0};
    silence_end(core, &pair->attempt);
    core_act_for(core, "trial"); /* also where its runner sends them */
    enum ht_status status = begin_batch(core, req, pair, &batch, err);
    if (status == HT_OK)
        status = add_records(&batch, node_find(req->body, "records"), err);
    if (status == HT_OK)
        status = report_batch_end(&batch, err);
    if (status == HT_OK && batch.first_dropped)
        status = warn(core, &batch, err);
    if (status == HT_OK && batch.moved_latest)
        status = measured_note(core, &pair->trial, err);
    if (status != HT_OK)
        return status;
    if (batch.moved_latest)
        early_stop_ask(core, batch.job, &pair->trial, false);
    add_have(answer, &batch);
    json_add_int(answer, "thin", 1); /* the server thins, see thinning.h */
    json_add_bool(answer, "stop", pair->trial.state == TRIAL_STOPPING);
    return HT_OK;
}

/* --- messages of the report address --- */

static enum ht_status find_attempt(struct core *core, struct request *req,
                                   struct attempt_row *attempt,
                                   struct ht_error *err)
{
    const char *token = node_get_string(req->body, "token", "");
    if (strlen(token) != (size_t)2 * TOKEN_TRIAL_BYTES)
        return ht_fail(err, HT_DENIED, "this is no trial token");
    unsigned char hash[TOKEN_HASH_BYTES];
    token_hash(hash, token);
    return db_attempt_by_token(core_db(core), req->arena, hash, attempt, err);
}

/* A token that no attempt has is a refusal, though the answer of one whose
 * study was deleted tells it to end. */
static void note_wrong_token(struct core *core, const struct request *req,
                             const struct ht_error *err)
{
    struct ht_error denied;
    ht_fail(&denied, HT_DENIED, "%s", err->text);
    wire_note_refusal(core, req, "report", &denied);
}

static enum ht_status find_by_token(struct core *core, struct request *req,
                                    struct trial_pair *pair,
                                    struct ht_error *err)
{
    struct db *db = core_db(core);
    enum ht_status status = find_attempt(core, req, &pair->attempt, err);
    if (status == HT_DENIED || status == HT_NOT_FOUND)
        note_wrong_token(core, req, err);
    if (status == HT_OK)
        status = db_trial_get(db, req->arena, pair->attempt.study,
                              pair->attempt.trial, &pair->trial, err);
    if (status != HT_OK)
        return status;
    if (pair->attempt.state > ATTEMPT_RUNNING ||
        pair->attempt.n != pair->trial.attempt)
        return ht_fail(err, HT_NOT_FOUND, "the attempt has ended");
    return HT_OK;
}

static enum ht_status handle_report(struct core *core, struct request *req,
                                    struct ht_error *err)
{
    struct trial_pair pair = {0};
    enum ht_status status = find_by_token(core, req, &pair, err);
    cJSON *answer = wire_ok(req);
    if (status == HT_OK)
        status = report_store(core, req, &pair, answer, err);
    return wire_finish(req, answer, status);
}

static enum ht_status handle_should_stop(struct core *core, struct request *req,
                                         struct ht_error *err)
{
    struct trial_pair pair = {0};
    const enum ht_status status = find_by_token(core, req, &pair, err);
    if (status != HT_OK)
        return status;
    const bool stop = pair.trial.state == TRIAL_STOPPING;
    cJSON *answer = wire_ok(req);
    json_add_bool(answer, "stop", stop);
    json_add_string(answer, "reason", stop ? pair.trial.reason : "");
    wire_reply(req, answer);
    return HT_OK;
}

enum ht_status report_handle(struct core *core, struct request *req,
                             struct ht_error *err)
{
    static const struct {
        const char *type;
        request_handler *handle;
    } types[] = {{"report", handle_report},
                 {"should-stop", handle_should_stop}};
    if (req->body == NULL || req->body->kind != NODE_MAP)
        return ht_fail(err, HT_INVALID, "a message is an object");
    const char *type = node_get_string(req->body, "type", "");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].type, type) == 0)
            return types[i].handle(core, req, err);
    return ht_fail(err, HT_INVALID, "unknown type %.40s", type);
}
