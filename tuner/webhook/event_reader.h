/* event_reader.h - from the log of events to deliveries.
 *
 * It follows the events of each study from a mark, and adds a delivery for
 * every webhook that wants one. One thread, but for webhook_reader_note(). */
#ifndef HT_TUNER_WEBHOOK_EVENT_READER_H
#define HT_TUNER_WEBHOOK_EVENT_READER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "proto/base/error.h"
#include "tuner/webhook/config.h"

struct db;
struct webhook_reader;

/* Takes notes at once, and reads after webhook_reader_start(). */
struct webhook_reader *webhook_reader_new(void);
void webhook_reader_free(struct webhook_reader *reader); /* accepts NULL */

/* The study has a new revision or was deleted. True: it is the first since the
 * last reading, so that the thread has to be woken. Any thread. */
bool webhook_reader_note(struct webhook_reader *reader, int64_t study);

/* Opens the folder's hypertune.db, unless it is open. Where marks were kept
 * before, every study counts as changed: *resumed. Else each study is marked
 * where it is now: nothing is sent of what happened before. `http` is our
 * address, for links; it and the outbox are borrowed. */
enum ht_status webhook_reader_start(struct webhook_reader *reader,
                                    const char *folder, const char *http,
                                    struct db *outbox, bool *resumed,
                                    struct ht_error *err);

/* Reads the studies that have changed, *n; once *stop is true it leaves the
 * rest to the next start. After a failure they count as changed again. */
enum ht_status webhook_reader_read(struct webhook_reader *reader,
                                   const struct webhook_rules *rules,
                                   const atomic_bool *stop, size_t *n,
                                   struct ht_error *err);

#endif
