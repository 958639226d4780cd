/* sessions.h - the table of browsers' sessions that were left before their
 * end. */
#ifndef HT_TUNER_DB_SESSIONS_H
#define HT_TUNER_DB_SESSIONS_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/base/session_board.h"

struct db;

struct session_list {
    size_t n;
    struct left_session *rows;
};

/* By number; in the arena. */
enum ht_status db_session_list(struct db *db, struct arena *arena,
                               struct session_list *list, struct ht_error *err);
enum ht_status db_session_count(struct db *db, int64_t *n,
                                struct ht_error *err);
/* One that is there already stays. */
enum ht_status db_session_leave(struct db *db, const struct left_session *row,
                                struct ht_error *err);
/* Deletes those whose end is before `now_s`. */
enum ht_status db_session_prune(struct db *db, int64_t now_s,
                                struct ht_error *err);

#endif
