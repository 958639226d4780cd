#include "tuner/study/end.h"

#include "proto/base/limits.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/db/write.h"
#include "tuner/study/common_file.h"
#include "tuner/study/move.h"
#include "tuner/study/running_time.h"
#include "tuner/study/trial.h"

/* An end by plan of a job that asked for it. */
static bool lets_finish(struct core *core, const struct study_row *row)
{
    const struct job *job;
    return row->state == STUDY_STOPPING && row->ends_as == STUDY_SUCCEEDED &&
           !db_study_only_confirms(row) &&
           live_job(core_live(core), row, &job, NULL) == HT_OK &&
           job->until.let_finish;
}

static enum ht_status end_open_trials(struct core *core, struct arena *arena,
                                      const struct study_row *row,
                                      struct ht_error *err)
{
    const bool spares = lets_finish(core, row);
    struct trial_list open, paused;
    enum ht_status status = db_trial_open(core_db(core), arena, row->id,
                                          HT_MAX_PARALLEL, &open, err);
    for (size_t i = 0; status == HT_OK && i < open.n; i++)
        if (!spares || open.rows[i].state != TRIAL_ACTIVE)
            status = trial_end(core, arena, &open.rows[i], row->reason, err);
    if (status == HT_OK)
        status = db_trial_paused(core_db(core), arena, row->id, HT_MAX_PARALLEL,
                                 &paused, err);
    for (size_t i = 0; status == HT_OK && i < paused.n; i++)
        status = trial_end(core, arena, &paused.rows[i], row->reason, err);
    return status;
}

/* A study may end before the first look at it after its first trial began. */
static enum ht_status note_start(struct core *core, struct study_row *row,
                                 struct ht_error *err)
{
    struct trial_counts counts;
    if (row->started_ms > 0)
        return HT_OK;
    const enum ht_status status =
        db_trial_counts(core_db(core), row->id, &counts, err);
    if (status == HT_OK && counts.of[TRIAL_ACTIVE] > 0)
        row->started_ms = core_wall_ms(core);
    return status;
}

enum ht_status study_begin_end(struct core *core, struct arena *arena,
                               struct study_row *row, enum study_state as,
                               const char *reason, struct ht_error *err)
{
    if (db_study_only_confirms(row)) { /* as it had ended before */
        as = row->ends_as;
        reason = row->ended;
    }
    if (row->kind == JOB_STUDY) {
        row->ended = "";
        return move_study(core, row, as, reason, err);
    }
    const enum study_state via =
        as == STUDY_CANCELLED ? STUDY_CANCELLING : STUDY_STOPPING;
    row->ends_as = as;
    enum ht_status status = note_start(core, row, err);
    if (status == HT_OK)
        status = move_study(core, row, via, reason, err);
    return status == HT_OK ? end_open_trials(core, arena, row, err) : status;
}

static enum ht_status save_changed(struct core *core, struct study_row *row,
                                   const char *reason, struct ht_error *err)
{
    row->reason = reason;
    return move_study_changed(core, row, reason, err);
}

enum ht_status study_hasten_end(struct core *core, struct arena *arena,
                                struct study_row *row, const char *reason,
                                struct ht_error *err)
{
    if (!lets_finish(core, row))
        return HT_OK;
    row->ends_as = STUDY_STOPPED;
    const enum ht_status status = save_changed(core, row, reason, err);
    return status == HT_OK ? end_open_trials(core, arena, row, err) : status;
}

static enum ht_status close_study(struct settling *settling,
                                  const struct ending *end,
                                  struct ht_error *err)
{
    struct ending outcome = *end;
    const enum ht_status status = study_resolve_end(settling, &outcome, err);
    settling->row.ended = "";
    return status == HT_OK ? move_study(settling->core, &settling->row,
                                        outcome.as, outcome.reason, err)
                           : status;
}

enum ht_status study_finish(struct settling *settling, struct ht_error *err)
{
    enum ht_status status = HT_OK;
    if (study_open_trials(&settling->counts) > 0) {
        status = end_open_trials(settling->core, settling->arena,
                                 &settling->row, err);
        if (status == HT_OK) /* all of them may have been waiting */
            status = db_trial_counts(core_db(settling->core), settling->row.id,
                                     &settling->counts, err);
    }
    if (status != HT_OK || study_open_trials(&settling->counts) > 0)
        return status;
    const struct ending end = {settling->row.ends_as, settling->row.reason};
    return close_study(settling, &end, err);
}

enum ht_status study_end(struct settling *settling, const struct ending *end,
                         struct ht_error *err)
{
    if (settling->row.kind == JOB_STUDY ||
        study_open_trials(&settling->counts) == 0)
        return close_study(settling, end, err);
    const enum ht_status status =
        study_begin_end(settling->core, settling->arena, &settling->row,
                        end->as, end->reason, err);
    return status == HT_OK ? study_finish(settling, err) : status;
}

/* Since its end another study may write its metrics file. */
static enum ht_status check_file(struct core *core, const struct study_row *row,
                                 struct ht_error *err)
{
    const struct job *job;
    const enum ht_status status = live_job(core_live(core), row, &job, err);
    return status == HT_OK ? common_file_check(core, row->id, job, err)
                           : status;
}

enum ht_status study_reopen(struct core *core, struct study_row *row,
                            const char *reason, struct ht_error *err)
{
    enum ht_status status = check_file(core, row, err);
    if (status == HT_OK)
        status = running_time_restart(core, row, err);
    if (status != HT_OK)
        return status;
    row->ended = "";
    core_wake(core, CORE_ALL_HELD, row->id);
    return db_study_state_is_final(row->state)
               ? move_study(core, row, STUDY_RUNNING, reason, err)
               : save_changed(core, row, reason, err);
}

enum ht_status study_confirm_on(struct core *core, struct study_row *row,
                                const char *reason, struct ht_error *err)
{
    const enum ht_status status = check_file(core, row, err);
    if (status != HT_OK)
        return status;
    row->ends_as = row->state;
    row->ended = row->reason;
    core_wake(core, CORE_ALL_HELD, row->id);
    return move_study(core, row, STUDY_RUNNING, reason, err);
}
