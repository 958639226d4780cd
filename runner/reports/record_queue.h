/* record_queue.h - records of one replica that the server has not confirmed.
 *
 * A record that the trainer's library may deliver as well waits for one
 * heartbeat, whose answer has the newest seq that the server got; only what is
 * missing is sent. */
#ifndef HT_RUNNER_REPORTS_RECORD_QUEUE_H
#define HT_RUNNER_REPORTS_RECORD_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/job/report.h"

struct record;

/* In the order of arrival; all records are owned. */
struct record_queue {
    struct record *first, **last;
    size_t n;
    size_t in_flight; /* records at the front that a request carries */
    size_t batch;     /* most records of the next request */
};

enum { RECORD_BATCH = 200, RECORD_BATCH_BYTES = 256 * 1024 };

/* The queue links to itself: it must not be moved. fini() frees all records. */
void record_queue_init(struct record_queue *queue);
void record_queue_fini(struct record_queue *queue);

/* Copies the record. It may be sent once the heartbeat `after` was answered. */
void record_queue_add(struct record_queue *queue, const struct report *report,
                      int64_t after);
/* Drops records that the server has: seq 1 to `seq` of the writer. */
void record_queue_have(struct record_queue *queue, uint64_t writer,
                       int64_t seq);
/* Whether a batch may be sent after heartbeat `beat`: no other one is in
 * flight, and the first record need not wait longer. */
bool record_queue_is_ready(const struct record_queue *queue, int64_t beat);
/* Appends a list of the records that may be sent after heartbeat `beat`, as
 * member `key`, and marks them as in flight; there is at least one when it is
 * ready, further ones within `most` bytes. */
void record_queue_batch(struct record_queue *queue, int64_t beat, size_t most,
                        const char *key, struct text *out);
/* The server has stored the batch in flight, whose records are dropped. */
void record_queue_confirm(struct record_queue *queue);
/* The server refused the batch: it is sent again in halves until the one bad
 * record is alone and dropped. Returns how many were dropped. */
size_t record_queue_refuse(struct record_queue *queue);
void record_queue_return(
    struct record_queue *queue); /* the batch was not sent */

#endif
