/* vizier_suggest.c - `trials:suggest`. */

#include <string.h>

#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "tuner/api/operation.h"
#include "tuner/api/vizier.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/trial_body.h"
#include "tuner/ask/trial_context.h"
#include "tuner/core/core.h"
#include "tuner/core/disk_guard.h"
#include "tuner/core/live.h"
#include "tuner/db/write.h"
#include "tuner/study/move.h"
#include "tuner/study/settle.h"
#include "tuner/study/suggestion_stock.h"
#include "tuner/study/trial.h"
#include "tuner/view/view.h"

enum {
    MOST = 1000,     /* trials in one answer */
    CONTEXTS = 100,  /* each takes its own search */
    HOLD_MS = 50000, /* a request waits for the search, at most */
};

/* A place for one trial of the answer. */
struct slot {
    struct trial_context context;
    bool filled;
    bool exhausted; /* no point is left for it */
    struct trial_row trial;
};

/* What a request asks for; kept while it is held, so its body is read once. */
struct demand {
    struct method_call *call; /* of this time */
    int64_t count;            /* wanted */
    const char *client;
    struct place contexts;
    int64_t waited_ms;  /* for the search */
    struct slot *slots; /* `count` of them */
    int64_t owed;       /* from suggestion_stock_ask() */
    int64_t places;     /* trials that may still be given out */
};

#define DEMAND(member) offsetof(struct demand, member)

static const struct field suggest_fields[] = {
    {"suggestionCount", field_whole, DEMAND(count), .min = 1, .max = MOST},
    {"clientId", field_text, .offset = DEMAND(client)},
    {"contexts", field_place, .offset = DEMAND(contexts)},
    {0}};

/* A context for each slot, or none for any. */
static enum ht_status read_contexts(struct demand *demand,
                                    const struct field_reader *reader,
                                    struct ht_error *err)
{
    const struct job *job = demand->call->job;
    const struct place at = demand->contexts;
    struct constraint_set constraints;
    if (at.node == NULL)
        return HT_OK;
    if (at.node->kind != NODE_LIST)
        field_wrong_kind(reader, at, "a list");
    else if (at.node->count > 0 && (int64_t)at.node->count != demand->count)
        field_error(reader, at,
                    "has %zu items, not one for each of the %lld suggestions",
                    at.node->count, (long long)demand->count);
    else if (at.node->count > CONTEXTS)
        field_error(reader, at, "has over %d items", CONTEXTS);
    const enum ht_status status = faults_check(demand->call->req, err);
    if (status != HT_OK || at.node->count == 0)
        return status;
    const enum ht_status parsed =
        constraint_set_parse(reader->arena, &job->space, job->constraints.n,
                             job->constraints.items, &constraints, err);
    if (parsed != HT_OK)
        return parsed;
    size_t i = 0;
    NODE_EACH (node, at.node->first) {
        const struct place item = field_item(reader, at, node, i);
        trial_context_read(reader, item, &constraints,
                           &demand->slots[i++].context);
    }
    return faults_check(demand->call->req, err);
}

static enum ht_status read_body(struct demand *demand, struct ht_error *err)
{
    struct request *req = demand->call->req;
    const struct field_reader reader = trial_body_reader(req);
    const bool read =
        trial_body_read(req, suggest_fields, demand, err) == HT_OK;
    if (read && demand->count == 0)
        diag_error(reader.diag, 0, 0, "suggestionCount", "is missing");
    if (demand->client == NULL || demand->client[0] == '\0')
        demand->client = "default";
    if (strlen(demand->client) > HT_MAX_NAME)
        diag_error(reader.diag, 0, 0, "clientId", "is over %d bytes",
                   HT_MAX_NAME);
    const enum ht_status status = faults_check(req, err);
    if (status != HT_OK)
        return status;
    demand->slots =
        arena_alloc(req->arena, (size_t)demand->count, sizeof *demand->slots);
    return read_contexts(demand, &reader, err);
}

static struct suggestion_claim claim_of(const struct demand *demand,
                                        const struct slot *slot)
{
    return (struct suggestion_claim){.study = demand->call->study.id,
                                     .owed = demand->owed,
                                     .context = slot->context.text};
}

