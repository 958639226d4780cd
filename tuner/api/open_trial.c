#include "tuner/api/open_trial.h"

#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/space/space.h"
#include "tuner/api/metadata.h"
#include "tuner/api/method.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/trial_body.h"
#include "tuner/core/disk_guard.h"
#include "tuner/core/live.h"
#include "tuner/db/write.h"
#include "tuner/search/asked_space.h"
#include "tuner/search/reason_json.h"
#include "tuner/study/live_edit.h"
#include "tuner/study/move.h"
#include "tuner/study/suggestion_stock.h"
#include "tuner/study/trial.h"

static enum ht_status check_open(struct method_call *call, struct ht_error *err)
{
    if (!call->job->space.open)
        return ht_fail(err, HT_PRECONDITION,
                       "study %.128s has its own search space",
                       call->study.name);
    return method_check_study_open(call, err);
}

/* --- making one --- */

struct opening {
    enum trial_state state;
    const char *client;
    struct place metadata;
};

static const struct field_choice states[] = {
    {"REQUESTED", 1, TRIAL_REQUESTED}, {"ACTIVE", 2, TRIAL_ACTIVE}, {0}};

#define OPENING(member) offsetof(struct opening, member)

static const struct field opening_fields[] = {
    {"state", field_choose, .offset = OPENING(state), .choices = states},
    {"clientId", field_text, .offset = OPENING(client)},
    {"metadata", field_place, .offset = OPENING(metadata)},
    {0}};

static enum ht_status read_opening(struct request *req, struct opening *opening,
                                   struct metadata_list *metadata,
                                   struct ht_error *err)
{
    const enum ht_status status =
        trial_body_read(req, opening_fields, opening, err);
    if (status != HT_OK)
        return status;
    const struct field_reader reader = trial_body_reader(req);
    if (strlen(opening->client) > HT_MAX_NAME)
        diag_error(reader.diag, 0, 0, "clientId", "is over %d bytes",
                   HT_MAX_NAME);
    metadata_read(&reader, opening->metadata, metadata);
    return faults_check(req, err);
}

static enum ht_status make(struct method_call *call, struct ht_error *err)
{
    struct opening opening = {.state = TRIAL_ACTIVE, .client = ""};
    struct metadata_list metadata = {0};
    bool created;
    enum ht_status status = check_open(call, err);
    if (status == HT_OK)
        status = disk_guard_check(call->core, err);
    if (status == HT_OK)
        status = read_opening(call->req, &opening, &metadata, err);
    if (status != HT_OK)
        return status;
    call->trial = (struct trial_row){.state = opening.state,
                                     .params = "{}",
                                     .reason = "",
                                     .client = opening.client,
                                     .replicate = TRIAL_AGAIN,
                                     .chosen_by_person = true};
    status =
        trial_create(call->core, &call->study, &call->trial, &created, err);
    for (size_t i = 0; i < metadata.n; i++)
        metadata.rows[i].trial = call->trial.id;
    return status == HT_OK ? metadata_store(call, &metadata, err) : status;
}

METHOD(open_trial_make, METHOD_JOB, make, method_reply_trial)

/* --- defining its parameters --- */

struct definition {
    struct place specs, parameters, metrics;
    bool whole;
};

#define DEFINITION(member) offsetof(struct definition, member)

static const struct field definition_fields[] = {
    {"parameterSpecs", field_place, .offset = DEFINITION(specs)},
    {"parameters", field_place, .offset = DEFINITION(parameters)},
    {"metricSpecs", field_place, .offset = DEFINITION(metrics)},
    {"whole", field_flag, .offset = DEFINITION(whole)},
    {0}};

static enum ht_status store_job(struct method_call *call,
                                const struct job *wide, const char *reason,
                                struct ht_error *err)
{
    struct job *stored;
    enum ht_status status = method_store_job(call, wide, reason, err);
    if (status == HT_OK)
        status = vertex_parse(call->arena, call->study.spec, &stored, err);
    if (status == HT_OK)
        call->job = stored;
    return status;
}

