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

static void count_slot(const struct slot *slot, struct engine_slots *out)
{
    const enum plan_slot is = fleet_slot_is(slot);
    out->asking += is == PLAN_ASKS;
    out->wait += is == PLAN_WAITS;
    out->run += is == PLAN_ASKS || is == PLAN_BUSY;
    if (is == PLAN_WAITS && out->why == NULL && slot->listed &&
        slot->reason[0] != '\0')
        out->why = slot->reason;
}

static void count_elements(const struct fleet *fleet, const struct study *study,
                           struct arena *arena, struct engine_slots *out)
{
    out->asking = -study->waiting;
    for (const struct batch *batch = fleet->first; batch != NULL;
         batch = batch->next)
        for (int i = 0; batch->study == study->plan.study && i < batch->n; i++)
            count_slot(&batch->slots[i], out);
    if (out->asking < 0)
        out->asking = 0;
    if (out->why != NULL)
        out->why = arena_strdup(arena, out->why);
}

/* `why`: its elements wait. */
static const char *refusal_of(const struct fleet *fleet,
                              const struct study *study, const char *why,
                              struct arena *arena)
{
    char fault[CLERK_FAULT_BYTES];
    if (study->plan.wanted == 0)
        return NULL;
    clerk_fault(fleet->clerk, fault);
    if (fault[0] == '\0')
        far_fault(fleet->far, fault);
    if (fault[0] != '\0')
        return arena_strdup(arena, fault);
    if (study->refused != NULL)
        return arena_strdup(arena, study->refused);
    return why != NULL ? arena_printf(arena, "waits in Slurm: %s", why) : NULL;
}

size_t fleet_look(struct fleet *fleet, struct arena *arena,
                  const struct engine_slots **slots)
{
    struct engine_slots *items = NULL;
    size_t n = 0;
    for (const struct study *study = fleet->studies; study != NULL;
         study = study->next) {
        struct engine_slots slot = {
            .study = study->plan.study,
            .wanted = study->plan.wanted,
            .need =
                study->hash != NULL ? arena_strdup(arena, study->hash) : NULL,
        };
        count_elements(fleet, study, arena, &slot);
        slot.refused = refusal_of(fleet, study, slot.why, arena);
        items = arena_grow(arena, items, n, sizeof *items);
        items[n++] = slot;
    }
    *slots = items;
    return n;
}
