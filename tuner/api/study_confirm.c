/* study_confirm.c - `:confirm` of a study: its best points run again with other
 * seeds. */

#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "proto/space/constraint.h"
#include "tuner/api/method.h"
#include "tuner/api/study.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/trial_body.h"
#include "tuner/core/core.h"
#include "tuner/db/ranking.h"
#include "tuner/search/confirm.h"
#include "tuner/search/trial_result.h"
#include "tuner/study/end.h"
#include "tuner/study/trial.h"

enum { DEFAULT_TOP = 3, MOST_TOP = 20, DEFAULT_SEEDS = 5, MOST_SEEDS = 100 };

/* Which points are confirmed, by how many runs. */
struct plan {
    struct method_call *call;
    int64_t top, seeds; /* points; runs of each */
    int64_t made;       /* trials created */
};

#define PLAN(member) offsetof(struct plan, member)

static const struct field confirm_fields[] = {
    {"top", field_whole, PLAN(top), .min = 1, .max = MOST_TOP},
    {"seeds", field_whole, PLAN(seeds), .min = 1, .max = MOST_SEEDS},
    {0}};

static enum ht_status read_body(struct plan *plan, struct ht_error *err)
{
    plan->top = DEFAULT_TOP;
    plan->seeds = DEFAULT_SEEDS;
    const enum ht_status status =
        trial_body_read(plan->call->req, confirm_fields, plan, err);
    return status == HT_OK ? faults_check(plan->call->req, err) : status;
}

/* Whether clients will run what is asked of a study of theirs is unknown,
 * but once it has ended none asks any more. */
static enum ht_status check_clients(const struct method_call *call,
                                    struct ht_error *err)
{
    const struct study_row *study = &call->study;
    if (study->kind != JOB_STUDY)
        return HT_OK;
    if (call->job->space.open)
        return ht_fail(err, HT_PRECONDITION,
                       "the clients of study %.128s choose the points that "
                       "they try",
                       study->name);
    if (db_study_state_is_final(study->state) || db_study_only_confirms(study))
        return ht_fail(err, HT_PRECONDITION,
                       "study %.64s is %s, and its trials are run by clients, "
                       "of which none asks for more; reopen it with more "
                       "trials when some will",
                       study->name,
                       db_study_state_name(db_study_only_confirms(study)
                                               ? study->ends_as
                                               : study->state));
    return HT_OK;
}

/* Whether some of the best may not run again. */
static bool has_bounds(const struct job *job)
{
    for (size_t i = 0; i < job->n_metrics; i++)
        if (job->metrics[i].safety)
            return true;
    for (size_t i = 0; i < job->space.n; i++)
        if (space_param_has_former(&job->space.params[i]))
            return true;
    return job->constraints.n > 0;
}

static bool is_safe(const struct job *job, const struct trial_row *trial)
{
    double values[SETTING_METRICS];
    (void)trial_result_values(job, &trial->objective, trial->final_metrics,
                              values);
    return trial_result_is_safe(job, values);
}

/* A reported result may lie outside the constraints, one of before a change
 * outside the space. */
static bool is_inside(const struct constraint_set *constraints,
                      const struct trial_row *trial)
{
    struct value point[HT_MAX_PARAMETERS];
    return space_point_parse(constraints->space, trial->params, point, NULL) ==
               HT_OK &&
           space_has(constraints->space, point) &&
           constraint_set_holds(constraints, point);
}

/* The best trials, each of another point and within all bounds. */
static enum ht_status find_best(struct plan *plan, struct trial_list *best,
                                struct ht_error *err)
{
    const struct ranking ranking = {
        plan->call->study.id, plan->call->job->metrics[0].maximize,
        has_bounds(plan->call->job) ? HT_MAX_TRIALS : plan->top};
    const struct job *job = plan->call->job;
    struct constraint_set constraints;
    enum ht_status status =
        constraint_set_parse(plan->call->arena, &job->space, job->constraints.n,
                             job->constraints.items, &constraints, err);
    if (status == HT_OK)
        status = db_confirm_finalists(plan->call->db, plan->call->arena,
                                      &ranking, best, err);
    if (status != HT_OK)
        return status;
    size_t n = 0;
    for (size_t i = 0; i < best->n && n < (size_t)plan->top; i++)
        if (is_safe(job, &best->rows[i]) &&
            is_inside(&constraints, &best->rows[i]))
            best->rows[n++] = best->rows[i];
    best->n = n;
    return n > 0 ? HT_OK
                 : ht_fail(err, HT_PRECONDITION,
                           "study %.128s has no result to confirm",
                           plan->call->study.name);
}

