#include "tuner/db/rows.h"

const char *db_study_kind_name(enum job_kind kind)
{
    static const char *const names[] = {[JOB_TUNING] = "TUNING",
                                        [JOB_STUDY] = "STUDY",
                                        [JOB_CUSTOM] = "CUSTOM"};
    return names[kind];
}

static const struct {
    const char *name, *vertex;
} studies[] = {
    [STUDY_RUNNING] = {"RUNNING", "JOB_STATE_RUNNING"},
    [STUDY_PAUSED] = {"PAUSED", "JOB_STATE_PAUSED"},
    [STUDY_STOPPING] = {"STOPPING", "JOB_STATE_RUNNING"},
    [STUDY_CANCELLING] = {"CANCELLING", "JOB_STATE_CANCELLING"},
    [STUDY_SUCCEEDED] = {"SUCCEEDED", "JOB_STATE_SUCCEEDED"},
    /* Vertex has no state for a study that was ended early with its results. */
    [STUDY_STOPPED] = {"STOPPED", "JOB_STATE_SUCCEEDED"},
    [STUDY_FAILED] = {"FAILED", "JOB_STATE_FAILED"},
    [STUDY_CANCELLED] = {"CANCELLED", "JOB_STATE_CANCELLED"},
    [STUDY_DELETING] = {"DELETING", "JOB_STATE_CANCELLED"},
};

const char *db_study_state_name(enum study_state state)
{
    return studies[state].name;
}

const char *db_study_state_vertex(enum study_state state)
{
    return studies[state].vertex;
}

/* A study that wants no further trials is complete for clients, also while its
 * last ones still run. */
const char *db_study_state_vizier(enum study_state state)
{
    if (state == STUDY_RUNNING)
        return "ACTIVE";
    return state == STUDY_PAUSED ? "INACTIVE" : "COMPLETED";
}

static const struct {
    const char *name, *vertex;
} trials[TRIAL_STATES] = {
    [TRIAL_PREPARED] = {"PREPARED", "REQUESTED"},
    [TRIAL_REQUESTED] = {"REQUESTED", "REQUESTED"},
    [TRIAL_ACTIVE] = {"ACTIVE", "ACTIVE"},
    [TRIAL_STOPPING] = {"STOPPING", "STOPPING"},
    [TRIAL_SUCCEEDED] = {"SUCCEEDED", "SUCCEEDED"},
    [TRIAL_STOPPED] = {"STOPPED", "SUCCEEDED"},
    [TRIAL_FAILED] = {"FAILED", "INFEASIBLE"},
    [TRIAL_INFEASIBLE] = {"INFEASIBLE", "INFEASIBLE"},
    [TRIAL_CANCELLED] = {"CANCELLED", "INFEASIBLE"},
    /* Vertex has no state for a trial that waits to continue: it is requested
     * again. */
    [TRIAL_PAUSED] = {"PAUSED", "REQUESTED"},
};

const char *db_trial_state_name(enum trial_state state)
{
    return trials[state].name;
}

const char *db_trial_state_vertex(enum trial_state state)
{
    return trials[state].vertex;
}

const char *db_attempt_state_name(enum attempt_state state)
{
    static const char *const names[] = {[ATTEMPT_STARTING] = "STARTING",
                                        [ATTEMPT_RUNNING] = "RUNNING",
                                        [ATTEMPT_DRAINING] = "DRAINING",
                                        [ATTEMPT_ENDED] = "ENDED"};
    return names[state];
}

const char *db_attempt_outcome_name(enum attempt_outcome outcome)
{
    static const char *const names[] = {
        [OUTCOME_NONE] = "",           [OUTCOME_SUCCEEDED] = "succeeded",
        [OUTCOME_FAILED] = "failed",   [OUTCOME_STOPPED] = "stopped",
        [OUTCOME_TIMEOUT] = "timeout", [OUTCOME_LOST] = "lost"};
    return names[outcome];
}

const char *db_runner_drain_name(enum runner_drain drain)
{
    static const char *const names[] = {[RUNNER_SERVES] = "SERVES",
                                        [RUNNER_DRAINS] = "DRAINS",
                                        [RUNNER_MOVES] = "MOVES"};
    return names[drain];
}

bool db_study_state_is_final(enum study_state state)
{
    return state >= STUDY_SUCCEEDED;
}

bool db_trial_state_is_final(enum trial_state state)
{
    return state >= TRIAL_SUCCEEDED && state <= TRIAL_CANCELLED;
}

int64_t db_study_trials_made(const struct study_row *study)
{
    return study->next_trial - 1 - study->confirmations - study->withdrawn;
}

bool db_study_only_confirms(const struct study_row *study)
{
    return study->ended != NULL && study->ended[0] != '\0';
}

bool db_trial_state_is_failed(enum trial_state state)
{
    return state == TRIAL_FAILED || state == TRIAL_INFEASIBLE;
}
