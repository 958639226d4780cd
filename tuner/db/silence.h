/* silence.h - attempts that neither report nor print, and what that is judged
 * by. */
#ifndef HT_TUNER_DB_SILENCE_H
#define HT_TUNER_DB_SILENCE_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/db.h"
#include "tuner/db/rows.h"

/* Writes silent_ms, usual_ms, hung and reason. */
enum ht_status db_silence_set(struct db *db, const struct attempt_row *row,
                              struct ht_error *err);

/* All attempts that run. */
enum ht_status db_silence_running(struct db *db, struct arena *arena,
                                  struct attempt_list *list,
                                  struct ht_error *err);

/* The silent ones of a study, by trial, at most `most`. */
enum ht_status db_silence_list(struct db *db, struct arena *arena,
                               int64_t study, size_t most,
                               struct attempt_list *list, struct ht_error *err);

/* How many attempts are silent. */
enum ht_status db_silence_count(struct db *db, int64_t *n,
                                struct ht_error *err);

/* When the replica's newest steps were reported, the newest first, at most
 * so many. Records of one step count once. */
enum { NEWEST_REPORTS = 33 };
struct report_times {
    size_t n;
    int64_t *items; /* wall ms */
};
enum ht_status db_silence_reports(struct db *db, struct arena *arena,
                                  const struct attempt_row *row,
                                  const char *replica,
                                  struct report_times *times,
                                  struct ht_error *err);

#endif
