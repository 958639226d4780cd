#include "tuner/study/settle.h"

#include <stdio.h>
#include <string.h>

#include "tuner/core/core.h"
#include "tuner/core/disk_guard.h"
#include "tuner/core/live.h"
#include "tuner/db/specs.h"
#include "tuner/db/write.h"
#include "tuner/placement/placement.h"
#include "tuner/runners/fleet.h"
#include "tuner/study/elastic.h"
#include "tuner/study/end.h"
#include "tuner/study/end_rules.h"
#include "tuner/study/living_attempts.h"
#include "tuner/study/move.h"
#include "tuner/study/pauses.h"
#include "tuner/study/rungs.h"
#include "tuner/study/running_time.h"
#include "tuner/study/suggestion_stock.h"
#include "tuner/study/trial.h"

enum {
    RETRY_MS = 1000, /* before something that failed is tried again */
    ERASE_ROWS = 1000,
    ASK_AT_ONCE = 64 /* suggestions in one question to a worker */
};

/* --- the core's memory of a study, changed after the commit --- */

struct look_at {
    int64_t study, at_ms;
};

static void apply_look_at(struct core *core, const void *data)
{
    const struct look_at *look = data;
    live_study(core_live(core), look->study)->look_at_ms = look->at_ms;
}

static void look_at(struct core *core, int64_t study, int64_t at_ms)
{
    const struct look_at look = {study, at_ms};
    core_defer(core, apply_look_at, &look, sizeof look);
}

static void apply_fresh(struct core *core, const void *data)
{
    const int64_t *study = data;
    live_study(core_live(core), *study)->stale = false;
}

static void apply_ask(struct core *core, const void *data)
{
    const struct worker_question *question = data;
    struct live_study *live = live_study(core_live(core), question->study);
    if (live->asking)
        return;
    live->asking = true;
    live->asked_news = live->news;
    worker_ask(core_part(core, CORE_SEARCH), question);
}

/* Of one that has ended. */
static void apply_drop(struct core *core, const void *data)
{
    const int64_t *study = data;
    live_drop_study(core_live(core), *study);
    worker_drop(core_part(core, CORE_SEARCH), *study);
    worker_drop(core_part(core, CORE_STOP_WORKER), *study);
}

static void apply_deleted(struct core *core, const void *data)
{
    const int64_t *study = data;
    const struct core_options *options = core_options_of(core);
    apply_drop(core, data);
    if (options->on_deleted != NULL)
        options->on_deleted(options->context, *study);
}

/* --- asking for trials --- */

static void ask(struct core *core, const struct worker_question *question)
{
    const struct live_study *live =
        live_study(core_live(core), question->study);
    if (question->n > 0 && !live->asking &&
        live->ask_after_ms <= core_now_ms(core))
        core_defer(core, apply_ask, question, sizeof *question);
}

/* A search without a client, as for trials of runners, is needed whenever
 * something ends: such a study has turns of its own, as if it were a principal.
 */
static const char *asker(const struct core *core)
{
    const char *actor = core_actor(core);
    return strcmp(actor, CORE_ACTOR) == 0 ? NULL : actor;
}

void study_ask(struct core *core, const struct study_row *row, int64_t n,
               const char *context)
{
    const struct worker_question question = {
        .study = row->id,
        .first = db_study_trials_made(row),
        .n = (size_t)(n < ASK_AT_ONCE ? n : ASK_AT_ONCE),
        .context = context,
        .asker = asker(core)};
    ask(core, &question);
}

void study_ask_about(struct core *core, const struct study_row *row,
                     int64_t ordinal, const char *context)
{
    const struct worker_question question = {.study = row->id,
                                             .first = ordinal,
                                             .n = 1,
                                             .context = context,
                                             .asker = asker(core)};
    ask(core, &question);
}

/* Clients ask by themselves, or will; those with a failed question ask again.
 */
