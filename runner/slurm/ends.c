#include "runner/slurm/ends.h"

#include <string.h>

/* By state; %N is the element's nodes, %R Slurm's reason. */
static const struct rule {
    enum outcome outcome;
    bool over, is_failure, exclude;
    const char *words;
} rules[] = {
    [SLURM_PENDING] = {.over = false},
    [SLURM_RUNNING] = {.over = false},
    [SLURM_ENDING] = {.over = false},
    /* The element's shim writes exit.json before it ends: without the file the
     * element was replaced or its file system failed, not the trainer. */
    [SLURM_COMPLETED] = {OUTCOME_LOST, true, false, false,
                         "its element ended without a result"},
    [SLURM_FAILED] = {OUTCOME_LOST, true, true, false,
                      "its element failed in Slurm (%R)"},
    [SLURM_CANCELLED] = {OUTCOME_LOST, true, false, false,
                         "it was cancelled in Slurm"},
    [SLURM_TIMEOUT] = {OUTCOME_LOST, true, false, false,
                       "Slurm ended it at the time limit of its partition"},
    [SLURM_DEADLINE] = {OUTCOME_LOST, true, false, false,
                        "Slurm ended it at its deadline"},
    [SLURM_OUT_OF_MEMORY] = {OUTCOME_FAILED, true, true, false,
                             "it used more memory than its job has "
                             "(OUT_OF_MEMORY)"},
    [SLURM_NODE_FAIL] = {OUTCOME_LOST, true, false, true,
                         "its node%N failed (%R)"},
    [SLURM_PREEMPTED] = {OUTCOME_LOST, true, false, false,
                         "Slurm preempted it"},
    [SLURM_REQUEUED] = {OUTCOME_LOST, true, false, false,
                        "Slurm put it back into the queue"},
    [SLURM_HELD] = {OUTCOME_LOST, true, false, false,
                    "Slurm holds its job back (%R)"},
    [SLURM_UNKNOWN] = {.over = false},
};
static const struct rule gone = {OUTCOME_LOST, true, false, false,
                                 "Slurm does not list it any more"};

/* The words Slurm uses where it gives no reason. */
static const char *find_reason(const struct slurm_row *row)
{
    if (row->reason != NULL && row->reason[0] != '\0' &&
        strcmp(row->reason, "None") != 0)
        return row->reason;
    return row->state == SLURM_NODE_FAIL ? "NODE_FAIL" : "FAILED";
}

static const char *fill(struct arena *arena, const char *words,
                        const struct slurm_row *row)
{
    struct text out = {0};
    for (; *words != '\0'; words++) {
        if (strncmp(words, "%N", 2) == 0) {
            if (row->nodes[0] != '\0')
                text_printf(&out, " %s", row->nodes);
            words++;
        } else if (strncmp(words, "%R", 2) == 0) {
            text_puts(&out, find_reason(row));
            words++;
        } else {
            text_append(&out, words, 1);
        }
    }
    return text_take(&out, arena);
}

struct slurm_end slurm_end_of(struct arena *arena, const struct slurm_row *row,
                              bool had_trial)
{
    const struct rule *rule = row != NULL ? &rules[row->state] : &gone;
    /* An element that waits and never had a trial has lost nothing. */
    const bool over =
        rule->over &&
        (had_trial || row == NULL ||
         (row->state != SLURM_REQUEUED && row->state != SLURM_HELD));
    if (!over)
        return (struct slurm_end){.over = false};
    return (struct slurm_end){
        .over = true,
        .outcome = rule->outcome,
        .is_failure = rule->is_failure && had_trial,
        .exclude = rule->exclude,
        .has_exit = row != NULL && row->exit >= 0 && row->signal <= 0,
        .has_signal = row != NULL && row->signal > 0,
        .words = row != NULL ? fill(arena, rule->words, row) : rule->words,
    };
}
