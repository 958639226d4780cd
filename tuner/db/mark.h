/* mark.h - the file hypertune.db-mark beside hypertune.db: which server has
 * written the database, and how much of it was acknowledged. A database that
 * has vanished, was exchanged or lost commits is refused by it.
 *
 * Each transaction counts itself in the database (`commits` of meta), and once
 * it is durable, in the mark, which is not synced: after a power cut the mark
 * may be older than the database, never newer, so it accuses no file wrongly.
 * An empty mark, or none, accepts whatever file is there: a restored backup is
 * taken after mark_accept(), with the former -wal and -shm removed. */
#ifndef HT_TUNER_DB_MARK_H
#define HT_TUNER_DB_MARK_H

#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/db/db.h"

enum { MARK_SERVER_BYTES = 9 };

enum mark_state {
    MARK_NONE,  /* no such file: the folder of an earlier release */
    MARK_EMPTY, /* accepts every database, and none */
    MARK_WRONG, /* its own checksum differs; accepts every database */
    MARK_SET
};

/* What the database must have. */
struct mark {
    enum mark_state state;
    char server_id[MARK_SERVER_BYTES]; /* of MARK_SET */
    int64_t commits; /* of MARK_SET; as of all of them in the file and its log
                        together */
    int64_t base;    /* of MARK_SET; as of those in the file alone */
};

/* `path` is that of hypertune.db in all of these. HT_IO. */
enum ht_status mark_read(const char *path, struct mark *mark,
                         struct ht_error *err);
/* Empties it, or makes it so, synced. HT_IO. */
enum ht_status mark_accept(const char *path, struct ht_error *err);

/* Before the database is opened: HT_PRECONDITION when it is missing or empty
 * although something was stored in it. HT_IO. */
enum ht_status mark_check_file(const char *path, struct ht_error *err);
/* When it is open and nothing was changed in it: HT_PRECONDITION when it is
 * not the one that the mark describes. */
enum ht_status mark_check_content(const char *path, struct db *db,
                                  struct ht_error *err);

/* Commits that have counted themselves. */
enum ht_status mark_commits(struct db *db, int64_t *commits,
                            struct ht_error *err);
/* In the open transaction: it is the one with that number. */
enum ht_status mark_count(struct db *db, int64_t commits, struct ht_error *err);

/* Opens the mark for mark_put(), makes it where it is missing; the caller
 * closes *fd. HT_IO. */
enum ht_status mark_open(const char *path, int *fd, struct ht_error *err);
/* Without a sync. Where the disk is too full for it, the mark stays as it was,
 * and asks for less. */
void mark_put(int fd, const struct mark *mark);

#endif
