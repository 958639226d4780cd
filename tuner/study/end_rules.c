#include "tuner/study/end_rules.h"

#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "tuner/base/reason.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/db/prior.h"
#include "tuner/db/specs.h"
#include "tuner/search/pareto_trials.h"
#include "tuner/study/running_time.h"

enum {
    WALL_LOOK_MS = 10000, /* moments: the wall clock may be changed */
    USED_LOOK_MS = 30000  /* running time: so much a crash may lose */
};

enum ht_status study_look(struct settling *settling, struct ht_error *err)
{
    const enum ht_status status = db_trial_counts(
        core_db(settling->core), settling->row.id, &settling->counts, err);
    if (status != HT_OK)
        return status;
    settling->used_ms = running_time_used_ms(settling->core, &settling->row);
    return live_job(core_live(settling->core), &settling->row, &settling->job,
                    err);
}

int64_t study_open_trials(const struct trial_counts *counts)
{
    return study_busy_trials(counts) + trial_counts_all(counts, TRIAL_PAUSED);
}

int64_t study_busy_trials(const struct trial_counts *counts)
{
    return trial_counts_all(counts, TRIAL_PREPARED) +
           trial_counts_all(counts, TRIAL_REQUESTED) +
           trial_counts_all(counts, TRIAL_ACTIVE) +
           trial_counts_all(counts, TRIAL_STOPPING);
}

int64_t study_wanted(const struct settling *settling)
{
    /* Of a study that others run, trials are made when they ask; a custom job
     * came with its one. */
    if (settling->row.kind != JOB_TUNING ||
        settling->row.state != STUDY_RUNNING || settling->row.exhausted ||
        db_study_only_confirms(&settling->row))
        return 0;
    const int64_t room =
        settling->job->parallel - study_busy_trials(&settling->counts);
    const int64_t left =
        settling->job->max_trials - db_study_trials_made(&settling->row);
    const int64_t n = room < left ? room : left;
    return n < 0 ? 0 : n;
}

/* --- rules that end a study --- */

static void end_by_plan(struct ending *end, const char *reason)
{
    *end = (struct ending){STUDY_SUCCEEDED, reason};
}

static enum ht_status common_failure(struct settling *settling,
                                     const char **text, struct ht_error *err)
{
    const char *reason;
    const enum ht_status status =
        db_trial_common_failure(core_db(settling->core), settling->arena,
                                settling->row.id, &reason, err);
    if (status == HT_OK)
        *text = *reason == '\0'
                    ? ""
                    : reason_make(settling->arena, ": most often '%s'", reason);
    return status;
}

static enum ht_status too_many_failed(struct settling *settling,
                                      struct ending *end, struct ht_error *err)
{
    const int64_t failed = trial_counts_failed(settling->counts.of);
    if (settling->job->max_failed == 0 || failed < settling->job->max_failed)
        return HT_OK;
    const char *why;
    const enum ht_status status = common_failure(settling, &why, err);
    if (status != HT_OK)
        return status;
    *end = (struct ending){
        STUDY_FAILED,
        reason_make(settling->arena, "%lld trials failed, limit %lld%s",
                    (long long)failed, (long long)settling->job->max_failed,
                    why)};
    return HT_OK;
}

static enum ht_status target_reached(struct settling *settling,
                                     struct ending *end, struct ht_error *err)
{
    if (!settling->job->until.has_target || settling->job->n_metrics == 0)
        return HT_OK;
    const struct metric_goal *goal = &settling->job->metrics[0];
    const struct pareto_trials_scope scope = {.study = settling->row.id};
    struct trial_row best;
    const enum ht_status status =
        pareto_trials_best(core_db(settling->core), settling->arena, &scope,
                           settling->job, &best, err);
    if (status != HT_OK)
        return status == HT_NOT_FOUND ? HT_OK : status;
    const bool reached = goal->maximize
                             ? best.objective >= settling->job->until.target
                             : best.objective <= settling->job->until.target;
    if (!reached)
        return HT_OK;
    char got[TEXT_DOUBLE_BYTES], wanted[TEXT_DOUBLE_BYTES];
    end_by_plan(
        end, reason_make(settling->arena, "trial %lld reached %s %s, target %s",
                         (long long)best.id, goal->name,
                         text_of_double(got, best.objective),
                         text_of_double(wanted, settling->job->until.target)));
    return HT_OK;
}

