/* event_reader.h - from the log of events to letters.
 *
 * It follows the events of each study, which are there anyway, from a mark,
 * and leaves a letter for every webhook that wants one. One thread. */
#ifndef HT_TUNER_WEBHOOK_EVENT_READER_H
#define HT_TUNER_WEBHOOK_EVENT_READER_H

#include <stdatomic.h>

#include "proto/base/error.h"
#include "tuner/webhook/changed_studies.h"
#include "tuner/webhook/outbox.h"
#include "tuner/webhook/rules.h"

struct webhook_reading;

struct webhook_reading_options {
    const char *folder;        /* with hypertune.db */
    const char *http;          /* our address, for links; borrowed */
    struct outbox *outbox;     /* borrowed, as the rest is */
    struct webhook_news *news; /* what is to be read */
    atomic_bool *stop;         /* true: leave it to the next start */
};
enum ht_status
webhook_reading_open(const struct webhook_reading_options *options,
                     struct webhook_reading **reading, struct ht_error *err);
void webhook_reading_close(struct webhook_reading *reading); /* accepts NULL */

/* Marks each study where it is now: what happened before is told to nobody. */
enum ht_status webhook_reading_begin(struct webhook_reading *reading,
                                     struct ht_error *err);
/* Makes every study news, since nobody listened until now. */
enum ht_status webhook_reading_resume(struct webhook_reading *reading,
                                      struct ht_error *err);

/* Reads what is news, *n studies. After a failure it is news still. */
enum ht_status webhook_reading_take(struct webhook_reading *reading,
                                    const struct webhook_rules *rules,
                                    size_t *n, struct ht_error *err);

#endif
