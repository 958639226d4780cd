/* study.c - studies as resources of Vertex AI. */

#include "proto/form/form.h"
#include "tuner/view/view.h"

#include <string.h>

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "proto/doc/node.h"
#include "tuner/db/prior.h"
#include "tuner/db/rungs.h"
#include "tuner/db/silence.h"
#include "tuner/search/method.h"
#include "tuner/search/pareto_trials.h"
#include "tuner/study/pauses.h"
#include "tuner/study/silence.h"

enum { RPC_CANCELLED = 1 }; /* google.rpc.Code */
enum {
    MOST_SILENT = 10,  /* of one study */
    LEAST_ADVISED = 20 /* ended trials: fewer say little about the rule */
};

/* What one resource is made from. */
struct viewing {
    struct db *db;
    struct arena *arena;
    const struct study_row *study;
    struct job *job;        /* NULL: the stored spec is damaged */
    cJSON *spec;            /* the same as a tree, to be taken apart */
    struct ht_error damage; /* without a job: what is wrong with it */
};

/* --- the stored spec --- */

static enum ht_status read_spec(struct viewing *view)
{
    const char *spec = view->study->spec;
    struct job *job;
    enum ht_status status =
        vertex_parse(view->arena, spec, &job, &view->damage);
    if (status != HT_OK)
        return status;
    const struct node *node = node_read_stored(view->arena, spec);
    if (node == NULL || node->kind != NODE_MAP)
        return ht_fail(&view->damage, HT_CORRUPT, "it is no JSON object");
    view->job = job;
    view->spec = json_of_node(node);
    return HT_OK;
}

/* A study whose spec is damaged is still there, with a state and a way to
 * delete it; and it must not hide the others of a list. */
static struct viewing begin(struct db *db, struct arena *arena,
                            const struct study_row *study)
{
    struct viewing view = {.db = db, .arena = arena, .study = study};
    if (read_spec(&view) != HT_OK)
        ht_wrap(&view.damage, HT_CORRUPT, "its stored spec is damaged");
    return view;
}

static enum ht_status finish(struct viewing *view, cJSON *resource,
                             enum ht_status status, cJSON **out)
{
    cJSON_Delete(view->spec);
    if (status == HT_OK)
        *out = resource;
    else
        cJSON_Delete(resource);
    return status;
}

/* --- members --- */

/* `failed` counts all failed trials, `infeasible` those among them that ended
 * well but without a result. */
static void add_counts(cJSON *object, const char *key,
                       const int64_t counts[TRIAL_STATES])
{
    static const struct {
        enum trial_state state;
        const char *key;
    } shown[] = {
        {TRIAL_REQUESTED, "requested"},   {TRIAL_ACTIVE, "active"},
        {TRIAL_STOPPING, "stopping"},     {TRIAL_SUCCEEDED, "succeeded"},
        {TRIAL_STOPPED, "stopped"},       {TRIAL_FAILED, "failed"},
        {TRIAL_INFEASIBLE, "infeasible"}, {TRIAL_CANCELLED, "cancelled"},
        {TRIAL_PAUSED, "paused"},
    };
    cJSON *map = json_add_object(object, key);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        json_add_int(map, shown[i].key,
                     shown[i].state == TRIAL_FAILED
                         ? trial_counts_failed(counts)
                         : counts[shown[i].state]);
}

static enum ht_status add_best(cJSON *object, const struct viewing *view,
                               struct ht_error *err)
{
    if (view->job->n_metrics == 0)
        return HT_OK;
    const struct pareto_trials_scope scope = {.study = view->study->id};
    struct trial_row best;
    cJSON *trial;
    enum ht_status status = pareto_trials_best(view->db, view->arena, &scope,
                                               view->job, &best, err);
    if (status == HT_NOT_FOUND)
        return HT_OK;
    if (status == HT_OK)
        status = view_trial(view->db, view->arena, view->study, view->job,
                            &best, false, &trial, err);
    if (status == HT_OK)
        cJSON_AddItemToObject(object, "best", trial);
    return status;
}

