#include "runner/cluster/ends.h"

#include <string.h>

#include "proto/base/text.h"

static const struct {
    const char *word;
    enum outcome outcome;
} ends[] = {
    [SLURM_PENDING] = {"PENDING", OUTCOME_LOST},
    [SLURM_RUNNING] = {"RUNNING", OUTCOME_LOST},
    [SLURM_ENDING] = {"COMPLETING", OUTCOME_LOST},
    [SLURM_COMPLETED] = {"COMPLETED", OUTCOME_LOST},
    [SLURM_FAILED] = {"FAILED", OUTCOME_LOST},
    [SLURM_CANCELLED] = {"CANCELLED", OUTCOME_LOST},
    [SLURM_TIMEOUT] = {"TIMEOUT", OUTCOME_LOST},
    [SLURM_DEADLINE] = {"DEADLINE", OUTCOME_LOST},
    [SLURM_OUT_OF_MEMORY] = {"OUT_OF_MEMORY", OUTCOME_FAILED},
    [SLURM_NODE_FAIL] = {"NODE_FAIL", OUTCOME_LOST},
    [SLURM_PREEMPTED] = {"PREEMPTED", OUTCOME_LOST},
    [SLURM_REQUEUED] = {"REQUEUED", OUTCOME_LOST},
    [SLURM_HELD] = {"held", OUTCOME_LOST},
    [SLURM_UNKNOWN] = {"a state of another version", OUTCOME_LOST},
};

enum outcome ends_outcome(enum slurm_state state)
{
    return ends[state].outcome;
}

const char *ends_words(struct arena *arena, const struct slot *slot)
{
    struct text out = {0};
    text_puts(&out, ends[slot->state].word);
    if (slot->signal > 0)
        text_printf(&out, ", signal %d", slot->signal);
    else if (slot->exit > 0)
        text_printf(&out, ", exit %d", slot->exit);
    if (slot->reason[0] != '\0' && strcmp(slot->reason, "None") != 0)
        text_printf(&out, ", %s", slot->reason);
    return text_take(&out, arena);
}

const char *ends_describe(struct arena *arena, const struct batch *batch,
                          int element)
{
    const struct slot *slot = &batch->slots[element];
    const bool somewhere = slot->nodes[0] != '\0';
    return arena_printf(arena, "Slurm ended job %lld_%d%s%s: %s",
                        (long long)batch->job, element, somewhere ? " on " : "",
                        slot->nodes, ends_words(arena, slot));
}