enum ht_status open_trial_widen(struct method_call *call,
                                const struct space *more, struct ht_error *err)
{
    struct space space = call->job->space;
    bool changed;
    const enum ht_status status =
        space_widen(call->arena, &space, more, &changed, err);
    if (status != HT_OK || !changed)
        return status;
    struct job wide = *call->job;
    wide.space = space;
    return store_job(call, &wide, "a trial has widened the space", err);
}

static enum ht_status widen(struct method_call *call, struct place specs,
                            struct ht_error *err)
{
    struct diag *diag = faults_of(call->req);
    struct space more;
    if (specs.node == NULL)
        return HT_OK;
    if (!vertex_read_space(specs.node, specs.path, diag, &more))
        return faults_fail(diag, err);
    return open_trial_widen(call, &more, err);
}

static bool has_metric(const struct job *job, const char *name)
{
    for (size_t i = 0; i < job->n_metrics; i++)
        if (strcmp(job->metrics[i].name, name) == 0)
            return true;
    return false;
}

/* The study's job with the metrics that it lacks; NULL: it lacks none, or they
 * have a fault. */
static struct job *with_metrics(struct method_call *call, struct place specs)
{
    struct diag *diag = faults_of(call->req);
    cJSON *study = vertex_write(call->job);
    cJSON *list = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(study, "studySpec"), "metrics");
    size_t n = 0;
    NODE_EACH (node, specs.node->first) {
        const struct node *name = node_find(node, "metricId");
        if (name != NULL && name->kind == NODE_STRING &&
            has_metric(call->job, name->text))
            continue;
        cJSON_AddItemToArray(list, json_of_node(node));
        n++;
    }
    const char *text = json_text(call->arena, study);
    if (n == 0)
        return NULL;
    const struct node *root =
        node_read_long_json(call->arena, text, strlen(text), diag);
    struct job *job = root == NULL ? NULL : vertex_read(root, JOB_STUDY, diag);
    for (size_t i = 0; job != NULL && i < job->n_metrics; i++)
        if (!job->metrics[i].safety &&
            !has_metric(call->job, job->metrics[i].name))
            diag_error(diag, 0, 0, specs.path, "%.64s needs a safetyConfig",
                       job->metrics[i].name);
    return job;
}

/* Trials that have ended without these metrics are not known to be safe. */
static enum ht_status add_metrics(struct method_call *call, struct place specs,
                                  struct ht_error *err)
{
    if (specs.node == NULL)
        return HT_OK;
    if (specs.node->kind != NODE_LIST)
        diag_error(faults_of(call->req), 0, 0, specs.path, "must be a list");
    const struct job *job =
        specs.node->kind == NODE_LIST ? with_metrics(call, specs) : NULL;
    const char *before = call->study.spec;
    enum ht_status status = faults_check(call->req, err);
    if (status != HT_OK || job == NULL)
        return status;
    status = store_job(call, job, "a trial has further constraints", err);
    return status == HT_OK ? live_edit_apply(call->core, &call->study,
                                             call->job, before, err)
                           : status;
}

/* The trial's point with the values that are said put in their places; `whole`:
 * without its others. */
static enum ht_status overlay(struct method_call *call,
                              const struct definition *definition,
                              struct value point[], struct ht_error *err)
{
    const struct place said = definition->parameters;
    const struct space *space = &call->job->space;
    const struct field_reader reader = trial_body_reader(call->req);
    struct value *more = arena_alloc(call->arena, space->n + 1, sizeof *more);
    enum ht_status status =
        space_point_parse(space, call->trial.params, point, err);
    for (size_t i = 0; i < space->n; i++)
        more[i].absent = true;
    if (status != HT_OK)
        return status;
    if (said.node != NULL)
        trial_body_point(&reader, said, space, more);
    status = faults_check(call->req, err);
    for (size_t i = 0; status == HT_OK && i < space->n; i++) {
        point[i].absent =
            point[i].absent || (definition->whole && more[i].absent);
        if (more[i].absent)
            continue;
        if (!point[i].absent &&
            !space_value_equal(&space->params[i], point[i], more[i]))
            call->trial.why = "";
        point[i] = more[i];
    }
    return status;
}

