/* states.h - numbers of the state enums for SQL text, and conditions that
 * queries and indexes share.
 *
 * A statement is text, so it cannot name an enumerator: here each one that SQL
 * needs gets its number once, which the compiler compares with rows.h. A part
 * of a condition that an index has, too, is written here once for both: SQLite
 * uses the index where a query has exactly this text. */
#ifndef HT_TUNER_DB_STATES_H
#define HT_TUNER_DB_STATES_H

#include "tuner/db/rows.h"

#define NUMBER_OF_STUDY_RUNNING 0
#define NUMBER_OF_STUDY_STOPPING 2
#define NUMBER_OF_STUDY_CANCELLING 3
#define NUMBER_OF_STUDY_SUCCEEDED 4
#define NUMBER_OF_STUDY_DELETING 8

#define NUMBER_OF_JOB_STUDY 1

#define NUMBER_OF_TRIAL_PREPARED 0
#define NUMBER_OF_TRIAL_REQUESTED 1
#define NUMBER_OF_TRIAL_ACTIVE 2
#define NUMBER_OF_TRIAL_STOPPING 3
#define NUMBER_OF_TRIAL_SUCCEEDED 4
#define NUMBER_OF_TRIAL_STOPPED 5
#define NUMBER_OF_TRIAL_FAILED 6
#define NUMBER_OF_TRIAL_INFEASIBLE 7
#define NUMBER_OF_TRIAL_CANCELLED 8
#define NUMBER_OF_TRIAL_PAUSED 9

#define NUMBER_OF_ATTEMPT_STARTING 0
#define NUMBER_OF_ATTEMPT_RUNNING 1
#define NUMBER_OF_ATTEMPT_ENDED 3

#define NUMBER_OF_OUTCOME_LOST 5

#define NUMBER_OF_OUTPUTS_UNWANTED 1

#define NUMBER_IS_RIGHT(name)                                                  \
    _Static_assert(NUMBER_OF_##name == (name), "its number in SQL")
NUMBER_IS_RIGHT(STUDY_RUNNING);
NUMBER_IS_RIGHT(STUDY_STOPPING);
NUMBER_IS_RIGHT(STUDY_CANCELLING);
NUMBER_IS_RIGHT(STUDY_SUCCEEDED);
NUMBER_IS_RIGHT(STUDY_DELETING);
NUMBER_IS_RIGHT(JOB_STUDY);
NUMBER_IS_RIGHT(TRIAL_PREPARED);
NUMBER_IS_RIGHT(TRIAL_REQUESTED);
NUMBER_IS_RIGHT(TRIAL_ACTIVE);
NUMBER_IS_RIGHT(TRIAL_STOPPING);
NUMBER_IS_RIGHT(TRIAL_SUCCEEDED);
NUMBER_IS_RIGHT(TRIAL_STOPPED);
NUMBER_IS_RIGHT(TRIAL_FAILED);
NUMBER_IS_RIGHT(TRIAL_INFEASIBLE);
NUMBER_IS_RIGHT(TRIAL_CANCELLED);
NUMBER_IS_RIGHT(TRIAL_PAUSED);
NUMBER_IS_RIGHT(ATTEMPT_STARTING);
NUMBER_IS_RIGHT(ATTEMPT_RUNNING);
NUMBER_IS_RIGHT(ATTEMPT_ENDED);
NUMBER_IS_RIGHT(OUTCOME_LOST);
NUMBER_IS_RIGHT(OUTPUTS_UNWANTED);
#undef NUMBER_IS_RIGHT

/* The number of an enumerator as a piece of SQL: "state=" SQL(TRIAL_PAUSED) */
#define SQL(name) SQL_TEXT(NUMBER_OF_##name)
#define SQL_TEXT(number) SQL_DIGITS(number)
#define SQL_DIGITS(number) #number

/* --- conditions; after "t." they are about the table t --- */

#define STUDY_IS_RUNNING "state=" SQL(STUDY_RUNNING)
#define STUDY_IS_OPEN "state<" SQL(STUDY_SUCCEEDED)
#define STUDY_IS_DELETED "state=" SQL(STUDY_DELETING)
#define STUDY_IS_SHOWN "state<>" SQL(STUDY_DELETING)
/* Open, and not waiting for a person. */
#define STUDY_CONTINUES                                                        \
    "state IN (" SQL(STUDY_RUNNING) ", " SQL(STUDY_STOPPING) ", " SQL(         \
        STUDY_CANCELLING) ")"
#define STUDY_IS_OURS "kind<>" SQL(JOB_STUDY) /* no client runs its trials */
#define STUDY_IS_CLIENTS "kind=" SQL(JOB_STUDY)

#define TRIAL_IS_SHOWN "state<>" SQL(TRIAL_PREPARED)
#define TRIAL_IS_REQUESTED "state=" SQL(TRIAL_REQUESTED)
#define TRIAL_IS_ACTIVE "state=" SQL(TRIAL_ACTIVE)
#define TRIAL_IS_SUCCEEDED "state=" SQL(TRIAL_SUCCEEDED)
#define TRIAL_IS_STOPPED "state=" SQL(TRIAL_STOPPED)
#define TRIAL_IS_CANCELLED "state=" SQL(TRIAL_CANCELLED)
#define TRIAL_IS_PAUSED "state=" SQL(TRIAL_PAUSED)
/* Neither final nor paused. */
#define TRIAL_IS_OPEN "state<=" SQL(TRIAL_STOPPING)
/* Its final measurement counts. */
#define TRIAL_HAS_RESULT                                                       \
    "state IN (" SQL(TRIAL_SUCCEEDED) ", " SQL(TRIAL_STOPPED) ")"
/* As db_trial_state_is_failed(). */
#define TRIAL_IS_FAILED                                                        \
    "state IN (" SQL(TRIAL_FAILED) ", " SQL(TRIAL_INFEASIBLE) ")"
#define TRIAL_IS_UNDER_WAY                                                     \
    "state IN (" SQL(TRIAL_ACTIVE) ", " SQL(TRIAL_STOPPING) ", " SQL(          \
        TRIAL_PAUSED) ")"
/* A later study learns from it; of PAUSED ones from the prediction. */
#define TRIAL_TEACHES                                                          \
    "state IN (" SQL(TRIAL_SUCCEEDED) ", " SQL(TRIAL_STOPPED) ", " SQL(        \
        TRIAL_FAILED) ", " SQL(TRIAL_INFEASIBLE) ", " SQL(TRIAL_PAUSED) ")"

/* By the rule of its study. */
#define TRIAL_STOPPED_EARLY TRIAL_IS_STOPPED " AND stop<>''"

#define ATTEMPT_IS_RUNNING "state=" SQL(ATTEMPT_RUNNING)
#define ATTEMPT_IS_SILENT ATTEMPT_IS_RUNNING " AND silent_ms>0"
#define ATTEMPT_IS_STARTING "state=" SQL(ATTEMPT_STARTING)
#define ATTEMPT_IS_OPEN "state<" SQL(ATTEMPT_ENDED)

#define OUTPUTS_ARE_UNWANTED "outputs=" SQL(OUTPUTS_UNWANTED)
#define TRIAL_SEARCHES "confirms=0"
#define TRIAL_CONFIRMS "confirms<>0"
#define TRIAL_IS_OPTIMAL "optimal=1"
#define TRIAL_IS_OUTSIDE "outside=1" /* see trial_row.outside */
#define TRIAL_IS_WITHIN "outside=0"

#endif
