#include "runner/cluster/plan.h"

#include <string.h>

struct steps {
    struct arena *arena;
    size_t n;
    struct plan_step *items;
};

static void add(struct steps *steps, enum plan_kind kind, size_t of, int first,
                int last)
{
    steps->items =
        arena_grow(steps->arena, steps->items, steps->n, sizeof *steps->items);
    steps->items[steps->n++] = (struct plan_step){kind, of, first, last};
}

static int64_t count(const struct plan_batch *batch, enum plan_slot slot)
{
    int64_t n = 0;
    for (int i = 0; i < batch->n; i++)
        n += batch->slots[i] == slot;
    return n;
}

static int64_t count_alive(const struct plan_fleet *fleet)
{
    int64_t n = 0;
    for (size_t i = 0; i < fleet->n_batches; i++)
        n += fleet->batches[i].n - count(&fleet->batches[i], PLAN_GONE);
    return n;
}

static bool fits(const struct plan_study *study, const struct plan_batch *batch)
{
    return study->need != NULL && strcmp(study->need, batch->need) == 0;
}

/* Cancels at most `most` elements that wait, the last first, which the cluster
 * would start last. */
static int64_t cancel(struct steps *steps, const struct plan_fleet *fleet,
                      size_t of, int64_t most)
{
    const struct plan_batch *batch = &fleet->batches[of];
    int64_t n = 0;
    for (int last = batch->n - 1; batch->known && last >= 0 && n < most;) {
        int first = last;
        while (first >= 0 && batch->slots[first] == PLAN_WAITS && n < most) {
            first--;
            n++;
        }
        if (first < last)
            add(steps, PLAN_CANCEL, of, first + 1, last);
        last = first < last ? first : first - 1;
    }
    return n;
}

static int64_t end(struct steps *steps, const struct plan_fleet *fleet,
                   size_t of, int64_t most)
{
    const struct plan_batch *batch = &fleet->batches[of];
    int64_t n = 0;
    for (int i = batch->n - 1; i >= 0 && n < most; i--) {
        if (batch->slots[i] != PLAN_ASKS)
            continue;
        add(steps, PLAN_END, of, i, i);
        n++;
    }
    return n;
}

/* What waits costs nothing yet, so it goes first. */
static void give_back(struct steps *steps, const struct plan_fleet *fleet,
                      const struct plan_study *study, int64_t surplus)
{
    for (size_t i = fleet->n_batches; i-- > 0;)
        if (fleet->batches[i].study == study->study &&
            fits(study, &fleet->batches[i]))
            surplus -= cancel(steps, fleet, i, surplus);
    for (size_t i = fleet->n_batches; i-- > 0;)
        if (fleet->batches[i].study == study->study &&
            fits(study, &fleet->batches[i]))
            surplus -= end(steps, fleet, i, surplus);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How many elements to submit for the study, of which `missing` are missing. */
static int64_t batch_size(const struct plan_fleet *fleet,
                          const struct plan_study *study, int64_t missing,
                          int64_t room)
{
    int64_t n = least(missing, room);
    if (fleet->most_array > 0)
        n = least(n, fleet->most_array);
    if (study->most > 0)
        n = least(n, study->most);
    return n;
}

/* What is left after a changed job: old slots that wait or ask are of no use,
 * slots with a trial of the study still have it. */
static int64_t clear_old(struct steps *steps, const struct plan_fleet *fleet,
                         const struct plan_study *study, bool *submitting)
{
    int64_t has = 0;
    for (size_t i = 0; i < fleet->n_batches; i++) {
        const struct plan_batch *batch = &fleet->batches[i];
        if (batch->study != study->study)
            continue;
        *submitting |= !batch->known;
        has += count(batch, PLAN_BUSY);
        if (fits(study, batch)) {
            has += count(batch, PLAN_WAITS) + count(batch, PLAN_ASKS);
        } else if (study->need != NULL) {
            cancel(steps, fleet, i, batch->n);
            end(steps, fleet, i, batch->n);
        }
    }
    return has;
}

/* Of a study whose need is not known, all that do not run. */
static void clear_unknown(struct steps *steps, const struct plan_fleet *fleet,
                          const struct plan_study *study)
{
    for (size_t i = 0; i < fleet->n_batches; i++) {
        if (fleet->batches[i].study != study->study)
            continue;
        cancel(steps, fleet, i, fleet->batches[i].n);
        end(steps, fleet, i, fleet->batches[i].n);
    }
}

/* True once there have been too many for long enough. */
static bool is_surplus(struct plan_study *study, bool surplus, int64_t now_ms)
{
    if (!surplus)
        study->surplus_at = 0;
    else if (study->surplus_at == 0)
        study->surplus_at = now_ms;
    return surplus && now_ms - study->surplus_at >= PLAN_SURPLUS_MS;
}

static void decide(struct steps *steps, const struct plan_fleet *fleet,
                   size_t of, int64_t now_ms, int64_t *room)
{
    struct plan_study *study = &fleet->studies[of];
    bool submitting = false;
    const int64_t has = clear_old(steps, fleet, study, &submitting);
    if (study->need == NULL) {
        if (is_surplus(study, true, now_ms))
            clear_unknown(steps, fleet, study);
        return;
    }
    if (is_surplus(study, has > study->wanted, now_ms))
        give_back(steps, fleet, study, has - study->wanted);
    const int64_t n = batch_size(fleet, study, study->wanted - has, *room);
    if (n <= 0 || submitting || now_ms < study->try_at)
        return;
    add(steps, PLAN_SUBMIT, of, 0, (int)n);
    *room -= n;
}

const struct plan_step *plan_make(struct arena *arena,
                                  const struct plan_fleet *fleet,
                                  int64_t now_ms, size_t *n)
{
    struct steps steps = {.arena = arena};
    int64_t room = fleet->most_slots - count_alive(fleet);
    for (size_t i = 0; i < fleet->n_studies; i++)
        decide(&steps, fleet, i, now_ms, &room);
    *n = steps.n;
    return steps.items;
}
