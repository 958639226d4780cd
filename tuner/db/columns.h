/* columns.h - the columns of each table, and how its rows are read.
 *
 * One list per row type gives both the columns of a SELECT and the reader of
 * their values, so that the two cannot differ. An entry is a kind and a
 * member, which has the name of the column. */
#ifndef HT_TUNER_DB_COLUMNS_H
#define HT_TUNER_DB_COLUMNS_H

#include <sqlite3.h>

#include "proto/base/arena.h"
#include "tuner/db/internal.h"

/* The kinds: INTEGER is any whole number, an enum or a bool; OBJECTIVE may be
 * NULL and sets has_objective too; RECORD has the four columns of a
 * struct record_name. */
#define DB_NAME_INTEGER(member) #member
#define DB_NAME_TEXT(member) #member
#define DB_NAME_OBJECTIVE(member) #member
#define DB_NAME_RECORD(member)                                                 \
#member "_attempt, " #member "_replica, " #member "_writer, " #member "_seq"

#define DB_READ_INTEGER(member)                                                \
    into->member = (__typeof__(into->member))sqlite3_column_int64(stmt, at++);
#define DB_READ_TEXT(member) into->member = db_column_text(arena, stmt, at++);
#define DB_READ_OBJECTIVE(member)                                              \
    into->has_##member = sqlite3_column_type(stmt, at) != SQLITE_NULL;         \
    into->member = sqlite3_column_double(stmt, at++);
#define DB_READ_RECORD(member)                                                 \
    into->member = db_column_record(arena, stmt, at);                          \
    at += 4;

/* A list calls its first parameter with the first column, its second one with
 * all others. */
// clang-format off
#define DB_STUDY_LIST(FIRST, NEXT)                                             \
    FIRST(INTEGER, id) NEXT(TEXT, project) NEXT(TEXT, location)                \
    NEXT(TEXT, name) NEXT(TEXT, display) NEXT(TEXT, spec)                      \
    NEXT(INTEGER, state) NEXT(TEXT, reason) NEXT(INTEGER, revision)            \
    NEXT(INTEGER, seed) NEXT(INTEGER, next_trial) NEXT(INTEGER, exhausted)     \
    NEXT(INTEGER, ends_as) NEXT(INTEGER, stale_trials) NEXT(INTEGER, used_ms)  \
    NEXT(INTEGER, created_ms) NEXT(INTEGER, started_ms)                        \
    NEXT(INTEGER, ended_ms) NEXT(INTEGER, updated_ms) NEXT(INTEGER, kind)      \
    NEXT(INTEGER, gain_ms) NEXT(INTEGER, refusals)                             \
    NEXT(INTEGER, confirmations) NEXT(TEXT, ended) NEXT(TEXT, submitted)       \
    NEXT(INTEGER, first_run_used_ms) NEXT(INTEGER, unreported_in_row)          \
    NEXT(TEXT, job_spec) NEXT(INTEGER, withdrawn) NEXT(INTEGER, crashes)       \
    NEXT(TEXT, crash)
#define DB_TRIAL_LIST(FIRST, NEXT)                                             \
    FIRST(INTEGER, study) NEXT(INTEGER, id) NEXT(INTEGER, state)               \
    NEXT(TEXT, params) NEXT(INTEGER, replicate) NEXT(INTEGER, ordinal)         \
    NEXT(INTEGER, attempt) NEXT(INTEGER, failures) NEXT(INTEGER, losses)       \
    NEXT(OBJECTIVE, objective) NEXT(INTEGER, final_step)                       \
    NEXT(TEXT, final_metrics) NEXT(RECORD, latest) NEXT(TEXT, reason)          \
    NEXT(INTEGER, revision) NEXT(INTEGER, created_ms)                          \
    NEXT(INTEGER, started_ms) NEXT(INTEGER, ended_ms) NEXT(TEXT, client)       \
    NEXT(INTEGER, chosen_by_person) NEXT(INTEGER, final_elapsed_ms)            \
    NEXT(TEXT, why) NEXT(TEXT, stop) NEXT(INTEGER, confirms)                   \
    NEXT(INTEGER, rungs_passed) NEXT(INTEGER, pausing)                         \
    NEXT(INTEGER, outside) NEXT(INTEGER, attempts_before)
