/* vizier_trial.c - trials that a client adds or deletes. */

#include <string.h>

#include "proto/base/limits.h"
#include "proto/space/part.h"
#include "tuner/api/method.h"
#include "tuner/api/search_wait.h"
#include "tuner/api/vizier.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/trial_body.h"
#include "tuner/ask/trial_context.h"
#include "tuner/core/core.h"
#include "tuner/core/disk_guard.h"
#include "tuner/core/live.h"
#include "tuner/db/write.h"
#include "tuner/study/live_edit.h"
#include "tuner/study/settle.h"
#include "tuner/study/suggestion_stock.h"
#include "tuner/study/trial.h"

/* Numbers of google.cloud.aiplatform.v1.Trial.State. */
enum wanted_state {
    WANTED_UNSPECIFIED,
    WANTED_REQUESTED,
    WANTED_ACTIVE,
    WANTED_STOPPING,
    WANTED_SUCCEEDED,
    WANTED_INFEASIBLE
};

/* A Trial as a client sends it. */
struct addition {
    struct place parameters, measurement;
    enum wanted_state state;
    const char *reason, *client;
    struct vizier_result result;
    const char *params; /* the canonical point; NULL: the search completes it */
    const char *context; /* of what is given, then */
};

static const struct field_choice states[] = {
    {"STATE_UNSPECIFIED", 0, WANTED_UNSPECIFIED},
    {"REQUESTED", 1, WANTED_REQUESTED},
    {"ACTIVE", 2, WANTED_ACTIVE},
    {"STOPPING", 3, WANTED_STOPPING},
    {"SUCCEEDED", 4, WANTED_SUCCEEDED},
    {"INFEASIBLE", 5, WANTED_INFEASIBLE},
    {0}};

/* What the server sets is read over, so that a Trial may be sent as it came. */
#define ADDITION(member) offsetof(struct addition, member)

static const struct field trial_fields[] = {
    {"parameters", field_place, .offset = ADDITION(parameters)},
    {"finalMeasurement", field_place, .offset = ADDITION(measurement)},
    {"state", field_choose, .offset = ADDITION(state), .choices = states},
    {"infeasibleReason", field_text, .offset = ADDITION(reason)},
    {"clientId", field_text, .offset = ADDITION(client)},
    {.name = "name", .read = field_skip},
    {.name = "id", .read = field_skip},
    {.name = "startTime", .read = field_skip},
    {.name = "endTime", .read = field_skip},
    {.name = "measurements", .read = field_skip},
    {.name = "customJob", .read = field_skip},
    {.name = "webAccessUris", .read = field_skip},
    {.name = "hypertune", .read = field_skip},
    {0}};

static bool is_infeasible(const struct addition *addition)
{
    return addition->state == WANTED_INFEASIBLE || addition->reason != NULL;
}

static void check_state(const struct field_reader *reader,
                        const struct addition *addition)
{
    if (addition->state == WANTED_STOPPING)
        diag_error(reader->diag, 0, 0, "state",
                   "a new trial cannot be STOPPING");
    if (addition->state == WANTED_SUCCEEDED &&
        addition->measurement.node == NULL)
        diag_error(reader->diag, 0, 0, "finalMeasurement",
                   "is missing, as the state is SUCCEEDED");
    if (addition->client != NULL && strlen(addition->client) > HT_MAX_NAME)
        diag_error(reader->diag, 0, 0, "clientId", "is over %d bytes",
                   HT_MAX_NAME);
}

/* A point with a result was tried somewhere: it must be complete, and
 * constraints come too late for it. In an open space clients choose any point.
 */
static void read_tried(const struct field_reader *reader,
                       struct method_call *call, struct addition *addition)
{
    const struct space *space = &call->job->space;
    struct value point[HT_MAX_PARAMETERS];
    if (trial_body_point(reader, addition->parameters, space, point))
        addition->params = method_params(call, point);
}

/* A point to be tried satisfies the constraints. What it lacks is asked for by
 * a context. */
