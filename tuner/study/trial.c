#include "tuner/study/trial.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "tuner/base/reason.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/db/trial_checkpoints.h"
#include "tuner/db/write.h"
#include "tuner/search/pareto_trials.h"
#include "tuner/study/elastic.h"
#include "tuner/study/final_measurement.h"
#include "tuner/study/living_attempts.h"
#include "tuner/study/move.h"
#include "tuner/study/outputs.h"
#include "tuner/study/pauses.h"
#include "tuner/study/silence.h"
#include "tuner/study/suggestion_stock.h"
#include "tuner/study/trial_pause.h"

enum { LONGEST_RETRY_MS = 60000 };

/* --- the core's memory of a trial, changed after the commit --- */

struct retry {
    int64_t study, trial, at_ms;
};

static void apply_retry(struct core *core, const void *data)
{
    const struct retry *retry = data;
    live_trial(core_live(core), retry->study, retry->trial)->retry_at_ms =
        retry->at_ms;
}

static void apply_forget(struct core *core, const void *data)
{
    const struct trial_name *gone = data;
    struct live *live = core_live(core);
    const struct live_trial *trial =
        live_find_trial(live, gone->study, gone->trial);
    if (trial != NULL && trial->awaited)
        core_wake(core, CORE_CLIENTS, gone->study); /* there is no verdict */
    live_drop_trial(live, gone->study, gone->trial);
}

void trial_forget(struct core *core, const struct trial_row *trial)
{
    const struct trial_name gone = {trial->study, trial->id, 0};
    core_defer(core, apply_forget, &gone, sizeof gone);
}

/* --- finding --- */

enum ht_status trial_find(struct core *core, struct arena *arena,
                          const struct trial_name *name, const char *runner,
                          struct trial_pair *pair, struct ht_error *err)
{
    struct db *db = core_db(core);
    struct trial_pair found;
    enum ht_status status =
        db_attempt_get(db, arena, name, &found.attempt, err);
    if (status == HT_OK)
        status = db_trial_get(db, arena, name->study, name->trial, &found.trial,
                              err);
    if (status != HT_OK)
        return status;
    if (strcmp(found.attempt.runner, runner) != 0)
        return ht_fail(err, HT_DENIED, "the attempt runs at another runner");
    if (found.attempt.state == ATTEMPT_ENDED ||
        found.attempt.n != found.trial.attempt)
        return ht_fail(err, HT_NOT_FOUND, "the attempt has ended");
    *pair = found;
    return HT_OK;
}

/* --- the end of a trial --- */

static enum ht_status decide_success(struct deciding *deciding,
                                     struct ht_error *err)
{
    if (deciding->job->n_metrics == 0 || deciding->final.found)
        return final_measurement_end_trial(deciding, TRIAL_SUCCEEDED, "", err);
    return final_measurement_end_trial(deciding, TRIAL_INFEASIBLE,
                                       deciding->final.why, err);
}

/* It was asked to end, or ended early by itself. */
static enum ht_status decide_stopped(struct deciding *deciding,
                                     const char *reason, struct ht_error *err)
{
    const bool counts =
        deciding->final.found && deciding->study.state != STUDY_CANCELLING;
    if (counts)
        return final_measurement_end_trial(deciding, TRIAL_STOPPED, reason,
                                           err);
    return move_trial(deciding->core, deciding->trial, TRIAL_CANCELLED, reason,
                      err);
}

static enum ht_status decide_timeout(struct deciding *deciding,
                                     struct ht_error *err)
{
    char limit[CLOCK_DURATION_BYTES];
    const char *reason =
        reason_make(deciding->arena, "ran longer than %s",
                    clock_duration(limit, deciding->job->trial_timeout_ms));
    deciding->trial->failures++;
    if (deciding->final.found)
        return final_measurement_end_trial(deciding, TRIAL_STOPPED, reason,
                                           err);
    return move_trial(deciding->core, deciding->trial, TRIAL_FAILED, reason,
                      err);
}

