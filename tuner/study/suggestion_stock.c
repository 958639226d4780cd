#include "tuner/study/suggestion_stock.h"

#include <assert.h>

#include "tuner/ask/trial_context.h"
#include "tuner/core/core.h"
#include "tuner/core/live.h"
#include "tuner/db/rows.h"

enum {
    QUIET_MS = 1000, /* since a point was given */
    UNASKED = 10     /* searches in a row without a client asking */
};

static struct live_suggestion *stock_of(struct core *core, int64_t study)
{
    return &live_study(core_live(core), study)->stock;
}

void suggestion_stock_outdate(struct core *core, int64_t study)
{
    struct live_study *live = live_study(core_live(core), study);
    live->news++;
    live->stock.due_ms = 0;
}

void suggestion_stock_drop(struct core *core, int64_t study)
{
    struct live_study *live = live_study(core_live(core), study);
    struct live_suggestion *stock = &live->stock;
    arena_free(stock->arena);
    *stock = (struct live_suggestion){.searches_left = stock->searches_left};
    live_use(core_live(core), live);
    suggestion_stock_outdate(core, study);
}

int64_t suggestion_stock_ask(struct core *core, int64_t study, bool of_context)
{
    struct live_study *live = live_study(core_live(core), study);
    if (!of_context)
        live->stock.searches_left = UNASKED;
    return live->news;
}

static bool is_for(const struct live_suggestion *stock,
                   const struct suggestion_claim *claim)
{
    return stock->arena != NULL && stock->news >= claim->owed &&
           trial_context_is(stock->context, claim->context);
}

bool suggestion_stock_is_exhausted(struct core *core,
                                   const struct suggestion_claim *claim)
{
    const struct live_suggestion *stock = stock_of(core, claim->study);
    return is_for(stock, claim) && stock->exhausted && stock->taken == stock->n;
}

bool suggestion_stock_is_barren(struct core *core,
                                const struct suggestion_claim *claim)
{
    return suggestion_stock_is_exhausted(core, claim) &&
           stock_of(core, claim->study)->barren;
}

const struct suggestion *
suggestion_stock_take(struct core *core, const struct suggestion_claim *claim)
{
    struct live_suggestion *stock = stock_of(core, claim->study);
    assert(stock->taken <= stock->n);
    if (!is_for(stock, claim) || stock->taken == stock->n)
        return NULL;
    stock->due_ms = core_now_ms(core) + QUIET_MS;
    return &stock->items[stock->taken++];
}

void suggestion_stock_put(struct core *core, const struct suggestions *found)
{
    struct live_study *live = live_study(core_live(core), found->study);
    struct live_suggestion *stock = &live->stock;
    assert(!found->failed && live->asked_news <= live->news);
    /* An allocation may fail: until all is there, the old one stays whole. */
    struct live_suggestion fresh = {.arena = arena_new(),
                                    .n = found->n,
                                    .exhausted = found->exhausted,
                                    .barren = found->barren,
                                    .news = live->asked_news,
                                    .due_ms = stock->due_ms,
                                    .searches_left = stock->searches_left};
    fresh.items = arena_alloc(fresh.arena, found->n + 1, sizeof *fresh.items);
    for (size_t i = 0; i < found->n; i++)
        fresh.items[i] = (struct suggestion){
            .params = arena_strdup(fresh.arena, found->items[i].params),
            .why = arena_strdup(fresh.arena, found->items[i].why),
            .repeats = found->items[i].repeats};
    if (found->context != NULL)
        fresh.context = arena_strdup(fresh.arena, found->context);
    else if (fresh.searches_left > 0)
        fresh.searches_left--;
    arena_free(stock->arena);
    *stock = fresh;
    live_use(core_live(core), live);
}

/* Whether clients may ask, and would have to wait. */
static bool is_missing(const struct settling *settling)
{
    const struct live_study *live =
        live_study(core_live(settling->core), settling->row.id);
    const struct live_suggestion *stock = &live->stock;
    const int64_t most = settling->job->max_trials;
    return settling->row.kind == JOB_STUDY &&
           settling->row.state == STUDY_RUNNING && !settling->row.exhausted &&
           stock->searches_left > 0 && !live->asking &&
           (most == 0 || db_study_trials_made(&settling->row) < most) &&
           (stock->taken == stock->n || stock->context != NULL ||
            stock->news < live->news);
}

bool suggestion_stock_is_due(const struct settling *settling)
{
    return is_missing(settling) &&
           stock_of(settling->core, settling->row.id)->due_ms <=
               core_now_ms(settling->core);
}

int64_t suggestion_stock_due_ms(const struct settling *settling)
{
    return is_missing(settling)
               ? stock_of(settling->core, settling->row.id)->due_ms
               : LIVE_NEVER;
}
