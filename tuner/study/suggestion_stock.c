#include "tuner/study/suggestion_stock.h"

#include <assert.h>

#include "tuner/ask/trial_context.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/db/rows.h"

enum {
    QUIET_MS = 1000, /* since a point was given */
    UNASKED = 10     /* searches in a row that nobody asked for */
};

static struct live_suggestion *offer_of(struct core *core, int64_t study)
{
    return &live_study(core_memory(core), study)->offer;
}

void suggestion_stock_outdate(struct core *core, int64_t study)
{
    struct live_study *memory = live_study(core_memory(core), study);
    memory->news++;
    memory->offer.due_ms = 0;
}

int64_t suggestion_stock_ask(struct core *core, int64_t study, bool of_context)
{
    struct live_study *memory = live_study(core_memory(core), study);
    if (!of_context)
        memory->offer.patience = UNASKED;
    return memory->news;
}

static bool is_for(const struct live_suggestion *offer,
                   const struct suggestion_claim *claim)
{
    return offer->arena != NULL && offer->news >= claim->owed &&
           trial_context_is(offer->context, claim->context);
}

bool suggestion_stock_is_exhausted(struct core *core,
                                   const struct suggestion_claim *claim)
{
    const struct live_suggestion *offer = offer_of(core, claim->study);
    return is_for(offer, claim) && offer->exhausted && offer->taken == offer->n;
}

bool suggestion_stock_is_barren(struct core *core,
                                const struct suggestion_claim *claim)
{
    return suggestion_stock_is_exhausted(core, claim) &&
           offer_of(core, claim->study)->barren;
}

const struct suggestion *
suggestion_stock_take(struct core *core, const struct suggestion_claim *claim)
{
    struct live_suggestion *offer = offer_of(core, claim->study);
    assert(offer->taken <= offer->n);
    if (!is_for(offer, claim) || offer->taken == offer->n)
        return NULL;
    offer->due_ms = core_now_ms(core) + QUIET_MS;
    return &offer->items[offer->taken++];
}

void suggestion_stock_put(struct core *core, const struct suggestions *found)
{
    struct live_study *memory = live_study(core_memory(core), found->study);
    struct live_suggestion *offer = &memory->offer;
    assert(!found->failed && memory->asked_news <= memory->news);
    arena_free(offer->arena);
    *offer = (struct live_suggestion){.arena = arena_new(),
                                      .n = found->n,
                                      .exhausted = found->exhausted,
                                      .barren = found->barren,
                                      .news = memory->asked_news,
                                      .due_ms = offer->due_ms,
                                      .patience = offer->patience};
    offer->items =
        arena_alloc(offer->arena, found->n + 1, sizeof *offer->items);
    for (size_t i = 0; i < found->n; i++)
        offer->items[i] = (struct suggestion){
            .params = arena_strdup(offer->arena, found->items[i].params),
            .why = arena_strdup(offer->arena, found->items[i].why),
            .repeats = found->items[i].repeats};
    if (found->context != NULL)
        offer->context = arena_strdup(offer->arena, found->context);
    else if (offer->patience > 0)
        offer->patience--;
}

/* Whether clients may ask, and would have to wait. */
static bool is_missing(const struct settling *settling)
{
    const struct live_study *memory =
        live_study(core_memory(settling->core), settling->row.id);
    const struct live_suggestion *offer = &memory->offer;
    const int64_t most = settling->job->max_trials;
    return settling->row.kind == JOB_STUDY &&
           settling->row.state == STUDY_RUNNING && !settling->row.exhausted &&
           offer->patience > 0 && !memory->asking &&
           (most == 0 || db_study_trials_made(&settling->row) < most) &&
           (offer->taken == offer->n || offer->context != NULL ||
            offer->news < memory->news);
}

bool suggestion_stock_is_due(const struct settling *settling)
{
    return is_missing(settling) &&
           offer_of(settling->core, settling->row.id)->due_ms <=
               core_now_ms(settling->core);
}

int64_t suggestion_stock_due_ms(const struct settling *settling)
{
    return is_missing(settling)
               ? offer_of(settling->core, settling->row.id)->due_ms
               : MEMORY_NEVER;
}
