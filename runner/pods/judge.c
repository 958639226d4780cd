#include "runner/pods/judge.h"

#include "proto/base/clock.h"
#include "runner/pods/kinds.h"

/* For the pod's own end, after its object's. */
enum { FAILED_MS = 2000, SUCCEEDED_MS = 30000 };

void pod_judge_look(struct pod_judge *judge, struct kinds *kinds,
                    const char *attempt, char fault[HT_MAX_REASON])
{
    const struct node *object;
    struct arena *arena = arena_new();
    const struct kinds_wish wish = {.kind = judge->template->kind,
                                    .attempt = attempt,
                                    .revision = judge->revision};
    if (kinds_look(kinds, &wish, arena, &object, &judge->revision, fault)) {
        const struct pod_verdict verdict =
            pod_template_judge(judge->template, object);
        if (verdict.kind != judge->verdict.kind)
            judge->at = clock_monotonic_ms();
        judge->verdict = verdict;
    }
    arena_free(arena);
}

bool pod_judge_is_due(const struct pod_judge *judge)
{
    const int64_t waited = clock_monotonic_ms() - judge->at;
    return judge->verdict.kind != VERDICT_NONE &&
           waited >= (judge->verdict.kind == VERDICT_FAILED ? FAILED_MS
                                                            : SUCCEEDED_MS);
}

enum outcome pod_judge_outcome(const struct pod_judge *judge)
{
    return judge->verdict.kind == VERDICT_FAILED ? OUTCOME_FAILED
                                                 : OUTCOME_SUCCEEDED;
}

void pod_judge_blame(const struct pod_judge *judge, int64_t lost_at,
                     struct ending *ending)
{
    if (judge->verdict.kind == VERDICT_FAILED && judge->at < lost_at &&
        ending->outcome == OUTCOME_LOST)
        folder_end(ending, OUTCOME_FAILED, "%.480s", judge->verdict.words);
}