/* The points to confirm; one that has confirmations already is known by the
 * trial that they confirm. */
static enum ht_status choose(struct plan *plan, struct finalist_list *list,
                             struct ht_error *err)
{
    struct arena *arena = plan->call->arena;
    struct trial_list best;
    struct finalist_list before;
    enum ht_status status = find_best(plan, &best, err);
    if (status == HT_OK)
        status = confirm_read(plan->call->db, arena, plan->call->study.id,
                              &before, err);
    if (status != HT_OK)
        return status;
    list->items = arena_alloc(arena, best.n, sizeof *list->items);
    list->n = best.n;
    for (size_t i = 0; i < best.n; i++) {
        const struct trial_row *row = &best.rows[i];
        list->items[i] = (struct finalist){
            .trial = row->id, .params = row->params, .found = row};
        for (size_t j = 0; j < before.n; j++)
            if (strcmp(before.items[j].params, row->params) == 0)
                list->items[i] = before.items[j];
    }
    return HT_OK;
}

/* Runs that have a result or may still get one. */
static int64_t count_runs(const struct finalist *finalist)
{
    int64_t n = 0;
    for (size_t i = 0; i < finalist->n; i++)
        n += confirm_counts(finalist, &finalist->runs[i]) ||
             !db_trial_state_is_final(finalist->runs[i].state);
    return n;
}

static enum ht_status create(struct plan *plan, const struct finalist *finalist,
                             struct ht_error *err)
{
    bool created;
    struct trial_row trial = {
        .state = TRIAL_REQUESTED,
        .params = finalist->params,
        .replicate = TRIAL_AGAIN,
        .reason = arena_printf(plan->call->arena, "confirms trial %lld",
                               (long long)finalist->trial),
        .client = "",
        .confirms = finalist->trial};
    plan->made++;
    return trial_create(plan->call->core, &plan->call->study, &trial, &created,
                        err);
}

/* One run of each, then the next of each: when it is broken off, all have about
 * as many. */
static enum ht_status create_missing(struct plan *plan,
                                     const struct finalist_list *list,
                                     struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (int64_t run = 0; run < plan->seeds; run++)
        for (size_t i = 0; status == HT_OK && i < list->n; i++)
            if (count_runs(&list->items[i]) <= run)
                status = create(plan, &list->items[i], err);
    if (status != HT_OK || plan->made == 0)
        return status;
    core_wake(plan->call->core, CORE_ALL_HELD, plan->call->study.id);
    return db_study_state_is_final(plan->call->study.state)
               ? study_confirm_on(plan->call->core, &plan->call->study,
                                  "confirms its best trials", err)
               : HT_OK;
}

static enum ht_status confirm_study(struct method_call *call,
                                    struct ht_error *err)
{
    struct plan plan = {.call = call};
    struct finalist_list list = {0};
    enum ht_status status = read_body(&plan, err);
    if (status == HT_OK)
        status = method_check_not_stopped(call, err);
    if (status == HT_OK)
        status = check_clients(call, err);
    if (status == HT_OK && call->job->n_metrics == 0)
        return ht_fail(err, HT_PRECONDITION,
                       "\"%.128s\" has no objective to confirm",
                       call->study.name);
    if (status == HT_OK)
        status = choose(&plan, &list, err);
    return status == HT_OK ? create_missing(&plan, &list, err) : status;
}

static enum ht_status reply(struct method_call *call, struct ht_error *err)
{
    cJSON *view;
    const enum ht_status status = confirm_view(
        call->db, call->arena, &call->study, call->job, &view, err);
    if (status == HT_OK)
        json_print(view, &call->req->reply);
    return status;
}

METHOD(study_confirm, METHOD_JOB, confirm_study, reply)
