#include "tuner/api/trial_fill.h"

#include "tuner/ask/faults.h"
#include "tuner/core/live.h"
#include "tuner/study/settle.h"
#include "tuner/study/suggestion_stock.h"
#include "tuner/study/trial.h"

/* Less than clients wait for an answer: a trial that is made later than that
 * would be one that nobody knows of. */
enum { HOLD_MS = 20000 };

/* What a client is owed is what was known when it asked, not when a held
 * request is looked at again. */
static struct suggestion_claim claim_of(struct vizier_call *call,
                                        const char *context)
{
    struct request *req = call->req;
    if (req->held_until_ms == 0) {
        int64_t *owed = arena_alloc(req->arena, 1, sizeof *owed);
        *owed = suggestion_stock_ask(call->core, call->study.id, true);
        req->kept = owed;
    }
    return (struct suggestion_claim){.study = call->study.id,
                                     .owed = *(const int64_t *)req->kept,
                                     .context = context};
}

/* Points that another was quicker to take are skipped. */
static enum ht_status take(struct vizier_call *call,
                           const struct suggestion_claim *claim, bool *created,
                           struct ht_error *err)
{
    struct arena *arena = call->req->arena;
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

static enum ht_status refuse(struct vizier_call *call, bool barren,
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

static enum ht_status wait_for_search(struct vizier_call *call,
                                      const char *context, struct ht_error *err)
{
    struct core *core = call->core;
    struct request *req = call->req;
    const int64_t now_ms = core_now_ms(core);
    if (live_study(core_memory(core), call->study.id)->ask_after_ms > now_ms)
        return ht_fail(err, HT_UNAVAILABLE,
                       "the search of study %.128s failed; nothing was added, "
                       "try again in a second",
                       call->study.name);
    if (req->held_until_ms == 0) {
        req->held_until_ms = now_ms + HOLD_MS;
        req->held_for = call->study.id;
    }
    if (req->held_until_ms <= now_ms)
        return ht_fail(err, HT_TIMEOUT,
                       "the search has not completed the point in %d s; "
                       "nothing was added",
                       HOLD_MS / 1000);
    study_ask(core, &call->study, 1, context);
    return HT_OK;
}

enum ht_status trial_fill(struct vizier_call *call, const char *context,
                          bool *created, struct ht_error *err)
{
    const struct suggestion_claim claim = claim_of(call, context);
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
