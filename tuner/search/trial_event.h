/* trial_event.h - what an event says of a trial's result, and the trial that it
 * is about as it was known then. */
#ifndef HT_TUNER_SEARCH_TRIAL_EVENT_H
#define HT_TUNER_SEARCH_TRIAL_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "tuner/db/db.h"

enum trial_change {
    TRIAL_CHANGE_NONE,
    TRIAL_CHANGE_CREATED,
    TRIAL_CHANGE_DEFINED, /* it got values, which are the event's data */
    TRIAL_CHANGE_ENDED,
    TRIAL_CHANGE_REOPENED, /* ended before, runs again */
    TRIAL_CHANGE_DELETED
};
enum trial_change trial_event_change(const struct event_row *event);

/* Whether what was known of the trial before no longer holds. */
bool trial_event_takes_back(const struct event_row *event);

/* Whether it is a move to that state. */
bool trial_event_went_to(const struct event_row *event, enum trial_state state);

/* What is known of a trial when events up to `until` are. */
enum trial_known {
    TRIAL_IS_KNOWN,
    TRIAL_IS_GONE, /* deleted by then: as if it had never been */
    TRIAL_IS_LOST  /* deleted later, and its point was not kept */
};

/* The trial that the event is about; INT64_MAX: every event is known. Of one
 * that was deleted after `until` only id and params are there. */
enum ht_status trial_event_find(struct db *db, struct arena *arena,
                                const struct event_row *event, int64_t until,
                                struct trial_row *trial,
                                enum trial_known *known, struct ht_error *err);

#endif
