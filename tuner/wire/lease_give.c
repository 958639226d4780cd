/* lease_give.c - the attempts of a poll's answer. */
#include "tuner/wire/lease_poll.h"

#include <string.h>

#include "proto/base/token.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "tuner/core/core.h"
#include "tuner/db/fleet.h"
#include "tuner/db/write.h"
#include "tuner/runners/machine_types.h"
#include "tuner/study/checkpoints.h"
#include "tuner/study/elastic.h"
#include "tuner/study/living_attempts.h"
#include "tuner/study/move.h"
#include "tuner/study/trial_pause.h"
#include "tuner/wire/attempt_json.h"

enum {
    /* Of all attempts in one answer, unless one alone has more: it has to pass
     * a link that cuts connections. The next poll comes at once. */
    MOST_BYTES = 4096
};

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

/* *out: the attempt as text. */
static enum ht_status describe(struct lease_poll *poll, struct trial_pair *pair,
                               const char *token, const char **out,
                               struct ht_error *err)
{
    struct study_row study;
    const struct job *job;
    enum ht_status status =
        lease_find_job(poll, pair->trial.study, &study, &job, err);
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
    *out = json_text(poll->arena, attempt);
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

enum ht_status lease_give(struct lease_poll *poll, struct trial_pair *pair,
                          struct ht_error *err)
{
    char token[TOKEN_TEXT_BYTES];
    const char *text;
    const int64_t before = pair->trial.attempt;
    token_make(token, TOKEN_TRIAL_BYTES);
    begin_attempt(poll, pair);
    enum ht_status status = describe(poll, pair, token, &text, err);
    if (status != HT_OK)
        return status;
    poll->full = poll->bytes > 0 && poll->bytes + strlen(text) > MOST_BYTES;
    if (poll->full)
        return HT_OK;
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

/* All of them whatever their size, for no later poll gets them; under fresh
 * tokens, since only hashes of the old ones were kept. */
enum ht_status lease_give_again(struct lease_poll *poll, bool *again,
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
        const char *text;
        if (status == HT_OK)
            status = describe(poll, &pair, token, &text, err);
        if (status != HT_OK)
            break;
        add_attempt(poll, text);
        elastic_note_given(poll->core, poll->runner, pair.trial.study);
    }
    return status;
}