/* `earlier` of them by earlier studies alone. */
static const char *exhausted_words(const struct settling *settling, int64_t own,
                                   int64_t earlier, bool edited)
{
    const bool constrained = settling->job->constraints.n > 0;
    const char *where =
        constrained ? "that the constraints allow" : "of the space";
    if (edited) /* how many of them lie in it is not counted */
        return reason_make(settling->arena, "every point %s was tried", where);
    const int64_t tried = own + earlier;
    if (tried == 0 && constrained)
        return "no point satisfies the constraints";
    const char *by =
        earlier == 0 ? ""
        : own == 0   ? " by earlier studies"
                     : reason_make(settling->arena, ", %lld by earlier studies",
                                   (long long)earlier);
    if (tried == 1)
        return reason_make(settling->arena, "the one point %s was tried%s",
                           where, by);
    return reason_make(settling->arena, "all %lld points %s were tried%s",
                       (long long)tried, where, by);
}

static enum ht_status end_exhausted(struct settling *settling,
                                    struct ending *end, struct ht_error *err)
{
    struct db *db = core_db(settling->core);
    const int64_t study = settling->row.id;
    int64_t earlier, edited = 0;
    enum ht_status status = db_prior_tried(db, study, &earlier, err);
    if (status == HT_OK)
        status = db_spec_changed(db, study, INT64_MAX, &edited, err);
    if (status == HT_OK)
        end_by_plan(end, exhausted_words(settling,
                                         db_study_trials_made(&settling->row),
                                         earlier, edited > 0));
    return status;
}

static enum ht_status all_done(struct settling *settling, struct ending *end,
                               struct ht_error *err)
{
    const int64_t created = db_study_trials_made(&settling->row);
    if (study_busy_trials(&settling->counts) > 0)
        return HT_OK;
    if (settling->job->max_trials > 0 && created >= settling->job->max_trials)
        end_by_plan(end, created == 1
                             ? "its trial has ended"
                             : reason_make(settling->arena,
                                           "all %lld trials have ended",
                                           (long long)created));
    else if (settling->row.exhausted)
        return end_exhausted(settling, end, err);
    return HT_OK;
}

static enum ht_status time_over(struct settling *settling, struct ending *end,
                                struct ht_error *err)
{
    (void)err;
    const struct stopping *until = &settling->job->until;
    char limit[CLOCK_DURATION_BYTES], moment[CLOCK_STAMP_BYTES];
    if (until->time_ms > 0 && settling->used_ms >= until->time_ms)
        end_by_plan(end, reason_make(settling->arena, "its time of %s is over",
                                     clock_duration(limit, until->time_ms)));
    else if (until->end_ms > 0 && core_wall_ms(settling->core) >= until->end_ms)
        end_by_plan(end, reason_make(settling->arena, "it was to end at %s",
                                     clock_stamp(moment, until->end_ms)));
    return HT_OK;
}

static enum ht_status no_progress(struct settling *settling, struct ending *end,
                                  struct ht_error *err)
{
    (void)err;
    const struct stopping *until = &settling->job->until;
    char limit[CLOCK_DURATION_BYTES];
    if (until->no_progress > 0 &&
        settling->row.stale_trials >= until->no_progress)
        end_by_plan(end, reason_make(settling->arena,
                                     "no progress in the last %lld trials",
                                     (long long)settling->row.stale_trials));
    else if (until->no_progress_ms > 0 &&
             settling->used_ms - settling->row.gain_ms >= until->no_progress_ms)
        end_by_plan(end,
                    reason_make(settling->arena, "no progress for %s",
                                clock_duration(limit, until->no_progress_ms)));
    return HT_OK;
}

/* --- limits that cancel it --- */

struct limit {
    int64_t ms;      /* 0: none */
    int64_t left_ms; /* until it is over */
};

/* The current one; clients end their studies themselves. */
static struct limit limit_of(const struct settling *settling)
{
    const struct cancelling *after = &settling->job->cancel_after;
    if (settling->row.kind == JOB_STUDY)
        return (struct limit){0};
    if (settling->row.first_run_used_ms == 0)
        return (struct limit){after->waiting_ms,
                              after->waiting_ms - settling->used_ms};
    return (struct limit){after->running_ms, settling->row.first_run_used_ms +
                                                 after->running_ms -
                                                 settling->used_ms};
}

static enum ht_status limit_over(struct settling *settling, struct ending *end,
                                 struct ht_error *err)
{
    (void)err;
    char text[CLOCK_DURATION_BYTES];
    const struct limit limit = limit_of(settling);
    if (limit.ms > 0 && limit.left_ms <= 0)
        *end = (struct ending){
            STUDY_CANCELLED,
            reason_make(settling->arena,
                        settling->row.first_run_used_ms == 0
                            ? "no trial started within its limit of %s"
                            : "it ran longer than its limit of %s",
                        clock_duration(text, limit.ms))};
    return HT_OK;
}

/* --- all of them, in Google's order --- */

static bool is_vetoed(const struct settling *settling)
{
    const struct stopping *until = &settling->job->until;
    const int64_t completed = settling->counts.of[TRIAL_SUCCEEDED] +
                              settling->counts.of[TRIAL_STOPPED];
    return settling->used_ms < until->min_time_ms ||
           core_wall_ms(settling->core) < until->min_end_ms ||
           completed < until->min_trials;
}