static enum ht_status want_trials(struct settling *settling,
                                  struct ht_error *err)
{
    const struct live_study *live =
        live_study(core_live(settling->core), settling->row.id);
    if (settling->row.kind != JOB_STUDY) {
        int64_t n;
        const enum ht_status status =
            elastic_due(settling, live->news, &n, err);
        if (status != HT_OK)
            return status;
        study_ask(settling->core, &settling->row, n, NULL);
    } else if (live->ask_after_ms > 0 && !live->asking) {
        core_wake(settling->core, CORE_CLIENTS, settling->row.id);
    } else if (suggestion_stock_is_due(settling)) {
        study_ask(settling->core, &settling->row, 1, NULL);
    }
    return HT_OK;
}

/* Why waiting trials wait. */
static enum ht_status wanted_reason(struct settling *settling, int64_t active,
                                    int64_t waiting, const char **reason,
                                    struct ht_error *err)
{
    struct fleet fleet;
    const enum ht_status status =
        fleet_read(settling->core, settling->arena, &fleet, err);
    if (status != HT_OK)
        return status;
    fleet_add_study(&fleet, &settling->row, settling->job, waiting, active);
    *reason = arena_printf(settling->arena, "%lld of %lld wait: %s",
                           (long long)waiting, (long long)active + waiting,
                           placement_reason(&fleet.state, settling->arena, 0));
    return HT_OK;
}

/* Clients get confirmations like any other trial when they ask. */
static const char *clients_reason(struct settling *settling, int64_t active)
{
    const int64_t confirming = settling->counts.confirming[TRIAL_REQUESTED];
    const char *reason =
        active == 0 ? "waits for clients"
                    : arena_printf(settling->arena, "clients evaluate %lld",
                                   (long long)active);
    return confirming == 0
               ? reason
               : arena_printf(settling->arena,
                              "%s, %lld run%s to confirm wait%s", reason,
                              (long long)confirming, confirming == 1 ? "" : "s",
                              confirming == 1 ? "s" : "");
}

static const char disk_reason[] =
    "no new trials while the disk of the server is nearly full";

static bool waits_for_disk(const char *reason)
{
    return strncmp(reason, disk_reason, sizeof disk_reason - 1) == 0;
}

/* NULL while there is room or no trial is wanted. */
static const char *reason_of_disk(struct settling *settling, int64_t active,
                                  int64_t waiting)
{
    if (!disk_guard_is_closed(settling->core) ||
        (settling->row.kind != JOB_STUDY && waiting == 0 &&
         study_wanted(settling) == 0))
        return NULL;
    return active == 0 ? disk_reason
                       : arena_printf(settling->arena, "%s, %lld still run",
                                      disk_reason, (long long)active);
}

static enum ht_status running_reason(struct settling *settling,
                                     const char **reason, struct ht_error *err)
{
    const int64_t active = trial_counts_all(&settling->counts, TRIAL_ACTIVE) +
                           trial_counts_all(&settling->counts, TRIAL_STOPPING);
    const int64_t waiting =
        trial_counts_all(&settling->counts, TRIAL_REQUESTED);
    if (waiting == 0)
        live_study(core_live(settling->core), settling->row.id)
            ->waits_since_ms = 0;
    const char *full = reason_of_disk(settling, active, waiting);
    int64_t due;
    const enum ht_status status = elastic_due(
        settling, live_study(core_live(settling->core), settling->row.id)->news,
        &due, err);
    if (status != HT_OK)
        return status;
    /* Made once a slot asks. */
    const int64_t unmade = study_wanted(settling) - due;
    if (pauses_for_refusals(&settling->row) ||
        pauses_for_metric(&settling->row))
        *reason = settling->row.reason;
    else if (settling->row.state == STUDY_PAUSED)
        *reason = active == 0
                      ? "paused"
                      : arena_printf(settling->arena, "paused, %lld still run",
                                     (long long)active);
    else if (full != NULL)
        *reason = full;
    else if (settling->row.kind == JOB_STUDY)
        *reason = clients_reason(settling, active);
    else if (!live_has_runner(core_live(settling->core)))
        *reason = "no runner is connected";
    else if (active + waiting + unmade == 0)
        *reason = "the next trials are being chosen";
    else if (waiting + unmade == 0)
        *reason = arena_printf(settling->arena, "%lld of %lld run",
                               (long long)active, (long long)active);
    else
        return wanted_reason(settling, active, waiting + unmade, reason, err);
    return HT_OK;
}

