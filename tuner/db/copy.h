/* copy.h - copies of database files: how one is made beside the work of others,
 * whether it is whole, and how the server that is restored from it begins. */
#ifndef HT_TUNER_DB_COPY_H
#define HT_TUNER_DB_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"

enum { DB_SERVER_ID_BYTES = 9 }; /* 8 hex digits */

/* Called between two slices of some MB, which are on the disk then; another
 * status than HT_OK ends the copy with it. */
typedef enum ht_status db_copy_step(void *context, int64_t bytes,
                                    struct ht_error *err);

/* Copies a file of ours as one snapshot, page by page, each compared with its
 * checksum; `to` must not exist. Others may read and write meanwhile: until the
 * end their changes stay in the write-ahead log. After a failure `to` is
 * removed.
 *
 * HT_CORRUPT  a page is damaged; named
 * HT_IO       a file cannot be opened, read or written */
enum ht_status db_copy(const char *from, const char *to, db_copy_step *step,
                       void *context, struct ht_error *err);

/* Reads every page and compares its checksum, then looks at all tables, indexes
 * and references between tables. `alone`: nothing beside the file belongs to
 * it, and nothing is written, neither beside it.
 *
 * HT_CORRUPT       damage, with its place
 * HT_PRECONDITION  its pages have no checksums: another program made it
 * HT_IO            it cannot be opened or read */
enum ht_status db_check_file(const char *path, bool alone,
                             struct ht_error *err);

/* How far hypertune.db has come: two files with the same marks say the same of
 * studies. */
struct db_marks {
    char server_id[DB_SERVER_ID_BYTES];
    int64_t incarnation; /* from 1; each restore makes a higher one */
    int64_t version;     /* of its tables */
    int64_t studies;     /* the highest id given */
    int64_t revisions;   /* the sum over all studies */
    int64_t metadata;    /* the highest version given */
    int64_t audit;       /* the highest line */
};
bool db_marks_equal(const struct db_marks *a, const struct db_marks *b);
/* `alone` as above. HT_IO, HT_CORRUPT, HT_PRECONDITION as db_open_readonly(),
 * but tables of an earlier version are fine. */
enum ht_status db_marks_read(const char *path, bool alone,
                             struct db_marks *marks, struct ht_error *err);

/* Whether all chunks in `logs` are of attempts that hypertune.db at `path` may
 * know: none is of a study, trial or attempt behind the newest.
 * HT_CORRUPT  one is; named */
enum ht_status db_logs_agree(const char *path, const char *logs, bool alone,
                             struct ht_error *err);

/* Calls visit() for each tree in the table of trees, by project; a file of
 * before that table has none. What visit() returns other than HT_OK ends it. */
typedef enum ht_status db_tree_visit(void *context, const char *project,
                                     const char *tree, struct ht_error *err);
enum ht_status db_trees_each(const char *path, bool alone, db_tree_visit *visit,
                             void *context, struct ht_error *err);

/* Makes the file at `path` that of a new incarnation: it is brought up to date,
 * and numbers that may have been given after the moment `made_ms` of the copy
 * are skipped, see docs/operations.md. What ran then ends when the core starts
 * (tuner/study/restored.h). *marks: as they were before.
 *
 * HT_PRECONDITION  `now_ms` is before `made_ms` */
enum ht_status db_new_incarnation(const char *path, int64_t made_ms,
                                  int64_t now_ms, struct db_marks *marks,
                                  struct ht_error *err);

#endif
