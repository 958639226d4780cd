/* file.h - opening an SQLite file of ours: its identity, the version of its
 * tables, and the settings of a connection. For tuner/db and rooms with a
 * database file of their own. */
#ifndef HT_TUNER_DB_FILE_H
#define HT_TUNER_DB_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/db/db.h"

/* One step from a version to the next; `run` follows the SQL in the same
 * transaction. Either may be NULL. */
struct db_migration {
    const char *sql;
    enum ht_status (*run)(struct db *db, struct ht_error *err);
};

/* What all files of a kind have in common. */
struct db_kind {
    int32_t application_id; /* marks them as ours */
    int32_t former_id;      /* of files that no release wrote, refused by name;
                               0: there are none */
    int versions;           /* how many migrations there are */
    /* Append only: the index of one is the user_version it starts from. */
    const struct db_migration *migrations;
    const char *writing, *reading; /* pragmas of a connection for that */
    bool is_main;                  /* damage in it makes the server read-only */
};

/* Opens (`writable`: creates and migrates, each version in its own
 * transaction) the file; `err` names it. A file that is refused is left as it
 * is. The caller owns *db, see db_close().
 *
 * HT_PRECONDITION  newer than this program, of before the first release, or
 *                  another program's; to be only read also one that still has
 *                  to be migrated
 * HT_CORRUPT       no database, or a damaged one
 * HT_IO            it cannot be opened or migrated */
enum ht_status db_file_open(const char *path, bool writable,
                            const struct db_kind *kind, struct db **db,
                            struct ht_error *err);

#endif
