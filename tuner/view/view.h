/* view.h - database rows as the JSON resources of docs/http.md.
 *
 * Used by the core's handlers (to answer a change) and by the readers, so a
 * resource looks the same wherever it comes from. */
#ifndef HT_TUNER_VIEW_VIEW_H
#define HT_TUNER_VIEW_VIEW_H

#include <stdbool.h>

#include <cjson/cJSON.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/job/job.h"
#include "tuner/db/db.h"
#include "tuner/db/fleet.h"

/* The resource of the study's own kind with hypertuneStatus, without its
 * trials; the caller owns *out, as of all below. When the stored spec cannot be
 * read, the resource contains the error instead. */
enum ht_status view_job(struct db *db, struct arena *arena,
                        const struct study_row *study, cJSON **out,
                        struct ht_error *err);
/* One trial; `with_attempts` adds the attempts and the measurements. In a
 * JOB_STUDY measurements are always there, the first thousand of them. */
enum ht_status view_trial(struct db *db, struct arena *arena,
                          const struct study_row *study, const struct job *job,
                          const struct trial_row *trial, bool with_attempts,
                          cJSON **out, struct ht_error *err);
/* Vertex's name of its state: PENDING until its first trial has started. */
const char *view_job_state(const struct study_row *study);
/* The same study as a Vizier Study, with hypertuneStatus. */
enum ht_status view_study(struct db *db, struct arena *arena,
                          const struct study_row *study, cJSON **out,
                          struct ht_error *err);
/* One row of the measurements list. */
cJSON *view_measurement(const struct measurement_row *row);
/* Of an event members without a value are left out. `busy`: attempts on the
 * runner that have not ended, see db_runner_busy(). */
cJSON *view_event(const struct event_row *event);
cJSON *view_runner(const struct runner_row *runner, int64_t busy);
/* Adds what runs there. */
void view_add_running(cJSON *runner, const struct fleet_attempt *attempt);

/* --- member --- */

/* A moment as RFC 3339; none for 0. */
void view_add_stamp(cJSON *object, const char *key, int64_t wall_ms);

/* JSON that we wrote and stored, embedded as it is; none for NULL or "". */
void view_add_stored(cJSON *object, const char *key, const char *json);

/* Adds `userAttributes`, the JSON texts that clients of Optuna keep by name
 * with the trial (0: with the study); no member when there are none. They are
 * clients' own and any number: beyond MOST_ATTRIBUTES, or with more than
 * MOST_ATTRIBUTE bytes, they are left out, which `moreUserAttributes` says. */
enum { MOST_ATTRIBUTES = 32, MOST_ATTRIBUTE = 1024 };
enum ht_status view_add_attributes(cJSON *object, struct db *db,
                                   struct arena *arena, int64_t study,
                                   int64_t trial, struct ht_error *err);

/* Adds `tags`, the words that people gave the trial (0: the study); no member
 * when there are none. */
enum ht_status view_add_tags(cJSON *object, struct db *db, struct arena *arena,
                             int64_t study, int64_t trial,
                             struct ht_error *err);
/* {"note", "tags"}, both always there; the caller owns *out. */
enum ht_status view_notes(struct db *db, struct arena *arena, int64_t study,
                          int64_t trial, cJSON **out, struct ht_error *err);

/* --- failures --- */

struct view_failures {
    const char *words;  /* "4 of 6 failed"; NULL: nothing to report */
    bool mostly;        /* more than half of the trials that ended */
    const char *reason; /* that most of them share, when `mostly`, or "" */
};

/* Of a study that SUCCEEDED or was STOPPED; a custom job is as its one trial
 * is. */
enum ht_status view_failures_find(struct db *db, struct arena *arena,
                                  const struct study_row *study,
                                  const struct trial_counts *counts,
                                  struct view_failures *failures,
                                  struct ht_error *err);

/* Adds the member `failures`, unless there is none. */
void view_failures_add(cJSON *object, const struct view_failures *failures);

#endif
