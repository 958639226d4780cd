/* event_reader.h - from the log of events to deliveries.
 *
 * It follows the events of each study, which are there anyway, from a mark,
 * and adds a delivery for every webhook that wants one. One thread, but for
 * webhook_reader_note(). */
#ifndef HT_TUNER_WEBHOOK_EVENT_READER_H
#define HT_TUNER_WEBHOOK_EVENT_READER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "proto/base/error.h"
#include "tuner/webhook/config.h"

struct db;
struct webhook_reader;

struct webhook_reader *webhook_reader_new(void);
void webhook_reader_free(struct webhook_reader *reader); /* accepts NULL */

/* The study has a new revision, or is gone. True: no other study has changed
 * since the last reading, so it is time to wake the thread. Any thread. */
bool webhook_reader_note(struct webhook_reader *reader, int64_t study);

/* Opens the folder's hypertune.db. `http` is our address, for links; it and
 * the outbox are borrowed. Does nothing when it is open. */
enum ht_status webhook_reader_open(struct webhook_reader *reader,
                                   const char *folder, const char *http,
                                   struct db *outbox, struct ht_error *err);

/* Notes every study when marks were kept before: *resumed. Else marks each
 * study where it is now: nothing is sent of what happened before. */
enum ht_status webhook_reader_start(struct webhook_reader *reader,
                                    bool *resumed, struct ht_error *err);

/* Reads the studies that have changed, *n; once *stop is true it leaves the
 * rest to the next start. After a failure they count as changed again. */
enum ht_status webhook_reader_read(struct webhook_reader *reader,
                                   const struct webhook_rules *rules,
                                   const atomic_bool *stop, size_t *n,
                                   struct ht_error *err);

#endif