static void read_wanted(const struct field_reader *reader,
                        struct method_call *call,
                        const struct constraint_set *constraints,
                        struct addition *addition)
{
    const struct space *space = &call->job->space;
    const struct place at = addition->parameters;
    struct named_value named[HT_MAX_PARAMETERS];
    struct value given[HT_MAX_PARAMETERS], point[HT_MAX_PARAMETERS];
    struct subspace part;
    const size_t errors = reader->diag->errors;
    const size_t n = trial_body_parameters(reader, at, space, named);
    /* The values are looked at even when a name is wrong: one answer has all
     * faults. */
    if (!part_read(reader, space, n, named, given, &part) ||
        reader->diag->errors != errors ||
        !part_check(reader, at, constraints, &part))
        return;
    const struct trial_context_words words = {.untried = true};
    if (subspace_common(&part, point))
        addition->params = method_params(call, point);
    else
        addition->context =
            trial_context_text(reader->arena, space, given, &words);
}

static enum ht_status read_point(const struct field_reader *reader,
                                 struct method_call *call,
                                 struct addition *addition,
                                 struct ht_error *err)
{
    const struct job *job = call->job;
    const bool is_tried =
        is_infeasible(addition) || addition->measurement.node != NULL;
    struct constraint_set constraints;
    if (addition->parameters.node == NULL) {
        diag_error(reader->diag, 0, 0, "parameters", "is missing");
        return HT_OK;
    }
    const enum ht_status status =
        constraint_set_parse(reader->arena, &job->space, job->constraints.n,
                             job->constraints.items, &constraints, err);
    if (status == HT_OK && (is_tried || job->space.open))
        read_tried(reader, call, addition);
    else if (status == HT_OK)
        read_wanted(reader, call, &constraints, addition);
    return status;
}

static enum ht_status read_addition(struct method_call *call,
                                    struct addition *addition,
                                    struct ht_error *err)
{
    struct request *req = call->req;
    enum ht_status status = trial_body_read(req, trial_fields, addition, err);
    if (!trial_body_is_message(req))
        return status;
    const struct field_reader reader = trial_body_reader(req);
    const enum ht_status parsed = read_point(&reader, call, addition, err);
    if (parsed != HT_OK)
        return parsed;
    check_state(&reader, addition);
    if (is_infeasible(addition))
        addition->result.infeasible =
            addition->reason == NULL ? "" : addition->reason;
    else if (addition->measurement.node != NULL)
        vizier_result_read(&reader, addition->measurement, call->job,
                           &addition->result);
    return faults_check(req, err);
}

static enum ht_status check_study(struct method_call *call,
                                  const struct addition *addition,
                                  struct ht_error *err)
{
    const struct study_row *study = &call->study;
    const enum ht_status status = method_check_study_open(call, err);
    if (status != HT_OK)
        return status;
    if (study->kind != JOB_STUDY && (addition->state > WANTED_REQUESTED ||
                                     vizier_result_is_given(&addition->result)))
        return ht_fail(err, HT_PRECONDITION,
                       "study %.128s belongs to a job that runs and measures "
                       "its trials itself",
                       study->name);
    return HT_OK;
}

/* --- a part of the point: the search chooses the rest --- */

/* Points that another was quicker to take are skipped. */
static enum ht_status take(struct method_call *call,
                           const struct suggestion_claim *claim, bool *created,
                           struct ht_error *err)
{
    struct arena *arena = call->arena;
    const struct suggestion *item;
    enum ht_status status = HT_OK;
    *created = false;
    while (status == HT_OK && !*created &&
           (item = suggestion_stock_take(call->core, claim)) != NULL) {
        call->trial.params = arena_strdup(arena, item->params);
        call->trial.why = arena_strdup(arena, item->why);
        call->trial.replicate = 0;
        status =
            trial_create(call->core, &call->study, &call->trial, created, err);
    }
    return status;
}

