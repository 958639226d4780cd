/* Each end of an element, with and without a trial in it. */
#include "tests/check.h"

#include "runner/slurm/ends.h"

static struct arena *arena;

static struct slurm_end end_of(enum slurm_state state, bool had_trial)
{
    const struct slurm_row row = {.job = 1,
                                  .state = state,
                                  .reason = "Why",
                                  .nodes = "n[1-2]",
                                  .exit = -1,
                                  .signal = -1};
    return slurm_end_of(arena, &row, had_trial);
}

static void what_waits_or_runs_has_not_ended(void)
{
    static const enum slurm_state states[] = {SLURM_PENDING, SLURM_RUNNING,
                                              SLURM_ENDING, SLURM_UNKNOWN};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        CHECK(!end_of(states[i], true).over && !end_of(states[i], false).over);
    /* It waits again and has lost nothing. */
    CHECK(!end_of(SLURM_REQUEUED, false).over);
    CHECK(!end_of(SLURM_HELD, false).over);
}

static void only_the_trials_own_faults_count_as_failures(void)
{
    static const struct {
        enum slurm_state state;
        enum outcome outcome;
        bool is_failure, exclude;
        const char *words;
    } ends[] = {
        {SLURM_COMPLETED, OUTCOME_LOST, false, false,
         "its element ended without a result"},
        {SLURM_FAILED, OUTCOME_LOST, true, false,
         "its element failed in Slurm (Why)"},
        {SLURM_CANCELLED, OUTCOME_LOST, false, false,
         "it was cancelled in Slurm"},
        {SLURM_TIMEOUT, OUTCOME_LOST, false, false,
         "Slurm ended it at the time limit of its partition"},
        {SLURM_DEADLINE, OUTCOME_LOST, false, false,
         "Slurm ended it at its deadline"},
        {SLURM_OUT_OF_MEMORY, OUTCOME_FAILED, true, false,
         "it used more memory than its job has (OUT_OF_MEMORY)"},
        {SLURM_NODE_FAIL, OUTCOME_LOST, false, true,
         "its node n[1-2] failed (Why)"},
        {SLURM_PREEMPTED, OUTCOME_LOST, false, false, "Slurm preempted it"},
        {SLURM_REQUEUED, OUTCOME_LOST, false, false,
         "Slurm put it back into the queue"},
        {SLURM_HELD, OUTCOME_LOST, false, false,
         "Slurm holds its job back (Why)"},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const struct slurm_end end = end_of(ends[i].state, true);
        CHECK(end.over && end.outcome == ends[i].outcome);
        CHECK(end.is_failure == ends[i].is_failure);
        CHECK(end.exclude == ends[i].exclude);
        CHECK(!end.has_exit && !end.has_signal);
        CHECK_TEXT(end.words, ends[i].words);
        CHECK(!end_of(ends[i].state, false).is_failure);
    }
}

static void one_that_is_not_listed_is_lost(void)
{
    const struct slurm_end end = slurm_end_of(arena, NULL, true);
    CHECK(end.over && end.outcome == OUTCOME_LOST && !end.is_failure);
    CHECK_TEXT(end.words, "Slurm does not list it any more");
    CHECK(slurm_end_of(arena, NULL, false).over);
}

static void the_scripts_own_end_is_an_exit_or_a_signal(void)
{
    struct slurm_row row = {.state = SLURM_FAILED,
                            .reason = "None",
                            .nodes = "",
                            .exit = 3,
                            .signal = -1};
    struct slurm_end end = slurm_end_of(arena, &row, true);
    CHECK(end.has_exit && !end.has_signal);
    CHECK_TEXT(end.words, "its element failed in Slurm (FAILED)");
    row.exit = -1;
    row.signal = 9;
    end = slurm_end_of(arena, &row, true);
    CHECK(!end.has_exit && end.has_signal);
    row.state = SLURM_NODE_FAIL;
    row.reason = "";
    CHECK_TEXT(slurm_end_of(arena, &row, true).words,
               "its node failed (NODE_FAIL)");
}

int main(void)
{
    arena = arena_new();
    RUN(what_waits_or_runs_has_not_ended);
    RUN(only_the_trials_own_faults_count_as_failures);
    RUN(one_that_is_not_listed_is_lost);
    RUN(the_scripts_own_end_is_an_exit_or_a_signal);
    arena_free(arena);
    return check_done();
}
