#include "tuner/study/live_edit.h"

#include <stdint.h>

#include "proto/base/limits.h"
#include "proto/form/form.h"
#include "proto/space/constraint.h"
#include "tuner/core/core.h"
#include "tuner/db/specs.h"
#include "tuner/db/write.h"
#include "tuner/search/pareto_trials.h"
#include "tuner/study/suggestion_stock.h"
#include "tuner/study/withdrawal.h"

enum { PAGE = 500 }; /* trials read at a time */

bool live_edit_is_one(const struct job *before, const struct job *after)
{
    struct job probe = *before;
    probe.space = after->space;
    probe.n_metrics = after->n_metrics;
    probe.metrics = after->metrics;
    probe.constraints = after->constraints;
    probe.noise = after->noise;
    struct text differences = {0};
    const bool differs = form_diff(before, &probe, &differences) > 0;
    text_free(&differences);
    return differs;
}

/* --- trials outside --- */

static bool is_outside(const struct constraint_set *wanted,
                       const struct value point[])
{
    return !space_has(wanted->space, point) ||
           !constraint_set_holds(wanted, point);
}

static enum ht_status mark(struct db *db, const struct constraint_set *wanted,
                           struct trial_row *trial, struct ht_error *err)
{
    struct value point[HT_MAX_PARAMETERS];
    const enum ht_status status =
        space_point_parse(wanted->space, trial->params, point, err);
    if (status != HT_OK)
        return ht_wrap(err, status, "trial %lld", (long long)trial->id);
    const bool outside = is_outside(wanted, point);
    if (outside == trial->outside)
        return HT_OK;
    trial->outside = outside;
    return db_trial_set_outside(db, trial, err);
}

static enum ht_status mark_all(struct db *db, int64_t study,
                               const struct constraint_set *wanted,
                               struct ht_error *err)
{
    enum ht_status status = HT_OK;
    struct arena *arena = arena_new();
    struct trial_list page = {.n = PAGE};
    int64_t after = 0;
    while (status == HT_OK && page.n == PAGE) {
        arena_reset(arena);
        status = db_trial_list(db, arena, study, after, PAGE, &page, err);
        for (size_t i = 0; status == HT_OK && i < page.n; i++) {
            after = page.rows[i].id;
            status = mark(db, wanted, &page.rows[i], err);
        }
    }
    arena_free(arena);
    return status;
}

static enum ht_status mark_outside(struct db *db, int64_t study,
                                   const struct job *job, struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct constraint_set wanted;
    enum ht_status status =
        constraint_set_parse(arena, &job->space, job->constraints.n,
                             job->constraints.items, &wanted, err);
    if (status == HT_OK)
        status = mark_all(db, study, &wanted, err);
    arena_free(arena);
    return status;
}

bool live_edit_leaves_out(const struct job *job, const char *params)
{
    struct arena *arena = arena_new();
    struct constraint_set wanted;
    struct value point[HT_MAX_PARAMETERS];
    const bool known =
        constraint_set_parse(arena, &job->space, job->constraints.n,
                             job->constraints.items, &wanted, NULL) == HT_OK &&
        space_point_parse(&job->space, params, point, NULL) == HT_OK;
    const bool left_out = known && is_outside(&wanted, point);
    arena_free(arena);
    return left_out;
}

/* --- all of it --- */

enum ht_status live_edit_apply(struct core *core, struct study_row *row,
                               const struct job *job, const char *spec,
                               struct ht_error *err)
{
    struct db *db = core_db(core);
    enum ht_status status = db_spec_keep(db, row->id, row->revision, spec, err);
    if (status == HT_OK)
        status = withdrawal_of_all(core, row, job, err);
    if (status == HT_OK)
        status = mark_outside(db, row->id, job, err);
    if (status == HT_OK)
        status = pareto_trials_renew(db, job, row->id, err);
    suggestion_stock_drop(core, row->id);
    return status;
}