static enum ht_status refuse(struct method_call *call, bool barren,
                             struct ht_error *err)
{
    struct diag *diag = faults_of(call->req);
    const struct strings *constraints = &call->job->constraints;
    if (!barren)
        return ht_fail(err, HT_PRECONDITION,
                       "all points with these values were tried; to try one "
                       "again give all of its values");
    if (constraints->n == 1)
        diag_error(diag, 0, 0, "parameters",
                   "no point with these values satisfies %s",
                   constraints->items[0]);
    else
        diag_error(diag, 0, 0, "parameters",
                   "no point with these values satisfies all of the %zu "
                   "constraints",
                   constraints->n);
    return faults_fail(diag, err);
}

static enum ht_status wait_for_search(struct method_call *call,
                                      const char *context, struct ht_error *err)
{
    const enum ht_status status = search_wait_hold(
        call,
        "the search has not completed the point; nothing was added, try again",
        err);
    if (status == HT_OK)
        study_ask(call->core, &call->study, 1, context);
    return status;
}

/* As trial_create(), of call->trial, whose point the search completes by the
 * context, an untried one. Until it has, the request is held and *created is
 * false.
 * HT_INVALID       no point with these values satisfies the constraints
 * HT_PRECONDITION  all of them were tried
 * HT_UNAVAILABLE, HT_TIMEOUT  the search has failed, or takes too long */
static enum ht_status complete(struct method_call *call, const char *context,
                               bool *created, struct ht_error *err)
{
    const struct suggestion_claim claim = search_wait_claim(call, context);
    const enum ht_status status = take(call, &claim, created, err);
    if (status != HT_OK)
        return status;
    if (*created) {
        call->req->held_until_ms = 0;
        return HT_OK;
    }
    if (suggestion_stock_is_exhausted(call->core, &claim))
        return refuse(call, suggestion_stock_is_barren(call->core, &claim),
                      err);
    return wait_for_search(call, context, err);
}

/* --- adding it --- */

static enum ht_status add(struct method_call *call, struct addition *addition,
                          struct ht_error *err)
{
    const bool active = addition->state == WANTED_ACTIVE &&
                        !vizier_result_is_given(&addition->result);
    bool created;
    call->trial = (struct trial_row){
        .state = active ? TRIAL_ACTIVE : TRIAL_REQUESTED,
        .params = addition->params,
        .reason = "added by user",
        .client = addition->client == NULL ? "" : addition->client,
        .replicate = TRIAL_AGAIN,
        .outside = addition->params != NULL &&
                   live_edit_leaves_out(call->job, addition->params),
        .chosen_by_person = true};
    const enum ht_status status =
        addition->params != NULL
            ? trial_create(call->core, &call->study, &call->trial, &created,
                           err)
            : complete(call, addition->context, &created, err);
    if (status != HT_OK || !created)
        return status;
    /* A runner or a client may take it. */
    core_wake(call->core, CORE_ALL_HELD, call->study.id);
    return vizier_result_is_given(&addition->result)
               ? vizier_result_store(call, &addition->result, err)
               : HT_OK;
}

static enum ht_status add_trial(struct method_call *call, struct ht_error *err)
{
    struct addition addition = {0};
    enum ht_status status = read_addition(call, &addition, err);
    if (status == HT_OK)
        status = check_study(call, &addition, err);
    if (status == HT_OK)
        status = disk_guard_check(call->core, err);
    return status == HT_OK ? add(call, &addition, err) : status;
}

METHOD(vizier_add_trial, METHOD_JOB, add_trial, method_reply_trial)

/* --- deletion --- */

static enum ht_status erase(struct method_call *call, struct ht_error *err)
{
    const enum ht_status status = trial_delete(
        call->core, call->job, &call->trial, "deleted by user", err);
    if (status != HT_OK || !call->study.exhausted)
        return status;
    call->study.exhausted = false;
    return db_study_save(call->db, &call->study, err);
}

METHOD(vizier_delete_trial, METHOD_TRIAL, erase, method_reply_empty)