/* The pause before the n-th start again, n from 1. */
static int64_t retry_delay_ms(const struct core *core, int64_t n)
{
    int64_t delay_ms = core_options_of(core)->retry_ms;
    for (int64_t i = 1; i < n && delay_ms < LONGEST_RETRY_MS; i++)
        delay_ms *= 2;
    return delay_ms < LONGEST_RETRY_MS ? delay_ms : LONGEST_RETRY_MS;
}

static void retry_later(struct core *core, const struct trial_row *trial,
                        int64_t delay_ms)
{
    const struct retry retry = {trial->study, trial->id,
                                core_now_ms(core) + delay_ms};
    core_defer(core, apply_retry, &retry, sizeof retry);
}

static enum ht_status decide_failed(struct deciding *deciding,
                                    struct ht_error *err)
{
    struct trial_row *trial = deciding->trial;
    const char *why = deciding->attempt->reason;
    trial->failures++;
    trial->losses = 0;
    if (trial->failures > deciding->job->retries)
        return move_trial(deciding->core, trial, TRIAL_FAILED, why, err);
    const int64_t delay_ms = retry_delay_ms(deciding->core, trial->failures);
    char text[CLOCK_DURATION_BYTES];
    const char *reason = reason_make(
        deciding->arena, "%s; retry %lld of %lld after %s", why,
        (long long)trial->failures, (long long)deciding->job->retries,
        clock_duration(text, delay_ms));
    retry_later(deciding->core, trial, delay_ms);
    return move_trial(deciding->core, trial, TRIAL_REQUESTED, reason, err);
}

/* Of the newest attempts, `losses` of them, how many had begun. */
static enum ht_status count_begun(const struct deciding *deciding, size_t *n,
                                  struct ht_error *err)
{
    const struct trial_row *trial = deciding->trial;
    struct attempt_list list = {0};
    const enum ht_status status =
        db_attempt_list(core_db(deciding->core), deciding->arena, trial->study,
                        trial->id, &list, err);
    const size_t losses = (size_t)trial->losses;
    *n = 0;
    for (size_t i = list.n > losses ? list.n - losses : 0; i < list.n; i++)
        *n += list.rows[i].started_ms > 0;
    return status;
}

/* Why the trial is not tried again; NULL: it is. One that brings its trial
 * further may be lost any number of times. */
static enum ht_status find_lost_for_good(const struct deciding *deciding,
                                         const char **reason,
                                         struct ht_error *err)
{
    const struct trial_row *trial = deciding->trial;
    const char *why = deciding->attempt->reason;
    size_t begun;
    const enum ht_status status = count_begun(deciding, &begun, err);
    *reason = NULL;
    if (status == HT_OK && begun >= HT_MAX_LOST_WORK)
        *reason = reason_make(
            deciding->arena,
            "lost %zu times in a row without a newer checkpoint or step: %s",
            begun, why);
    else if (status == HT_OK && trial->losses > HT_MAX_LOST)
        *reason = reason_make(deciding->arena, "lost %lld times in a row: %s",
                              (long long)trial->losses, why);
    return status;
}

static enum ht_status start_again(struct deciding *deciding,
                                  struct ht_error *err)
{
    struct trial_row *trial = deciding->trial;
    const char *why = deciding->attempt->reason;
    if (trial->losses <= 1) /* usually a lost machine */
        return move_trial(deciding->core, trial, TRIAL_REQUESTED,
                          reason_make(deciding->arena, "%s; starts again", why),
                          err);
    const int64_t delay_ms = retry_delay_ms(deciding->core, trial->losses - 1);
    char text[CLOCK_DURATION_BYTES];
    retry_later(deciding->core, trial, delay_ms);
    return move_trial(deciding->core, trial, TRIAL_REQUESTED,
                      reason_make(deciding->arena, "%s; starts again after %s",
                                  why, clock_duration(text, delay_ms)),
                      err);
}

