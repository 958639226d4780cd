/* event.h - a study's events in order and by time. */
#ifndef HT_TUNER_DB_EVENT_H
#define HT_TUNER_DB_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/db/db.h"
#include "tuner/db/write.h"

struct db;

struct event_head {
    int64_t revision, time_ms;
};

/* The first event from `revision` on that a log shows, or (`down`) the last one
 * up to it: of the study, its trials' moves and ends of attempts, but not
 * what trials measured. HT_NOT_FOUND without one. */
enum ht_status db_event_step(struct db *db, int64_t study, int64_t revision,
                             bool down, struct event_head *head,
                             struct ht_error *err);

/* The first revision of at least `time_ms`; one over `last`, the study's
 * newest, when there is none. */
enum ht_status db_event_seek(struct db *db, int64_t study, int64_t last,
                             int64_t time_ms, int64_t *revision,
                             struct ht_error *err);

/* The deletion, after `event`, of the trial that it is about: its revision and
 * data. HT_NOT_FOUND: it was not deleted. */
enum ht_status db_event_deletion(struct db *db, struct arena *arena,
                                 const struct event_row *event,
                                 struct event_row *deletion,
                                 struct ht_error *err);

/* Ids of the trials that later events are about, rising; some may have been
 * deleted meanwhile. */
enum ht_status db_changed_trials(struct db *db, struct arena *arena,
                                 int64_t study, int64_t since,
                                 struct id_list *list, struct ht_error *err);

#endif
