#include "tuner/db/rows.h"

const char *db_study_kind_name(enum job_kind kind)
{
    switch (kind) {
    case JOB_TUNING:
        return "TUNING";
    case JOB_STUDY:
        return "STUDY";
    case JOB_CUSTOM:
        return "CUSTOM";
    }
    return "";
}

const char *db_study_state_name(enum study_state state)
{
    switch (state) {
    case STUDY_RUNNING:
        return "RUNNING";
    case STUDY_PAUSED:
        return "PAUSED";
    case STUDY_STOPPING:
        return "STOPPING";
    case STUDY_CANCELLING:
        return "CANCELLING";
    case STUDY_SUCCEEDED:
        return "SUCCEEDED";
    case STUDY_STOPPED:
        return "STOPPED";
    case STUDY_FAILED:
        return "FAILED";
    case STUDY_CANCELLED:
        return "CANCELLED";
    case STUDY_DELETING:
        return "DELETING";
    }
    return "";
}

/* Vertex has no state for a study that was ended early with its results. */
const char *db_study_state_vertex(enum study_state state)
{
    switch (state) {
    case STUDY_RUNNING:
    case STUDY_STOPPING:
        return "JOB_STATE_RUNNING";
    case STUDY_PAUSED:
        return "JOB_STATE_PAUSED";
    case STUDY_CANCELLING:
        return "JOB_STATE_CANCELLING";
    case STUDY_SUCCEEDED:
    case STUDY_STOPPED:
        return "JOB_STATE_SUCCEEDED";
    case STUDY_FAILED:
        return "JOB_STATE_FAILED";
    case STUDY_CANCELLED:
    case STUDY_DELETING:
        return "JOB_STATE_CANCELLED";
    }
    return "";
}

/* A study that wants no more trials is complete for clients, also while its
 * last ones still run. */
const char *db_study_state_vizier(enum study_state state)
{
    if (state == STUDY_RUNNING)
        return "ACTIVE";
    return state == STUDY_PAUSED ? "INACTIVE" : "COMPLETED";
}

const char *db_trial_state_name(enum trial_state state)
{
    switch (state) {
    case TRIAL_PREPARED:
        return "PREPARED";
    case TRIAL_REQUESTED:
        return "REQUESTED";
    case TRIAL_ACTIVE:
        return "ACTIVE";
    case TRIAL_STOPPING:
        return "STOPPING";
    case TRIAL_SUCCEEDED:
        return "SUCCEEDED";
    case TRIAL_STOPPED:
        return "STOPPED";
    case TRIAL_FAILED:
        return "FAILED";
    case TRIAL_INFEASIBLE:
        return "INFEASIBLE";
    case TRIAL_CANCELLED:
        return "CANCELLED";
    case TRIAL_PAUSED:
        return "PAUSED";
    }
    return "";
}

/* Vertex has no state for a trial that waits to continue: it is requested
 * again. */
const char *db_trial_state_vertex(enum trial_state state)
{
    switch (state) {
    case TRIAL_PREPARED:
    case TRIAL_REQUESTED:
    case TRIAL_PAUSED:
        return "REQUESTED";
    case TRIAL_ACTIVE:
        return "ACTIVE";
    case TRIAL_STOPPING:
        return "STOPPING";
    case TRIAL_SUCCEEDED:
    case TRIAL_STOPPED:
        return "SUCCEEDED";
    case TRIAL_FAILED:
    case TRIAL_INFEASIBLE:
    case TRIAL_CANCELLED:
        return "INFEASIBLE";
    }
    return "";
}

const char *db_attempt_state_name(enum attempt_state state)
{
    switch (state) {
    case ATTEMPT_STARTING:
        return "STARTING";
    case ATTEMPT_RUNNING:
        return "RUNNING";
    case ATTEMPT_DRAINING:
        return "DRAINING";
    case ATTEMPT_ENDED:
        return "ENDED";
    }
    return "";
}

const char *db_attempt_outcome_name(enum attempt_outcome outcome)
{
    switch (outcome) {
    case OUTCOME_NONE:
        return "";
    case OUTCOME_SUCCEEDED:
        return "succeeded";
    case OUTCOME_FAILED:
        return "failed";
    case OUTCOME_STOPPED:
        return "stopped";
    case OUTCOME_TIMEOUT:
        return "timeout";
    case OUTCOME_LOST:
        return "lost";
    }
    return "";
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
    return study->next_trial - 1 - study->confirmations;
}

bool db_study_only_confirms(const struct study_row *study)
{
    return study->ended != NULL && study->ended[0] != '\0';
}

bool db_trial_state_is_failed(enum trial_state state)
{
    return state == TRIAL_FAILED || state == TRIAL_INFEASIBLE;
}
