#include "tuner/wire/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/release.h"
#include "proto/doc/json.h"
#include "tuner/base/reason.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/core/runner_rules.h"
#include "tuner/db/changes.h"
#include "tuner/db/write.h"
#include "tuner/study/checkpoints.h"
#include "tuner/study/fetches.h"
#include "tuner/study/living_attempts.h"
#include "tuner/study/outputs.h"
#include "tuner/study/report_batch.h"
#include "tuner/wire/envelope.h"
#include "tuner/wire/lease.h"
#include "tuner/wire/lease_stops.h"
#include "tuner/wire/report.h"
#include "tuner/wire/runner_online.h"
#include "tuner/wire/usage_messages.h"

enum {
    HEARTBEATS = 3, /* so many missed: the runner is lost */
    MAX_SLOTS = 10000,
    MAX_LISTED = 10000, /* attempts in one message */
    MAX_FACTS = 64 * 1024
};

/* --- what all messages share --- */

typedef enum ht_status control_type(struct core *core, struct request *req,
                                    struct live_runner *runner,
                                    struct ht_error *err);

static bool is_id(const char *text, size_t most)
{
    return text != NULL && *text != '\0' && strlen(text) <= most;
}

static bool is_sha256(const char *text)
{
    return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

/* --- attempts that a runner lists --- */

struct listed {
    size_t n;
    struct trial_name *names;
};

static enum ht_status read_listed(const struct request *req,
                                  struct listed *listed, struct ht_error *err)
{
    const struct node *list = node_find(req->body, "attempts");
    *listed = (struct listed){0};
    if (list == NULL)
        return HT_OK;
    if (list->kind != NODE_LIST || list->count > MAX_LISTED)
        return ht_fail(err, HT_INVALID, "attempts must be a short list");
    listed->names =
        arena_alloc(req->arena, list->count + 1, sizeof *listed->names);
    NODE_EACH (node, list->first)
        if (wire_name(node, &listed->names[listed->n++], err) != HT_OK)
            return HT_INVALID;
    return HT_OK;
}

static bool lists(const struct listed *listed,
                  const struct attempt_row *attempt)
{
    for (size_t i = 0; i < listed->n; i++)
        if (listed->names[i].study == attempt->study &&
            listed->names[i].trial == attempt->trial &&
            listed->names[i].attempt == attempt->n)
            return true;
    return false;
}

static enum ht_status lose_unlisted(struct core *core, struct request *req,
                                    const struct live_runner *runner,
                                    const struct listed *listed,
                                    struct ht_error *err)
{
    struct attempt_list open;
    enum ht_status status =
        db_attempt_open(core_db(core), req->arena, runner->id, &open, err);
    for (size_t i = 0; status == HT_OK && i < open.n; i++)
        if (!lists(listed, &open.rows[i]))
            status = runner_online_lose(
                core, req->arena, &open.rows[i],
                arena_printf(req->arena, "runner %s started again without it",
                             runner->id),
                err);
    return status;
}

/* Two lists of the answer: attempts that may continue at the runner and those
 * that must not. */
struct sorted {
    cJSON *keep, *forget; /* keep may be NULL: not asked for */
};

static enum ht_status sort_listed(struct core *core, struct request *req,
                                  const struct live_runner *runner,
                                  const struct listed *listed,
                                  const struct sorted *sorted,
                                  struct ht_error *err)
{
    for (size_t i = 0; i < listed->n; i++) {
        const struct trial_name *name = &listed->names[i];
        struct trial_pair pair;
        const enum ht_status status =
            trial_find(core, req->arena, name, runner->id, &pair, err);
        if (status != HT_OK && status != HT_NOT_FOUND && status != HT_DENIED)
            return status;
        cJSON *into = status == HT_OK ? sorted->keep : sorted->forget;
        if (into != NULL)
            wire_add_name(json_push_object(into), name);
    }
    return HT_OK;
}

/* --- hello --- */

/* How far the runner's clock is ahead, with its `rules`: no later message has
 * it.
 */
static const char *add_skew(struct core *core, const struct request *req,
                            const char *rules)
{
    const int64_t wall_ms =
        node_get_int(node_find(req->body, "rules"), "wallMs", 0);
    if (wall_ms <= 0)
        return rules;
    return arena_printf(req->arena, "%.*s,\"skewMs\":%lld}",
                        (int)strlen(rules) - 1, rules,
                        (long long)(wall_ms - core_wall_ms(core)));
}

static enum ht_status save_runner(struct core *core, struct request *req,
                                  const struct live_runner *runner,
                                  struct ht_error *err)
{
    const char *rules;
    if (runner_rules_text(req->arena, node_find(req->body, "rules"), &rules,
                          err) != HT_OK)
        return HT_INVALID;
    rules = add_skew(core, req, rules);
    const struct runner_row row = {
        .id = runner->id,
        .engine = node_get_string(req->body, "engine", "process"),
        .host = node_get_string(req->body, "host", ""),
        .boot = runner->boot,
        .slots = node_get_int(req->body, "slots", 1),
        .seen_ms = core_wall_ms(core),
        .online = true,
        .rules = rules};
    if (row.slots < 0 || row.slots > MAX_SLOTS)
        return ht_fail(err, HT_INVALID, "slots must be from 0 to %d",
                       MAX_SLOTS);
    if (strlen(row.engine) > HT_MAX_NAME || strlen(row.host) > HT_MAX_LABEL)
        return ht_fail(err, HT_INVALID, "engine or host is too long");
    runner_online_note(core, runner, true, row.slots);
    runner_online_note_rules(core, runner, row.engine, rules);
    living_attempts_greet(core, runner->id, runner->boot);
    return db_runner_save(core_db(core), &row, err);
}

static enum ht_status handle_hello(struct core *core, struct request *req,
                                   struct live_runner *runner,
                                   struct ht_error *err)
{
    struct listed listed;
    const char *release = node_get_string(req->body, "version", "");
    if (!release_fits(HT_VERSION, release))
        return ht_fail(err, HT_DENIED,
                       "this server is hypertune " HT_VERSION
                       ", the runner %.40s, and they may be one minor release "
                       "apart: install the same on both sides",
                       release);
    enum ht_status status = read_listed(req, &listed, err);
    if (status == HT_OK)
        status = save_runner(core, req, runner, err);
    if (status == HT_OK)
        status = lose_unlisted(core, req, runner, &listed, err);
    if (status != HT_OK)
        return status;
    cJSON *answer = wire_ok(req);
    json_add_int(answer, "heartbeatMs",
                 core_options_of(core)->lost_after_ms / HEARTBEATS);
    json_add_string(answer, "server", core_server_id(core));
    struct sorted sorted;
    sorted.keep = json_add_array(answer, "keep");
    sorted.forget = json_add_array(answer, "forget");
    status = sort_listed(core, req, runner, &listed, &sorted, err);
    if (status == HT_OK)
        core_wake(core, CORE_POLLS, 0);
    return wire_finish(req, answer, status);
}

/* --- heartbeat --- */

static void add_writers(const struct trial_name *name,
                        const struct replica_writer_list *list, cJSON *have)
{
    const char *replica = "";
    cJSON *writers = NULL;
    for (size_t i = 0; i < list->n; i++) {
        if (strcmp(list->rows[i].replica, replica) != 0) {
            replica = list->rows[i].replica;
            cJSON *item = json_push_object(have);
            wire_add_name(item, name);
            json_add_string(item, "replica", replica);
            writers = json_add_object(item, "writers");
        }
        char key[17];
        if (list->rows[i].row.writer == 0)
            continue;
        report_batch_writer_text(key, list->rows[i].row.writer);
        json_add_int(writers, key, list->rows[i].row.have);
    }
}

static enum ht_status add_have(struct core *core, struct request *req,
                               const struct live_runner *runner,
                               const struct listed *listed, cJSON *have,
                               struct ht_error *err)
{
    for (size_t i = 0; i < listed->n; i++) {
        const struct trial_name *name = &listed->names[i];
        struct trial_pair pair;
        struct replica_writer_list list;
        enum ht_status status =
            trial_find(core, req->arena, name, runner->id, &pair, err);
        if (status == HT_NOT_FOUND || status == HT_DENIED)
            continue;
        if (status == HT_OK)
            status = db_attempt_writers(core_db(core), req->arena,
                                        &pair.attempt, &list, err);
        if (status != HT_OK)
            return status;
        add_writers(name, &list, have);
    }
    return HT_OK;
}

static enum ht_status handle_heartbeat(struct core *core, struct request *req,
                                       struct live_runner *runner,
                                       struct ht_error *err)
{
    struct listed listed;
    enum ht_status status = read_listed(req, &listed, err);
    if (status != HT_OK)
        return status;
    cJSON *answer = wire_ok(req);
    cJSON *stops = json_add_array(answer, "stop");
    const struct sorted gone = {NULL, json_add_array(answer, "gone")};
    cJSON *have = json_add_array(answer, "have");
    cJSON *discard = json_add_array(answer, "discard");
    cJSON *fetch = json_add_array(answer, "fetch");
    status = fetches_settle(core, req, runner, err);
    fetches_add_wanted(core, runner, false, fetch);
    if (status == HT_OK)
        status = outputs_settle(core, req, runner, err);
    if (status == HT_OK)
        status = outputs_add_unwanted(core, req->arena, runner, discard, err);
    if (status == HT_OK)
        status = lease_add_stops(core, req->arena, runner, false, stops, err);
    if (status == HT_OK)
        status = sort_listed(core, req, runner, &listed, &gone, err);
    if (status == HT_OK)
        status = usage_messages_take(core, req, runner, err);
    if (status == HT_OK)
        status = add_have(core, req, runner, &listed, have, err);
    return wire_finish(req, answer, status);
}

/* --- the life of an attempt --- */

static enum ht_status find_attempt(struct core *core, struct request *req,
                                   const struct live_runner *runner,
                                   struct trial_pair *pair,
                                   struct ht_error *err)
{
    struct trial_name name;
    enum ht_status status = wire_name(req->body, &name, err);
    if (status == HT_OK)
        status = trial_find(core, req->arena, &name, runner->id, pair, err);
    return status == HT_DENIED ? HT_NOT_FOUND : status;
}

/* NULL when there are none; stored and shown as they are, with the fact from
 * the lease. */
static enum ht_status read_facts(const struct request *req,
                                 const struct attempt_row *attempt,
                                 const char **facts, struct ht_error *err)
{
    struct diag diag;
    const struct node *map = node_find(req->body, "facts");
    if (map == NULL)
        return HT_OK;
    if (map->kind != NODE_MAP)
        return ht_fail(err, HT_INVALID, "facts must be an object");
    struct text out = {0};
    diag_init(&diag, req->arena, "facts", NULL, 0);
    const struct node *leased = node_read_json(req->arena, attempt->facts,
                                               strlen(attempt->facts), &diag);
    cJSON *all = json_of_node(map);
    cJSON_DeleteItemFromObjectCaseSensitive(all, "spec");
    json_add_text(all, "spec", node_get_string(leased, "spec", NULL));
    json_print(all, &out);
    if (out.len <= MAX_FACTS)
        *facts = arena_strndup(req->arena, out.data, out.len);
    text_free(&out);
    return *facts != NULL ? HT_OK
                          : ht_fail(err, HT_INVALID, "facts are too long");
}

/* A piece of the text that the facts name by its hash; the answer says how much
 * of it there is. */
static enum ht_status keep_changes(struct core *core, const struct request *req,
                                   int64_t study, cJSON *answer,
                                   struct ht_error *err)
{
    const struct node *git = node_find(node_find(req->body, "facts"), "git");
    const struct changes_piece piece = {
        .study = study,
        .sha256 = node_get_string(node_find(git, "changes"), "sha256", ""),
        .from = node_get_int(req->body, "changesFrom", 0),
        .text = node_get_string(req->body, "changes", NULL)};
    int64_t have;
    if (piece.text == NULL)
        return HT_OK;
    if (strlen(piece.text) > DB_CHANGES_BYTES || piece.from < 0)
        return ht_fail(err, HT_INVALID, "changes are too long");
    if (!is_sha256(piece.sha256))
        return ht_fail(err, HT_INVALID,
                       "changes need facts.git.changes.sha256");
    const enum ht_status status =
        db_changes_keep(core_db(core), &piece, &have, err);
    if (status == HT_OK)
        json_add_int(answer, "changes", have);
    return status;
}

static enum ht_status handle_started(struct core *core, struct request *req,
                                     struct live_runner *runner,
                                     struct ht_error *err)
{
    struct trial_pair pair;
    const char *facts = NULL;
    cJSON *answer = wire_ok(req);
    enum ht_status status = find_attempt(core, req, runner, &pair, err);
    if (status == HT_OK)
        status = read_facts(req, &pair.attempt, &facts, err);
    if (status == HT_OK)
        status = keep_changes(core, req, pair.trial.study, answer, err);
    if (status == HT_OK)
        status = trial_started(core, &pair, facts, err);
    return wire_finish(req, answer, status);
}

static enum ht_status read_outcome(const struct request *req,
                                   struct trial_outcome *outcome,
                                   struct ht_error *err)
{
    static const enum attempt_outcome all[] = {OUTCOME_SUCCEEDED,
                                               OUTCOME_FAILED, OUTCOME_STOPPED,
                                               OUTCOME_TIMEOUT, OUTCOME_LOST};
    const char *name = node_get_string(req->body, "outcome", "");
    size_t i = 0;
    while (i < sizeof all / sizeof *all &&
           strcmp(name, db_attempt_outcome_name(all[i])) != 0)
        i++;
    if (i == sizeof all / sizeof *all)
        return ht_fail(err, HT_INVALID, "outcome %.40s is not known", name);
    const char *reason = node_get_string(req->body, "reason", "");
    *outcome = (struct trial_outcome){
        .outcome = all[i],
        .exit_code = node_get_int(req->body, "exit", -1),
        .signal = node_get_int(req->body, "signal", 0),
        .reason = reason_cut(req->arena, *reason == '\0' ? name : reason),
        .impossible = node_get_bool(req->body, "impossible", false)};
    return HT_OK;
}

/* The runner sends what an attempt elsewhere would continue from. */
static enum ht_status say_if_wanted(struct core *core,
                                    const struct trial_pair *pair,
                                    cJSON *answer, struct ht_error *err)
{
    const struct job *job;
    const enum ht_status status = core_job(core, pair->trial.study, &job, err);
    if (status == HT_OK)
        json_add_bool(
            answer, "checkpoint",
            checkpoints_are_wanted(&pair->trial, &pair->attempt, job));
    return status == HT_CORRUPT ? HT_OK : status;
}

static enum ht_status handle_ended(struct core *core, struct request *req,
                                   struct live_runner *runner,
                                   struct ht_error *err)
{
    struct trial_pair pair;
    struct trial_outcome outcome;
    enum ht_status status = read_outcome(req, &outcome, err);
    if (status == HT_OK)
        status = find_attempt(core, req, runner, &pair, err);
    if (status == HT_OK)
        status = trial_ended(core, req->arena, &pair, &outcome, err);
    cJSON *answer = wire_ok(req);
    if (status == HT_OK)
        status = say_if_wanted(core, &pair, answer, err);
    if (status == HT_OK)
        core_wake(core, CORE_POLLS, 0); /* its GPUs are free */
    return wire_finish(req, answer, status);
}

static enum ht_status handle_checkpoint(struct core *core, struct request *req,
                                        struct live_runner *runner,
                                        struct ht_error *err)
{
    struct trial_pair pair;
    enum ht_status status = find_attempt(core, req, runner, &pair, err);
    const char *tree = node_get_string(req->body, "tree", "");
    const int64_t step = node_get_int(req->body, "step", -1);
    if (status == HT_OK && pair.attempt.state == ATTEMPT_STARTING)
        status = ht_fail(err, HT_INVALID, "a checkpoint before started");
    if (status == HT_OK && !is_sha256(tree))
        status = ht_fail(err, HT_INVALID, "tree is not the name of one");
    if (status == HT_OK && (step < -1 || step > HT_MAX_STEPS))
        status = ht_fail(err, HT_INVALID, "step is not one");
    if (status == HT_OK)
        status =
            checkpoints_add(core, req->arena, &pair.attempt, tree, step, err);
    return wire_finish(req, wire_ok(req), status);
}

static enum ht_status handle_drained(struct core *core, struct request *req,
                                     struct live_runner *runner,
                                     struct ht_error *err)
{
    struct trial_pair pair;
    enum ht_status status = find_attempt(core, req, runner, &pair, err);
    if (status == HT_OK)
        status = usage_messages_take(core, req, runner, err);
    if (status == HT_OK)
        status = trial_drained(core, req->arena, &pair,
                               node_find(req->body, "evidence"),
                               node_get_bool(req->body, "saved", false), err);
    return wire_finish(req, wire_ok(req), status);
}

static enum ht_status handle_report(struct core *core, struct request *req,
                                    struct live_runner *runner,
                                    struct ht_error *err)
{
    struct trial_pair pair;
    enum ht_status status = find_attempt(core, req, runner, &pair, err);
    cJSON *answer = wire_ok(req);
    if (status == HT_OK)
        status = report_store(core, req, &pair, answer, err);
    return wire_finish(req, answer, status);
}

/* --- the table --- */

static const struct {
    const char *name;
    control_type *handle;
    bool remembered; /* others answer a repeat in the same way anyway */
} types[] = {
    {"hello", handle_hello, true},
    {"lease", lease_handle, true},
    {"started", handle_started, true},
    {"ended", handle_ended, true},
    {"drained", handle_drained, true},
    {"report", handle_report, false},
    {"heartbeat", handle_heartbeat, false},
    {"checkpoint", handle_checkpoint, false},
};

enum { TYPES = sizeof types / sizeof *types };
_Static_assert(TYPES <= (int)LIVE_TYPES, "every type has its slot");

static void remember(struct core *core, struct live_answer *answer, int64_t id,
                     const struct request *req)
{
    free(answer->text);
    *answer = (struct live_answer){.seen = id,
                                   .id = id,
                                   .transaction = core_transaction_number(core),
                                   .text = ht_xstrdup(req->reply.data)};
}

static enum ht_status handle_type(struct core *core, struct request *req,
                                  struct live_runner *runner, size_t type,
                                  struct ht_error *err)
{
    struct live_answer *answer = &runner->answers[type];
    const int64_t id = node_get_int(req->body, "id", 0);
    if (!types[type].remembered)
        return types[type].handle(core, req, runner, err);
    if (answer->id == id) {
        req->held_until_ms = 0;
        text_puts(&req->reply, answer->text);
        return HT_OK;
    }
    /* A poll must not get attempts when its runner has already sent a newer
     * one. */
    if (id < answer->seen)
        return ht_fail(err, HT_INVALID, "id %lld is older than %lld",
                       (long long)id, (long long)answer->seen);
    answer->seen = id;
    const enum ht_status status = types[type].handle(core, req, runner, err);
    if (status == HT_OK && req->reply.len > 0)
        remember(core, answer, id, req);
    return status;
}

/* NULL, with the reason in err, when the runner is refused. */
static struct live_runner *find_runner(struct core *core,
                                       const struct request *req, bool hello,
                                       struct ht_error *err)
{
    const char *id = node_get_string(req->body, "runner", NULL);
    const char *boot = node_get_string(req->body, "boot", NULL);
    if (!is_id(id, HT_MAX_NAME) || !is_id(boot, LIVE_BOOT_BYTES - 1) ||
        node_get_int(req->body, "id", 0) < 1) {
        ht_fail(err, HT_INVALID, "runner, boot or id is missing or too long");
        return NULL;
    }
    struct live_runner *found = hello ? live_runner(core_live(core), id, boot)
                                      : live_find_runner(core_live(core), id);
    if (found != NULL && strcmp(found->boot, boot) == 0)
        return found;
    ht_fail(err, HT_INVALID, "say hello first");
    return NULL;
}

enum ht_status control_handle(struct core *core, struct request *req,
                              struct ht_error *err)
{
    if (req->body == NULL || req->body->kind != NODE_MAP)
        return ht_fail(err, HT_INVALID, "a message is an object");
    enum ht_status status = wire_check_runner(core, req, err);
    if (status != HT_OK)
        return status;
    const char *name = node_get_string(req->body, "type", "");
    size_t type = 0;
    while (type < TYPES && strcmp(types[type].name, name) != 0)
        type++;
    if (type == TYPES)
        return ht_fail(err, HT_INVALID, "unknown type %.40s", name);
    if (!is_id(node_get_string(req->body, "runner", NULL), HT_MAX_NAME))
        return ht_fail(err, HT_INVALID, "runner is missing or too long");
    if (type == 0)
        status = wire_claim_runner(core, req, err);
    if (status == HT_UNAUTHENTICATED || status == HT_DENIED)
        wire_note_refusal(core, req, "control", err);
    if (status != HT_OK)
        return status;
    struct live_runner *runner = find_runner(core, req, type == 0, err);
    if (runner == NULL)
        return HT_INVALID;
    if (type == 0) {
        req->method = "control";
        req->pattern = name;
        req->audit = AUDIT_EACH;
        snprintf(req->from.name, sizeof req->from.name, "runner %s",
                 runner->id);
    }
    if (req->kept == NULL) /* not each time that a held poll is handled */
        req->kept = arena_printf(req->arena, "runner %s", runner->id);
    core_act_for(core, req->kept);
    /* A held poll that is handled again does not count as a new message. */
    if (req->held_until_ms == 0)
        status = runner_online_see(core, runner, err);
    return status == HT_OK ? handle_type(core, req, runner, type, err) : status;
}