/* Of several objectives there is not one best trial. */
static enum ht_status add_front(cJSON *object, const struct viewing *view,
                                struct ht_error *err)
{
    const struct pareto_trials_scope scope = {.study = view->study->id};
    struct id_list ids;
    if (job_objectives(view->job) < 2)
        return HT_OK;
    const enum ht_status status =
        pareto_trials_list(view->db, view->arena, &scope, view->job, &ids, err);
    if (status != HT_OK)
        return status;
    cJSON *array = json_add_array(object, "optimal");
    for (size_t i = 0; i < ids.n; i++)
        json_push_int_text(array, ids.ids[i]);
    return HT_OK;
}

/* How it searches; a custom job does not. */
static enum ht_status add_search(cJSON *object, const struct viewing *view,
                                 struct ht_error *err)
{
    if (view->job == NULL || view->study->kind == JOB_CUSTOM)
        return HT_OK;
    json_add_string(object, "algorithm", search_method(view->job)->name);
    json_add_int_text(object, "seed", view->study->seed);
    const enum ht_status status = add_best(object, view, err);
    return status == HT_OK ? add_front(object, view, err) : status;
}

static void add_prior(cJSON *array, const struct prior_row *prior)
{
    cJSON *item = json_push_object(array);
    json_add_string(item, "study", prior->name);
    json_add_string(item, "resource", prior->resource);
    json_add_int(item, "results", prior->results);
    json_add_int(item, "failures", prior->failures);
    json_add_int(item, "own", prior->own);
    json_add_int(item, "sharedParameters", prior->shared);
    json_add_bool(item, "sameSpace", prior->same);
    json_add_flag(item, "inherited", prior->inherited);
}

/* Google's list of what a study learns from, as named; output only. */
static void add_prior_names(cJSON *spec, const struct prior_list *list)
{
    static const char key[] = "transferLearningConfig";
    cJSON *config = cJSON_GetObjectItemCaseSensitive(spec, key);
    if (config == NULL)
        config = json_add_object(spec, key);
    cJSON *names = json_add_array(config, "priorStudyNames");
    for (size_t i = 0; i < list->n; i++)
        if (!list->rows[i].inherited)
            json_push_string(names, list->rows[i].resource);
}

static enum ht_status add_priors(cJSON *resource, const struct viewing *view,
                                 struct ht_error *err)
{
    struct prior_list list;
    if (view->job == NULL || view->job->warm_start.n == 0 ||
        view->study->kind == JOB_CUSTOM)
        return HT_OK;
    const enum ht_status status =
        db_prior_list(view->db, view->arena, view->study->id, &list, err);
    if (status != HT_OK)
        return status;
    cJSON *object =
        cJSON_GetObjectItemCaseSensitive(resource, "hypertuneStatus");
    cJSON *array = json_add_array(object, "warmStart");
    for (size_t i = 0; i < list.n; i++)
        add_prior(array, &list.rows[i]);
    add_prior_names(cJSON_GetObjectItemCaseSensitive(resource, "studySpec"),
                    &list);
    return HT_OK;
}

/* The pattern that would read what trials printed, while none has a result. */
static enum ht_status add_pattern(cJSON *status, const struct viewing *view,
                                  const struct trial_counts *counts,
                                  struct ht_error *err)
{
    const char *pattern;
    if (view->study->kind != JOB_TUNING || counts->of[TRIAL_SUCCEEDED] > 0 ||
        counts->of[TRIAL_INFEASIBLE] == 0)
        return HT_OK;
    const enum ht_status found = db_trial_recognised(
        view->db, view->arena, view->study->id, &pattern, err);
    if (found == HT_OK)
        json_add_text(status, "metricPattern", pattern);
    return found;
}

/* Trials that its rule has stopped, and what helps where these are almost all.
 */