static enum ht_status decide_lost(struct deciding *deciding,
                                  struct ht_error *err)
{
    struct trial_row *trial = deciding->trial;
    const char *for_good = NULL;
    bool has_progress;
    enum ht_status status = db_attempt_has_progress(
        core_db(deciding->core), deciding->attempt, &has_progress, err);
    if (status != HT_OK)
        return status;
    trial->losses = has_progress || deciding->saved ? 0 : trial->losses + 1;
    status = find_lost_for_good(deciding, &for_good, err);
    if (status != HT_OK)
        return status;
    return for_good != NULL
               ? move_trial(deciding->core, trial, TRIAL_FAILED, for_good, err)
               : start_again(deciding, err);
}

/* Its runner drains: no fault of the trial, and none of the machine. */
static enum ht_status decide_moved(struct deciding *deciding,
                                   struct ht_error *err)
{
    return move_trial(deciding->core, deciding->trial, TRIAL_REQUESTED,
                      reason_make(deciding->arena,
                                  "moves from runner %s, which is draining",
                                  deciding->attempt->runner),
                      err);
}

static enum ht_status decide(struct deciding *deciding, struct ht_error *err)
{
    const struct trial_row *trial = deciding->trial;
    bool decided = false;
    if (trial->pausing) {
        const enum ht_status status =
            trial_pause_decide(deciding, &decided, err);
        if (status != HT_OK || decided)
            return status;
        if (deciding->attempt->outcome == OUTCOME_SUCCEEDED)
            return decide_success(deciding, err);
    }
    if (trial->state == TRIAL_STOPPING)
        return decide_stopped(deciding, trial->reason, err);
    switch (deciding->attempt->outcome) {
    case OUTCOME_SUCCEEDED:
        return decide_success(deciding, err);
    case OUTCOME_STOPPED:
        if (deciding->attempt->moving)
            return decide_moved(deciding, err);
        return decide_stopped(deciding, deciding->attempt->reason, err);
    case OUTCOME_TIMEOUT:
        return decide_timeout(deciding, err);
    case OUTCOME_FAILED:
        return decide_failed(deciding, err);
    case OUTCOME_LOST:
    case OUTCOME_NONE:
        break;
    }
    return decide_lost(deciding, err);
}

static enum ht_status end_attempt(struct deciding *deciding,
                                  struct ht_error *err)
{
    enum ht_status status =
        move_attempt(deciding->core, deciding->attempt, ATTEMPT_ENDED,
                     deciding->attempt->reason, err);
    if (status == HT_OK)
        status = decide(deciding, err);
    if (status == HT_OK)
        status = pauses_note_result(deciding, err);
    if (status != HT_OK)
        return status;
    /* Another one may run in its place. */
    core_wake(deciding->core, CORE_ALL_HELD, deciding->study.id);
    elastic_touch_asking(deciding->core);
    const struct trial_row *trial = deciding->trial;
    const bool final = db_trial_state_is_final(trial->state);
    if (final || trial->state == TRIAL_PAUSED)
        trial_forget(deciding->core, trial);
    return final ? outputs_note_end(deciding->core, trial, err) : HT_OK;
}

/* --- messages of runners --- */

enum ht_status trial_started(struct core *core, struct trial_pair *pair,
                             const char *facts, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    if (facts != NULL)
        status =
            db_attempt_set_facts(core_db(core), &pair->attempt, facts, err);
    if (status != HT_OK || pair->attempt.state != ATTEMPT_STARTING)
        return status;
    silence_watch(core, &pair->attempt);
    status = pauses_forget_refusals(core, pair->trial.study, err);
    core_touch(core, pair->trial.study); /* a limit may count from now on */
    return status == HT_OK
               ? move_attempt(core, &pair->attempt, ATTEMPT_RUNNING, "", err)
               : status;
}

