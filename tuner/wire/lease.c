#include "tuner/wire/lease.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/token.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "tuner/core/disk_guard.h"
#include "tuner/db/write.h"
#include "tuner/runners/can_run.h"
#include "tuner/runners/machine_types.h"
#include "tuner/study/checkpoints.h"
#include "tuner/study/common_file.h"
#include "tuner/study/living_attempts.h"
#include "tuner/study/move.h"
#include "tuner/study/trial.h"
#include "tuner/study/trial_pause.h"
#include "tuner/wire/attempt_json.h"
#include "tuner/wire/envelope.h"
#include "tuner/wire/runner_online.h"

enum {
    MOST_GPUS = 1024, /* of one runner */
    /* Of all attempts in one answer, unless one alone has more: it has to pass
     * a link that cuts connections. The next poll comes at once. */
    MOST_BYTES = 4096
};

/* The result of one lease request. */
struct lease_poll {
    struct core *core;
    struct db *db;
    struct arena *arena; /* of the request */
    struct request *req;
    struct live_runner *runner;
    int64_t id; /* of the request */
    cJSON *attempts, *stops;
    size_t bytes;      /* of the attempts */
    bool full;         /* the next attempt needs another answer */
    bool counted;      /* free_gpus is known */
    int64_t free_gpus; /* for the studies whose turn it is; see has_gpus() */
};

/* --- choosing --- */

static bool backs_off(struct core *core, const struct trial_row *trial)
{
    const struct live_trial *live =
        live_find_trial(core_live(core), trial->study, trial->id);
    return live != NULL && live->retry_at_ms > core_now_ms(core);
}

static enum ht_status find_job(struct lease_poll *poll, int64_t id,
                               struct study_row *study, const struct job **job,
                               struct ht_error *err)
{
    const enum ht_status status =
        db_study_get(poll->db, poll->arena, id, study, err);
    return status == HT_OK ? live_job(core_live(poll->core), study, job, err)
                           : status;
}

/* Whether a trial that continues from a rung has its checkpoint only at another
 * runner that is online: it could not be sent. */
static enum ht_status is_at_home_elsewhere(struct lease_poll *poll,
                                           const struct trial_row *trial,
                                           bool *elsewhere,
                                           struct ht_error *err)
{
    struct study_row study;
    const struct job *job;
    struct checkpoint_place place;
    *elsewhere = trial->rungs_passed > 0 && trial->attempt > 0;
    if (!*elsewhere)
        return HT_OK;
    enum ht_status status = find_job(poll, trial->study, &study, &job, err);
    if (status == HT_OK)
        status =
            checkpoints_find(poll->core, poll->arena, trial, job, &place, err);
    if (status != HT_OK)
        return status;
    const struct live_runner *home =
        live_find_runner(core_live(poll->core), place.home);
    *elsewhere =
        !place.travels && home != NULL && home != poll->runner && home->online;
    return HT_OK;
}

/* Due retries are ordered by id like all others; *found is false when every
 * waiting trial backs off. */
static enum ht_status next_of_study(struct lease_poll *poll, int64_t study,
                                    struct trial_row *trial, bool *found,
                                    struct ht_error *err)
{
    int64_t after = 0;
    struct trial_list page = {.n = DB_WAITING_PAGE};
    *found = false;
    while (page.n == DB_WAITING_PAGE) {
        enum ht_status status =
            db_trial_waiting(poll->db, poll->arena, study, after, &page, err);
        if (status != HT_OK)
            return status;
        for (size_t i = 0; i < page.n; i++) {
            after = page.rows[i].id;
            bool elsewhere;
            if (backs_off(poll->core, &page.rows[i]))
                continue;
            status = is_at_home_elsewhere(poll, &page.rows[i], &elsewhere, err);
            if (status != HT_OK)
                return status;
            if (elsewhere)
                continue;
            *trial = page.rows[i];
            *found = true;
            return HT_OK;
        }
    }
    return HT_OK;
}

