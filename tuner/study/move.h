/* move.h - the one table of allowed moves, and the one way to make a move.
 *
 * A move writes the row, an event with its reason in words, and the next
 * revision of the study; the three belong to one savepoint. Core thread. */
#ifndef HT_TUNER_STUDY_MOVE_H
#define HT_TUNER_STUDY_MOVE_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "tuner/db/rows.h"

struct core;

bool move_study_may(enum study_state from, enum study_state to);
bool move_trial_may(enum trial_state from, enum trial_state to);
bool move_attempt_may(enum attempt_state from, enum attempt_state to);

/* Each saves the whole row, with whatever else the caller set in it, and
 * leaves `reason` (borrowed) in it.
 * HT_INTERNAL  the table has no such move: our own bug, the request fails */
enum ht_status move_study(struct core *core, struct study_row *row,
                          enum study_state to, const char *reason,
                          struct ht_error *err);
enum ht_status move_trial(struct core *core, struct trial_row *row,
                          enum trial_state to, const char *reason,
                          struct ht_error *err);
enum ht_status move_attempt(struct core *core, struct attempt_row *row,
                            enum attempt_state to, const char *reason,
                            struct ht_error *err);

/* Writes an event that is no move (created, changed, measured). Fills study's
 * next revision, the time and who causes it into *event. */
enum ht_status move_event(struct core *core, struct event_row *event,
                          struct ht_error *err);

#endif
