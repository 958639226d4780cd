/* db_place.h - a database file for one test, and rows to put there. */
#ifndef HT_TESTS_LIB_DB_PLACE_H
#define HT_TESTS_LIB_DB_PLACE_H

#include <stdint.h>

#include "proto/base/arena.h"
#include "tests/check.h"
#include "tuner/db/internal.h"

struct db_place {
    char dir[64], path[96];
};

/* Makes the folder; there is no file yet. */
void db_place_open(struct db_place *place);

/* Removes NAME.db of a folder, with what SQLite keeps beside it. */
void db_place_remove(const char *dir, const char *name);

/* Removes the file and the folder. */
void db_place_close(const struct db_place *place);

/* Runs SQL on the file behind the program's back. */
void db_place_tamper(const struct db_place *place, const char *sql);

/* The number that a query answers with; -1 without a row. */
int64_t db_place_ask(struct db *db, const char *sql);

/* A row for study 1. */
extern const struct study_row db_place_study;

/* Inserts a trial of study 1 with x=id and that objective. */
void db_place_put(struct db *db, int64_t id, enum trial_state state,
                  double objective);

/* Inserts an attempt of a trial of study 1, on that runner, and the runner. */
void db_place_put_attempt(struct db *db, int64_t trial, int64_t n,
                          const char *runner);

/* Inserts a record that the master of an attempt reported; each has the next
 * seq of one writer. */
void db_place_put_record(struct db *db, const struct trial_name *name,
                         int64_t step, const char *metrics);

/* --- a case on a database --- */

struct db_case {
    struct db_place place;
    struct db *db; /* open, with study 1 */
    struct arena *arena;
};

/* Opens, runs the case, closes. */
void db_case_run(void (*test)(struct db_case *c));

/* Runs a case with a new database. */
#define RUN_ON_DB(test) RUN_CALL(test, db_case_run(test))

#endif
