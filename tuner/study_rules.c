#include "tuner/study_rules.h"

#include "proto/clock.h"
#include "proto/text.h"
#include "tuner/db_write.h"
#include "tuner/reason.h"

int64_t study_open_trials(const struct trial_counts *counts)
{
    return counts->of[TRIAL_PREPARED] + counts->of[TRIAL_REQUESTED] +
           counts->of[TRIAL_ACTIVE] + counts->of[TRIAL_STOPPING];
}

int64_t study_wanted(const struct settling *now)
{
    if (now->row.state != STUDY_RUNNING || now->row.exhausted)
        return 0;
    const int64_t room = now->job->parallel - study_open_trials(&now->counts);
    const int64_t left = now->job->max_trials - (now->row.next_trial - 1);
    const int64_t n = room < left ? room : left;
    return n < 0 ? 0 : n;
}

/* --- rules that end a study --- */

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
    const int64_t failed = now->counts.of[TRIAL_FAILED];
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

static bool is_success(const struct settling *now)
{
    return now->counts.of[TRIAL_SUCCEEDED] + now->counts.of[TRIAL_STOPPED] > 0;
}

static enum ht_status target_reached(struct settling *now, struct ending *end,
                                     struct ht_error *err)
{
    if (!now->job->until.has_target || now->job->n_metrics == 0)
        return HT_OK;
    const struct metric_goal *goal = &now->job->metrics[0];
    struct trial_row best;
    const enum ht_status status =
        db_trial_best(core_db(now->core), now->arena, now->row.id,
                      goal->maximize, &best, err);
    if (status != HT_OK)
        return status == HT_NOT_FOUND ? HT_OK : status;
    const bool reached = goal->maximize
                             ? best.objective >= now->job->until.target
                             : best.objective <= now->job->until.target;
    if (!reached)
        return HT_OK;
    char got[TEXT_DOUBLE_BYTES], wanted[TEXT_DOUBLE_BYTES];
    *end = (struct ending){
        STUDY_SUCCEEDED,
        reason_make(now->arena, "trial %lld reached %s %s, target %s",
                    (long long)best.id, goal->name,
                    text_of_double(got, best.objective),
                    text_of_double(wanted, now->job->until.target))};
    return HT_OK;
}

/* An end without success names what went wrong instead. */
static enum ht_status planned_end(struct settling *now, const char *reason,
                                  struct ending *end, struct ht_error *err)
{
    if (is_success(now)) {
        *end = (struct ending){STUDY_SUCCEEDED, reason};
        return HT_OK;
    }
    const char *why;
    const enum ht_status status = common_failure(now, &why, err);
    if (status != HT_OK)
        return status;
    *end = (struct ending){
        STUDY_FAILED,
        reason_make(now->arena, "no trial succeeded%s (%s)", why, reason)};
    return HT_OK;
}

static enum ht_status time_over(struct settling *now, struct ending *end,
                                struct ht_error *err)
{
    if (now->job->until.time_ms == 0 || now->used_ms < now->job->until.time_ms)
        return HT_OK;
    char limit[CLOCK_DURATION_BYTES];
    return planned_end(
        now,
        reason_make(now->arena, "its time of %s is over",
                    clock_duration(limit, now->job->until.time_ms)),
        end, err);
}

static enum ht_status no_progress(struct settling *now, struct ending *end,
                                  struct ht_error *err)
{
    if (now->job->until.no_progress == 0 ||
        now->row.stale_trials < now->job->until.no_progress)
        return HT_OK;
    return planned_end(now,
                       reason_make(now->arena,
                                   "no progress in the last %lld trials",
                                   (long long)now->row.stale_trials),
                       end, err);
}

static enum ht_status all_done(struct settling *now, struct ending *end,
                               struct ht_error *err)
{
    const int64_t created = now->row.next_trial - 1;
    if (study_open_trials(&now->counts) > 0)
        return HT_OK;
    if (created >= now->job->max_trials)
        return planned_end(
            now,
            created == 1 ? "its trial has ended"
                         : reason_make(now->arena, "all %lld trials have ended",
                                       (long long)created),
            end, err);
    if (!now->row.exhausted)
        return HT_OK;
    const char *tried =
        created == 1
            ? "the one point of the space was tried"
            : reason_make(now->arena, "all %lld points of the space were tried",
                          (long long)created);
    return planned_end(now, tried, end, err);
}

enum ht_status study_find_end(struct settling *now, struct ending *end,
                              struct ht_error *err)
{
    static enum ht_status (*const rules[])(struct settling *, struct ending *,
                                           struct ht_error *) = {
        too_many_failed, target_reached, all_done, time_over, no_progress};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const enum ht_status status = rules[i](now, end, err);
        if (status != HT_OK || end->reason != NULL)
            return status;
    }
    return HT_OK;
}