/* Whether the search may still fill slot i. */
static bool is_empty(const struct demand *demand, int64_t i)
{
    return !demand->slots[i].filled && !demand->slots[i].exhausted;
}

static bool has_contexts(const struct demand *demand)
{
    return demand->slots[0].context.text != NULL;
}

/* The first empty slot that such a trial suits, or NULL. */
static struct slot *find_slot(const struct demand *demand,
                              const struct trial_row *trial)
{
    struct value point[HT_MAX_PARAMETERS];
    const bool any = !has_contexts(demand);
    if (!any && space_point_parse(&demand->call->job->space, trial->params,
                                  point, NULL) != HT_OK)
        return NULL;
    for (int64_t i = 0; i < demand->count; i++) {
        struct slot *slot = &demand->slots[i];
        if (!slot->filled && (any || subspace_has(&slot->context.part, point)))
            return slot;
    }
    return NULL;
}

static void fill(struct slot *slot, const struct trial_row *trial)
{
    slot->trial = *trial;
    slot->filled = true;
}

/* --- what is there already --- */

/* A client that asks again, after a crash or a lost answer, gets the same. */
static enum ht_status take_unfinished(struct demand *demand,
                                      struct ht_error *err)
{
    struct trial_list list;
    const enum ht_status status =
        db_trial_of_client(demand->call->db, demand->call->arena,
                           demand->call->study.id, demand->client, &list, err);
    if (status != HT_OK)
        return status;
    for (size_t i = 0; i < list.n; i++) {
        struct slot *slot = find_slot(demand, &list.rows[i]);
        if (slot != NULL)
            fill(slot, &list.rows[i]);
    }
    return HT_OK;
}

static const char *given_reason(const struct demand *demand)
{
    return arena_printf(demand->call->arena, "given to client %s",
                        demand->client);
}

/* Points that a person added and no client has begun. */
static enum ht_status take_requested(struct demand *demand,
                                     struct ht_error *err)
{
    struct core *core = demand->call->core;
    struct trial_list list;
    enum ht_status status =
        db_trial_waiting(core_db(core), demand->call->arena,
                         demand->call->study.id, 0, &list, err);
    for (size_t i = 0; status == HT_OK && i < list.n; i++) {
        struct slot *slot = find_slot(demand, &list.rows[i]);
        if (slot == NULL || demand->places <= 0)
            continue;
        fill(slot, &list.rows[i]);
        demand->places--;
        struct trial_row *trial = &slot->trial;
        trial->client = demand->client;
        status = db_trial_set_client(core_db(core), trial, err);
        if (status == HT_OK)
            status = move_trial(core, trial, TRIAL_ACTIVE, given_reason(demand),
                                err);
    }
    return status;
}

/* --- new ones --- */

/* Trials that may still be made. */
static int64_t room(const struct demand *demand)
{
    const struct method_call *call = demand->call;
    const int64_t most =
        call->job->max_trials > 0 ? call->job->max_trials : HT_MAX_TRIALS;
    const int64_t unmade = most - db_study_trials_made(&call->study);
    const int64_t left = unmade < demand->places ? unmade : demand->places;
    int64_t wanted = 0;
    for (int64_t i = 0; i < demand->count; i++)
        wanted += is_empty(demand, i) ? 1 : 0;
    if (call->study.state != STUDY_RUNNING || call->study.exhausted ||
        db_study_only_confirms(&call->study) || left <= 0)
        return 0;
    return left < wanted ? left : wanted;
}

/* Points that another client was quicker to take are skipped. */
static enum ht_status take_for(struct demand *demand, struct slot *slot,
                               struct ht_error *err)
{
    struct core *core = demand->call->core;
    struct arena *arena = demand->call->arena;
    const struct suggestion_claim claim = claim_of(demand, slot);
    const struct suggestion *item;
    enum ht_status status = HT_OK;
    while (status == HT_OK && !slot->filled && room(demand) > 0 &&
           (item = suggestion_stock_take(core, &claim)) != NULL) {
        bool created = false;
        struct trial_row trial = {.state = TRIAL_ACTIVE,
                                  .params = arena_strdup(arena, item->params),
                                  .replicate = item->repeats ? TRIAL_AGAIN : 0,
                                  .why = arena_strdup(arena, item->why),
                                  .reason = given_reason(demand),
                                  .client = demand->client};
        status =
            trial_create(core, &demand->call->study, &trial, &created, err);
        if (status == HT_OK && created) {
            fill(slot, &trial);
            demand->places--;
        }
    }
    return status;
}

