#include "tuner/study/end_rules.h"

#include "proto/base/clock.h"
#include "proto/base/text.h"
#include "tuner/base/reason.h"
#include "tuner/core/live.h"
#include "tuner/db/prior.h"
#include "tuner/db/write.h"
#include "tuner/search/pareto_trials.h"
#include "tuner/study/running_time.h"

enum {
    WALL_LOOK_MS = 10000, /* moments: the wall clock may be set meanwhile */
    USED_LOOK_MS = 30000  /* running time: so much a crash may lose */
};

enum ht_status study_look(struct settling *now, struct ht_error *err)
{
    const enum ht_status status =
        db_trial_counts(core_db(now->core), now->row.id, &now->counts, err);
    if (status != HT_OK)
        return status;
    now->used_ms = running_time_used_ms(now->core, &now->row);
    return live_job(core_memory(now->core), &now->row, &now->job, err);
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

int64_t study_wanted(const struct settling *now)
{
    /* Of a study that others run, trials are made when they ask; a custom job
     * came with its one. */
    if (now->row.kind != JOB_TUNING || now->row.state != STUDY_RUNNING ||
        now->row.exhausted || db_study_only_confirms(&now->row))
        return 0;
    const int64_t room = now->job->parallel - study_busy_trials(&now->counts);
    const int64_t left = now->job->max_trials - db_study_trials_made(&now->row);
    const int64_t n = room < left ? room : left;
    return n < 0 ? 0 : n;
}

/* --- rules that end a study --- */

static void end_by_plan(struct ending *end, const char *reason)
{
    *end = (struct ending){STUDY_SUCCEEDED, reason};
}

static enum ht_status common_failure(struct settling *now, const char **text,
                                     struct ht_error *err)
{
    const char *reason;
    const enum ht_status status = db_trial_common_failure(
        core_db(now->core), now->arena, now->row.id, &reason, err);
    if (status == HT_OK)
        *text = *reason == '\0'
                    ? ""
                    : reason_make(now->arena, ": most often '%s'", reason);
    return status;
}

static enum ht_status too_many_failed(struct settling *now, struct ending *end,
                                      struct ht_error *err)
{
    const int64_t failed = trial_counts_failed(now->counts.of);
    if (now->job->max_failed == 0 || failed < now->job->max_failed)
        return HT_OK;
    const char *why;
    const enum ht_status status = common_failure(now, &why, err);
    if (status != HT_OK)
        return status;
    *end = (struct ending){
        STUDY_FAILED,
        reason_make(now->arena, "%lld trials failed, limit %lld%s",
                    (long long)failed, (long long)now->job->max_failed, why)};
    return HT_OK;
}

static enum ht_status target_reached(struct settling *now, struct ending *end,
                                     struct ht_error *err)
{
    if (!now->job->until.has_target || now->job->n_metrics == 0)
        return HT_OK;
    const struct metric_goal *goal = &now->job->metrics[0];
    struct trial_row best;
    const enum ht_status status = pareto_trials_best(
        core_db(now->core), now->arena, now->row.id, now->job, &best, err);
    if (status != HT_OK)
        return status == HT_NOT_FOUND ? HT_OK : status;
    const bool reached = goal->maximize
                             ? best.objective >= now->job->until.target
                             : best.objective <= now->job->until.target;
    if (!reached)
        return HT_OK;
    char got[TEXT_DOUBLE_BYTES], wanted[TEXT_DOUBLE_BYTES];
    end_by_plan(end,
                reason_make(now->arena, "trial %lld reached %s %s, target %s",
                            (long long)best.id, goal->name,
                            text_of_double(got, best.objective),
                            text_of_double(wanted, now->job->until.target)));
    return HT_OK;
}

/* `earlier` of them by earlier studies alone. */
static const char *exhausted_words(const struct settling *now, int64_t own,
                                   int64_t earlier)
{
    const bool constrained = now->job->constraints.n > 0;
    const char *where =
        constrained ? "that the constraints allow" : "of the space";
    const int64_t tried = own + earlier;
    if (tried == 0 && constrained)
        return "no point satisfies the constraints";
    const char *by = earlier == 0 ? ""
                     : own == 0
                         ? " by earlier studies"
                         : reason_make(now->arena, ", %lld by earlier studies",
                                       (long long)earlier);
    if (tried == 1)
        return reason_make(now->arena, "the one point %s was tried%s", where,
                           by);
    return reason_make(now->arena, "all %lld points %s were tried%s",
                       (long long)tried, where, by);
}

static enum ht_status end_exhausted(struct settling *now, struct ending *end,
                                    struct ht_error *err)
{
    int64_t earlier;
    const enum ht_status status =
        db_prior_tried(core_db(now->core), now->row.id, &earlier, err);
    if (status == HT_OK)
        end_by_plan(end, exhausted_words(now, db_study_trials_made(&now->row),
                                         earlier));
    return status;
}

static enum ht_status all_done(struct settling *now, struct ending *end,
                               struct ht_error *err)
{
    const int64_t created = db_study_trials_made(&now->row);
    if (study_busy_trials(&now->counts) > 0)
        return HT_OK;
    if (now->job->max_trials > 0 && created >= now->job->max_trials)
        end_by_plan(end,
                    created == 1
                        ? "its trial has ended"
                        : reason_make(now->arena, "all %lld trials have ended",
                                      (long long)created));
    else if (now->row.exhausted)
        return end_exhausted(now, end, err);
    return HT_OK;
}

static enum ht_status time_over(struct settling *now, struct ending *end,
                                struct ht_error *err)
{
    (void)err;
    const struct stopping *until = &now->job->until;
    char limit[CLOCK_DURATION_BYTES], moment[CLOCK_STAMP_BYTES];
    if (until->time_ms > 0 && now->used_ms >= until->time_ms)
        end_by_plan(end, reason_make(now->arena, "its time of %s is over",
                                     clock_duration(limit, until->time_ms)));
    else if (until->end_ms > 0 && core_wall_ms(now->core) >= until->end_ms)
        end_by_plan(end, reason_make(now->arena, "it was to end at %s",
                                     clock_stamp(moment, until->end_ms)));
    return HT_OK;
}

static enum ht_status no_progress(struct settling *now, struct ending *end,
                                  struct ht_error *err)
{
    (void)err;
    const struct stopping *until = &now->job->until;
    char limit[CLOCK_DURATION_BYTES];
    if (until->no_progress > 0 && now->row.stale_trials >= until->no_progress)
        end_by_plan(end, reason_make(now->arena,
                                     "no progress in the last %lld trials",
                                     (long long)now->row.stale_trials));
    else if (until->no_progress_ms > 0 &&
             now->used_ms - now->row.gain_ms >= until->no_progress_ms)
        end_by_plan(end,
                    reason_make(now->arena, "no progress for %s",
                                clock_duration(limit, until->no_progress_ms)));
    return HT_OK;
}

/* --- limits that cancel it --- */

struct limit {
    int64_t ms;      /* 0: none */
    int64_t left_ms; /* until it is over */
};

/* The one that counts now; what others run is theirs to end. */
static struct limit limit_of(const struct settling *now)
{
    const struct cancelling *after = &now->job->cancel_after;
    if (now->row.kind == JOB_STUDY)
        return (struct limit){0};
    if (now->row.first_run_used_ms == 0)
        return (struct limit){after->waiting_ms,
                              after->waiting_ms - now->used_ms};
    return (struct limit){after->running_ms, now->row.first_run_used_ms +
                                                 after->running_ms -
                                                 now->used_ms};
}

static enum ht_status limit_over(struct settling *now, struct ending *end,
                                 struct ht_error *err)
{
    (void)err;
    char text[CLOCK_DURATION_BYTES];
    const struct limit limit = limit_of(now);
    if (limit.ms > 0 && limit.left_ms <= 0)
        *end = (struct ending){
            STUDY_CANCELLED,
            reason_make(now->arena,
                        now->row.first_run_used_ms == 0
                            ? "no trial started within its limit of %s"
                            : "it ran longer than its limit of %s",
                        clock_duration(text, limit.ms))};
    return HT_OK;
}

/* --- all of them, in Google's order --- */

static bool is_vetoed(const struct settling *now)
{
    const struct stopping *until = &now->job->until;
    const int64_t completed =
        now->counts.of[TRIAL_SUCCEEDED] + now->counts.of[TRIAL_STOPPED];
    return now->used_ms < until->min_time_ms ||
           core_wall_ms(now->core) < until->min_end_ms ||
           completed < until->min_trials;
}

/* It ended before, and goes back to that when all is confirmed. */
static void find_end_again(const struct settling *now, struct ending *end)
{
    if (study_open_trials(&now->counts) == 0)
        *end = (struct ending){now->row.ends_as, now->row.ended};
}

enum ht_status study_find_end(struct settling *now, struct ending *end,
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
    if (db_study_only_confirms(&now->row)) {
        find_end_again(now, end);
        return HT_OK;
    }
    const bool vetoed = is_vetoed(now);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (vetoed && rules[i].may_be_vetoed)
            continue;
        const enum ht_status status = rules[i].find(now, end, err);
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

/* A moment is met on time as long as nobody sets the clock, and soon after
 * when somebody does. */
static void sooner_moment(int64_t *next, int64_t left_ms)
{
    sooner(next, left_ms < WALL_LOOK_MS ? left_ms : WALL_LOOK_MS);
}

static bool counts_time(const struct stopping *until)
{
    return until->time_ms > 0 || until->min_time_ms > 0 ||
           until->no_progress_ms > 0;
}

int64_t study_next_end_ms(const struct settling *now)
{
    if ((now->row.state != STUDY_RUNNING && now->row.state != STUDY_PAUSED) ||
        db_study_only_confirms(&now->row))
        return MEMORY_NEVER;
    const struct stopping *until = &now->job->until;
    const int64_t wall_ms = core_wall_ms(now->core);
    int64_t next = MEMORY_NEVER;
    if (until->end_ms > 0)
        sooner_moment(&next, until->end_ms - wall_ms);
    if (until->min_end_ms > 0)
        sooner_moment(&next, until->min_end_ms - wall_ms);
    const struct limit limit = limit_of(now);
    if (now->row.state == STUDY_RUNNING &&
        (counts_time(until) || limit.ms > 0)) {
        sooner(&next, USED_LOOK_MS);
        if (limit.ms > 0)
            sooner(&next, limit.left_ms);
        sooner(&next, until->time_ms - now->used_ms);
        sooner(&next, until->min_time_ms - now->used_ms);
        if (until->no_progress_ms > 0)
            sooner(&next,
                   now->row.gain_ms + until->no_progress_ms - now->used_ms);
    }
    return next == MEMORY_NEVER ? next : core_now_ms(now->core) + next;
}

/* --- what an end turned out to be --- */

/* A custom job has no objective: it is as its one trial is. */
static enum ht_status resolve_custom(struct settling *now, struct ending *end,
                                     struct ht_error *err)
{
    struct trial_row trial;
    const enum ht_status status = db_trial_get(core_db(now->core), now->arena,
                                               now->row.id, 1, &trial, err);
    if (status != HT_OK)
        return status;
    if (trial.state == TRIAL_SUCCEEDED)
        end_by_plan(end, "it has ended well");
    else
        *end = (struct ending){STUDY_FAILED, trial.reason};
    return HT_OK;
}

enum ht_status study_resolve_end(struct settling *now, struct ending *end,
                                 struct ht_error *err)
{
    if (end->as != STUDY_SUCCEEDED || now->row.kind == JOB_STUDY)
        return HT_OK;
    if (now->row.kind == JOB_CUSTOM)
        return resolve_custom(now, end, err);
    if (now->counts.of[TRIAL_SUCCEEDED] + now->counts.of[TRIAL_STOPPED] > 0)
        return HT_OK;
    /* Nothing was left to measure, which is no failure. */
    bool measured = false;
    enum ht_status status = HT_OK;
    if (db_study_trials_made(&now->row) == 0)
        status =
            db_prior_measured(core_db(now->core), now->row.id, &measured, err);
    if (status != HT_OK || measured)
        return status;
    const char *why;
    status = common_failure(now, &why, err);
    if (status == HT_OK)
        *end = (struct ending){
            STUDY_FAILED, reason_make(now->arena, "no trial succeeded%s (%s)",
                                      why, end->reason)};
    return status;
}