/* Whether the first attempt has run since this was looked at. */
static enum ht_status begins_now(struct settling *settling, bool *begins,
                                 struct ht_error *err)
{
    *begins = false;
    if (settling->row.first_run_used_ms > 0 || settling->row.kind == JOB_STUDY)
        return HT_OK;
    return db_study_has_run(core_db(settling->core), settling->row.id, begins,
                            err);
}

/* The one reason with an event, since no move and no runner explains it. */
static enum ht_status note_disk(struct settling *settling, const char *reason,
                                struct ht_error *err)
{
    const bool waits = waits_for_disk(reason);
    if (waits == waits_for_disk(settling->row.reason))
        return HT_OK;
    struct event_row event = {
        .study = settling->row.id,
        .kind = "study.warned",
        .reason = waits ? disk_reason
                        : "the disk of the server has room again: new trials "
                          "begin"};
    const enum ht_status status = move_event(settling->core, &event, err);
    /* It has given the study its next revision. */
    settling->row.revision = event.revision;
    return status;
}

/* Updated on the row without an event: it follows from moves that have one, and
 * from runners coming and going. */
static enum ht_status save_reason(struct settling *settling,
                                  struct ht_error *err)
{
    const char *reason;
    const bool starts =
        settling->row.started_ms == 0 && settling->counts.of[TRIAL_ACTIVE] > 0;
    bool begins;
    enum ht_status status = running_reason(settling, &reason, err);
    if (status == HT_OK)
        status = begins_now(settling, &begins, err);
    if (status != HT_OK ||
        (!starts && !begins && strcmp(reason, settling->row.reason) == 0))
        return status;
    const enum ht_status noted = note_disk(settling, reason, err);
    if (noted != HT_OK)
        return noted;
    settling->row.reason = reason;
    if (starts)
        settling->row.started_ms = core_wall_ms(settling->core);
    if (begins)
        settling->row.first_run_used_ms =
            settling->used_ms > 0 ? settling->used_ms : 1;
    return db_study_save(core_db(settling->core), &settling->row, err);
}

/* --- settling --- */

static int64_t next_look(const struct settling *settling)
{
    const struct live_study *live =
        live_study(core_live(settling->core), settling->row.id);
    const int64_t asks = live->ask_after_ms;
    const int64_t due = suggestion_stock_due_ms(settling),
                  end = study_next_end_ms(settling);
    const int64_t next =
        due > core_now_ms(settling->core) && due < end ? due : end;
    const bool wants =
        study_wanted(settling) > 0 || settling->row.kind == JOB_STUDY;
    return wants && asks > core_now_ms(settling->core) && asks < next ? asks
                                                                      : next;
}

static enum ht_status go_on(struct settling *settling, struct ht_error *err)
{
    struct ending end = {0};
    enum ht_status status = rungs_promote(settling, err);
    if (status == HT_OK)
        status = study_find_end(settling, &end, err);
    if (status != HT_OK)
        return status;
    if (end.reason != NULL)
        return study_end(settling, &end, err);
    status = elastic_withdraw(settling, err);
    if (status == HT_OK)
        status = want_trials(settling, err);
    return status == HT_OK ? save_reason(settling, err) : status;
}

