/* optuna_db.h - the tables of an Optuna database, read as texts.
 *
 * The one file of the command line that sees SQLite: such a database is on the
 * machine of whoever imports it, so that the server is given its results and
 * never a file. */
#ifndef HT_HYPERTUNE_CLI_TRANSFER_OPTUNA_DB_H
#define HT_HYPERTUNE_CLI_TRANSFER_OPTUNA_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"

struct optuna_db;

enum { OPTUNA_COLUMNS = 4 }; /* most of a query */

struct optuna_row {
    const char *cells[OPTUNA_COLUMNS]; /* NULL for NULL, and behind the last */
};
struct optuna_rows {
    size_t n;
    struct optuna_row *items;
};

/* Opens it read-only. HT_IO: it cannot be read. */
enum ht_status optuna_db_open(const char *path, struct optuna_db **db,
                              struct ht_error *err);
void optuna_db_close(struct optuna_db *db); /* accepts NULL */

/* All rows of a query whose ?1, if any, is `key`; in the arena.
 * HT_CORRUPT  the tables are not Optuna's, or damaged */
enum ht_status optuna_db_rows(struct optuna_db *db, struct arena *arena,
                              const char *sql, int64_t key,
                              struct optuna_rows *rows, struct ht_error *err);

/* Its table has that column: what tells the versions of Optuna apart. */
bool optuna_db_has(struct optuna_db *db, const char *table, const char *column);

#endif