enum ht_status trial_ended(struct core *core, struct arena *arena,
                           struct trial_pair *pair,
                           const struct trial_outcome *outcome,
                           struct ht_error *err)
{
    if (pair->attempt.state == ATTEMPT_DRAINING)
        return HT_OK;
    /* One that a person or a rule stops meanwhile is not hung. */
    const bool hung = pair->attempt.hung &&
                      outcome->outcome == OUTCOME_STOPPED &&
                      pair->trial.state == TRIAL_ACTIVE;
    pair->attempt.outcome = hung ? OUTCOME_FAILED : outcome->outcome;
    pair->attempt.exit_code = outcome->exit_code;
    pair->attempt.signal = outcome->signal;
    const enum ht_status status =
        move_attempt(core, &pair->attempt, ATTEMPT_DRAINING,
                     hung ? pair->attempt.reason : outcome->reason, err);
    return status == HT_OK && outcome->impossible
               ? pauses_note_refusal(core, arena, pair->trial.study,
                                     outcome->reason, err)
               : status;
}

enum ht_status trial_drained(struct core *core, struct arena *arena,
                             struct trial_pair *pair,
                             const struct node *evidence, bool saved,
                             struct ht_error *err)
{
    if (pair->attempt.state != ATTEMPT_DRAINING)
        return ht_fail(err, HT_INVALID, "drained before ended");
    struct deciding deciding = {.core = core,
                                .arena = arena,
                                .trial = &pair->trial,
                                .attempt = &pair->attempt,
                                .evidence = evidence,
                                .saved = saved};
    const enum ht_status status = final_measurement_prepare(&deciding, err);
    return status == HT_OK ? end_attempt(&deciding, err) : status;
}

enum ht_status trial_lost(struct core *core, struct arena *arena,
                          struct trial_pair *pair, const char *reason,
                          struct ht_error *err)
{
    struct deciding deciding = {.core = core,
                                .arena = arena,
                                .trial = &pair->trial,
                                .attempt = &pair->attempt};
    const enum ht_status status = final_measurement_prepare(&deciding, err);
    if (status != HT_OK)
        return status;
    const bool known = pair->attempt.state == ATTEMPT_DRAINING &&
                       pair->attempt.outcome == OUTCOME_SUCCEEDED &&
                       (deciding.final.found || deciding.job->n_metrics == 0);
    if (!known) {
        pair->attempt.outcome = OUTCOME_LOST;
        pair->attempt.reason = reason;
    }
    return end_attempt(&deciding, err);
}

/* --- requests of people --- */

/* One that waits may have run before; after a rung its value there counts. */
static enum ht_status end_requested(struct core *core, struct arena *arena,
                                    struct trial_row *trial, const char *reason,
                                    struct ht_error *err)
{
    if (trial->rungs_passed > 0 && trial->attempt > 0)
        return trial_pause_end(core, arena, trial, reason, err);
    const enum ht_status status =
        move_trial(core, trial, TRIAL_CANCELLED, reason, err);
    return status == HT_OK && trial->attempt > 0
               ? outputs_note_end(core, trial, err)
               : status;
}

/* The pause becomes the end. */
static enum ht_status end_pausing(struct core *core, struct trial_row *trial,
                                  const char *reason, struct ht_error *err)
{
    trial->pausing = false;
    trial->reason = reason;
    struct event_row event = {.study = trial->study,
                              .kind = "trial.changed",
                              .trial = trial->id,
                              .attempt = trial->attempt,
                              .reason = reason};
    const enum ht_status status = move_event(core, &event, err);
    if (status != HT_OK)
        return status;
    trial->revision = event.revision;
    return db_trial_save(core_db(core), trial, err);
}

enum ht_status trial_end(struct core *core, struct arena *arena,
                         struct trial_row *trial, const char *reason,
                         struct ht_error *err)
{
    switch (trial->state) {
    case TRIAL_PREPARED:
    case TRIAL_REQUESTED:
        return end_requested(core, arena, trial, reason, err);
    case TRIAL_PAUSED:
        return trial_pause_end(
            core, arena, trial,
            reason_make(arena, "%s; %s", trial->reason, reason), err);
    case TRIAL_ACTIVE:
        core_wake(core, CORE_ALL_HELD, trial->study);
        return move_trial(core, trial, TRIAL_STOPPING, reason, err);
    case TRIAL_STOPPING:
        if (trial->pausing)
            return end_pausing(core, trial, reason, err);
        break;
    case TRIAL_SUCCEEDED:
    case TRIAL_STOPPED:
    case TRIAL_FAILED:
    case TRIAL_INFEASIBLE:
    case TRIAL_CANCELLED:
        break;
    }
    return HT_OK;
}