static enum ht_status erase(struct settling *settling, struct ht_error *err)
{
    bool left;
    const enum ht_status status = db_study_erase(
        core_db(settling->core), settling->row.id, ERASE_ROWS, &left, err);
    if (status != HT_OK)
        return status;
    /* Before their logs are forgotten, so that no more come. */
    living_attempts_drop(settling->core, settling->row.id, 0);
    if (left)
        look_at(settling->core, settling->row.id, core_now_ms(settling->core));
    else
        core_defer(settling->core, apply_deleted, &settling->row.id,
                   sizeof settling->row.id);
    return HT_OK;
}

/* An ending needs no job, so a study with a damaged spec can be ended. */
static enum ht_status settle_open(struct settling *settling,
                                  struct ht_error *err)
{
    const bool ending = settling->row.state == STUDY_STOPPING ||
                        settling->row.state == STUDY_CANCELLING;
    enum ht_status status = study_look(settling, err);
    if (status == HT_OK || (ending && status == HT_CORRUPT))
        status = running_time_count(settling->core, &settling->row, err);
    if (status == HT_OK)
        status = ending ? study_finish(settling, err) : go_on(settling, err);
    if (status == HT_OK)
        look_at(settling->core, settling->row.id, next_look(settling));
    return status;
}

static enum ht_status settle(struct settling *settling, int64_t study,
                             struct ht_error *err)
{
    const enum ht_status status = db_study_get(
        core_db(settling->core), settling->arena, study, &settling->row, err);
    if (status != HT_OK)
        return status;
    /* Elastic runners have slots for trials that are not made yet. */
    if (settling->row.kind != JOB_STUDY && fleet_is_elastic(settling->core))
        core_wake(settling->core, CORE_POLLS, 0);
    if (settling->row.state == STUDY_DELETING)
        return erase(settling, err);
    if (db_study_state_is_final(settling->row.state)) {
        core_defer(settling->core, apply_drop, &settling->row.id,
                   sizeof settling->row.id);
        return HT_OK;
    }
    return settle_open(settling, err);
}

enum ht_status study_settle(struct core *core, int64_t study,
                            struct ht_error *err)
{
    struct settling settling = {.core = core, .arena = arena_new()};
    const enum ht_status status = settle(&settling, study, err);
    arena_free(settling.arena);
    return status;
}

/* --- the search's answer --- */

static enum ht_status create_trial(struct core *core, struct study_row *study,
                                   const struct suggestion *suggestion,
                                   int64_t news, bool *created,
                                   struct ht_error *err)
{
    struct trial_row trial = {.state = TRIAL_REQUESTED,
                              .params = suggestion->params,
                              .replicate =
                                  suggestion->repeats ? TRIAL_AGAIN : 0,
                              .why = suggestion->why,
                              .reason = "waits for a slot",
                              .client = ""};
    const enum ht_status status =
        trial_create(core, study, &trial, created, err);
    if (status == HT_OK && *created)
        elastic_note_made(core, &trial, news);
    return status;
}

static enum ht_status note_exhausted(struct core *core, struct study_row *row,
                                     struct ht_error *err)
{
    row->exhausted = true;
    return move_study_changed(core, row, "every point of the space is taken",
                              err);
}

static enum ht_status make_trials(struct settling *settling,
                                  const struct suggestions *found, size_t *used,
                                  struct ht_error *err)
{
    const int64_t news =
        live_study(core_live(settling->core), found->study)->asked_news;
    int64_t room;
    enum ht_status status = elastic_due(settling, news, &room, err);
    for (; status == HT_OK && *used < found->n && room > 0; ++*used) {
        bool created = false;
        status = create_trial(settling->core, &settling->row,
                              &found->items[*used], news, &created, err);
        room -= created;
    }
    return status;
}