/* A study that has to wait reserves the free GPUs, or it might wait for ever
 * behind smaller ones. */
static enum ht_status has_gpus(struct lease_poll *poll, const struct job *job,
                               bool *has, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    const int64_t needed = machine_types_gpus_needed(poll->core, job);
    *has = needed == 0;
    if (*has || needed > poll->runner->gpus)
        return HT_OK;
    if (!poll->counted)
        status = machine_types_gpus_free(poll->core, poll->arena, poll->runner,
                                         &poll->free_gpus, err);
    if (status != HT_OK)
        return status;
    poll->counted = true;
    *has = needed <= poll->free_gpus;
    if (!*has)
        poll->free_gpus = 0;
    return HT_OK;
}

/* More may wait than may run at a time: trials that a person added, retried or
 * confirms. */
static enum ht_status has_room(struct lease_poll *poll,
                               const struct study_row *study,
                               const struct job *job, bool *has,
                               struct ht_error *err)
{
    struct trial_counts counts;
    const enum ht_status status =
        db_trial_counts(poll->db, study->id, &counts, err);
    if (status == HT_OK)
        *has = trial_counts_all(&counts, TRIAL_ACTIVE) +
                   trial_counts_all(&counts, TRIAL_STOPPING) <
               job->parallel;
    return status;
}

/* Whether the runner can run an attempt of the study now. */
static enum ht_status suits(struct lease_poll *poll, int64_t id, bool *does,
                            struct ht_error *err)
{
    struct study_row study;
    const struct job *job;
    struct can_run_lack lack;
    enum ht_status status = find_job(poll, id, &study, &job, err);
    *does = false;
    if (status == HT_OK)
        status = has_room(poll, &study, job, does, err);
    if (status == HT_OK && *does)
        status = common_file_is_free(poll->core, id, job, does, err);
    if (status != HT_OK || !*does)
        return status;
    *does = can_run_allows(poll->arena, &poll->runner->rules, job, &lack) &&
            !can_run_leaves(poll->core, poll->arena, poll->runner, job);
    return *does ? has_gpus(poll, job, does, err) : HT_OK;
}

static enum ht_status next_trial(struct lease_poll *poll,
                                 struct trial_row *trial, bool *found,
                                 struct ht_error *err)
{
    struct id_list studies;
    enum ht_status status =
        db_study_waiting(poll->db, poll->arena, &studies, err);
    *found = false;
    poll->counted = false;
    for (size_t i = 0; status == HT_OK && i < studies.n && !*found; i++) {
        bool does;
        status = suits(poll, studies.ids[i], &does, err);
        if (status == HT_OK && does)
            status = next_of_study(poll, studies.ids[i], trial, found, err);
    }
    return status;
}

/* --- leasing --- */

/* The first fact of an attempt: which spec it was given, so that a change of
 * the spec between attempts is seen. */
static const char *spec_fact(struct arena *arena, const struct job *job)
{
    unsigned char hash[TOKEN_HASH_BYTES];
    char hex[TOKEN_TEXT_BYTES];
    const char *spec = json_text(arena, vertex_write(job));
    token_sha256(hash, spec, strlen(spec));
    token_hex(hex, hash);
    return arena_printf(arena, "{\"spec\":\"%s\"}", hex);
}

/* place->travels: the attempt continues from a checkpoint of the store. The
 * files of the attempt before are at least as new, where they are. */
static enum ht_status find_resume(struct lease_poll *poll,
                                  const struct trial_pair *pair,
                                  const struct job *job,
                                  struct checkpoint_place *place,
                                  struct ht_error *err)
{
    const enum ht_status status = checkpoints_find(
        poll->core, poll->arena, &pair->trial, job, place, err);
    if (status == HT_OK && strcmp(place->home, poll->runner->id) == 0)
        place->travels = false;
    return status;
}

/* *out: the attempt as text, or NULL when there is no room for it beside those
 * in the answer. */
