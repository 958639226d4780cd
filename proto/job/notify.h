/* notify.h - which of the admin's webhooks report a study, and which events.
 *
 * A spec names webhooks and never an address: the addresses are in a file of
 * the server. The native form and Vertex's member "hypertune" have it in
 * common: a name, a list of them, or a map of names and events. */
#ifndef HT_PROTO_JOB_NOTIFY_H
#define HT_PROTO_JOB_NOTIFY_H

#include <cjson/cJSON.h>

#include "proto/doc/field.h"
#include "proto/job/job.h"

enum notify_event {
    NOTIFY_STUDY_ENDED,
    NOTIFY_STUDY_PAUSED,
    NOTIFY_TRIAL_ENDED,
    NOTIFY_TRIAL_FAILED,
    NOTIFY_BEST_IMPROVED,
    NOTIFY_EVENTS
};
enum { NOTIFY_ALL = (1 << NOTIFY_EVENTS) - 1 };

/* "study.ended" */
const char *notify_event_name(enum notify_event event);

/* unsigned: bits 1 << enum notify_event, from one name or a list of them. */
field_function notify_events;

/* struct notify */
field_function job_notify;

/* The path of the i-th webhook as job_notify_write() writes it: "notify[0]",
 * or "notify.chat". */
const char *job_notify_path(struct arena *arena, const struct notify *notify,
                            size_t i);

/* Adds it to `object` as the member "notify" when it was said. */
void job_notify_write(cJSON *object, const struct notify *notify);

#endif