static enum ht_status accept(struct settling *settling,
                             const struct suggestions *found,
                             struct ht_error *err)
{
    struct core *core = settling->core;
    size_t used = 0;
    enum ht_status status = HT_OK;
    if (settling->row.kind == JOB_STUDY || found->context != NULL)
        suggestion_stock_put(core, found);
    else
        status = make_trials(settling, found, &used, err);
    if (status == HT_OK && found->exhausted && found->context == NULL &&
        used == found->n && settling->row.state == STUDY_RUNNING)
        status = note_exhausted(core, &settling->row, err);
    core_wake(core, CORE_ALL_HELD, settling->row.id);
    core_touch(core, settling->row.id);
    return status;
}

static enum ht_status accept_in(struct settling *settling,
                                const struct suggestions *found,
                                struct ht_error *err)
{
    struct core *core = settling->core;
    int64_t edited = 0;
    enum ht_status status =
        db_study_get(core_db(settling->core), settling->arena, found->study,
                     &settling->row, err);
    if (status == HT_NOT_FOUND)
        return HT_OK;
    if (status == HT_OK)
        status = live_job(core_live(settling->core), &settling->row,
                          &settling->job, err);
    if (status == HT_OK)
        status = db_trial_counts(core_db(settling->core), found->study,
                                 &settling->counts, err);
    if (status == HT_OK)
        status = db_spec_changed(core_db(core), found->study, INT64_MAX,
                                 &edited, err);
    if (status != HT_OK)
        return status;
    if (found->revision >= edited)
        return accept(settling, found, err);
    /* Of a space that is no longer searched: who waits asks again. */
    core_wake(core, CORE_ALL_HELD, found->study);
    core_touch(core, found->study);
    return HT_OK;
}

/* The worker's answer could not be stored: the next question waits a little. */
static void ask_later(struct core *core, int64_t study)
{
    struct live_study *live = live_study(core_live(core), study);
    live->asking = false;
    live->ask_after_ms = core_now_ms(core) + RETRY_MS;
    live->look_at_ms = live->ask_after_ms;
}

/* Never fails because the study has moved on. */
static enum ht_status store(struct core *core, const void *answer,
                            struct ht_error *err)
{
    const struct suggestions *found = answer;
    struct live_study *live = live_study(core_live(core), found->study);
    live->asking = false;
    live->ask_after_ms = 0;
    if (found->failed) {
        ask_later(core, found->study);
        core_wake(core, CORE_CLIENTS, found->study);
        return HT_OK;
    }
    struct settling settling = {.core = core, .arena = arena_new()};
    const enum ht_status status = accept_in(&settling, found, err);
    arena_free(settling.arena);
    return status;
}

static void give_up(struct core *core, const void *answer)
{
    const struct suggestions *found = answer;
    ask_later(core, found->study);
}

const struct worker_receiver study_suggestions_receiver = {store, give_up};

/* --- start and tick --- */

enum ht_status study_recover(struct core *core, struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct id_list list = {0};
    const enum ht_status status =
        db_study_unfinished(core_db(core), arena, &list, err);
    for (size_t i = 0; i < list.n; i++)
        live_study(core_live(core), list.ids[i])->look_at_ms =
            core_now_ms(core);
    arena_free(arena);
    return status;
}

enum ht_status study_tick(struct core *core, struct ht_error *err)
{
    (void)err;
    const int64_t now_ms = core_now_ms(core);
    const struct live_study *study = NULL;
    while ((study = live_next_study(core_live(core), study)) != NULL) {
        if (!study->stale && study->look_at_ms > now_ms)
            continue;
        /* Settling well sets its own time; this one holds when it fails. */
        look_at(core, study->id, now_ms + RETRY_MS);
        core_defer(core, apply_fresh, &study->id, sizeof study->id);
        core_touch(core, study->id);
    }
    return HT_OK;
}

int64_t study_deadline(struct core *core)
{
    int64_t next = LIVE_NEVER;
    const struct live_study *study = NULL;
    while ((study = live_next_study(core_live(core), study)) != NULL) {
        const int64_t at_ms = study->stale ? 0 : study->look_at_ms;
        next = at_ms < next ? at_ms : next;
    }
    return next;
}