static enum ht_status add_stops(cJSON *object, const struct viewing *view,
                                const struct trial_counts *counts,
                                struct ht_error *err)
{
    if (view->job == NULL || view->job->early_stop.rule == EARLY_NONE)
        return HT_OK;
    const enum job_early_stop rule = view->job->early_stop.rule;
    const bool rungs = rule == EARLY_ASHA || rule == EARLY_HYPERBAND;
    const int64_t ended = trial_counts_ended(counts->of);
    struct rung_stops stops;
    const enum ht_status status =
        db_rung_stops(view->db, view->study->id, &stops, err);
    if (status != HT_OK || stops.all == 0 || ended == 0)
        return status;
    cJSON *member = json_add_object(object, "earlyStops");
    const char *first =
        rungs ? arena_printf(view->arena, ", %lld at their first rung",
                             (long long)stops.first)
              : "";
    json_add_int(member, "stopped", stops.all);
    json_add_int(member, "ended", ended);
    if (rungs)
        json_add_int(member, "firstRung", stops.first);
    json_add_string(member, "words",
                    arena_printf(view->arena,
                                 "early stopping ended %lld of %lld trial%s "
                                 "(%lld %%)%s",
                                 (long long)stops.all, (long long)ended,
                                 ended == 1 ? "" : "s",
                                 (long long)(100 * stops.all / ended), first));
    if (rungs && ended >= LEAST_ADVISED && 10 * stops.all > 9 * ended &&
        2 * stops.first >= ended)
        json_add_string(member, "advice",
                        "a larger earlyStopping.minSteps lets trials show "
                        "more before they are compared");
    return HT_OK;
}

/* Trials that probably hang. */
static enum ht_status add_silent(cJSON *object, const struct viewing *view,
                                 struct ht_error *err)
{
    struct attempt_list list;
    const enum ht_status status = db_silence_list(
        view->db, view->arena, view->study->id, MOST_SILENT, &list, err);
    if (status != HT_OK || list.n == 0)
        return status;
    cJSON *array = json_add_array(object, "silent");
    for (size_t i = 0; i < list.n; i++) {
        const struct attempt_row *attempt = &list.rows[i];
        cJSON *item = json_push_object(array);
        json_add_int_text(item, "trial", attempt->trial);
        view_add_stamp(item, "since", attempt->silent_ms);
        json_add_string(item, "words",
                        silence_words(view->arena, attempt, clock_wall_ms()));
        json_add_flag(item, "hung", attempt->hung);
    }
    return HT_OK;
}

/* Adds hypertuneStatus to the resource. */
static enum ht_status add_status(cJSON *resource, const struct viewing *view,
                                 struct ht_error *err)
{
    const struct study_row *study = view->study;
    struct trial_counts counts;
    struct view_failures failures;
    int64_t outside = 0;
    enum ht_status status = db_trial_counts(view->db, study->id, &counts, err);
    if (status == HT_OK)
        status = db_trial_outside_count(view->db, study->id, &outside, err);
    if (status == HT_OK)
        status = view_failures_find(view->db, view->arena, study, &counts,
                                    &failures, err);
    if (status != HT_OK)
        return status;
    cJSON *object = json_add_object(resource, "hypertuneStatus");
    json_add_string(object, "name", study->name);
    json_add_string(object, "kind", db_study_kind_name(study->kind));
    json_add_string(object, "state", db_study_state_name(study->state));
    json_add_string(object, "reason", study->reason);
    json_add_flag(object, "held",
                  pauses_for_refusals(study) || pauses_for_metric(study));
    if (view->job == NULL)
        json_add_string(object, "damage", view->damage.text);
    json_add_int(object, "revision", study->revision);
    add_counts(object, "counts", counts.of);
    if (study->confirmations > 0)
        add_counts(object, "confirming", counts.confirming);
    json_add_count(object, "outside", outside);
    json_add_flag(object, "openSpace",
                  view->job != NULL && view->job->space.open);
    json_add_count(object, "createTimeMs", study->created_ms);
    json_add_count(object, "startTimeMs", study->started_ms);
    json_add_count(object, "endTimeMs", study->ended_ms);
    view_failures_add(object, &failures);
    status =
        view_add_attributes(object, view->db, view->arena, study->id, 0, err);
    if (status == HT_OK)
        status =
            view_add_tags(object, view->db, view->arena, study->id, 0, err);
    if (status == HT_OK)
        status = add_stops(object, view, &counts, err);
    if (status == HT_OK)
        status = add_silent(object, view, err);
    if (status == HT_OK)
        status = add_search(object, view, err);
    if (status == HT_OK)
        status = add_pattern(object, view, &counts, err);
    return status == HT_OK ? add_priors(resource, view, err) : status;
}

