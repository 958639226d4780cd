/* sender.h - attempts to deliver, to all webhooks at once.
 *
 * Each webhook has a queue. Its oldest delivery is tried again and again, the
 * others wait behind it: that keeps their order, and a webhook that is slow or
 * dead delays no other. A delivery is removed only after an attempt, so each
 * is sent at least once. One thread, but for webhook_sender_wake(). */
#ifndef HT_TUNER_WEBHOOK_SENDER_H
#define HT_TUNER_WEBHOOK_SENDER_H

#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/webhook/config.h"
#include "tuner/webhook/outbox.h"

struct core;
struct webhook_sender;

/* After curl_global_init(). The core stores the event that deliveries were
 * dropped. */
struct webhook_sender *webhook_sender_new(void);
void webhook_sender_free(struct webhook_sender *sender); /* accepts NULL */

/* Ends what is under way and opens the queue of each webhook; all parameters
 * are borrowed. Deliveries to other webhooks are removed. After a failure
 * there is no queue. */
enum ht_status webhook_sender_set(struct webhook_sender *sender,
                                  const struct webhook_rules *rules,
                                  struct db *outbox, struct core *core,
                                  struct ht_error *err);
/* Closes all queues; what was borrowed may go. */
void webhook_sender_clear(struct webhook_sender *sender);

/* Sends what is due. *pause_ms becomes the time until more may be, if that is
 * less. */
enum ht_status webhook_sender_send(struct webhook_sender *sender,
                                   int64_t *pause_ms, struct ht_error *err);
/* Waits for answers, for at most so long or until it is woken, and stores the
 * attempts that ended. */
enum ht_status webhook_sender_wait(struct webhook_sender *sender,
                                   int64_t pause_ms, struct ht_error *err);
/* Any thread. */
void webhook_sender_wake(struct webhook_sender *sender);

/* --- one queue --- */

struct webhook_queue {
    const struct webhook *webhook; /* borrowed */
    struct db *outbox;             /* the same */
    struct webhook_delivery first; /* once it was read */
    struct webhook_row row;        /* after the last attempt to deliver it */
    int64_t due_ms;                /* no attempt before; monotonic */
    int64_t failing_ms;  /* nothing was taken since; 0: it does not fail */
    struct arena *arena; /* of the rows, and of what is dropped */
    struct webhook_post *post; /* the first is under way, or NULL */
};

void webhook_queue_init(struct webhook_queue *queue,
                        const struct webhook *webhook, struct db *outbox);
void webhook_queue_fini(struct webhook_queue *queue);

/* Reads the first delivery. HT_NOT_FOUND: none waits. */
enum ht_status webhook_queue_first(struct webhook_queue *queue,
                                   struct ht_error *err);

struct webhook_attempt { /* to deliver the first */
    enum ht_status sent; /* as webhook_post_judge() has it */
    const char *why;     /* it was not taken */
    int64_t now_ms, wall_ms;
    uint64_t random;
};
/* Stores the attempt in one commit: the delivery is removed when it was taken
 * or refused for good; those a day old are dropped when none was taken for a
 * day, and the oldest of more than 10000. *dropped lies in the queue's arena.
 * After a failure nothing is stored, and the next attempt is some seconds
 * later. */
enum ht_status webhook_queue_settle(struct webhook_queue *queue,
                                    const struct webhook_attempt *attempt,
                                    struct webhook_dropped_list *dropped,
                                    struct ht_error *err);

/* Milliseconds until the next attempt after so many in a row that failed: 1 s,
 * doubled each time up to an hour, and up to half of it more by `random`. */
int64_t webhook_queue_pause(int64_t failures, uint64_t random);

#endif