/* --- deletion --- */

enum ht_status trial_delete(struct core *core, const struct job *job,
                            const struct trial_row *trial, const char *reason,
                            struct ht_error *err)
{
    struct event_row event = {.study = trial->study,
                              .kind = "trial.deleted",
                              .trial = trial->id,
                              .from = db_trial_state_name(trial->state),
                              .reason = reason,
                              .data =
                                  trial->confirms == 0 ? trial->params : ""};
    enum ht_status status =
        pareto_trials_forget(core_db(core), job, trial, err);
    if (status == HT_OK)
        status = db_trial_erase(core_db(core), trial, err);
    if (status == HT_OK)
        status = move_event(core, &event, err);
    suggestion_stock_outdate(core, trial->study);
    living_attempts_drop(core, trial->study, trial->id);
    trial_forget(core, trial);
    core_touch(core, trial->study);
    return status;
}

/* --- creation --- */

static enum ht_status insert(struct core *core, const struct study_row *study,
                             struct trial_row *trial, bool *created,
                             struct ht_error *err)
{
    struct db *db = core_db(core);
    enum ht_status status = HT_OK;
    if (trial->replicate == TRIAL_AGAIN)
        status = db_trial_next_replicate(db, study->id, trial->params,
                                         &trial->replicate, err);
    return status == HT_OK ? db_trial_insert(db, trial, created, err) : status;
}

static enum ht_status note_created(struct core *core, struct trial_row *trial,
                                   struct ht_error *err)
{
    struct event_row event = {.study = trial->study,
                              .kind = "trial.created",
                              .trial = trial->id,
                              .to = db_trial_state_name(trial->state),
                              .reason = trial->reason,
                              .data = trial->params};
    const enum ht_status status = move_event(core, &event, err);
    trial->revision = event.revision;
    return status;
}

/* The study's next id, or the one that the trial has; ids between are never
 * used. */
static enum ht_status find_id(struct db *db, struct study_row *study,
                              struct trial_row *trial, struct ht_error *err)
{
    if (trial->id != 0 && trial->id < study->next_trial)
        return ht_fail(err, HT_CONFLICT, "trial %lld is not after trial %lld",
                       (long long)trial->id, (long long)study->next_trial - 1);
    if (trial->id > study->next_trial)
        return db_study_skip_trials(db, study, trial->id, err);
    trial->id = study->next_trial;
    return HT_OK;
}

enum ht_status trial_create(struct core *core, struct study_row *study,
                            struct trial_row *trial, bool *created,
                            struct ht_error *err)
{
    struct db *db = core_db(core);
    if (db_study_trials_made(study) + study->confirmations >= HT_MAX_TRIALS)
        return ht_fail(err, HT_LIMIT, "study %.128s has %d trials, no more fit",
                       study->name, HT_MAX_TRIALS);
    enum ht_status status = find_id(db, study, trial, err);
    if (status != HT_OK)
        return status;
    trial->study = study->id;
    trial->ordinal = db_study_trials_made(study);
    trial->final_elapsed_ms = -1;
    if (trial->created_ms == 0)
        trial->created_ms = core_wall_ms(core);
    trial->started_ms = trial->state == TRIAL_ACTIVE ? trial->created_ms : 0;
    status = insert(core, study, trial, created, err);
    if (status != HT_OK || !*created)
        return status;
    status = db_study_take_trial_id(db, study->id, trial->confirms != 0,
                                    &trial->id, err);
    if (status == HT_OK)
        status = db_trial_count(db, trial, trial->state, 1, err);
    if (status == HT_OK)
        status = note_created(core, trial, err);
    if (status != HT_OK)
        return status;
    if (trial->chosen_by_person)
        suggestion_stock_outdate(core, study->id);
    study->next_trial = trial->id + 1;
    study->confirmations += trial->confirms != 0;
    core_touch(core, study->id);
    return db_trial_save(db, trial, err);
}