static enum ht_status describe(struct lease_poll *poll, struct trial_pair *pair,
                               const char *token, const char **out,
                               struct ht_error *err)
{
    struct study_row study;
    const struct job *job;
    enum ht_status status =
        find_job(poll, pair->trial.study, &study, &job, err);
    if (status != HT_OK)
        return status;
    bool begun;
    status = db_trial_has_run(poll->db, pair->trial.study, pair->trial.id,
                              &begun, err);
    if (status != HT_OK)
        return status;
    struct checkpoint_place place;
    status = find_resume(poll, pair, job, &place, err);
    if (status != HT_OK)
        return status;
    const struct lease_facts facts = {.arena = poll->arena,
                                      .server_id = core_server_id(poll->core),
                                      .report_url = core_report_url(poll->core),
                                      .token = token,
                                      .machines = machine_types_now(poll->core),
                                      .rules = &poll->runner->rules,
                                      .study = &study,
                                      .job = job,
                                      .pair = pair,
                                      .begun = begun,
                                      .resume =
                                          place.travels ? &place.row : NULL};
    cJSON *attempt;
    pair->attempt.facts = spec_fact(poll->arena, job);
    status = attempt_json(&facts, &attempt, err);
    if (status != HT_OK)
        return status;
    const char *text = json_text(poll->arena, attempt);
    const size_t bytes = strlen(text);
    poll->full = poll->bytes > 0 && poll->bytes + bytes > MOST_BYTES;
    *out = poll->full ? NULL : text;
    return HT_OK;
}

static void add_attempt(struct lease_poll *poll, const char *text)
{
    poll->bytes += strlen(text);
    cJSON_AddItemToArray(poll->attempts, cJSON_CreateRaw(text));
}

static void begin_attempt(struct lease_poll *poll, struct trial_pair *pair)
{
    const struct trial_row *trial = &pair->trial;
    const int64_t before = trial->attempt > trial->attempts_before
                               ? trial->attempt
                               : trial->attempts_before;
    pair->attempt =
        (struct attempt_row){.study = trial->study,
                             .trial = trial->id,
                             .n = before + 1,
                             .state = ATTEMPT_STARTING,
                             .runner = poll->runner->id,
                             .exit_code = -1,
                             .reason = "",
                             .facts = "",
                             .created_ms = core_wall_ms(poll->core)};
    pair->trial.attempt = pair->attempt.n;
}

/* `before`: the number of the attempt before it, 0: none. */
static enum ht_status insert_attempt(struct lease_poll *poll,
                                     struct trial_pair *pair, int64_t before,
                                     const char *token, struct ht_error *err)
{
    unsigned char hash[TOKEN_HASH_BYTES];
    token_hash(hash, token);
    const struct attempt_lease lease = {
        .boot = poll->runner->boot, .lease_id = poll->id, .token_hash = hash};
    enum ht_status status =
        db_attempt_insert(poll->db, &pair->attempt, &lease, err);
    if (status == HT_OK && pair->trial.rungs_passed > 0 && before > 0)
        return trial_pause_copy_scores(poll->core, poll->arena, &pair->attempt,
                                       before, err);
    pair->trial.latest = (struct record_name){0};
    return status == HT_OK ? db_trial_set_latest(poll->db, &pair->trial, err)
                           : status;
}

static enum ht_status give(struct lease_poll *poll, struct trial_pair *pair,
                           struct ht_error *err)
{
    char token[TOKEN_TEXT_BYTES];
    const char *text;
    const int64_t before = pair->trial.attempt;
    token_make(token, TOKEN_TRIAL_BYTES);
    begin_attempt(poll, pair);
    enum ht_status status = describe(poll, pair, token, &text, err);
    if (status != HT_OK || text == NULL)
        return status;
    add_attempt(poll, text);
    status = insert_attempt(poll, pair, before, token, err);
    const struct job *job;
    if (status == HT_OK)
        status = core_job(poll->core, pair->trial.study, &job, err);
    if (status != HT_OK)
        return status;
    living_attempts_add(poll->core, &pair->attempt, job);
    struct event_row event = {
        .study = pair->trial.study,
        .kind = "attempt.moved",
        .trial = pair->trial.id,
        .attempt = pair->attempt.n,
        .from = "",
        .to = db_attempt_state_name(ATTEMPT_STARTING),
        .reason =
            arena_printf(poll->arena, "leased to runner %s", poll->runner->id),
        .data = ""};
    status = move_event(poll->core, &event, err);
    if (status == HT_OK)
        status = move_trial(poll->core, &pair->trial, TRIAL_ACTIVE, "", err);
    return status;
}

