#include "tuner/study/move.h"

#include <assert.h>
#include <stddef.h>

#include "tuner/base/meter.h"
#include "tuner/core/core.h"
#include "tuner/db/write.h"
#include "tuner/runners/fleet.h"
#include "tuner/study/living_attempts.h"
#include "tuner/study/suggestion_stock.h"

#define TO(state) (1u << (state))

static const unsigned study_moves[] = {
    [STUDY_RUNNING] = TO(STUDY_PAUSED) | TO(STUDY_STOPPING) |
                      TO(STUDY_CANCELLING) | TO(STUDY_SUCCEEDED) |
                      TO(STUDY_STOPPED) | TO(STUDY_FAILED) |
                      TO(STUDY_CANCELLED) | TO(STUDY_DELETING),
    [STUDY_PAUSED] = TO(STUDY_RUNNING) | TO(STUDY_STOPPING) |
                     TO(STUDY_CANCELLING) | TO(STUDY_SUCCEEDED) |
                     TO(STUDY_STOPPED) | TO(STUDY_FAILED) |
                     TO(STUDY_CANCELLED) | TO(STUDY_DELETING),
    [STUDY_STOPPING] = TO(STUDY_CANCELLING) | TO(STUDY_SUCCEEDED) |
                       TO(STUDY_STOPPED) | TO(STUDY_FAILED),
    [STUDY_CANCELLING] = TO(STUDY_CANCELLED),
    [STUDY_SUCCEEDED] = TO(STUDY_RUNNING) | TO(STUDY_DELETING),
    [STUDY_STOPPED] = TO(STUDY_RUNNING) | TO(STUDY_DELETING),
    [STUDY_FAILED] = TO(STUDY_RUNNING) | TO(STUDY_DELETING),
    [STUDY_CANCELLED] = TO(STUDY_DELETING),
    [STUDY_DELETING] = 0,
};

static const unsigned trial_moves[] = {
    [TRIAL_PREPARED] = 0, /* none is made any more */
    /* At once SUCCEEDED or INFEASIBLE: it came with its result. STOPPED: it
     * waited to continue from a rung, with its value there. */
    [TRIAL_REQUESTED] = TO(TRIAL_ACTIVE) | TO(TRIAL_SUCCEEDED) |
                        TO(TRIAL_STOPPED) | TO(TRIAL_INFEASIBLE) |
                        TO(TRIAL_CANCELLED),
    [TRIAL_ACTIVE] = TO(TRIAL_REQUESTED) | TO(TRIAL_STOPPING) |
                     TO(TRIAL_SUCCEEDED) | TO(TRIAL_STOPPED) |
                     TO(TRIAL_FAILED) | TO(TRIAL_INFEASIBLE) |
                     TO(TRIAL_CANCELLED),
    [TRIAL_STOPPING] = TO(TRIAL_SUCCEEDED) | TO(TRIAL_STOPPED) |
                       TO(TRIAL_INFEASIBLE) | TO(TRIAL_CANCELLED) |
                       TO(TRIAL_PAUSED),
    [TRIAL_SUCCEEDED] = 0,
    /* Without success it may be tried again. */
    [TRIAL_STOPPED] = TO(TRIAL_REQUESTED),
    [TRIAL_FAILED] = TO(TRIAL_REQUESTED),
    /* SUCCEEDED: its log has the metric that it did not report. */
    [TRIAL_INFEASIBLE] = TO(TRIAL_REQUESTED) | TO(TRIAL_SUCCEEDED),
    [TRIAL_CANCELLED] = TO(TRIAL_REQUESTED),
    [TRIAL_PAUSED] =
        TO(TRIAL_REQUESTED) | TO(TRIAL_STOPPED) | TO(TRIAL_CANCELLED),
};

static const unsigned attempt_moves[] = {
    [ATTEMPT_STARTING] =
        TO(ATTEMPT_RUNNING) | TO(ATTEMPT_DRAINING) | TO(ATTEMPT_ENDED),
    [ATTEMPT_RUNNING] = TO(ATTEMPT_DRAINING) | TO(ATTEMPT_ENDED),
    [ATTEMPT_DRAINING] = TO(ATTEMPT_ENDED),
    [ATTEMPT_ENDED] = 0,
};

bool move_study_may(enum study_state from, enum study_state to)
{
    return (study_moves[from] & TO(to)) != 0;
}

bool move_trial_may(enum trial_state from, enum trial_state to)
{
    return (trial_moves[from] & TO(to)) != 0;
}

bool move_attempt_may(enum attempt_state from, enum attempt_state to)
{
    return (attempt_moves[from] & TO(to)) != 0;
}

static void fill_text(const char **text)
{
    if (*text == NULL)
        *text = "";
}

enum ht_status move_event(struct core *core, struct event_row *event,
                          struct ht_error *err)
{
    struct db *db = core_db(core);
    assert(event->study > 0 && event->kind != NULL);
    fill_text(&event->from);
    fill_text(&event->to);
    fill_text(&event->reason);
    fill_text(&event->data);
    event->time_ms = core_wall_ms(core);
    event->actor = core_actor(core);
    enum ht_status status = db_study_add_revision(
        db, event->study, &event->time_ms, &event->revision, err);
    if (status == HT_OK)
        status = db_event_insert(db, event, err);
    if (status != HT_OK)
        return status;
    assert(event->revision > 0);
    core_note_revision(core, event->study, event->revision);
    return HT_OK;
}

