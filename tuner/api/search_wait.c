#include "tuner/api/search_wait.h"

#include "tuner/core/core.h"
#include "tuner/core/live.h"

/* Less than clients wait for an answer: a trial that is made later would be
 * unknown to its client. */
enum { HOLD_MS = 20000 };

struct suggestion_claim search_wait_claim(struct method_call *call,
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

enum ht_status search_wait_hold(struct method_call *call, const char *late,
                                struct ht_error *err)
{
    struct request *req = call->req;
    const int64_t now_ms = core_now_ms(call->core);
    const struct live_study *live =
        live_study(core_live(call->core), call->study.id);
    if (live->ask_after_ms > now_ms)
        return ht_fail(err, HT_UNAVAILABLE,
                       "the search of study %.128s failed; nothing was stored, "
                       "ask again in a second",
                       call->study.name);
    if (req->held_until_ms == 0) {
        req->held_until_ms = now_ms + HOLD_MS;
        req->held_for = call->study.id;
    }
    return req->held_until_ms > now_ms ? HT_OK
                                       : ht_fail(err, HT_TIMEOUT, "%s", late);
}
