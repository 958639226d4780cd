/* move.h - the table of allowed moves between states, and the function that
 * makes one.
 *
 * A move writes the row, an event with its reason in words, and the next
 * revision of the study, all in one savepoint. Core thread. */
#ifndef HT_TUNER_STUDY_MOVE_H
#define HT_TUNER_STUDY_MOVE_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "tuner/db/rows.h"

struct core;

/* Whether the table has the move; a state never moves to itself. */
bool move_study_may(enum study_state from, enum study_state to);
bool move_trial_may(enum trial_state from, enum trial_state to);
bool move_attempt_may(enum attempt_state from, enum attempt_state to);

/* Each saves the whole row, including other changes by the caller, and leaves
 * `reason` (borrowed) in it. move_study() also wakes held requests, and it and
 * move_trial() have the study settled before the COMMIT.
 * HT_INTERNAL  the table has no such move: a bug of the server; the request
 *              fails
 * HT_NOT_FOUND  the study does not exist */
enum ht_status move_study(struct core *core, struct study_row *row,
                          enum study_state to, const char *reason,
                          struct ht_error *err);
/* Also keeps the counts by state, and a move to or from a final state outdates
 * the stock of suggestions. */
enum ht_status move_trial(struct core *core, struct trial_row *row,
                          enum trial_state to, const char *reason,
                          struct ht_error *err);
/* Also sets started_ms and ended_ms, and counts it for /metrics. */
enum ht_status move_attempt(struct core *core, struct attempt_row *row,
                            enum attempt_state to, const char *reason,
                            struct ht_error *err);

/* Writes an event that is no move (created, changed, measured). Sets the
 * study's next revision, the time and the actor in *event, and "" where a text
 * is NULL. */
enum ht_status move_event(struct core *core, struct event_row *event,
                          struct ht_error *err);

/* Saves a row that the caller has changed otherwise than by a move, with the
 * event that says why. */
enum ht_status move_study_changed(struct core *core,
                                  const struct study_row *row,
                                  const char *reason, struct ht_error *err);

#endif