static enum ht_status take_from_stock(struct demand *demand,
                                      struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (int64_t i = 0; status == HT_OK && i < demand->count; i++) {
        struct slot *slot = &demand->slots[i];
        const struct suggestion_claim claim = claim_of(demand, slot);
        status = take_for(demand, slot, err);
        if (!slot->filled &&
            suggestion_stock_is_exhausted(demand->call->core, &claim))
            demand->slots[i].exhausted = true;
    }
    return status;
}

/* --- the answer --- */

static enum ht_status add_trials(struct demand *demand, cJSON *response,
                                 struct ht_error *err)
{
    cJSON *list = json_add_array(response, "trials");
    for (int64_t i = 0; i < demand->count; i++) {
        cJSON *view;
        if (!demand->slots[i].filled)
            continue;
        const enum ht_status status = view_trial(
            demand->call->db, demand->call->arena, &demand->call->study,
            demand->call->job, &demand->slots[i].trial, false, &view, err);
        if (status != HT_OK)
            return status;
        cJSON_AddItemToArray(list, view);
    }
    return HT_OK;
}

static struct operation operation_of(const struct demand *demand)
{
    struct core *core = demand->call->core;
    struct operation operation = {
        .resource =
            vizier_study_name(demand->call->arena, &demand->call->study),
        .metadata =
            operation_message(demand->call->req, "SuggestTrialsMetadata")};
    operation_add_times(core, operation.metadata);
    json_add_string(operation.metadata, "clientId", demand->client);
    return operation;
}

/* Whether there would be more were fewer trials open. */
static bool is_full(const struct demand *demand)
{
    bool all = true;
    for (int64_t i = 0; i < demand->count; i++)
        all &= !is_empty(demand, i);
    return !all && demand->places <= 0 &&
           demand->call->study.state == STUDY_RUNNING;
}

static enum ht_status reply(struct demand *demand, struct ht_error *err)
{
    struct core *core = demand->call->core;
    cJSON *response =
        operation_message(demand->call->req, "SuggestTrialsResponse");
    const enum ht_status status = add_trials(demand, response, err);
    if (status != HT_OK) {
        cJSON_Delete(response);
        return status;
    }
    json_add_string(response, "studyState",
                    db_study_state_vizier(demand->call->study.state));
    if (is_full(demand))
        json_add_flag(json_add_object(response, "hypertune"), "full", true);
    view_add_stamp(response, "startTime",
                   core_wall_ms(core) - demand->waited_ms);
    view_add_stamp(response, "endTime", core_wall_ms(core));
    struct operation operation = operation_of(demand);
    operation.response = response;
    operation_reply(core, demand->call->req, &operation);
    return HT_OK;
}

static bool has_some(const struct demand *demand)
{
    for (int64_t i = 0; i < demand->count; i++)
        if (demand->slots[i].filled)
            return true;
    return false;
}

/* Asks for all missing trials of one context: the search for the next context
 * then includes them. */
static void ask_search(struct demand *demand)
{
    int64_t first = 0, alike = 0;
    while (!is_empty(demand, first))
        first++;
    const char *context = demand->slots[first].context.text;
    for (int64_t i = first; i < demand->count; i++)
        alike +=
            is_empty(demand, i) &&
                    trial_context_is(demand->slots[i].context.text, context)
                ? 1
                : 0;
    const int64_t most = room(demand);
    study_ask(demand->call->core, &demand->call->study,
              alike < most ? alike : most, context);
}

/* Holds the request until the search has found more; the trials that it has are
 * stored and are taken as unfinished next time. */