static enum ht_status give_new(struct lease_poll *poll, int64_t free_slots,
                               struct ht_error *err)
{
    for (int64_t i = 0; i < free_slots && !poll->full; i++) {
        struct trial_pair pair;
        bool found;
        enum ht_status status = next_trial(poll, &pair.trial, &found, err);
        if (status != HT_OK || !found)
            return status;
        status = give(poll, &pair, err);
        if (status != HT_OK)
            return status;
    }
    return HT_OK;
}

/* The same request came again after a restart: the same attempts, under fresh
 * tokens because only hashes of the old ones were kept. */
static enum ht_status give_again(struct lease_poll *poll, bool *again,
                                 struct ht_error *err)
{
    const struct lease_key key = {poll->runner->id, poll->runner->boot,
                                  poll->id};
    struct attempt_list list;
    enum ht_status status =
        db_attempt_leased(poll->db, poll->arena, &key, &list, err);
    *again = status == HT_OK && list.n > 0;
    for (size_t i = 0; status == HT_OK && i < list.n; i++) {
        struct trial_pair pair = {.attempt = list.rows[i]};
        char token[TOKEN_TEXT_BYTES];
        unsigned char hash[TOKEN_HASH_BYTES];
        token_make(token, TOKEN_TRIAL_BYTES);
        token_hash(hash, token);
        status = db_attempt_set_token(poll->db, &pair.attempt, hash, err);
        if (status == HT_OK)
            status = db_trial_get(poll->db, poll->arena, pair.attempt.study,
                                  pair.attempt.trial, &pair.trial, err);
        const char *text = NULL;
        if (status == HT_OK)
            status = describe(poll, &pair, token, &text, err);
        if (status == HT_OK && text != NULL)
            add_attempt(poll, text);
    }
    return status;
}

/* --- stops --- */

struct sent_stop {
    char runner[HT_MAX_NAME + 1];
    struct live_sent_stop sent;
};

static void apply_sent_stop(struct core *core, const void *data)
{
    const struct sent_stop *note = data;
    struct live_runner *runner =
        live_find_runner(core_live(core), note->runner);
    if (runner == NULL)
        return;
    runner->sent_stops =
        ht_xrealloc(runner->sent_stops, runner->n_sent_stops + 1,
                    sizeof *runner->sent_stops);
    runner->sent_stops[runner->n_sent_stops++] = note->sent;
}

static bool was_sent(const struct live_runner *runner,
                     const struct live_sent_stop *sent)
{
    for (size_t i = 0; i < runner->n_sent_stops; i++) {
        const struct live_sent_stop *old = &runner->sent_stops[i];
        if (old->study == sent->study && old->trial == sent->trial &&
            old->attempt == sent->attempt && old->kill == sent->kill)
            return true;
    }
    return false;
}

static void note_sent_stop(struct core *core, const struct live_runner *runner,
                           const struct live_sent_stop *sent)
{
    struct sent_stop note = {.sent = *sent};
    memcpy(note.runner, runner->id, sizeof note.runner);
    core_defer(core, apply_sent_stop, &note, sizeof note);
}