#define DB_ATTEMPT_LIST(FIRST, NEXT)                                           \
    FIRST(INTEGER, study) NEXT(INTEGER, trial) NEXT(INTEGER, n)                \
    NEXT(INTEGER, state) NEXT(INTEGER, outcome) NEXT(TEXT, runner)             \
    NEXT(INTEGER, exit_code) NEXT(INTEGER, signal) NEXT(TEXT, reason)          \
    NEXT(INTEGER, winner) NEXT(INTEGER, created_ms) NEXT(INTEGER, started_ms)  \
    NEXT(INTEGER, ended_ms) NEXT(TEXT, facts) NEXT(INTEGER, outputs)           \
    NEXT(TEXT, doctor) NEXT(INTEGER, silent_ms) NEXT(INTEGER, usual_ms)        \
    NEXT(INTEGER, hung) NEXT(INTEGER, moving)
#define DB_MEASUREMENT_LIST(FIRST, NEXT)                                       \
    FIRST(INTEGER, study) NEXT(INTEGER, trial) NEXT(INTEGER, attempt)          \
    NEXT(TEXT, replica) NEXT(INTEGER, writer) NEXT(INTEGER, seq)               \
    NEXT(INTEGER, step) NEXT(INTEGER, time_ms) NEXT(TEXT, metrics)             \
    NEXT(TEXT, checkpoint)
#define DB_RUNNER_LIST(FIRST, NEXT)                                            \
    FIRST(TEXT, id) NEXT(TEXT, engine) NEXT(TEXT, host) NEXT(TEXT, boot)       \
    NEXT(INTEGER, slots) NEXT(INTEGER, seen_ms) NEXT(INTEGER, online)          \
    NEXT(TEXT, rules) NEXT(INTEGER, drain)
#define DB_PRIOR_LIST(FIRST, NEXT)                                             \
    FIRST(INTEGER, study) NEXT(INTEGER, n) NEXT(INTEGER, origin)               \
    NEXT(TEXT, resource) NEXT(TEXT, name) NEXT(TEXT, spec)                     \
    NEXT(INTEGER, same) NEXT(INTEGER, shared) NEXT(INTEGER, results)           \
    NEXT(INTEGER, failures) NEXT(INTEGER, own) NEXT(INTEGER, inherited)
// clang-format on

/* The columns of a list as SQL, and those of the table called `m`. */
#define DB_FIRST_COLUMN(kind, member) DB_NAME_##kind(member)
#define DB_NEXT_COLUMN(kind, member) ", " DB_NAME_##kind(member)
#define DB_COLUMNS(LIST) LIST(DB_FIRST_COLUMN, DB_NEXT_COLUMN)
#define DB_FIRST_COLUMN_OF_M(kind, member) "m." DB_NAME_##kind(member)
#define DB_NEXT_COLUMN_OF_M(kind, member) ", m." DB_NAME_##kind(member)
#define DB_COLUMNS_OF_M(LIST) LIST(DB_FIRST_COLUMN_OF_M, DB_NEXT_COLUMN_OF_M)

#define DB_STUDY_COLUMNS DB_COLUMNS(DB_STUDY_LIST)
#define DB_TRIAL_COLUMNS DB_COLUMNS(DB_TRIAL_LIST)
#define DB_ATTEMPT_COLUMNS DB_COLUMNS(DB_ATTEMPT_LIST)
#define DB_MEASUREMENT_COLUMNS DB_COLUMNS(DB_MEASUREMENT_LIST)
#define DB_RUNNER_COLUMNS DB_COLUMNS(DB_RUNNER_LIST)
#define DB_PRIOR_COLUMNS DB_COLUMNS(DB_PRIOR_LIST)

/* The body of a db_reader: reads a row whose first columns are the list's. */
#define DB_READ_COLUMN(kind, member) DB_READ_##kind(member)
#define DB_READ_ROW(type, LIST)                                                \
    struct type *into = row;                                                   \
    int at = 0;                                                                \
    *into = (struct type){0};                                                  \
    LIST(DB_READ_COLUMN, DB_READ_COLUMN)

#endif