static enum ht_status wait_for_search(struct demand *demand,
                                      struct ht_error *err)
{
    struct core *core = demand->call->core;
    struct request *req = demand->call->req;
    const struct live_study *live =
        live_study(core_live(core), demand->call->study.id);
    if (live->ask_after_ms > core_now_ms(core))
        return ht_fail(err, HT_UNAVAILABLE,
                       "the search of study %.128s failed; ask again in a "
                       "second",
                       demand->call->study.name);
    if (req->held_until_ms == 0) {
        req->held_until_ms = core_now_ms(core) + HOLD_MS;
        req->held_for = demand->call->study.id;
    }
    if (req->held_until_ms > core_now_ms(core)) {
        ask_search(demand);
        return HT_OK;
    }
    req->held_until_ms = 0;
    if (has_some(demand))
        return reply(demand, err);
    struct operation operation = operation_of(demand);
    ht_fail(&operation.why, HT_TIMEOUT,
            "the search has found nothing in %d s; ask again", HOLD_MS / 1000);
    operation_reply(core, req, &operation);
    return HT_OK;
}

static enum ht_status check_study(const struct demand *demand,
                                  struct ht_error *err)
{
    const struct study_row *study = &demand->call->study;
    const enum ht_status status = method_check_clients(demand->call, err);
    if (status != HT_OK)
        return status;
    if (demand->call->job->space.open)
        return ht_fail(err, HT_PRECONDITION,
                       "study %.128s has an open space: its clients choose "
                       "the points",
                       study->name);
    if (study->state == STUDY_PAUSED)
        return ht_fail(err, HT_PRECONDITION, "study %.64s is inactive: %.160s",
                       study->name, study->reason);
    return HT_OK;
}

/* A held request is read again only for its contexts: they are parts of the
 * study's space, which may have grown meanwhile. */
static enum ht_status read_request(struct demand *demand, bool held,
                                   struct ht_error *err)
{
    const struct field_reader reader = trial_body_reader(demand->call->req);
    if (!held)
        return read_body(demand, err);
    for (int64_t i = 0; i < demand->count; i++)
        demand->slots[i] =
            (struct slot){.exhausted = demand->slots[i].exhausted};
    return read_contexts(demand, &reader, err);
}

/* Before the search can answer: the claim is based on the results of now. */
static void note_asked(struct demand *demand)
{
    demand->owed = suggestion_stock_ask(
        demand->call->core, demand->call->study.id, has_contexts(demand));
    demand->call->req->kept = demand;
}

/* A study may bound how many of its trials are with clients at once. */
static enum ht_status count_places(struct demand *demand, struct ht_error *err)
{
    const struct method_call *call = demand->call;
    struct trial_counts counts;
    demand->places = HT_MAX_TRIALS;
    if (call->job->parallel == 0)
        return HT_OK;
    const enum ht_status status =
        db_trial_counts(call->db, call->study.id, &counts, err);
    if (status == HT_OK)
        demand->places = call->job->parallel -
                         trial_counts_all(&counts, TRIAL_ACTIVE) -
                         trial_counts_all(&counts, TRIAL_STOPPING);
    return status;
}

static enum ht_status suggest(struct method_call *call, struct ht_error *err)
{
    struct request *req = call->req;
    const bool held = req->kept != NULL;
    struct demand *demand =
        held ? req->kept : arena_alloc(req->arena, 1, sizeof *demand);
    demand->call = call;
    enum ht_status status = read_request(demand, held, err);
    if (status == HT_OK)
        status = check_study(demand, err);
    if (status == HT_OK)
        status = count_places(demand, err);
    if (status != HT_OK)
        return status;
    if (held)
        demand->waited_ms =
            core_now_ms(call->core) - (req->held_until_ms - HOLD_MS);
    else
        note_asked(demand);
    status = take_unfinished(demand, err);
    if (status == HT_OK && room(demand) > 0)
        status = disk_guard_check(call->core, err);
    if (status == HT_OK && call->study.state == STUDY_RUNNING)
        status = take_requested(demand, err);
    if (status == HT_OK)
        status = take_from_stock(demand, err);
    if (status == HT_OK && room(demand) > 0)
        return wait_for_search(demand, err);
    req->held_until_ms = 0;
    return status == HT_OK ? reply(demand, err) : status;
}

METHOD(vizier_suggest, METHOD_JOB, suggest, NULL)
