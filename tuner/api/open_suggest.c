#include "tuner/api/open_suggest.h"

#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "tuner/api/method.h"
#include "tuner/api/open_trial.h"
#include "tuner/api/search_wait.h"
#include "tuner/ask/faults.h"
#include "tuner/ask/trial_body.h"
#include "tuner/ask/trial_context.h"
#include "tuner/search/asked_space.h"
#include "tuner/search/method.h"
#include "tuner/study/settle.h"
#include "tuner/study/suggestion_stock.h"

struct wish {
    struct place search, parameters;
    const struct job *job; /* what `search` asks for */
    const char *context;
};

#define WISH(member) offsetof(struct wish, member)

static const struct field wish_fields[] = {
    {"search", field_place, .offset = WISH(search)},
    {"parameters", field_place, .offset = WISH(parameters)},
    {0}};

/* --- reading it --- */

/* What the trial has stays, where that is in range. */
static void keep_values(struct method_call *call, const struct space *space,
                        struct value given[])
{
    const struct node *map = node_read_stored(call->arena, call->trial.params);
    for (size_t i = 0; i < space->n; i++) {
        const struct node *node = node_find(map, space->params[i].name);
        struct value value;
        if (given[i].absent && node != NULL &&
            space_param_read(&space->params[i], node, &value, NULL) == HT_OK)
            given[i] = value;
    }
}

static void make_context(struct method_call *call, struct wish *wish)
{
    const struct space *space = &wish->job->space;
    const struct field_reader reader = trial_body_reader(call->req);
    struct named_value named[HT_MAX_PARAMETERS];
    struct value given[HT_MAX_PARAMETERS];
    struct subspace part;
    size_t n = 0;
    if (wish->parameters.node != NULL)
        n = trial_body_parameters(&reader, wish->parameters, space, named);
    if (!part_read(&reader, space, n, named, given, &part))
        return;
    keep_values(call, space, given);
    const struct trial_context_words words = {
        .trial = call->trial.id,
        .search = json_text(call->arena, json_of_node(wish->search.node))};
    wish->context = trial_context_text(call->arena, space, given, &words);
}

static enum ht_status read_wish(struct method_call *call, struct wish *wish,
                                struct ht_error *err)
{
    struct diag *diag = faults_of(call->req);
    enum ht_status status = trial_body_read(call->req, wish_fields, wish, err);
    if (status == HT_OK && wish->search.node == NULL) {
        diag_error(diag, 0, 0, "search", "is missing");
        status = faults_check(call->req, err);
    }
    if (status != HT_OK)
        return status;
    wish->job = asked_space_read(call->job, wish->search.node, diag);
    if (wish->job != NULL)
        make_context(call, wish);
    status = faults_check(call->req, err);
    return status == HT_OK ? search_method_check(wish->job, err) : status;
}

/* Steps are those of one question: the study's space has none, as others may
 * ask for the values between. */
static enum ht_status widen(struct method_call *call, const struct space *asked,
                            struct ht_error *err)
{
    struct space more = *asked;
    more.params = arena_alloc(call->arena, more.n + 1, sizeof *more.params);
    for (size_t i = 0; i < more.n; i++) {
        more.params[i] = asked->params[i];
        more.params[i].step = 0;
        more.params[i].int_step = 1;
    }
    return open_trial_widen(call, &more, err);
}

static enum ht_status wait_for_search(struct method_call *call,
                                      const char *context, struct ht_error *err)
{
    const enum ht_status status =
        search_wait_hold(call, "the search has found nothing; ask again", err);
    if (status == HT_OK)
        study_ask_about(call->core, &call->study, call->trial.id - 1, context);
    return status;
}

static enum ht_status suggest(struct method_call *call, struct ht_error *err)
{
    struct wish wish = {0};
    enum ht_status status = open_trial_check(call, err);
    if (status == HT_OK)
        status = read_wish(call, &wish, err);
    if (status == HT_OK)
        status = widen(call, &wish.job->space, err);
    if (status != HT_OK)
        return status;
    if (asked_space_params(call->arena, &wish.job->space, call->trial.params) !=
        NULL) {
        call->req->held_until_ms = 0;
        return HT_OK; /* asked before, when the answer was lost */
    }
    const struct suggestion_claim claim = search_wait_claim(call, wish.context);
    const struct suggestion *item = suggestion_stock_take(call->core, &claim);
    if (item == NULL && !suggestion_stock_is_exhausted(call->core, &claim))
        return wait_for_search(call, wish.context, err);
    call->req->held_until_ms = 0;
    return item == NULL ? HT_OK : open_trial_take(call, item, err);
}

METHOD(open_trial_suggest, METHOD_CLIENT_TRIAL, suggest, method_reply_trial)