/* A suggestion that is not taken explains nothing. */
static bool holds_suggestion(const struct method_call *call)
{
    struct reason_json_origin origin;
    struct job *job;
    if (!reason_json_read(call->arena, call->trial.why, &origin))
        return true;
    const char *asked = asked_space_of(call->arena, origin.context);
    return asked != NULL &&
           asked_space_parse(call->arena, call->job, asked, &job, NULL) ==
               HT_OK &&
           asked_space_params(call->arena, &job->space, call->trial.params) !=
               NULL;
}

static enum ht_status store_point(struct method_call *call,
                                  const struct value point[],
                                  const char *reason, struct ht_error *err)
{
    struct trial_row *trial = &call->trial;
    const char *params = method_params(call, point);
    if (strcmp(params, trial->params) == 0)
        return HT_OK;
    trial->params = params;
    if (!holds_suggestion(call))
        trial->why = "";
    struct event_row event = {.study = trial->study,
                              .kind = "trial.changed",
                              .trial = trial->id,
                              .from = "",
                              .to = "",
                              .reason = reason,
                              .data = params};
    enum ht_status status = db_trial_next_replicate(
        call->db, trial->study, params, &trial->replicate, err);
    if (status == HT_OK)
        status = db_trial_set_point(call->db, trial, err);
    if (status == HT_OK)
        status = move_event(call->core, &event, err);
    trial->revision = event.revision;
    suggestion_stock_outdate(call->core, trial->study);
    return status == HT_OK ? db_trial_save(call->db, trial, err) : status;
}

enum ht_status open_trial_take(struct method_call *call,
                               const struct suggestion *found,
                               struct ht_error *err)
{
    const struct space *space = &call->job->space;
    struct value *point = arena_alloc(call->arena, space->n + 1, sizeof *point),
                 *more = arena_alloc(call->arena, space->n + 1, sizeof *more);
    enum ht_status status =
        space_point_parse(space, call->trial.params, point, err);
    if (status == HT_OK)
        status = space_point_parse(space, found->params, more, err);
    if (status != HT_OK)
        return status;
    for (size_t i = 0; i < space->n; i++)
        if (!more[i].absent)
            point[i] = more[i];
    call->trial.why = arena_strdup(call->arena, found->why);
    return store_point(call, point, "the search suggested parameters", err);
}

enum ht_status open_trial_check(struct method_call *call, struct ht_error *err)
{
    const enum ht_status status = check_open(call, err);
    return status == HT_OK ? method_check_trial_open(call, err) : status;
}

static enum ht_status define(struct method_call *call, struct ht_error *err)
{
    struct definition definition = {0};
    enum ht_status status = open_trial_check(call, err);
    if (status == HT_OK)
        status =
            trial_body_read(call->req, definition_fields, &definition, err);
    if (status == HT_OK)
        status = widen(call, definition.specs, err);
    if (status == HT_OK)
        status = add_metrics(call, definition.metrics, err);
    if (status != HT_OK)
        return status;
    struct value *point =
        arena_alloc(call->arena, call->job->space.n + 1, sizeof *point);
    status = overlay(call, &definition, point, err);
    if (status == HT_OK)
        status =
            store_point(call, point, "its client defined a parameter", err);
    if (status == HT_OK && call->trial.state == TRIAL_REQUESTED)
        status = move_trial(call->core, &call->trial, TRIAL_ACTIVE, "", err);
    return status;
}

METHOD(open_trial_define, METHOD_CLIENT_TRIAL, define, method_reply_trial)
