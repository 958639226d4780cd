/* body.h - what an event of a study means to a webhook, in JSON. */
#ifndef HT_TUNER_WEBHOOK_BODY_H
#define HT_TUNER_WEBHOOK_BODY_H

#include "proto/base/arena.h"
#include "proto/job/notify.h"
#include "tuner/db/rows.h"
#include "tuner/view/view.h"

/* What an event of the log is told as: bits 1 << enum notify_event. `best` is
 * the study's best trial now, 0: none. */
unsigned webhook_letter_events(const struct event_row *event, int64_t best);

struct webhook_letter_parts {
    const char *http; /* our address */
    enum notify_event what;
    const struct event_row *event;
    const struct study_row *study;
    const struct view_failures *failures;
    const struct trial_row *trial; /* NULL: it is about the study */
    const struct trial_row *best;  /* NULL: none yet */
};
/* The body, in the arena. */
const char *webhook_letter_body(struct arena *arena,
                                const struct webhook_letter_parts *parts);

#endif