enum ht_status move_study_changed(struct core *core,
                                  const struct study_row *row,
                                  const char *reason, struct ht_error *err)
{
    struct event_row event = {
        .study = row->id, .kind = "study.changed", .reason = reason};
    const enum ht_status status = move_event(core, &event, err);
    return status == HT_OK ? db_study_save(core_db(core), row, err) : status;
}

enum ht_status move_study(struct core *core, struct study_row *row,
                          enum study_state to, const char *reason,
                          struct ht_error *err)
{
    if (!move_study_may(row->state, to))
        return ht_fail(err, HT_INTERNAL, "study %lld cannot go from %s to %s",
                       (long long)row->id, db_study_state_name(row->state),
                       db_study_state_name(to));
    struct event_row event = {.study = row->id,
                              .kind = "study.moved",
                              .from = db_study_state_name(row->state),
                              .to = db_study_state_name(to),
                              .reason = reason};
    enum ht_status status = move_event(core, &event, err);
    if (status != HT_OK)
        return status;
    row->state = to;
    row->reason = reason;
    row->revision = event.revision;
    if (to == STUDY_DELETING)
        core_note_revision(core, row->id, REVISION_DELETED);
    else
        row->ended_ms = db_study_state_is_final(to) ? event.time_ms : 0;
    /* Who waits for suggestions may wait in vain now. */
    core_wake(core, CORE_ALL_HELD, row->id);
    core_touch(core, row->id);
    return db_study_save(core_db(core), row, err);
}

/* The prediction of a paused trial counts until it continues, and is then
 * replaced; a replay of an earlier time finds it here. */
static const char *prediction_then(const struct trial_row *row,
                                   enum trial_state to)
{
    return to == TRIAL_PAUSED && row->stop != NULL ? row->stop : "";
}

enum ht_status move_trial(struct core *core, struct trial_row *row,
                          enum trial_state to, const char *reason,
                          struct ht_error *err)
{
    if (!move_trial_may(row->state, to))
        return ht_fail(err, HT_INTERNAL, "trial %lld cannot go from %s to %s",
                       (long long)row->id, db_trial_state_name(row->state),
                       db_trial_state_name(to));
    struct event_row event = {.study = row->study,
                              .kind = "trial.moved",
                              .trial = row->id,
                              .attempt = row->attempt,
                              .from = db_trial_state_name(row->state),
                              .to = db_trial_state_name(to),
                              .reason = reason,
                              .data = prediction_then(row, to)};
    struct db *db = core_db(core);
    enum ht_status status = move_event(core, &event, err);
    if (status == HT_OK)
        status = db_trial_count(db, row, row->state, -1, err);
    if (status == HT_OK)
        status = db_trial_count(db, row, to, 1, err);
    if (status != HT_OK)
        return status;
    assert(row->state != to); /* it is counted once */
    if (db_trial_state_is_final(row->state) || db_trial_state_is_final(to))
        suggestion_stock_outdate(core, row->study);
    const bool had_ended = db_trial_state_is_final(row->state);
    row->state = to;
    row->reason = reason;
    row->revision = event.revision;
    if (to == TRIAL_ACTIVE && row->started_ms == 0)
        row->started_ms = event.time_ms;
    if (db_trial_state_is_final(to) && !had_ended)
        row->ended_ms = event.time_ms;
    core_touch(core, row->study);
    return db_trial_save(db, row, err);
}

static void apply_count(struct core *core, const void *data)
{
    const enum meter_count *count = data;
    (void)core;
    meter_add(*count, 1);
}

static void count_attempt(struct core *core, const struct attempt_row *row,
                          enum attempt_state to)
{
    const bool ends = to == ATTEMPT_ENDED && row->outcome != OUTCOME_NONE;
    const enum meter_count count =
        ends ? (enum meter_count)(METER_ATTEMPTS_SUCCEEDED + row->outcome -
                                  OUTCOME_SUCCEEDED)
             : METER_ATTEMPTS_STARTED;
    if (ends || to == ATTEMPT_RUNNING)
        core_defer(core, apply_count, &count, sizeof count);
}

enum ht_status move_attempt(struct core *core, struct attempt_row *row,
                            enum attempt_state to, const char *reason,
                            struct ht_error *err)
{
    if (!move_attempt_may(row->state, to))
        return ht_fail(err, HT_INTERNAL, "attempt %lld cannot go from %s to %s",
                       (long long)row->n, db_attempt_state_name(row->state),
                       db_attempt_state_name(to));
    struct event_row event = {.study = row->study,
                              .kind = "attempt.moved",
                              .trial = row->trial,
                              .attempt = row->n,
                              .from = db_attempt_state_name(row->state),
                              .to = db_attempt_state_name(to),
                              .reason = reason};
    enum ht_status status = move_event(core, &event, err);
    if (status != HT_OK)
        return status;
    count_attempt(core, row, to);
    if (row->state < ATTEMPT_DRAINING && to >= ATTEMPT_DRAINING &&
        (status = fleet_note_end(core, row, err)) != HT_OK)
        return status;
    if (to == ATTEMPT_ENDED)
        living_attempts_drop(core, row->study, row->trial);
    row->state = to;
    row->reason = reason;
    if (to == ATTEMPT_RUNNING)
        row->started_ms = event.time_ms;
    if (to >= ATTEMPT_DRAINING && row->ended_ms == 0)
        row->ended_ms = event.time_ms;
    return db_attempt_save(core_db(core), row, err);
}