static void move_members(cJSON *from, cJSON *to)
{
    while (from != NULL && from->child != NULL) {
        cJSON *member = cJSON_DetachItemViaPointer(from, from->child);
        cJSON_AddItemToObject(to, member->string, member);
    }
}

const char *view_job_state(const struct study_row *study)
{
    const bool waits = study->state == STUDY_RUNNING && study->started_ms == 0;
    return waits ? "JOB_STATE_PENDING" : db_study_state_vertex(study->state);
}

static void add_error(cJSON *resource, const struct viewing *view)
{
    const enum study_state state = view->study->state;
    if (view->job != NULL && state != STUDY_FAILED && state != STUDY_CANCELLED)
        return;
    cJSON *error = json_add_object(resource, "error");
    const int code = view->job == NULL ? ht_status_code(HT_CORRUPT)
                     : state == STUDY_CANCELLED
                         ? RPC_CANCELLED
                         : ht_status_code(HT_PRECONDITION);
    json_add_int(error, "code", code);
    json_add_string(error, "message",
                    view->job == NULL ? view->damage.text
                                      : view->study->reason);
}

static void add_job_state(cJSON *resource, const struct viewing *view)
{
    const struct study_row *study = view->study;
    json_add_string(resource, "state", view_job_state(study));
    view_add_stamp(resource, "createTime", study->created_ms);
    view_add_stamp(resource, "startTime", study->started_ms);
    view_add_stamp(resource, "endTime", study->ended_ms);
    view_add_stamp(resource, "updateTime", study->updated_ms);
    add_error(resource, view);
}

static void add_name(cJSON *resource, const struct viewing *view,
                     const char *collection)
{
    const struct study_row *study = view->study;
    json_add_string(resource, "name",
                    arena_printf(view->arena,
                                 "projects/%s/locations/%s/%s/%lld",
                                 study->project, study->location, collection,
                                 (long long)study->id));
}

/* --- resources --- */

static void move_member(cJSON *from, cJSON *to, const char *key)
{
    cJSON *member = cJSON_DetachItemFromObject(from, key);
    if (member != NULL)
        cJSON_AddItemToObject(to, key, member);
}

/* What of its search Google's Study has no member for; its name is in
 * hypertuneStatus, what is kept of other forms is no part of a search. */
static void move_own(cJSON *from, cJSON *to)
{
    cJSON *own = cJSON_DetachItemFromObject(from, "hypertune");
    cJSON_DeleteItemFromObject(own, "name");
    cJSON_DeleteItemFromObject(own, "kept");
    if (own != NULL && own->child != NULL)
        cJSON_AddItemToObject(to, "hypertune", own);
    else
        cJSON_Delete(own);
}

enum ht_status view_study(struct db *db, struct arena *arena,
                          const struct study_row *study, cJSON **out,
                          struct ht_error *err)
{
    struct viewing view = begin(db, arena, study);
    cJSON *resource = cJSON_CreateObject();
    add_name(resource, &view, "studies");
    json_add_string(resource, "displayName", study->display);
    move_member(view.spec, resource, "studySpec");
    if (study->kind == JOB_STUDY) { /* a job shows its own */
        move_member(view.spec, resource, "parallelTrialCount");
        move_own(view.spec, resource);
    }
    const char *state = db_study_state_vizier(study->state);
    json_add_string(resource, "state", state);
    view_add_stamp(resource, "createTime", study->created_ms);
    if (strcmp(state, "INACTIVE") == 0)
        json_add_string(resource, "inactiveReason", study->reason);
    return finish(&view, resource, add_status(resource, &view, err), out);
}

enum ht_status view_job(struct db *db, struct arena *arena,
                        const struct study_row *study, cJSON **out,
                        struct ht_error *err)
{
    if (study->kind == JOB_STUDY)
        return view_study(db, arena, study, out, err);
    struct viewing view = begin(db, arena, study);
    cJSON *resource = cJSON_CreateObject();
    add_name(resource, &view,
             study->kind == JOB_CUSTOM ? "customJobs"
                                       : "hyperparameterTuningJobs");
    if (view.job == NULL)
        json_add_string(resource, "displayName", study->display);
    move_members(view.spec, resource);
    add_job_state(resource, &view);
    return finish(&view, resource, add_status(resource, &view, err), out);
}