static enum ht_status add_stop(struct core *core, struct arena *arena,
                               const struct trial_row *trial, bool *kill,
                               cJSON **stop, struct ht_error *err)
{
    struct study_row study;
    const enum ht_status status =
        db_study_get(core_db(core), arena, trial->study, &study, err);
    if (status != HT_OK)
        return status;
    const struct trial_name name = {trial->study, trial->id, trial->attempt};
    *kill = study.state == STUDY_CANCELLING;
    *stop = cJSON_CreateObject();
    wire_add_name(*stop, &name);
    json_add_string(*stop, "reason", trial->reason);
    json_add_string(*stop, "how", *kill ? "kill" : "stop");
    return HT_OK;
}

enum ht_status lease_add_stops(struct core *core, struct arena *arena,
                               const struct live_runner *runner, bool fresh,
                               cJSON *stops, struct ht_error *err)
{
    struct db *db = core_db(core);
    struct attempt_list open;
    enum ht_status status = db_attempt_open(db, arena, runner->id, &open, err);
    for (size_t i = 0; status == HT_OK && i < open.n; i++) {
        const struct attempt_row *attempt = &open.rows[i];
        struct trial_row trial;
        if (attempt->state == ATTEMPT_DRAINING)
            continue;
        status = db_trial_get(db, arena, attempt->study, attempt->trial, &trial,
                              err);
        if (status != HT_OK ||
            (trial.state != TRIAL_STOPPING && !attempt->hung))
            continue;
        if (trial.state != TRIAL_STOPPING) /* it hangs */
            trial.reason = attempt->reason;
        struct live_sent_stop sent = {trial.study, trial.id, attempt->n, false};
        cJSON *stop;
        status = add_stop(core, arena, &trial, &sent.kill, &stop, err);
        if (status != HT_OK)
            continue;
        if (fresh && was_sent(runner, &sent)) {
            cJSON_Delete(stop);
            continue;
        }
        cJSON_AddItemToArray(stops, stop);
        if (fresh)
            note_sent_stop(core, runner, &sent);
    }
    return status;
}

/* --- the message --- */

static enum ht_status fill(struct lease_poll *poll, int64_t free_slots,
                           struct ht_error *err)
{
    bool again = false;
    enum ht_status status = give_again(poll, &again, err);
    if (status == HT_OK && !again &&
        disk_guard_check(poll->core, NULL) == HT_OK)
        status = give_new(poll, free_slots, err);
    if (status != HT_OK)
        return status;
    return lease_add_stops(poll->core, poll->arena, poll->runner, true,
                           poll->stops, err);
}

static bool may_wait(struct lease_poll *poll)
{
    if (cJSON_GetArraySize(poll->attempts) + cJSON_GetArraySize(poll->stops) >
        0)
        return false;
    struct request *req = poll->req;
    if (req->held_until_ms == 0)
        req->held_until_ms =
            core_now_ms(poll->core) + core_options_of(poll->core)->hold_ms;
    return req->held_until_ms > core_now_ms(poll->core);
}

enum ht_status lease_handle(struct core *core, struct request *req,
                            struct live_runner *runner, struct ht_error *err)
{
    const int64_t free_slots = node_get_int(req->body, "free", 0);
    if (free_slots < 0)
        return ht_fail(err, HT_INVALID, "free must not be negative");
    const int64_t gpus = node_get_int(req->body, "gpus", 0);
    if (gpus < 0 || gpus > MOST_GPUS)
        return ht_fail(err, HT_INVALID, "gpus must be from 0 to %d", MOST_GPUS);
    runner_online_note_gpus(core, runner, gpus);
    cJSON *answer = wire_ok(req);
    struct lease_poll poll = {.core = core,
                              .db = core_db(core),
                              .arena = req->arena,
                              .req = req,
                              .runner = runner,
                              .id = node_get_int(req->body, "id", 0)};
    poll.attempts = json_add_array(answer, "attempts");
    poll.stops = json_add_array(answer, "stop");
    const enum ht_status status = fill(&poll, free_slots, err);
    if (status != HT_OK || may_wait(&poll)) {
        cJSON_Delete(answer);
        return status;
    }
    req->held_until_ms = 0;
    wire_reply(req, answer);
    return HT_OK;
}
