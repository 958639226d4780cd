/* fleet_look.c - what a fleet says to the server, and hears from it. */

#include "runner/cluster/fleet.h"

#include "runner/cluster/clerk.h"
#include "runner/cluster/fleet_state.h"
#include "runner/cluster/plan.h"
#include "runner/cluster/study.h"

void fleet_want(struct fleet *fleet, const struct engine_wanted *wanted,
                size_t n)
{
    fleet->told = true;
    fleet->look_at = 0;
    for (struct study *study = fleet->studies; study != NULL;
         study = study->next) {
        study->plan.wanted = 0;
        study->plan.need = NULL;
    }
    for (size_t i = 0; i < n; i++)
        study_want(study_get(&fleet->studies, wanted[i].study), &wanted[i]);
}

static int count_asking(const struct fleet *fleet, const struct study *study)
{
    int n = -study->waiting;
    for (const struct batch *batch = fleet->first; batch != NULL;
         batch = batch->next)
        for (int i = 0; batch->study == study->plan.study && i < batch->n; i++)
            n += fleet_slot_is(&batch->slots[i]) == PLAN_ASKS;
    return n > 0 ? n : 0;
}

/* In Slurm's words, why its elements wait. */
static const char *find_reason(const struct fleet *fleet,
                               const struct study *study, struct arena *arena)
{
    for (const struct batch *batch = fleet->first; batch != NULL;
         batch = batch->next)
        for (int i = 0; batch->study == study->plan.study && i < batch->n; i++)
            if (fleet_slot_is(&batch->slots[i]) == PLAN_WAITS &&
                batch->slots[i].listed && batch->slots[i].reason[0] != '\0')
                return arena_printf(arena, "waits in Slurm: %s",
                                    batch->slots[i].reason);
    return NULL;
}

static const char *refusal_of(const struct fleet *fleet,
                              const struct study *study, struct arena *arena)
{
    char fault[CLERK_FAULT_BYTES];
    if (study->plan.wanted == 0)
        return NULL;
    clerk_fault(fleet->clerk, fault);
    if (fault[0] != '\0')
        return arena_strdup(arena, fault);
    if (study->refused != NULL)
        return arena_strdup(arena, study->refused);
    return find_reason(fleet, study, arena);
}

size_t fleet_look(struct fleet *fleet, struct arena *arena,
                  const struct engine_slots **slots)
{
    struct engine_slots *items = NULL;
    size_t n = 0;
    for (const struct study *study = fleet->studies; study != NULL;
         study = study->next) {
        items = arena_grow(arena, items, n, sizeof *items);
        items[n++] = (struct engine_slots){
            .study = study->plan.study,
            .asking = count_asking(fleet, study),
            .wanted = study->plan.wanted,
            .need =
                study->hash != NULL ? arena_strdup(arena, study->hash) : NULL,
            .refused = refusal_of(fleet, study, arena),
        };
    }
    *slots = items;
    return n;
}