/* It had ended before, and ends the same way when all is confirmed. */
static void find_end_again(const struct settling *settling, struct ending *end)
{
    if (study_open_trials(&settling->counts) == 0)
        *end = (struct ending){settling->row.ends_as, settling->row.ended};
}

enum ht_status study_find_end(struct settling *settling, struct ending *end,
                              struct ht_error *err)
{
    static const struct {
        enum ht_status (*find)(struct settling *, struct ending *,
                               struct ht_error *);
        bool may_be_vetoed;
    } rules[] = {
        {too_many_failed, false}, {target_reached, true}, {all_done, false},
        {limit_over, false},      {time_over, true},      {no_progress, true},
    };
    if (db_study_only_confirms(&settling->row)) {
        find_end_again(settling, end);
        return HT_OK;
    }
    const bool vetoed = is_vetoed(settling);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (vetoed && rules[i].may_be_vetoed)
            continue;
        const enum ht_status status = rules[i].find(settling, end, err);
        if (status != HT_OK || end->reason != NULL)
            return status;
    }
    return HT_OK;
}

/* --- when time will call for something --- */

static void sooner(int64_t *next, int64_t left_ms)
{
    if (left_ms > 0 && left_ms < *next)
        *next = left_ms;
}

/* A moment is met on time while the clock is not changed, and soon after when
 * it is. */
static void sooner_moment(int64_t *next, int64_t left_ms)
{
    sooner(next, left_ms < WALL_LOOK_MS ? left_ms : WALL_LOOK_MS);
}

static bool counts_time(const struct stopping *until)
{
    return until->time_ms > 0 || until->min_time_ms > 0 ||
           until->no_progress_ms > 0;
}

int64_t study_next_end_ms(const struct settling *settling)
{
    if ((settling->row.state != STUDY_RUNNING &&
         settling->row.state != STUDY_PAUSED) ||
        db_study_only_confirms(&settling->row))
        return LIVE_NEVER;
    const struct stopping *until = &settling->job->until;
    const int64_t wall_ms = core_wall_ms(settling->core);
    int64_t next = LIVE_NEVER;
    if (until->end_ms > 0)
        sooner_moment(&next, until->end_ms - wall_ms);
    if (until->min_end_ms > 0)
        sooner_moment(&next, until->min_end_ms - wall_ms);
    const struct limit limit = limit_of(settling);
    if (settling->row.state == STUDY_RUNNING &&
        (counts_time(until) || limit.ms > 0)) {
        sooner(&next, USED_LOOK_MS);
        if (limit.ms > 0)
            sooner(&next, limit.left_ms);
        sooner(&next, until->time_ms - settling->used_ms);
        sooner(&next, until->min_time_ms - settling->used_ms);
        if (until->no_progress_ms > 0)
            sooner(&next, settling->row.gain_ms + until->no_progress_ms -
                              settling->used_ms);
    }
    return next == LIVE_NEVER ? next : core_now_ms(settling->core) + next;
}

/* --- what an end turned out to be --- */

/* A custom job has no objective: it is as its one trial is. */
static enum ht_status resolve_custom(struct settling *settling,
                                     struct ending *end, struct ht_error *err)
{
    struct trial_row trial;
    const enum ht_status status =
        db_trial_get(core_db(settling->core), settling->arena, settling->row.id,
                     1, &trial, err);
    if (status != HT_OK)
        return status;
    if (trial.state == TRIAL_SUCCEEDED)
        end_by_plan(end, "it has ended well");
    else
        *end = (struct ending){STUDY_FAILED, trial.reason};
    return HT_OK;
}

enum ht_status study_resolve_end(struct settling *settling, struct ending *end,
                                 struct ht_error *err)
{
    if (end->as != STUDY_SUCCEEDED || settling->row.kind == JOB_STUDY)
        return HT_OK;
    if (settling->row.kind == JOB_CUSTOM)
        return resolve_custom(settling, end, err);
    if (settling->counts.of[TRIAL_SUCCEEDED] +
            settling->counts.of[TRIAL_STOPPED] >
        0)
        return HT_OK;
    /* No point was left to measure, which is no failure. */
    bool measured = false;
    enum ht_status status = HT_OK;
    if (db_study_trials_made(&settling->row) == 0)
        status = db_prior_measured(core_db(settling->core), settling->row.id,
                                   &measured, err);
    if (status != HT_OK || measured)
        return status;
    const char *why;
    status = common_failure(settling, &why, err);
    if (status == HT_OK)
        *end = (struct ending){STUDY_FAILED,
                               reason_make(settling->arena,
                                           "no trial succeeded%s (%s)", why,
                                           end->reason)};
    return status;
}
