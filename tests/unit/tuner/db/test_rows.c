/* The names of states, ours and Google's, and what states mean. */
#include "tuner/db/rows.h"

#include "tests/check.h"

static void every_state_has_its_names(void)
{
    for (int i = STUDY_RUNNING; i <= STUDY_DELETING; i++) {
        CHECK(db_study_state_name((enum study_state)i) != NULL);
        CHECK(strncmp(db_study_state_vertex((enum study_state)i), "JOB_STATE_",
                      10) == 0);
    }
    for (int i = 0; i < TRIAL_STATES; i++) {
        CHECK(db_trial_state_name((enum trial_state)i) != NULL);
        CHECK(db_trial_state_vertex((enum trial_state)i) != NULL);
    }
    for (int i = ATTEMPT_STARTING; i <= ATTEMPT_ENDED; i++)
        CHECK(db_attempt_state_name((enum attempt_state)i) != NULL);
    for (int i = OUTCOME_NONE; i <= OUTCOME_LOST; i++)
        CHECK(db_attempt_outcome_name((enum attempt_outcome)i) != NULL);
    CHECK_TEXT(db_study_kind_name(JOB_CUSTOM), "CUSTOM");
    CHECK_TEXT(db_attempt_outcome_name(OUTCOME_TIMEOUT), "timeout");
}

static void google_has_fewer_states(void)
{
    CHECK_TEXT(db_study_state_vertex(STUDY_STOPPED), "JOB_STATE_SUCCEEDED");
    CHECK_TEXT(db_study_state_vertex(STUDY_STOPPING), "JOB_STATE_RUNNING");
    CHECK_TEXT(db_study_state_vizier(STUDY_STOPPING), "COMPLETED");
    CHECK_TEXT(db_study_state_vizier(STUDY_PAUSED), "INACTIVE");
    CHECK_TEXT(db_trial_state_vertex(TRIAL_PAUSED), "REQUESTED");
    CHECK_TEXT(db_trial_state_vertex(TRIAL_FAILED), "INFEASIBLE");
}

static void a_paused_trial_is_neither_final_nor_failed(void)
{
    CHECK(!db_trial_state_is_final(TRIAL_PAUSED));
    CHECK(db_trial_state_is_final(TRIAL_CANCELLED));
    CHECK(!db_trial_state_is_failed(TRIAL_CANCELLED));
    CHECK(db_trial_state_is_failed(TRIAL_INFEASIBLE));
    CHECK(db_study_state_is_final(STUDY_DELETING));
    CHECK(!db_study_state_is_final(STUDY_CANCELLING));
}

static void confirmations_are_not_counted_as_trials_made(void)
{
    const struct study_row row = {
        .next_trial = 9, .confirmations = 3, .ended = "by the user"};
    CHECK(db_study_trials_made(&row) == 5);
    CHECK(db_study_only_confirms(&row));
    CHECK(!db_study_only_confirms(&(struct study_row){.ended = ""}));
}

int main(void)
{
    RUN(every_state_has_its_names);
    RUN(google_has_fewer_states);
    RUN(a_paused_trial_is_neither_final_nor_failed);
    RUN(confirmations_are_not_counted_as_trials_made);
    return check_done();
}
