/* delivery.h - letters on their way, all receivers at once.
 *
 * Of each webhook the first letter of its line (queue.h) is under way,
 * so that who is slow or dead delays nobody else. A letter is removed once it
 * was taken: whatever dies, it is sent at least once. One thread, but for
 * webhook_delivery_wake(). */
#ifndef HT_TUNER_WEBHOOK_DELIVERY_H
#define HT_TUNER_WEBHOOK_DELIVERY_H

#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/webhook/outbox.h"
#include "tuner/webhook/rules.h"

struct core;
struct webhook_delivery;

/* curl_global_init() was called. */
struct webhook_delivery *webhook_delivery_new(void);
/* Breaks off what is under way. Accepts NULL. */
void webhook_delivery_free(struct webhook_delivery *delivery);

struct webhook_delivery_parts {
    const struct webhook_rules *rules; /* borrowed, as the others */
    struct outbox *outbox;
    struct core *core; /* keeps the event that letters were given up */
};
/* Breaks off what is under way and opens the line of each webhook. Letters of
 * others are dropped. After a failure there is no line. */
enum ht_status webhook_delivery_set(struct webhook_delivery *delivery,
                                    const struct webhook_delivery_parts *parts,
                                    struct ht_error *err);
/* No lines any more; what was borrowed may go. */
void webhook_delivery_clear(struct webhook_delivery *delivery);

/* Sends what is due. *pause_ms becomes the time until more may be, if that is
 * less. */
enum ht_status webhook_delivery_send(struct webhook_delivery *delivery,
                                     int64_t *pause_ms, struct ht_error *err);
/* Waits for answers, for at most so long or until it is woken, and settles
 * what came. */
enum ht_status webhook_delivery_wait(struct webhook_delivery *delivery,
                                     int64_t pause_ms, struct ht_error *err);
/* Any thread. */
void webhook_delivery_wake(struct webhook_delivery *delivery);

#endif
