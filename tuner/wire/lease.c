#include "tuner/wire/lease.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/token.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "tuner/core/core.h"
#include "tuner/core/disk_guard.h"
#include "tuner/db/fleet.h"
#include "tuner/db/write.h"
#include "tuner/placement/placement.h"
#include "tuner/runners/fleet.h"
#include "tuner/runners/machine_types.h"
#include "tuner/study/checkpoints.h"
#include "tuner/study/common_file.h"
#include "tuner/study/fetches.h"
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
    cJSON *attempts, *stops, *fetches;
    size_t bytes; /* of the attempts */
    bool full;    /* the next attempt needs another answer */
    struct fleet fleet;
    size_t at; /* the runner there; PLACEMENT_NONE: nothing is chosen for it */
    struct placement_choice choice; /* of the attempt that is being given */
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
    *elsewhere = !place.travels && home != NULL && home != poll->runner &&
                 home->online && home->drain == RUNNER_SERVES;
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

/* How many trials of a study may start now. More may wait than may run at a
 * time: trials that a person added, retried or confirms. */
static enum ht_status count_startable(struct lease_poll *poll,
                                      const struct study_row *study,
                                      const struct job *job,
                                      struct trial_counts *counts, int64_t *n,
                                      struct ht_error *err)
{
    bool is_free = false;
    enum ht_status status = db_trial_counts(poll->db, study->id, counts, err);
    if (status == HT_OK)
        status = common_file_is_free(poll->core, study->id, job, &is_free, err);
    if (status != HT_OK)
        return status;
    const int64_t waiting = trial_counts_all(counts, TRIAL_REQUESTED);
    const int64_t room = job->parallel -
                         trial_counts_all(counts, TRIAL_ACTIVE) -
                         trial_counts_all(counts, TRIAL_STOPPING);
    *n = waiting < room ? waiting : room;
    if (!is_free || *n < 0)
        *n = 0;
    return HT_OK;
}

static enum ht_status add_study(struct lease_poll *poll, int64_t id,
                                struct ht_error *err)
{
    struct study_row study;
    const struct job *job;
    struct trial_counts counts;
    int64_t startable;
    enum ht_status status = find_job(poll, id, &study, &job, err);
    if (status == HT_OK)
        status = count_startable(poll, &study, job, &counts, &startable, err);
    if (status == HT_OK)
        fleet_add_study(&poll->fleet, &study, job, startable,
                        trial_counts_all(&counts, TRIAL_ACTIVE));
    return status;
}

/* What the first choice of a poll needs; the next ones change it. */
static enum ht_status read_fleet(struct lease_poll *poll, int64_t free_slots,
                                 struct ht_error *err)
{
    struct id_list studies;
    enum ht_status status =
        db_study_waiting(poll->db, poll->arena, &studies, err);
    if (status != HT_OK || studies.n == 0)
        return status;
    status = fleet_read(poll->core, poll->arena, &poll->fleet, err);
    for (size_t i = 0; status == HT_OK && i < studies.n; i++)
        status = add_study(poll, studies.ids[i], err);
    poll->at = fleet_find(&poll->fleet, poll->runner);
    if (status == HT_OK && poll->at != PLACEMENT_NONE)
        fleet_offer(&poll->fleet, poll->at, free_slots);
    return status;
}

static enum ht_status next_trial(struct lease_poll *poll,
                                 struct trial_row *trial, bool *found,
                                 struct ht_error *err)
{
    struct placement *state = &poll->fleet.state;
    enum ht_status status = HT_OK;
    *found = false;
    while (status == HT_OK && !*found) {
        poll->choice = placement_next(state, poll->arena, poll->at);
        if (poll->choice.study == PLACEMENT_NONE)
            return HT_OK;
        struct placement_study *study = &state->studies[poll->choice.study];
        status = next_of_study(poll, study->id, trial, found, err);
        if (!*found) /* they back off, or wait for another runner */
            study->waiting = 0;
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

/* Which GPUs each replica was given; NULL where a lease is answered again: the
 * runner has them by now or chooses. */
static const struct strings *names_of(struct lease_poll *poll,
                                      const struct job *job)
{
    size_t n = 0;
    if (poll->at == PLACEMENT_NONE || poll->choice.study == PLACEMENT_NONE)
        return NULL;
    for (size_t i = 0; i < job->n_pools; i++)
        n += (size_t)job->pools[i].count;
    struct strings *names = arena_alloc(poll->arena, n + 1, sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = fleet_gpu_names(&poll->fleet, poll->at, &poll->choice, i);
    return names;
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
                                          place.travels ? &place.row : NULL,
                                      .gpus = names_of(poll, job)};
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

/* For the next choice of this poll, and for those of others. */
static enum ht_status note_placed(struct lease_poll *poll,
                                  const struct trial_pair *pair,
                                  struct ht_error *err)
{
    const char *gpus = fleet_gpus_text(&poll->fleet, poll->at, &poll->choice);
    struct live_study *live =
        live_study(core_live(poll->core), pair->trial.study);
    live->waits_since_ms = core_now_ms(poll->core);
    placement_begin(&poll->fleet.state, poll->at, &poll->choice);
    poll->fleet.state.studies[poll->choice.study].waited_s = 0;
    return *gpus == '\0'
               ? HT_OK
               : db_attempt_set_gpus(poll->db, &pair->attempt, gpus, err);
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
    if (status == HT_OK)
        status = note_placed(poll, pair, err);
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
    if (free_slots == 0)
        return HT_OK;
    const enum ht_status read = read_fleet(poll, free_slots, err);
    if (read != HT_OK || poll->at == PLACEMENT_NONE)
        return read;
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

/* The same request came again after a restart, or one that replaces it: the
 * same attempts, under fresh tokens because only hashes of the old ones were kept. */
static enum ht_status give_again(struct lease_poll *poll, bool *again,
                                 struct ht_error *err)
{
    const struct lease_key key = {
        poll->runner->id, poll->runner->boot,
        node_get_int(poll->req->body, "since", poll->id), poll->id};
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
        if (status != HT_OK || (trial.state != TRIAL_STOPPING &&
                                !attempt->hung && !attempt->moving))
            continue;
        if (trial.state != TRIAL_STOPPING) /* it hangs, or moves */
            trial.reason = attempt->moving ? "continues at another runner"
                                           : attempt->reason;
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
    status = lease_add_stops(poll->core, poll->arena, poll->runner, true,
                             poll->stops, err);
    if (status == HT_OK)
        fetches_add_wanted(poll->core, poll->runner, true, poll->fetches);
    return status;
}

static bool may_wait(struct lease_poll *poll)
{
    if (cJSON_GetArraySize(poll->attempts) + cJSON_GetArraySize(poll->stops) +
            cJSON_GetArraySize(poll->fetches) >
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
                              .id = node_get_int(req->body, "id", 0),
                              .at = PLACEMENT_NONE};
    poll.attempts = json_add_array(answer, "attempts");
    poll.stops = json_add_array(answer, "stop");
    poll.fetches = json_add_array(answer, "fetch");
    const enum ht_status status = fill(&poll, free_slots, err);
    if (status != HT_OK || may_wait(&poll)) {
        cJSON_Delete(answer);
        return status;
    }
    req->held_until_ms = 0;
    wire_reply(req, answer);
    return HT_OK;
}
